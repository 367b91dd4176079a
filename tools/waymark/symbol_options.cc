#include "symbol_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "command.h"
#include "complain.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "waymark/base/bits.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/program_files.h"

namespace waymark::cli {
namespace {

std::unexpected<Error> no_function(const inputs::Capture& capture) {
  return fail(ErrorCode::kNotFound,
              fmt::format("{}: functions have no names, because no file of the program image is an "
                          "ELF file with symbols; name the program with --symbols.",
                          inputs::trace_name(capture)));
}

/// Finds the programs of each process.
class RecordingPlaces {
 public:
  explicit RecordingPlaces(const perf::ProcessImages& images) : images_(&images), cursor_(images) {}

  program::Place operator()(const Element& element, std::uint64_t address) {
    const TaskId task = cursor_.id(element.index, element.trace_id, execution_context(element));
    if (task == task_ && address >= first_ && address <= last_) return {program_, address - bias_};
    const perf::ProgramPlace place = images_->place(task, address);
    const program::Place found = place.linked();
    const program::Function* const function =
        found.program == nullptr ? nullptr : found.program->function(found.address);
    if (function == nullptr) return found;
    // The part of the function that this mapping shows.
    task_ = task;
    first_ = address - std::min(found.address - function->start, address - place.first);
    last_ = address + std::min(function->last - found.address, place.last - address);
    bias_ = address - found.address;
    program_ = found.program;
    return found;
  }

 private:
  const perf::ProcessImages* images_;
  perf::TaskCursor cursor_;
  // The last function; nowhere at first.
  TaskId task_{};
  std::uint64_t first_ = 1;
  std::uint64_t last_ = 0;
  std::uint64_t bias_ = 0;
  const program::Program* program_ = nullptr;
};

/// The programs that the user names, and those of the image.  kInvalidArgument: two of them are at
/// the same addresses.
Result<std::shared_ptr<const outputs::ImagePrograms>> image_programs(const inputs::Capture& capture,
                                                                     const SymbolOptions& options) {
  std::vector<outputs::GivenProgram> given;
  for (const std::string& argument : options.files) {
    const auto file = parse_elf_argument(argument);
    if (!file) return std::unexpected(file.error());
    auto opened = program::Program::open(file->path);
    if (!opened) return std::unexpected(std::move(opened).error());
    given.push_back({*std::move(opened), file->bias});
  }
  auto programs = std::make_shared<const outputs::ImagePrograms>(std::move(given), capture.image());
  if (const auto overlap = programs->overlap()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} and {} are both at 0x{:x}..0x{:x}, so names would be those of "
                            "the wrong one. Append @ and its load address to a program that was "
                            "loaded elsewhere, or leave one out{}.",
                            inputs::trace_name(capture), overlap->programs[0]->path(),
                            overlap->programs[1]->path(), overlap->first, overlap->last + 1,
                            options.of_one_run ? "; name the programs of one run with --symbols-a "
                                                 "or --symbols-b"
                                               : ""));
  }
  return programs;
}

}  // namespace

Option* add_symbol_options(Command& command, SymbolOptions& options, const std::string& what) {
  Option* const functions = command.add_flag("--functions", options.functions, what);
  command
      .add_option("--symbols", options.files,
                  "A program (ELF file) whose symbols name the functions, if the image has none; "
                  "@ADDRESS: its load address minus its link address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false)
      ->needs(functions);
  return functions;
}

void add_detail_options(Command& command, SymbolOptions& options, Option* functions) {
  command.add_flag_callback(
      "--lines", [&options] { options.functions = options.details.lines = true; },
      "show the function, source file and line of each block");
  command.add_flag_callback(
      "--inlines",
      [&options] { options.functions = options.details.lines = options.details.inlines = true; },
      "like --lines, and also show the functions inlined at each line");
  // Options are complete once all are parsed, so --symbols may come before these.
  Option* const symbols = command.get_option("--symbols");
  symbols->remove_needs(functions);
  command.parse_complete_callback([&options, symbols] {
    if (!options.files.empty() && !options.functions) refuse_without(*symbols, "--functions");
  });
}

int complain_of_symbols(const Error& error) {
  return complain(error.detail, error.code == ErrorCode::kInvalidArgument ? kUsage : kInput);
}

Result<image::Symbols> load_symbols(const inputs::Capture& capture, const SymbolOptions& options) {
  const auto programs = image_programs(capture, options);
  if (!programs) return std::unexpected(programs.error());
  image::Symbols symbols = (*programs)->symbols();
  if (symbols.functions().empty()) return no_function(capture);
  return symbols;
}

count::ReadHalfword code_reader(const inputs::Capture& capture) {
  if (capture.sources().empty()) return {};
  return [&image = capture.image(), id = capture.sources().front().id](
             std::uint64_t address) -> std::optional<std::uint16_t> {
    std::array<std::uint8_t, 2> scratch{};
    const Bytes bytes = image.read(address, image::kSpaceAny, id, scratch);
    if (bytes.size() < scratch.size()) return std::nullopt;
    return load_le<std::uint16_t>(bytes.data());
  };
}

outputs::HumanWriter::ProcessNamer process_namer(const inputs::Capture& capture) {
  const perf::ProcessImages* const processes = capture.processes();
  if (processes == nullptr) return {};
  return [cursor = perf::TaskCursor(*processes)](const Element& element) mutable {
    return cursor.task(element.index, element.trace_id, execution_context(element)).name;
  };
}

Result<ProgramPlaces> program_places(const inputs::Capture& capture, const SymbolOptions& options) {
  ProgramPlaces places;
  const perf::ProcessImages* const processes = capture.processes();
  if (processes != nullptr) {
    places.lookup = RecordingPlaces(*processes);
    if (capture.programs() == nullptr) return places;
    for (const perf::ProgramFile* file : capture.programs()->found_files())
      if (const program::Program* program = file->program(); program != nullptr)
        places.programs.push_back(program);
    return places;
  }
  auto programs = image_programs(capture, options);
  if (!programs) return std::unexpected(std::move(programs).error());
  if (!(*programs)->has_functions()) return no_function(capture);
  places.lookup = outputs::ImagePrograms::lookup(*programs);
  places.programs = (*programs)->programs();
  places.image = *std::move(programs);
  return places;
}

Result<outputs::PlaceLookup> any_place_lookup(const inputs::Capture& capture,
                                              const SymbolOptions& options) {
  const perf::ProcessImages* const processes = capture.processes();
  if (processes != nullptr) return RecordingPlaces(*processes);
  const auto programs = image_programs(capture, options);
  if (!programs) return std::unexpected(programs.error());
  return outputs::ImagePrograms::lookup(*programs);
}

Result<outputs::PlaceLookup> place_lookup(const inputs::Capture& capture,
                                          const SymbolOptions& options) {
  if (capture.processes() != nullptr) return any_place_lookup(capture, options);
  auto places = program_places(capture, options);
  if (!places) return std::unexpected(std::move(places).error());
  return std::move(places->lookup);
}

}  // namespace waymark::cli
