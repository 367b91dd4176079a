// snapshot.ini; snapshot-format.md 2.
#include <fmt/core.h>

#include "ini_parser.h"

namespace waymark::inputs {
namespace {

enum class Section : std::uint8_t { kNone, kSnapshot, kDeviceList, kTrace, kOther };

Section section_of(std::string_view name) {
  if (name == "snapshot") return Section::kSnapshot;
  if (name == "device_list") return Section::kDeviceList;
  if (name == "trace") return Section::kTrace;
  return Section::kOther;
}

}  // namespace

Result<SnapshotIni> parse_snapshot_ini(const std::string& file, std::string_view text,
                                       std::vector<Problem>& problems) {
  IniParser parser(file, text, problems);
  std::optional<std::string> version;
  std::optional<std::string> description;
  std::optional<std::string> trace_file;
  SnapshotIni out;
  Section section = Section::kNone;
  for (;;) {
    const Result<bool> more = parser.next();
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    const IniLine& line = parser.line();
    if (line.kind == IniLineKind::kSection) {
      section = section_of(line.key);
      if (section == Section::kOther && line.key != "clusters" && !line.key.empty()) {
        parser.problem(ProblemKind::kUnknownSection, Severity::kInfo, line.number,
                       fmt::format("Section {} is not known and is ignored; names are "
                                   "case-sensitive.",
                                   in_quotes(line.key)),
                       {std::string(line.key)});
      }
      continue;
    }
    if (section == Section::kOther) continue;
    if (section == Section::kNone) {
      parser.problem(ProblemKind::kLineIgnored, Severity::kWarning, line.number,
                     "This line is before the first section and is ignored; move it below its "
                     "header.",
                     {std::string(line.text)});
      continue;
    }
    WAYMARK_TRY(parser.need_entry());
    if (section == Section::kDeviceList) {
      if (out.device_files.size() == kMaxDeviceFiles)
        return parser.limit("device files", kMaxDeviceFiles);
      parser.check_path(line.value, line.number);
      const auto number = static_cast<std::uint32_t>(out.device_files.size() + 1);
      out.device_files.push_back({std::string(line.value), number, line.number});
    } else if (section == Section::kTrace) {
      if (line.key != "metadata") continue;
      WAYMARK_TRY(parser.set_once(trace_file));
      parser.check_path(line.value, line.number);
    } else if (line.key == "version") {
      WAYMARK_TRY(parser.set_once(version));
      if (line.value != "1.0" && line.value != "1") {
        return parser.error(
            fmt::format("Version {} of the snapshot format is not known; it must be `1.0`.",
                        in_quotes(line.value)));
      }
    } else if (line.key == "description") {
      WAYMARK_TRY(parser.set_once(description));
    }
  }

  if (!version) {
    parser.problem(ProblemKind::kVersionMissing, Severity::kWarning, 0,
                   "The file states no version; add `version=1.0` below `[snapshot]`.");
  }
  if (trace_file.value_or("").empty()) {
    parser.problem(ProblemKind::kTraceFileNotNamed, Severity::kError, 0,
                   "No trace ini file is named, so there is no trace to decode; add "
                   "`metadata=trace.ini` below `[trace]`.");
  }
  out.version = version.value_or("0.1");
  out.description = description.value_or("");
  out.trace_file = trace_file.value_or("");
  return out;
}

}  // namespace waymark::inputs
