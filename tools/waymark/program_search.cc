#include "program_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <system_error>

#include "command.h"
#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/base/shell_word.h"
#include "waymark/locate/locate.h"
#include "waymark/outputs/examination.h"
#include "waymark/outputs/json.h"

namespace waymark::cli {
namespace {

namespace fs = std::filesystem;
using locate::Found;
using locate::Verdict;
using Reports = std::vector<locate::Report>;

/// Files of a folder beyond these are not looked at.
constexpr std::size_t kMostFiles = std::size_t{1} << 16;

bool is_elf(const fs::path& path) {
  std::array<char, 4> magic{};
  std::ifstream file(path, std::ios::binary);
  return file.read(magic.data(), magic.size()) && std::string_view(magic.data(), 4) ==
                                                      "\x7F"
                                                      "ELF";
}

/// The ELF files of a folder, in the order of their paths.
Result<std::vector<std::string>> programs_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  std::size_t files = 0;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, options, error), end; entry != end && !error;
       entry.increment(error)) {
    if (interrupted() || ++files > kMostFiles) break;
    std::error_code gone;
    if (entry->is_regular_file(gone) && is_elf(entry->path()))
      paths.push_back(entry->path().string());
  }
  if (error)
    return fail(ErrorCode::kIo, fmt::format("--programs {}: {}.", folder, error.message()));
  if (files > kMostFiles)
    note(
        fmt::format("--programs {}: only the first {} files were looked at; name a folder with "
                    "fewer.",
                    folder, kMostFiles));
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<std::string>> programs_of(const std::vector<std::string>& places) {
  std::vector<std::string> paths;
  for (const std::string& place : places) {
    std::error_code error;
    if (!fs::is_directory(place, error)) {
      if (!fs::exists(place, error))
        return fail(ErrorCode::kNotFound,
                    fmt::format("--programs {}: there is no such file or folder.", place));
      paths.push_back(place);
      continue;
    }
    const auto found = programs_in(place);
    if (!found) return std::unexpected(found.error());
    if (found->empty())
      return fail(ErrorCode::kNotFound,
                  fmt::format("--programs {}: the folder has no ELF file.", place));
    paths.insert(paths.end(), found->begin(), found->end());
  }
  return paths;
}

/// The options of `decode` that open the input.
std::string input_words(const InputOptions& options) {
  std::string words = shell_word(options.path);
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) words += fmt::format(" {} {}", option, shell_word(value));
  };
  const auto add_all = [&](std::string_view option, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(option, value);
  };
  add("--buffer", options.buffer);
  add_all("--id", options.ids);
  add("--framing", options.framing);
  add("--protocol", options.protocol);
  add_all("--source", options.sources);
  add("--core", options.core);
  add_all("--reg", options.registers);
  add("--registers", options.register_text);
  add_all("--image", options.images);
  add_all("--elf", options.programs);
  add("--data-layouts", options.data_layouts);
  add("--nibble-order", options.nibble_order);
  add_all("--pin", options.pins);
  add("--swo-coding", options.swo_coding);
  add("--swo-rate", options.swo_rate);
  add("--sample-rate", options.sample_rate);
  if (options.assume_sync) words += " --assume-sync";
  return words;
}

bool is_executed(const Found& found) {
  return found.verdict == Verdict::kExecuted || found.verdict == Verdict::kPerhaps;
}

/// Whether --elf can give the program: a recording takes it for the file that it names.
bool is_taken(const locate::Report& report, const Found& found) {
  return !report.process || fs::path(found.path).filename() == fs::path(found.recorded).filename();
}

std::string elf_option(const locate::Report& report, const Found& found) {
  return report.process || found.slide == 0 ? found.path
                                            : fmt::format("{}@0x{:x}", found.path, found.slide);
}

/// Decodes with all programs that were executed.  Empty: none was, or none can be given.
std::string next_command(const InputOptions& input, const Reports& reports) {
  std::string programs;
  std::set<std::string> given;
  for (const locate::Report& report : reports) {
    for (const Found& found : report.programs) {
      if (!is_executed(found) || !is_taken(report, found)) continue;
      const std::string option = elf_option(report, found);
      if (given.insert(option).second) programs += fmt::format(" --elf {}", shell_word(option));
    }
  }
  if (programs.empty()) return {};
  return fmt::format("waymark decode {}{}", input_words(input), programs);
}

std::string process_text(const locate::Process& process) {
  if (process.pid < 0) return "unknown processes";
  return process.name.empty() ? fmt::format("process {}", process.pid)
                              : fmt::format("process {} ({})", process.pid, process.name);
}

std::string evidence_text(const locate::Evidence& evidence) {
  if (evidence.contradictions == 0)
    return fmt::format("{}, no contradiction", counted(evidence.waypoints, "waypoint"));
  return fmt::format("{} in {}, the first after {}, at 0x{:x}, byte {} of the trace",
                     counted(evidence.contradictions, "contradiction"),
                     counted(evidence.waypoints, "waypoint"), evidence.before_first,
                     evidence.address, evidence.index);
}

std::string_view verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kExecuted:
      return "executed";
    case Verdict::kPerhaps:
      return "perhaps";
    case Verdict::kNotExecuted:
    case Verdict::kNoCandidate:
      return "not executed";
    case Verdict::kNotReadable:
      return "not readable";
  }
  return "";
}

/// The result of a search for all programs that were executed; if none was, for the best one.
struct Sums {
  std::size_t executed = 0;
  std::uint64_t waypoints = 0;
  std::uint64_t contradictions = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

Sums sums_of(const Reports& reports) {
  Sums sums;
  for (const locate::Report& report : reports) {
    for (const Found& found : report.programs) {
      if (!is_executed(found)) continue;
      ++sums.executed;
      sums.waypoints += found.evidence.waypoints;
      sums.contradictions += found.evidence.contradictions;
    }
  }
  if (sums.executed != 0 || reports.empty() || reports.front().programs.empty()) return sums;
  const locate::Evidence& best = reports.front().programs.front().evidence;
  return {.waypoints = best.waypoints, .contradictions = best.contradictions};
}

enum class StackValue : std::uint8_t { kNotTried, kOff, kOn, kEither, kUnknown };

std::string_view stack_word(StackValue value) {
  switch (value) {
    case StackValue::kNotTried:
      return "";
    case StackValue::kOff:
      return "off";
    case StackValue::kOn:
      return "on";
    case StackValue::kEither:
      return "either";
    case StackValue::kUnknown:
      return "unknown";
  }
  return "";
}

/// The same search without a return stack and with one.
struct StackSearch {
  StackValue value = StackValue::kNotTried;
  Sums off{};
  Sums on{};
};

StackValue value_of(const StackSearch& stack) {
  const Sums& off = stack.off;
  const Sums& on = stack.on;
  if (off.executed == 0 && on.executed == 0) return StackValue::kUnknown;
  if (off == on) return StackValue::kEither;
  if (off.executed != on.executed)
    return off.executed > on.executed ? StackValue::kOff : StackValue::kOn;
  if (off.contradictions != on.contradictions)
    return off.contradictions < on.contradictions ? StackValue::kOff : StackValue::kOn;
  return off.waypoints >= on.waypoints ? StackValue::kOff : StackValue::kOn;
}

std::string sums_text(const Sums& sums) {
  return fmt::format(
      "{} in {}",
      sums.contradictions == 0 ? "no contradiction" : counted(sums.contradictions, "contradiction"),
      counted(sums.waypoints, "waypoint"));
}

void write_stack_text(TextBuffer& out, const StackSearch& stack) {
  switch (stack.value) {
    case StackValue::kNotTried:
      return;
    case StackValue::kUnknown:
      out.put("\nreturn stack\n  It is unknown, because no program was executed.\n");
      return;
    case StackValue::kEither:
      out.put(
          fmt::format("\nreturn stack\n  The trace decodes alike with and without it, with {}: "
                      "every return has its target.\n",
                      sums_text(stack.off)));
      return;
    case StackValue::kOff:
    case StackValue::kOn:
      out.put(fmt::format("\nreturn stack\n  It is {}.\n  on:  {}\n  off: {}\n",
                          stack_word(stack.value), sums_text(stack.on), sums_text(stack.off)));
      return;
  }
}

void write_stack_json(TextBuffer& out, const StackSearch& stack) {
  if (stack.value == StackValue::kNotTried) return;
  const auto sums = [](const Sums& of) {
    return fmt::format(R"({{"waypoints":{},"contradictions":{}}})", of.waypoints,
                       of.contradictions);
  };
  out.put(fmt::format(R"(,"return_stack":{{"value":"{}","on":{},"off":{}}})",
                      stack_word(stack.value), sums(stack.on), sums(stack.off)));
}

/// A recording must have a file of this name there, or of this build.
std::string recorded_text(const locate::Report& report, const Found& found) {
  if (!report.process) return {};
  if (found.recorded.empty()) return "; the recording has no MMAP record for it";
  if (is_taken(report, found)) return fmt::format("; the recording calls it {}", found.recorded);
  return fmt::format("; the recording calls it {}, so --elf needs a copy of that name",
                     found.recorded);
}

void write_report(TextBuffer& out, const locate::Report& report) {
  out.put(fmt::format(
      "\nprograms{} ({} tried; the trace states {} without known code, {} of them "
      "distinct)\n",
      report.process ? fmt::format(" of {}", escaped(process_text(*report.process)))
                     : std::string(),
      report.programs.size(), counted(report.stated, "address", "addresses"), report.distinct));
  for (const Found& found : report.programs) {
    std::string text;
    switch (found.verdict) {
      case Verdict::kExecuted:
      case Verdict::kPerhaps:
        text = fmt::format("0x{:x} above its link addresses: {:.1f} % of the addresses; {}{}",
                           found.slide, 100 * found.share, evidence_text(found.evidence),
                           recorded_text(report, found));
        break;
      case Verdict::kNotExecuted:
        text = fmt::format("at best 0x{:x} above its link addresses, with {}", found.slide,
                           evidence_text(found.evidence));
        break;
      case Verdict::kNoCandidate:
        text = "no address of the trace can be one of its code";
        break;
      case Verdict::kNotReadable:
        text = found.reason;
        break;
    }
    out.put(fmt::format("  {:<12}  {}\n                {}\n", verdict_word(found.verdict),
                        escaped(found.path), escaped(text)));
  }
  if (std::ranges::none_of(report.programs, is_executed))
    out.put("  The trace shows that none of them was executed.\n");
}

void write_text(TextBuffer& out, const InputOptions& input, const Reports& reports,
                const StackSearch& stack) {
  for (const locate::Report& report : reports) write_report(out, report);
  write_stack_text(out, stack);
  const std::string command = next_command(input, reports);
  if (!command.empty()) {
    out.put(fmt::format("\nnext, with the program\n  {}\n", escaped(command)));
  }
}

void write_report_json(TextBuffer& out, const locate::Report& report) {
  out.put(R"({"type":"programs",)");
  if (report.process) {
    out.put(fmt::format(R"("pid":{},"comm":)", report.process->pid));
    outputs::write_json_string(out, report.process->name);
    out.put(',');
  }
  out.put(fmt::format(R"("stated_addresses":{},"distinct_addresses":{},"programs":[)",
                      report.stated, report.distinct));
  std::string_view comma;
  for (const Found& found : report.programs) {
    out.put(fmt::format(R"({}{{"path":)", comma));
    comma = ",";
    outputs::write_json_string(out, found.path);
    out.put(fmt::format(R"(,"verdict":"{}")", verdict_word(found.verdict)));
    if (found.verdict <= Verdict::kNotExecuted) {
      const locate::Evidence& evidence = found.evidence;
      out.put(fmt::format(R"(,"slide":"0x{:x}","share":{:.4f},"waypoints":{},"contradictions":{})",
                          found.slide, found.share, evidence.waypoints, evidence.contradictions));
      if (evidence.contradictions != 0) {
        out.put(fmt::format(R"(,"before_first":{},"address":"0x{:x}","index":{})",
                            evidence.before_first, evidence.address, evidence.index));
      }
    }
    if (report.process && is_executed(found)) {
      out.put(R"(,"recorded":)");
      outputs::write_json_string(out, found.recorded);
    }
    if (!found.reason.empty()) {
      out.put(R"(,"reason":)");
      outputs::write_json_string(out, found.reason);
    }
    out.put('}');
  }
  out.put(']');
}

/// A line for each process; what is about all of them is in each line.
void write_json(TextBuffer& out, const InputOptions& input, const Reports& reports,
                const StackSearch& stack) {
  for (const locate::Report& report : reports) {
    write_report_json(out, report);
    write_stack_json(out, stack);
    out.put(R"(,"next":)");
    outputs::write_json_string(out, next_command(input, reports));
    out.put("}\n");
  }
}

/// Prints the reason on failure, and returns the exit code.
std::expected<Reports, int> search(const InputOptions& input,
                                   const std::vector<std::string>& paths) {
  const auto image = std::make_shared<image::Image>();
  InputOptions opened = input;
  opened.memory = image;
  auto capture = open_capture(opened, {.decode = false}, false, {}, true);
  if (!capture) return std::unexpected(capture.error());
  auto reports = locate::locate(*capture, *image, paths, interrupted);
  if (interrupted()) return std::unexpected(int{kInterrupted});
  if (!reports) return std::unexpected(complain("--programs: " + reports.error().detail, kDamaged));
  return *std::move(reports);
}

/// Searches again with a return stack, for the programs that were found without one, or for all.
/// If that explains the trace better, `reports` are of this search then.
std::expected<StackSearch, int> compare_with_stack(const InputOptions& with,
                                                   const std::vector<std::string>& paths,
                                                   Reports& reports) {
  StackSearch stack;
  stack.off = sums_of(reports);
  std::vector<std::string> wanted;
  for (const locate::Report& report : reports)
    for (const Found& found : report.programs)
      if (is_executed(found)) wanted.push_back(found.path);
  auto again = search(with, wanted.empty() ? paths : wanted);
  if (!again) return std::unexpected(again.error());
  stack.on = sums_of(*again);
  stack.value = value_of(stack);
  if (stack.value != StackValue::kOn) return stack;
  if (!wanted.empty()) again = search(with, paths);
  if (!again) return std::unexpected(again.error());
  reports = *std::move(again);
  return stack;
}

}  // namespace

void add_program_search(Command& command, std::vector<std::string>& places) {
  command
      .add_option("--programs", places,
                  "Find which of these programs (ELF files, or all in a folder) ran, and at which "
                  "load address; may be repeated")
      ->type_name("FILE|DIR")
      ->allow_extra_args(false);
}

std::vector<InputOptions> described_by(const doctor::Examination& found,
                                       const InputOptions& input) {
  const bool framed = found.framing.framing != inputs::Framing::kNone;
  InputOptions without = input;
  without.framing = inputs::framing_name(found.framing.framing);
  InputOptions with = without;
  bool has_stack = false;
  for (const doctor::StreamFound& stream : found.streams) {
    const std::string option = outputs::source_option(stream, framed);
    if (option.empty()) continue;
    without.sources.push_back(option);
    doctor::StreamFound stacked = stream;
    for (const doctor::OpenField& field : stream.verdict.open) {
      has_stack = has_stack || field.return_stack != 0;
      doctor::set_field(stacked.verdict.registers, field.register_name, field.return_stack,
                        field.return_stack);
    }
    with.sources.push_back(outputs::source_option(stacked, framed));
    without.assume_sync = with.assume_sync = with.assume_sync || stream.verdict.starts_in_sync;
  }
  if (!has_stack) return {without};
  return {without, with};
}

int search_programs(const std::vector<InputOptions>& readings,
                    const std::vector<std::string>& places, Format format, TextBuffer& out) {
  const auto paths = programs_of(places);
  if (!paths) return complain(paths.error().detail, kInput);
  auto reports = search(readings.front(), *paths);
  if (!reports) return reports.error();
  const InputOptions* input = &readings.front();
  StackSearch stack;
  if (readings.size() > 1) {
    const auto compared = compare_with_stack(readings[1], *paths, *reports);
    if (!compared) return compared.error();
    stack = *compared;
    if (stack.value == StackValue::kOn) input = &readings[1];
  }
  if (format == Format::kJson) {
    write_json(out, *input, *reports, stack);
  } else {
    write_text(out, *input, *reports, stack);
  }
  return kOk;
}

}  // namespace waymark::cli
