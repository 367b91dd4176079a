#include "symbol_options.h"

#include <fmt/format.h>

#include "elf_argument.h"

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

}  // namespace waymark::cli
