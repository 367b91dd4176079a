// Names of functions: --functions and --symbols.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "waymark/image/symbols.h"
#include "waymark/inputs/capture.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/human.h"

namespace waymark::cli {

struct SymbolOptions {
  bool functions = false;
  std::vector<std::string> files;  ///< FILE or FILE@ADDRESS.
};

/// `what` is what --functions does.
CLI::Option* add_symbol_options(CLI::App& command, SymbolOptions& options, const std::string& what);

/// The symbols of the files that the user names, which come first, and of the capture's image.
/// kNotFound: there are none.  Other errors are those of open_elf_argument().
Result<image::Symbols> load_symbols(const inputs::Capture& capture, const SymbolOptions& options);

/// Names the processes of a recording; empty if the capture is not one.  The capture must outlive
/// the result.
outputs::HumanWriter::ProcessNamer process_namer(const inputs::Capture& capture);

/// Looks for functions with these options: in the programs of each process if the input is a
/// recording, else in `symbols`, which receives those of load_symbols().  The capture and `symbols`
/// must outlive the result.
Result<outputs::FunctionLookup> function_lookup(const inputs::Capture& capture,
                                                const SymbolOptions& options,
                                                image::Symbols& symbols);

}  // namespace waymark::cli
