// trace.ini, and what its names refer to; snapshot-format.md 6.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ini_parser.h"

namespace waymark::inputs {
namespace {

enum class Section : std::uint8_t { kNone, kList, kBuffer, kSources, kCores, kOther };

class TraceParser {
 public:
  TraceParser(const std::string& file, std::string_view text, std::vector<Problem>& problems)
      : parser_(file, text, problems) {}

  Result<TraceIni> run() {
    WAYMARK_TRY(parser_.read_sections(*this));
    report_sections();
    for (auto& [source, value] : sources_) out_.source_buffers.push_back(std::move(value));
    for (auto& [source, value] : cores_) out_.core_trace_sources.push_back(std::move(value));
    return std::move(out_);
  }

 private:
  friend inputs::IniParser;

  Result<void> start_section() {
    const IniLine& line = parser_.line();
    if (line.key == "trace_buffers") {
      section_ = Section::kList;
    } else if (line.key == "source_buffers") {
      section_ = Section::kSources;
    } else if (line.key == "core_trace_sources") {
      section_ = Section::kCores;
    } else if (!line.key.empty() && names_.contains(line.key)) {
      if (out_.buffers.size() == kMaxTraceEntries)
        return parser_.limit("buffers", kMaxTraceEntries);
      section_ = Section::kBuffer;
      name_.reset();
      file_.reset();
      format_.reset();
      section_name_ = line.key;
      section_line_ = line.number;
    } else {
      section_ = Section::kOther;
      if (!line.key.empty() && ignored_.size() < kMaxTraceEntries)
        ignored_.emplace_back(line.key, line.number);
    }
    return {};
  }

  Result<void> finish_section() {
    if (section_ != Section::kBuffer) return {};
    section_ = Section::kOther;
    if (!name_) {
      return parser_.error(section_line_,
                           "The buffer section has no `name`; add `name=<as in source_buffers>`.");
    }
    if (!file_) {
      return parser_.error(section_line_,
                           "The buffer section has no `file`; add `file=<name of the capture>`.");
    }
    if (!found_.insert(section_name_).second) {
      parser_.problem(ProblemKind::kBufferRepeated, Severity::kWarning, section_line_,
                      fmt::format("There is a second section {}; give each buffer a section of its "
                                  "own.",
                                  in_quotes(section_name_)),
                      {section_name_});
    }
    parser_.check_path(*file_, section_line_);
    out_.buffers.push_back({.section = section_name_,
                            .name = *name_,
                            .file = *file_,
                            .format = format_.value_or(""),
                            .line = section_line_,
                            .sources = {}});
    return {};
  }

  Result<void> entry() {
    const IniLine& line = parser_.line();
    if (section_ == Section::kOther) return {};
    if (section_ == Section::kNone) {
      parser_.problem(ProblemKind::kLineIgnored, Severity::kWarning, line.number,
                      "This line is before the first section and is ignored; move it below its "
                      "header.",
                      {std::string(line.text)});
      return {};
    }
    WAYMARK_TRY(parser_.need_entry());
    if (section_ == Section::kList) return list_entry();
    if (section_ == Section::kSources) {
      return map_entry(sources_, line.key,
                       {std::string(line.key), std::string(line.value), line.number},
                       &SourceBuffer::buffer);
    }
    if (section_ == Section::kCores) {
      return map_entry(cores_, line.value,
                       {std::string(line.value), std::string(line.key), line.number},
                       &CoreTraceSource::core);
    }
    if (line.key == "name") return parser_.set_once(name_);
    if (line.key == "file") return parser_.set_once(file_);
    if (line.key == "format") return parser_.set_once(format_);
    return {};
  }

  Result<void> list_entry() {
    const IniLine& line = parser_.line();
    if (line.key != "buffers") return {};
    WAYMARK_TRY(parser_.set_once(list_));
    list_line_ = line.number;
    std::string_view rest = line.value;
    for (;;) {
      const std::size_t comma = rest.find(',');
      const std::string_view item = rest.substr(0, comma);
      if (out_.buffer_list.size() == kMaxTraceEntries)
        return parser_.limit("buffers in the list", kMaxTraceEntries);
      out_.buffer_list.emplace_back(item);
      if (!item.empty()) names_.emplace(item);
      if (item != ini_trim(item)) {
        parser_.problem(ProblemKind::kBufferNameUntrimmed, Severity::kWarning, line.number,
                        fmt::format("The space next to {} is part of the name, so no section "
                                    "matches; remove the spaces around commas.",
                                    in_quotes(ini_trim(item))),
                        {std::string(item), std::string(ini_trim(item))});
      }
      if (comma == std::string_view::npos) return {};
      rest.remove_prefix(comma + 1);
    }
  }

  template <class Value>
  Result<void> map_entry(std::map<std::string, Value, std::less<>>& map, std::string_view key,
                         Value value, std::string Value::* field) {
    const auto at = map.find(key);
    if (at == map.end()) {
      if (map.size() == kMaxTraceEntries)
        return parser_.limit("lines in this section", kMaxTraceEntries);
      map.emplace(key, std::move(value));
      return {};
    }
    if (at->second.*field != value.*field) {
      parser_.problem(ProblemKind::kEntryReplaced, Severity::kWarning, value.line,
                      fmt::format("This line replaces line {}, which gave {} to {}; remove one of "
                                  "the two.",
                                  at->second.line, in_quotes(at->second.*field), in_quotes(key)),
                      {std::string(key), at->second.*field, value.*field});
    }
    at->second = std::move(value);
    return {};
  }

  void report_sections() {
    if (names_.empty()) {
      parser_.problem(ProblemKind::kBufferListMissing, Severity::kError, list_line_,
                      "No trace buffers are listed, so there is nothing to decode; add "
                      "`buffers=buffer0` below `[trace_buffers]`, before the buffer sections.");
    }
    std::set<std::string_view> early;
    for (const auto& [name, line] : ignored_) {
      if (names_.contains(name)) {
        early.insert(name);
        parser_.problem(ProblemKind::kBufferSectionEarly, Severity::kError, line,
                        fmt::format("Section {} is before the list of buffers, so it is ignored; "
                                    "move it below `[trace_buffers]`.",
                                    in_quotes(name)),
                        {name});
      } else if (name != "timestamp") {
        parser_.problem(
            ProblemKind::kUnknownSection, Severity::kInfo, line,
            fmt::format("Section {} is not in the list of buffers and is ignored; names "
                        "are case-sensitive.",
                        in_quotes(name)),
            {name});
      }
    }
    for (const std::string& name : names_) {
      if (found_.contains(name) || early.contains(name)) continue;
      parser_.problem(
          ProblemKind::kBufferSectionMissing, Severity::kError, list_line_,
          fmt::format("The list names the buffer {}, but there is no such section; add it "
                      "or remove the name.",
                      in_quotes(name)),
          {name});
    }
  }

  IniParser parser_;
  TraceIni out_;
  Section section_ = Section::kNone;
  std::string section_name_;
  std::uint32_t section_line_ = 0;
  std::uint32_t list_line_ = 0;
  std::optional<std::string> list_, name_, file_, format_;
  std::set<std::string, std::less<>> names_;  // Names in the list, without empty items.
  std::set<std::string, std::less<>> found_;
  std::vector<std::pair<std::string, std::uint32_t>> ignored_;
  std::map<std::string, SourceBuffer, std::less<>> sources_;
  std::map<std::string, CoreTraceSource, std::less<>> cores_;
};

const CoreTraceSource* core_of(const Snapshot& snapshot, const std::string& source) {
  const auto at =
      std::ranges::lower_bound(snapshot.core_trace_sources, source, {}, &CoreTraceSource::source);
  return at != snapshot.core_trace_sources.end() && at->source == source ? &*at : nullptr;
}

TraceSource trace_source(const Snapshot& snapshot, const std::string& name) {
  TraceSource out;
  out.device = name;
  if (const Device* device = snapshot.find_device(name)) {
    out.device_index = static_cast<std::size_t>(device - snapshot.devices.data());
    out.type = device->type;
    out.protocol = out.type.substr(0, out.type.find('.'));
  }
  if (const CoreTraceSource* line = core_of(snapshot, name)) {
    out.core = line->core;
    if (const Device* core = snapshot.find_device(line->core)) {
      out.core_index = static_cast<std::size_t>(core - snapshot.devices.data());
      out.core_type = core->type;
    }
  }
  return out;
}

}  // namespace

Result<TraceIni> parse_trace_ini(const std::string& file, std::string_view text,
                                 std::vector<Problem>& problems) {
  return TraceParser(file, text, problems).run();
}

Result<void> resolve_sources(const std::string& file, Snapshot& snapshot,
                             std::vector<Problem>& problems) {
  const auto report = [&](ProblemKind kind, Severity severity, std::uint32_t line,
                          std::string sentence, std::vector<std::string> values) {
    add_problem(problems, {kind, severity, file, line, std::move(sentence), std::move(values)});
  };

  std::multimap<std::string_view, TraceBuffer*> by_name;
  for (TraceBuffer& buffer : snapshot.buffers) by_name.emplace(buffer.name, &buffer);

  std::size_t count = 0;
  for (const SourceBuffer& line : snapshot.source_buffers) {
    const TraceSource source = trace_source(snapshot, line.source);
    if (source.device_index == TraceSource::kNoDevice) {
      report(ProblemKind::kUnknownSourceDevice, Severity::kError, line.line,
             fmt::format("No device has the name {}, so its trace cannot be decoded; add its "
                         "device file to the list in snapshot.ini.",
                         in_quotes(line.source)),
             {line.source, line.buffer});
    } else if (!source.core.empty() && source.core_index == TraceSource::kNoDevice) {
      report(ProblemKind::kUnknownCoreDevice, Severity::kError,
             core_of(snapshot, line.source)->line,
             fmt::format("The core {} of trace source {} is not a device, so its trace cannot be "
                         "decoded; add its device file to the list in snapshot.ini.",
                         in_quotes(source.core), in_quotes(line.source)),
             {line.source, source.core});
    }
    const auto [first, last] = by_name.equal_range(line.buffer);
    if (first == last) {
      report(ProblemKind::kUnknownBuffer, Severity::kWarning, line.line,
             fmt::format(
                 "There is no buffer with the name {}, into which {} traces; the names are those "
                 "of `name=` in the buffer sections.",
                 in_quotes(line.buffer), in_quotes(line.source)),
             {line.source, line.buffer});
    }
    for (auto at = first; at != last; ++at) {
      if (++count > kMaxTraceEntries) {
        return fail(
            ErrorCode::kLimit,
            fmt::format("{}: There are more than {} trace sources over all buffers; give each "
                        "buffer a name of its own.",
                        ini_place(file, line.line), kMaxTraceEntries));
      }
      at->second->sources.push_back(source);
    }
  }

  for (const TraceBuffer& buffer : snapshot.buffers) {
    if (buffer.sources.empty()) {
      report(ProblemKind::kBufferWithoutSources, Severity::kWarning, buffer.line,
             fmt::format("No trace source leads into the buffer {}, so it cannot be decoded; "
                         "add a line to `[source_buffers]`.",
                         in_quotes(buffer.name)),
             {buffer.name});
    }
    if (buffer_format(buffer.format) == BufferFormat::kSingleSource) {
      for (std::size_t i = 1; i < buffer.sources.size(); ++i) {
        report(ProblemKind::kSourceIgnored, Severity::kWarning, buffer.line,
               fmt::format("The buffer {} holds a single stream, so only {} is decoded, and {} is "
                           "not; use `format=coresight` for several.",
                           in_quotes(buffer.name), in_quotes(buffer.sources[0].device),
                           in_quotes(buffer.sources[i].device)),
               {buffer.name, buffer.sources[i].device});
      }
    } else if (!buffer.format.empty() && buffer.format != "coresight" &&
               buffer.format != "dstream_coresight") {
      report(ProblemKind::kUnknownFormat, Severity::kWarning, buffer.line,
             fmt::format("Format {} is not known, so the buffer {} is read as memory-aligned "
                         "frames; write `coresight`, `dstream_coresight` or `source_data`.",
                         in_quotes(buffer.format), in_quotes(buffer.name)),
             {buffer.name, buffer.format});
    }
  }
  return {};
}

}  // namespace waymark::inputs
