#include "profile_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>

#include "complain.h"
#include "exit_code.h"
#include "output.h"
#include "percent.h"
#include "program_profile.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/outputs/source_files.h"

namespace waymark::cli {
namespace {

std::string hex_of(const std::vector<std::uint8_t>& id) {
  return fmt::format("{:02x}", fmt::join(id, ""));
}

/// The programs that can be written, those that executed most first.
std::vector<const profile::ProgramProfile*> known_programs(const profile::Profile& profile) {
  std::vector<const profile::ProgramProfile*> known;
  for (const profile::ProgramProfile& program : profile.programs())
    if (program.program != nullptr && !program.counts.rows.empty()) known.push_back(&program);
  std::ranges::stable_sort(known, [](const auto* a, const auto* b) {
    const std::uint64_t first = a->instructions();
    const std::uint64_t second = b->instructions();
    return first != second ? first > second : a->path < b->path;
  });
  return known;
}

bool is_named(const profile::ProgramProfile& program, const std::string& name) {
  constexpr std::size_t kShortest = 4;
  return program.path == name || file_name(program) == name || program.program->path() == name ||
         (name.size() >= kShortest && hex_of(program.build_id).starts_with(name));
}

/// Those that --program names; without it, all.
std::expected<std::vector<const profile::ProgramProfile*>, int> choose(
    const profile::Profile& profile, const ExportOptions& options) {
  std::vector<const profile::ProgramProfile*> known = known_programs(profile);
  if (known.empty()) {
    return std::unexpected(
        complain("none of the executed programs was found as an ELF file; name it with --elf, "
                 "--symfs or --symbols.",
                 kInput));
  }
  if (options.programs.empty()) return known;
  std::vector<const profile::ProgramProfile*> chosen;
  for (const std::string& name : options.programs) {
    const auto found =
        std::ranges::find_if(known, [&](const auto* program) { return is_named(*program, name); });
    if (found == known.end()) {
      std::string names;
      for (const auto* program : known)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", escaped(file_name(*program)));
      return std::unexpected(complain(fmt::format("--program {}: no program of this name or build "
                                                  "ID was executed; the programs are: {}.",
                                                  escaped(name), names),
                                      kUsage));
    }
    if (std::ranges::find(chosen, *found) == chosen.end()) chosen.push_back(*found);
  }
  return chosen;
}

void report_rest(const profile::Profile& profile) {
  const std::uint64_t whole = profile.instructions();
  std::uint64_t in_programs = 0;
  for (const auto* program : known_programs(profile)) in_programs += program->instructions();
  if (in_programs == whole) return;
  note(fmt::format(
      "{} of {} ({}) are left out, because their code is in no ELF file that was found.",
      whole - in_programs, counted(whole, "instruction"), percent(whole - in_programs, whole)));
}

/// Writes one file.  Without a name, to standard output.
int write_file(const std::string& path, const std::vector<std::string>& inputs,
               const std::function<Result<void>(TextBuffer&)>& write) {
  auto output = Output::open_whole(path, inputs);
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  if (const auto written = write(output->text()); !written)
    return complain(written.error().detail, kInput);
  if (output->commit()) return kOk;
  return finish_output(*output, kOk);
}

/// When a file is written; SOURCE_DATE_EPOCH makes files of different times equal.
std::int64_t time_of_writing() {
  if (const char* const fixed = std::getenv("SOURCE_DATE_EPOCH"); fixed != nullptr)
    return std::strtoll(fixed, nullptr, 10);
  return std::time(nullptr);
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || (!path.empty() && std::filesystem::is_directory(path, ignored));
}

std::expected<std::vector<const profile::ProgramProfile*>, int> choose_any(
    const profile::Profile& profile, const ExportOptions& options) {
  if (!options.programs.empty()) return choose(profile, options);
  std::vector<const profile::ProgramProfile*> all;
  for (const profile::ProgramProfile& program : profile.programs()) all.push_back(&program);
  return all;
}

int write_programs(const exports::Format& format, const ProfileSum& sum,
                   const ExportOptions& options) {
  const profile::Profile& profile = sum.profile;
  const auto programs = choose(profile, options);
  if (!programs) return programs.error();
  const auto write_one = [&](const profile::ProgramProfile& program, const std::string& path) {
    if (const unsigned version = program.program->dwarf_version();
        format.most_dwarf != 0 && version > format.most_dwarf) {
      note(
          fmt::format("{} has debug information of DWARF {}, and {} 0.19 reads no function of it: "
                      "its result is empty. Compile the program with -gdwarf-{}, or use a newer "
                      "release.",
                      escaped(program.path), version, format.readers, format.most_dwarf));
    }
    return write_file(path, sum.files, [&](TextBuffer& out) {
      return format.write_program(profile, program, options.writing, out);
    });
  };
  if (!is_folder(options.output)) {
    const profile::ProgramProfile& first = *programs->front();
    if (programs->size() > 1) {
      note(
          fmt::format("{} were executed; this is the profile of {}, which executed {} of the "
                      "instructions. --program selects another one; with a folder, such as -o "
                      "profiles/, each has a file.",
                      counted(programs->size(), "program"), escaped(first.path),
                      percent(first.instructions(), profile.instructions())));
    }
    report_rest(profile);
    return write_one(first, options.output);
  }
  std::error_code failed;
  std::filesystem::create_directories(options.output, failed);
  if (failed) {
    return complain(fmt::format("Cannot create the folder {}: {}. Choose another one with -o.",
                                options.output, failed.message()),
                    kOutput);
  }
  report_rest(profile);
  std::vector<std::string> names;
  for (const profile::ProgramProfile* program : *programs) {
    std::string name = file_name(*program);
    // Two programs of one name.
    if (std::ranges::find(names, name) != names.end())
      name += "-" + (program->build_id.empty() ? fmt::format("{}", program->number)
                                               : hex_of(program->build_id).substr(0, 8));
    names.push_back(name);
    const std::filesystem::path path =
        std::filesystem::path(options.output) / (name + std::string(format.suffix));
    if (const int code = write_one(*program, path.string()); code != kOk) return code;
  }
  return kOk;
}

int write_profile(const exports::Format& format, const ProfileSum& sum,
                  const ExportOptions& options) {
  const auto programs =
      format.any_program ? choose_any(sum.profile, options) : choose(sum.profile, options);
  if (!programs) return programs.error();
  if (options.programs.empty() && !format.any_program) report_rest(sum.profile);
  if (format.any_program && sum.profile.other_instructions() != 0) {
    note(fmt::format("{} of {} are left out, because their path is not known.",
                     sum.profile.other_instructions(),
                     counted(sum.profile.instructions(), "instruction")));
  }
  exports::Options writing = options.writing;
  writing.seconds = time_of_writing();
  const outputs::SourceFiles sources(options.of_format.sources);
  writing.source_path = [&](const std::string& file) { return sources.path_of(file); };
  return write_file(options.output, sum.files, [&](TextBuffer& out) {
    return format.write_profile(sum.profile, *programs, writing, out);
  });
}

}  // namespace waymark::cli
