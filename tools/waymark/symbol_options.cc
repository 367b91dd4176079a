#include "symbol_options.h"

#include <fmt/format.h>

#include <memory>

#include "elf_argument.h"
#include "waymark/perf/process_images.h"

namespace waymark::cli {
namespace {

std::unexpected<Error> no_function(const inputs::Capture& capture) {
  return fail(ErrorCode::kNotFound,
              fmt::format("{}: no function has a name, because no file of the program image is "
                          "an ELF file with symbols; name the program with --symbols FILE.",
                          capture.trace().path()));
}

}  // namespace

CLI::Option* add_symbol_options(CLI::App& command, SymbolOptions& options,
                                const std::string& what) {
  CLI::Option* const functions = command.add_flag("--functions", options.functions, what);
  command
      .add_option("--symbols", options.files,
                  "A program whose symbols name the functions, if the image is not an ELF file; "
                  "@ADDRESS: how far above its link addresses it was loaded; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false)
      ->needs(functions);
  return functions;
}

void add_detail_options(CLI::App& command, SymbolOptions& options, CLI::Option* functions) {
  command.add_flag_callback(
      "--lines", [&options] { options.functions = options.details.lines = true; },
      "with the name of the function, show the source file and line at which each block begins");
  command.add_flag_callback(
      "--inlines",
      [&options] { options.functions = options.details.lines = options.details.inlines = true; },
      "with the source line, show the functions that the compiler inlined at it");
  // Options are complete once all are parsed, so --symbols may come before these.
  CLI::Option* const symbols = command.get_option("--symbols");
  symbols->remove_needs(functions);
  command.parse_complete_callback([&options, symbols] {
    if (!options.files.empty() && !options.functions)
      throw CLI::RequiresError(symbols->get_name(), "--functions");
  });
}

Result<image::Symbols> load_symbols(const inputs::Capture& capture, const SymbolOptions& options) {
  image::Symbols symbols;
  for (const std::string& argument : options.files) {
    const auto file = open_elf_argument(argument);
    if (!file) return std::unexpected(file.error());
    symbols.add(*file);
  }
  symbols.add(capture.image());
  if (symbols.functions().empty()) return no_function(capture);
  return symbols;
}

outputs::HumanWriter::ProcessNamer process_namer(const inputs::Capture& capture) {
  const perf::ProcessImages* const processes = capture.processes();
  if (processes == nullptr) return {};
  return [processes](const Element& element) {
    const std::uint64_t context = std::uint64_t{element.vmid} << 32 | element.context_id;
    const std::int32_t tid = processes->thread_at(element.index, element.trace_id, context);
    return tid < 0 ? std::string() : processes->name_at(element.index, tid);
  };
}

Result<outputs::PlaceLookup> place_lookup(const inputs::Capture& capture,
                                          const SymbolOptions& options) {
  const perf::ProcessImages* const processes = capture.processes();
  if (processes != nullptr) {
    return [processes](const Element& element, std::uint64_t address) -> program::Place {
      const std::uint64_t context = std::uint64_t{element.vmid} << 32 | element.context_id;
      const std::int32_t tid = processes->thread_at(element.index, element.trace_id, context);
      const perf::ProgramPlace place = processes->place_at(element.index, tid, address);
      const program::Program* const found = place.file == nullptr ? nullptr : place.file->program();
      const auto linked = found == nullptr ? std::nullopt : found->address_of(place.file_offset);
      if (!linked) return {};
      return {found, *linked};
    };
  }
  std::vector<outputs::GivenProgram> given;
  for (const std::string& argument : options.files) {
    const auto file = parse_elf_argument(argument);
    if (!file) return std::unexpected(file.error());
    auto opened = program::Program::open(file->path);
    if (!opened) return std::unexpected(std::move(opened).error());
    given.push_back({*std::move(opened), file->bias});
  }
  const auto programs =
      std::make_shared<const outputs::ImagePrograms>(std::move(given), capture.image());
  if (!programs->has_functions()) return no_function(capture);
  return outputs::ImagePrograms::lookup(programs);
}

}  // namespace waymark::cli
