#include "symbol_options.h"

#include <fmt/format.h>

#include "elf_argument.h"
#include "waymark/perf/process_images.h"

namespace waymark::cli {

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

Result<image::Symbols> load_symbols(const inputs::Capture& capture, const SymbolOptions& options) {
  image::Symbols symbols;
  for (const std::string& argument : options.files) {
    const auto file = open_elf_argument(argument);
    if (!file) return std::unexpected(file.error());
    symbols.add(*file);
  }
  symbols.add(capture.image());
  if (symbols.functions().empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: no function has a name, because no file of the program image is "
                            "an ELF file with symbols; name the program with --symbols FILE.",
                            capture.trace().path()));
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

Result<outputs::FunctionLookup> function_lookup(const inputs::Capture& capture,
                                                const SymbolOptions& options,
                                                image::Symbols& symbols) {
  const perf::ProcessImages* const processes = capture.processes();
  if (processes == nullptr) {
    auto found = load_symbols(capture, options);
    if (!found) return std::unexpected(found.error());
    symbols = *std::move(found);
    return outputs::lookup_in(symbols);
  }
  return [processes](const Element& element, std::uint64_t address) -> outputs::FunctionPlace {
    const std::uint64_t context = std::uint64_t{element.vmid} << 32 | element.context_id;
    const std::int32_t tid = processes->thread_at(element.index, element.trace_id, context);
    const perf::ProgramPlace place = processes->place_at(element.index, tid, address);
    if (place.file == nullptr) return {};
    const auto linked = place.file->address_of(place.file_offset);
    const image::Function* const function = linked ? place.file->symbols().find(*linked) : nullptr;
    if (function == nullptr) return {};
    return {function, *linked - function->start};
  };
}

}  // namespace waymark::cli
