// Shared by the parsers of the three kinds of ini file: place, problems, wording.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/inputs/ini.h"
#include "waymark/inputs/problem.h"
#include "waymark/inputs/snapshot.h"

namespace waymark::inputs {

/// `text` between backquotes for a sentence: control characters as `?`, long text cut.
std::string in_quotes(std::string_view text);

/// Compares as the register map does.
struct CaseIgnored {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name.
  bool operator()(std::string_view left, std::string_view right) const;
};

class IniParser {
 public:
  /// `file` is the name for messages.  All must outlive the parser.
  IniParser(const std::string& file, std::string_view text, std::vector<Problem>& problems);

  /// Goes to the next line; false at the end.  kLimit: the line is too long.
  Result<bool> next();

  /// Reads to the end.  Calls `entry()` for each line of a section, `start_section()` where one
  /// begins, and `finish_section()` where one ends and before the first one.  Each returns
  /// Result<void>.
  template <class Reader>
  Result<void> read_sections(Reader& reader) {
    for (;;) {
      const Result<bool> more = next();
      if (!more) return std::unexpected(more.error());
      if (!*more) return reader.finish_section();
      if (line_.kind == IniLineKind::kSection) {
        WAYMARK_TRY(reader.finish_section());
        WAYMARK_TRY(reader.start_section());
      } else {
        WAYMARK_TRY(reader.entry());
      }
    }
  }
  [[nodiscard]] const IniLine& line() const { return line_; }

  /// kParse unless the present line is an entry.
  Result<void> need_entry() const;

  /// kParse if `slot` has a value; otherwise stores the value of the present line there.
  Result<void> set_once(std::optional<std::string>& slot) const;

  /// The value of the present line; kParse if it is not a number.
  [[nodiscard]] Result<std::uint64_t> number() const { return number(line_.value); }
  [[nodiscard]] Result<std::uint64_t> number(std::string_view text) const;

  [[nodiscard]] std::unexpected<Error> error(std::uint32_t line, std::string sentence) const;
  [[nodiscard]] std::unexpected<Error> error(std::string sentence) const;
  [[nodiscard]] std::unexpected<Error> limit(std::string_view what, std::size_t most) const;

  void problem(ProblemKind kind, Severity severity, std::uint32_t line, std::string sentence,
               std::vector<std::string> values = {});

  /// Checks a file name of the snapshot, and reports it if it leaves the folder.
  void check_path(std::string_view name, std::uint32_t line);

 private:
  const std::string& file_;
  std::vector<Problem>& problems_;
  IniReader reader_;
  IniLine line_;
};

/// The contents of snapshot.ini.
struct SnapshotIni {
  std::string version;
  std::string description;
  std::string trace_file;
  std::vector<DeviceFile> device_files;
};

/// The contents of trace.ini; the sources of the buffers are still empty.
struct TraceIni {
  std::vector<std::string> buffer_list;
  std::vector<TraceBuffer> buffers;
  std::vector<SourceBuffer> source_buffers;
  std::vector<CoreTraceSource> core_trace_sources;
};

// Each can fail with kParse and kLimit.  `file` is the name for messages.
Result<SnapshotIni> parse_snapshot_ini(const std::string& file, std::string_view text,
                                       std::vector<Problem>& problems);
Result<Device> parse_device_ini(const std::string& file, std::string_view text,
                                std::vector<Problem>& problems);
Result<TraceIni> parse_trace_ini(const std::string& file, std::string_view text,
                                 std::vector<Problem>& problems);

/// Fills TraceBuffer::sources and reports unknown names.  kLimit.
Result<void> resolve_sources(const std::string& file, Snapshot& snapshot,
                             std::vector<Problem>& problems);

/// Reports missing, empty and short files of buffers and dumps, and dumps that overlap.
void check_files(const std::string& trace_file, const Snapshot& snapshot,
                 const SnapshotStore& store, std::vector<Problem>& problems);

}  // namespace waymark::inputs
