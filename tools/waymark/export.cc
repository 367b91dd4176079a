// waymark export: what was executed, in the formats of other programs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "branch_lists.h"
#include "commands.h"
#include "complain.h"
#include "counting.h"
#include "decode_parallel.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "export_events.h"
#include "export_messages.h"
#include "export_stacks.h"
#include "input_options.h"
#include "missing_programs.h"
#include "option_values.h"
#include "output.h"
#include "program_profile.h"
#include "run.h"
#include "selection.h"
#include "symbol_options.h"
#include "waymark/base/escape.h"
#include "waymark/base/nearest.h"
#include "waymark/base/plural.h"
#include "waymark/exports/table.h"
#include "waymark/outputs/source_files.h"
#include "waymark/profile/profile.h"
#include "window.h"

namespace waymark::cli {
namespace {

struct ExportOptions {
  std::string format;
  bool list = false;
  InputOptions input;
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::string> programs;
  std::vector<std::string> sources;
  bool compress = false;
  exports::Options writing;
  SymbolOptions symbols;
  SelectionOptions selection;
  unsigned threads = 0;  ///< 0: not given.
  WindowOptions window;
  StackExportOptions stacks;
  ExportMessageOptions messages;
};

int list_formats() {
  std::string text;
  std::size_t width = 0;
  for (const exports::Format& format : exports::formats())
    width = std::max(width, format.name.size());
  for (const exports::Format& format : exports::formats()) {
    text += fmt::format("{:<{}}  for {}\n{:<{}}  read by: {}\n", format.name, width, format.purpose,
                        "", width, format.readers);
  }
  return print_text(text);
}

/// The counts of all inputs together.
class Collector {
 public:
  /// `needs_code`: an input in which no instruction is counted is an error.
  Collector(const ExportOptions& options, bool needs_code)
      : options_(options), needs_code_(needs_code) {}

  [[nodiscard]] const profile::Profile& profile() const { return profile_; }
  /// The worst of the codes of the inputs.
  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] std::size_t used() const { return used_; }
  /// The inputs that could be read, and are trace.
  [[nodiscard]] const std::vector<std::string>& traces() const { return traces_; }
  /// All files that were read.
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

  /// False: nothing more is wanted.
  bool add(const std::string& path) {
    const int code = add_input(path);
    if (code == kOk) ++used_;
    code_ = std::max(code_, code);
    return code != kInterrupted && code != kUsage;
  }

 private:
  int add_input(const std::string& path) {
    if (const auto list = open_branch_list(path); !list) {
      return complain(list.error().detail, kInput);
    } else if (*list) {
      return add_branches(path, **list);
    }
    InputOptions input = options_.input;
    input.path = path;
    Window window(input, options_.window);
    auto opened = open_capture(input, {}, true, window.known_id_bytes());
    if (!opened) return opened.error();
    Used& used = used_inputs_.emplace_back(std::move(*opened));
    inputs::Capture& capture = used.capture;
    auto selection = select_in(capture, options_.selection);
    if (!selection) return complain(selection.error().detail, kUsage);
    auto places = place_lookup(capture, options_.symbols);
    if (!places && !needs_code_ && places.error().code == ErrorCode::kNotFound) {
      places = [](const Element& /*element*/, std::uint64_t /*address*/) {
        return program::Place();
      };
    }
    if (!places) return complain(places.error().detail, kInput);
    const std::vector<std::string> files =
        window.input_files(capture, program_paths(options_.symbols.files));
    files_.insert(files_.end(), files.begin(), files.end());
    const std::vector<std::string> of_capture = capture.input_files();
    files_.insert(files_.end(), of_capture.begin(), of_capture.end());
    files_.push_back(path_of_input(path));
    auto nothing = Output::open("", {});
    if (!nothing) return complain(nothing.error().detail, kOutput);
    if (const int code = window.open(capture); code != kOk) return code;
    Counted counted = window.given() ? count_window(capture, *selection, window, *nothing)
                                     : count_all(capture, *selection, options_.threads);
    std::optional<MissingPrograms> missing;
    if (capture.processes() != nullptr) {
      missing.emplace(capture);
      for (const count::Counts& counts : counted.by_source) missing->add(counts);
    }
    if (*selection && (*selection)->by_program()) keep_programs(counted, **selection);
    if (counted.code == kMemory || counted.code == kInterrupted) return counted.code;
    if (needs_code_ && counted.code == kOk && !counted_something(counted)) {
      return complain(fmt::format("{}: no instruction could be counted: {}", path,
                                  *selection ? "nothing that was selected was executed."
                                             : why_nothing(capture, window)),
                      kDamaged);
    }
    used.locate = program_locator(capture, *std::move(places));
    bool is_new = false;
    for (const count::Counts& counts : counted.by_source)
      is_new = profile_.add(counts, used.locate) || is_new;
    if (missing) missing->tell();
    if (counted.code == kOk) traces_.push_back(path);
    // Only the programs of an input are still needed, if it brought any.
    if (!is_new) used_inputs_.pop_back();
    return counted.code;
  }

  /// A list of branches, which simpleperf or export made.
  int add_branches(const std::string& path, const exports::BranchList& list) {
    files_.push_back(path);
    BranchListCounts& counts = used_lists_.emplace_back(options_.input);
    (void)counts.add(list, profile_);
    counts.tell(path);
    if (counts.instructions() != 0) return kOk;
    return complain(fmt::format("{}: no instruction could be counted: none of its programs was "
                                "found, or none of their code.",
                                escaped(path)),
                    kDamaged);
  }

  /// What owns the programs of the profile.
  struct Used {
    explicit Used(inputs::Capture&& opened) : capture(std::move(opened)) {}
    inputs::Capture capture;
    profile::Locate locate{};
  };

  const ExportOptions& options_;
  bool needs_code_;
  std::list<Used> used_inputs_;
  std::list<BranchListCounts> used_lists_;
  profile::Profile profile_;
  std::vector<std::string> files_;
  std::vector<std::string> traces_;
  std::size_t used_ = 0;
  int code_ = kOk;
};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format(
      "{:.1f} %", whole == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
}

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
        complain("no program that was executed is an ELF file that was found; name it with --elf, "
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
      return std::unexpected(
          complain(fmt::format("--program {}: nothing of this name or build ID was executed; the "
                               "programs are: {}.",
                               escaped(name), names),
                   kUsage));
    }
    if (std::ranges::find(chosen, *found) == chosen.end()) chosen.push_back(*found);
  }
  return chosen;
}

void tell_rest(const profile::Profile& profile) {
  const std::uint64_t whole = profile.instructions();
  std::uint64_t in_programs = 0;
  for (const auto* program : known_programs(profile)) in_programs += program->instructions();
  if (in_programs == whole) return;
  note(fmt::format("{} of {} ({}) are left out, because no ELF file was found for their code.",
                   whole - in_programs, counted(whole, "instruction"),
                   percent(whole - in_programs, whole)));
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

/// A folder is written as "DIR/", or exists.
bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || (!path.empty() && std::filesystem::is_directory(path, ignored));
}

int write_programs(const exports::Format& format, const Collector& collected,
                   const ExportOptions& options) {
  const profile::Profile& profile = collected.profile();
  const auto programs = choose(profile, options);
  if (!programs) return programs.error();
  const auto write_one = [&](const profile::ProgramProfile& program, const std::string& path) {
    return write_file(path, collected.files(), [&](TextBuffer& out) {
      return format.write_program(profile, program, options.writing, out);
    });
  };
  if (!is_folder(options.output)) {
    const profile::ProgramProfile& first = *programs->front();
    if (programs->size() > 1) {
      note(
          fmt::format("{} were executed; this is the profile of {}, which executed {} of the "
                      "instructions. --program NAME selects another one; -o DIR/ writes a file "
                      "for each.",
                      counted(programs->size(), "program"), escaped(first.path),
                      percent(first.instructions(), profile.instructions())));
    }
    tell_rest(profile);
    return write_one(first, options.output);
  }
  std::error_code failed;
  std::filesystem::create_directories(options.output, failed);
  if (failed) {
    return complain(fmt::format("Cannot make the folder {}: {}. Choose another one with -o.",
                                options.output, failed.message()),
                    kOutput);
  }
  tell_rest(profile);
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

/// When a file is written; SOURCE_DATE_EPOCH makes files of different times equal.
std::int64_t time_of_writing() {
  if (const char* const fixed = std::getenv("SOURCE_DATE_EPOCH"); fixed != nullptr)
    return std::strtoll(fixed, nullptr, 10);
  return std::time(nullptr);
}

int write_profile(const exports::Format& format, const Collector& collected,
                  const ExportOptions& options) {
  const auto programs = choose(collected.profile(), options);
  if (!programs) return programs.error();
  if (options.programs.empty()) tell_rest(collected.profile());
  exports::Options writing = options.writing;
  writing.seconds = time_of_writing();
  const outputs::SourceFiles sources(options.sources);
  writing.source_path = [&](const std::string& file) { return sources.path_of(file); };
  return write_file(options.output, collected.files(), [&](TextBuffer& out) {
    return format.write_profile(collected.profile(), *programs, writing, out);
  });
}

/// All programs of the profile, or those that --program names.
std::expected<std::vector<const profile::ProgramProfile*>, int> choose_any(
    const profile::Profile& profile, const ExportOptions& options) {
  if (!options.programs.empty()) return choose(profile, options);
  std::vector<const profile::ProgramProfile*> all;
  for (const profile::ProgramProfile& program : profile.programs()) all.push_back(&program);
  return all;
}

int write_database(const exports::Format& format, const Collector& collected,
                   const ExportOptions& options, const EventExport& events) {
  const auto programs = choose_any(collected.profile(), options);
  if (!programs) return programs.error();
  auto output = Output::open_whole(options.output, collected.files());
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  if (output->temporary().empty())
    return complain(fmt::format("{} is a file: name it with -o FILE.", format.name), kUsage);
  auto database = format.make_database(output->temporary(), options.output);
  if (!database) {
    return complain(database.error().detail,
                    database.error().code == ErrorCode::kUnsupported ? kUsage : kOutput);
  }
  (*database)->add(collected.profile(), *programs);
  for (const std::string& path : collected.traces()) {
    (*database)->begin_input(path);
    if (const int code = add_events(events, path, **database, *output); code == kInterrupted)
      return code;
  }
  if (const auto closed = (*database)->close(); !closed)
    return complain(closed.error().detail, kOutput);
  database->reset();
  return output->commit() ? kOk : finish_output(*output, kOk);
}

int run(const ExportOptions& options) {
  if (options.list) return list_formats();
  if (options.format.empty())
    return complain("FORMAT is missing; `waymark export --list` shows all.", kUsage);
  if (options.inputs.empty()) return complain("INPUT is missing.", kUsage);
  if (options.inputs.size() > 1 && options.window.given())
    return complain("--from, --to and the like select a part of one INPUT, and there are several.",
                    kUsage);
  const exports::Format& format = *exports::find_format(options.format);
  if (format.write_program == nullptr && is_folder(options.output)) {
    return complain(fmt::format("-o {}: {} is one file for all programs, not a folder.",
                                escaped(options.output), format.name),
                    kUsage);
  }
  ExportMessageOptions messages = options.messages;
  messages.messages.frequency = options.stacks.frequency;
  if (messages.given() && format.make_timeline == nullptr && format.make_database == nullptr) {
    return complain(
        fmt::format("--syst: {} has no messages; timelines and sqlite have.", format.name), kUsage);
  }
  const auto shown = ExportMessages::make(messages);
  if (!shown) return shown.error();
  const EventExport events{.format = format,
                           .input = options.input,
                           .inputs = options.inputs,
                           .output = options.output,
                           .selection = options.selection,
                           .window = options.window,
                           .messages = *shown};
  if (format.make_events != nullptr) return export_events(events);
  if (format.write_branches != nullptr) {
    if (options.window.given() || options.selection.given() || !options.programs.empty()) {
      return complain(
          "branch-list: it is made of all packets of its inputs; --from, --to, --pid, --program "
          "and the like select when a profile is made of it.",
          kUsage);
    }
    return export_branch_list({.input = options.input,
                               .inputs = options.inputs,
                               .output = options.output,
                               .symbols = options.symbols,
                               .compress = options.compress});
  }
  if (format.write_tree != nullptr || format.make_timeline != nullptr) {
    return export_stacks({.format = format,
                          .input = options.input,
                          .inputs = options.inputs,
                          .output = options.output,
                          .symbols = options.symbols.files,
                          .selection = options.selection,
                          .window = options.window,
                          .stacks = options.stacks,
                          .messages = *shown});
  }
  Collector collected(options, format.make_database == nullptr);
  for (const std::string& path : options.inputs)
    if (!collected.add(path)) return collected.code();
  if (collected.used() == 0) return collected.code();
  if (collected.used() < options.inputs.size()) {
    note(fmt::format("this is the sum of {} of {}.", collected.used(),
                     counted(options.inputs.size(), "input")));
  }
  const auto write = [&] {
    if (format.make_database != nullptr) return write_database(format, collected, options, events);
    return format.write_profile != nullptr ? write_profile(format, collected, options)
                                           : write_programs(format, collected, options);
  };
  const int code = write();
  return code == kOk ? collected.code() : code;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const exports::Format& format : exports::formats()) names.emplace_back(format.name);
  return names;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      app.add_subcommand("export", "Write what was executed for other programs: profiles and more");
  command->add_option("FORMAT", options->format, "The format; --list shows all")
      ->check(one_of(format_names()));
  add_input_options(*command, options->input, options->inputs);
  command->add_flag("--list", options->list, "show all formats and the programs that read them");
  command
      ->add_option("-o,--output", options->output,
                   "write to this file; DIR/: a file for each program in this folder; default: "
                   "standard output")
      ->type_name("FILE|DIR/");
  command
      ->add_option("--program", options->programs,
                   "only the program of this path, file name or build ID; may be repeated; default "
                   "for one file: the program that executed most")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::string>(
          "--offsets",
          [options](const std::string& name) { options->writing.file_offsets = name == "file"; },
          "for autofdo, what addresses are counted from: segment, the first one, for its tools up "
          "to 0.19, or file, for newer ones and those of Android; default: segment")
      ->type_name("FROM")
      ->check(one_of({"segment", "file"}));
  command->add_flag("--compress", options->compress, "for branch-list: compress it with zstd");
  // Here, the option names folders of source files; --protocol describes raw trace.
  command->remove_option(command->get_option("--source"));
  command
      ->add_option("--source", options->sources,
                   "for lcov and cobertura, write the paths that source files have in this folder; "
                   "OLD=NEW: NEW takes the place of OLD at the beginning of their paths; may be "
                   "repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      ->add_option("--symbols", options->symbols.files,
                   "A program whose symbols name the functions, if the image is not an ELF file; "
                   "@ADDRESS: how far above its link addresses it was loaded; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  add_stack_export_options(*command, options->stacks);
  add_export_message_options(*command, options->messages);
  add_selection_options(*command, options->selection);
  add_threads_option(*command, options->threads);
  add_window_options(*command, options->window);
  command->footer(
      "The counts of several inputs are added up. Programs are told apart by their build IDs.\n"
      "\n"
      "Examples:\n"
      "  waymark export --list\n"
      "  waymark export autofdo perf.data --symfs sysroot/ -o app.afdo.txt\n"
      "  waymark export bolt run*/perf.data --program app -o app.bolt.txt\n"
      "  waymark export llvm-sample perf.data --symfs sysroot/ -o app.prof\n"
      "  waymark export lcov board/ --elf firmware.elf --source /build=. -o coverage.info\n"
      "  waymark export folded board/ --elf firmware.elf | flamegraph.pl > flames.svg\n"
      "  waymark export perfetto perf.data --symfs sysroot/ -o app.perfetto-trace\n"
      "  waymark export llvm-unsymbolized board/ --elf firmware.elf -o profiles/");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
