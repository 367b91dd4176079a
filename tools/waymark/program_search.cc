#include "program_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

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

std::string elf_option(const Found& found) {
  return found.slide == 0 ? found.path : fmt::format("{}@0x{:x}", found.path, found.slide);
}

/// Decodes with all programs that were executed.  Empty: none was.
std::string next_command(const InputOptions& input, const locate::Report& report) {
  std::string programs;
  for (const Found& found : report.programs)
    if (is_executed(found)) programs += fmt::format(" --elf {}", shell_word(elf_option(found)));
  if (programs.empty()) return {};
  return fmt::format("waymark decode {}{}", input_words(input), programs);
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

void write_text(TextBuffer& out, const InputOptions& input, const locate::Report& report) {
  out.put(fmt::format(
      "\nprograms ({} tried; the trace states {} without known code, {} of them "
      "distinct)\n",
      report.programs.size(), counted(report.stated, "address", "addresses"), report.distinct));
  for (const Found& found : report.programs) {
    std::string text;
    switch (found.verdict) {
      case Verdict::kExecuted:
      case Verdict::kPerhaps:
        text = fmt::format("0x{:x} above its link addresses: {:.1f} % of the addresses; {}",
                           found.slide, 100 * found.share, evidence_text(found.evidence));
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
  const std::string command = next_command(input, report);
  if (command.empty()) {
    out.put("  None of them was executed, as far as the trace shows.\n");
  } else {
    out.put(fmt::format("\nnext, with the program\n  {}\n", escaped(command)));
  }
}

void write_json(TextBuffer& out, const InputOptions& input, const locate::Report& report) {
  out.put(fmt::format(R"({{"type":"programs","stated_addresses":{},"distinct_addresses":{},)"
                      R"("programs":[)",
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
    if (!found.reason.empty()) {
      out.put(R"(,"reason":)");
      outputs::write_json_string(out, found.reason);
    }
    out.put('}');
  }
  out.put(R"(],"next":)");
  outputs::write_json_string(out, next_command(input, report));
  out.put("}\n");
}

}  // namespace

void add_program_search(CLI::App& command, std::vector<std::string>& places) {
  command
      .add_option("--programs", places,
                  "Find out which of these programs (ELF files, or all in a folder) was executed, "
                  "and at which load address; may be repeated")
      ->type_name("FILE|DIR")
      ->allow_extra_args(false);
}

InputOptions described_by(const doctor::Examination& found, InputOptions input) {
  const bool framed = found.framing.framing != inputs::Framing::kNone;
  input.framing = inputs::framing_name(found.framing.framing);
  for (const doctor::StreamFound& stream : found.streams) {
    if (std::string option = outputs::source_option(stream, framed); !option.empty())
      input.sources.push_back(std::move(option));
    input.assume_sync = input.assume_sync || stream.verdict.starts_in_sync;
  }
  return input;
}

int search_programs(const InputOptions& input, const std::vector<std::string>& places,
                    Format format, TextBuffer& out) {
  const auto paths = programs_of(places);
  if (!paths) return complain(paths.error().detail, kInput);
  const auto image = std::make_shared<image::Image>();
  InputOptions opened = input;
  opened.memory = image;
  auto capture = open_capture(opened, {.decode = false}, false, {}, true);
  if (!capture) return capture.error();
  if (capture->recording() != nullptr) {
    return complain(
        fmt::format("--programs: {} says itself which programs ran.", capture->trace().path()),
        kUsage);
  }
  const auto report = locate::locate(*capture, *image, *paths, interrupted);
  if (interrupted()) return kInterrupted;
  if (!report) return complain("--programs: " + report.error().detail, kDamaged);
  if (format == Format::kJson) {
    write_json(out, input, *report);
  } else {
    write_text(out, input, *report);
  }
  return kOk;
}

}  // namespace waymark::cli
