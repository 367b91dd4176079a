#include "snapshot_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "waymark/base/mapped_file.h"
#include "waymark/inputs/ini.h"

namespace waymark::compat {
namespace {

constexpr std::string_view kParser = "snapshot_parser";

class ReadingLog {
 public:
  ReadingLog(const inputs::Snapshot& snapshot, std::span<const inputs::Problem> problems, Log& log)
      : snapshot_(snapshot), problems_(problems), log_(log) {}

  void write() {
    log_sections("snapshot.ini");
    line("Parsed snapshot.ini.");
    // The reference gives this line no prefix.
    log_.line(fmt::format("Found {} devices.", snapshot_.device_files.size()));
    for (const inputs::DeviceFile& device : snapshot_.device_files) {
      // The reference never sets the name before it prints it.
      line(fmt::format("Device {}: Ini file = {}; Name = UNKNOWN", device.number, device.file));
      log_sections(device.file);
    }
    if (!snapshot_.trace_file.empty()) {
      line(fmt::format("Trace Metadata ini file found : {}", snapshot_.trace_file));
      log_sections(snapshot_.trace_file);
    }
    line("Done.");
  }

 private:
  void line(std::string_view text) { log_.line(fmt::format("{} : {}", kReader, text)); }

  /// A file that cannot be read has a separate message.
  void log_sections(std::string_view name) {
    const std::string path = snapshot_.path_of(name);
    const auto file = MappedFile::open(path);
    if (!file) return;
    inputs::IniReader reader(
        {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
    while (const auto read = reader.next()) {
      if (read->kind != inputs::IniLineKind::kSection) continue;
      log_.line(is_unknown(path, read->number)
                    ? fmt::format("{} : Unknown section ignored: {}", kParser, read->key)
                    : fmt::format("{} : Start of {} section", kParser, read->key));
    }
  }

  [[nodiscard]] bool is_unknown(const std::string& path, std::uint32_t number) const {
    return std::ranges::any_of(problems_, [&](const inputs::Problem& problem) {
      return problem.kind == inputs::ProblemKind::kUnknownSection && problem.line == number &&
             problem.file == path;
    });
  }

  const inputs::Snapshot& snapshot_;
  std::span<const inputs::Problem> problems_;
  Log& log_;
};

}  // namespace

void log_reading(const inputs::Snapshot& snapshot, std::span<const inputs::Problem> problems,
                 Log& log) {
  ReadingLog(snapshot, problems, log).write();
}

}  // namespace waymark::compat
