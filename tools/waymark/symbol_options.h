// Names of functions: --functions and --symbols.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "waymark/count/functions.h"
#include "waymark/image/symbols.h"
#include "waymark/inputs/capture.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/function_query.h"
#include "waymark/outputs/human.h"

namespace waymark::cli {

class Command;
class Option;

struct SymbolOptions {
  bool functions = false;
  outputs::NameDetails details{};    ///< For decode.
  std::vector<std::string> files{};  ///< FILE or FILE@ADDRESS.
  bool of_one_run = false;           ///< Another run has its own: --symbols-a, --symbols-b.
};

/// `what` is what --functions does.
Option* add_symbol_options(Command& command, SymbolOptions& options, const std::string& what);

/// Adds --lines and --inlines, each of which implies the option that add_symbol_options() returned.
void add_detail_options(Command& command, SymbolOptions& options, Option* functions);

/// The symbols of the files that the user names, which come first, and of the capture's image.
/// kNotFound: there are none.  kInvalidArgument: two of the programs are at the same addresses.
/// Other errors are those of open_elf_argument().
Result<image::Symbols> load_symbols(const inputs::Capture& capture, const SymbolOptions& options);

/// Reads the T32 code of a capture that is not a recording, and must outlive the result.
count::ReadHalfword code_reader(const inputs::Capture& capture);

/// Prints the sentence of a load_symbols() or place_lookup() that failed, and returns the exit
/// code.
int complain_of_symbols(const Error& error);

/// Names the processes of a recording; empty if the capture is not one.  The capture must outlive
/// the result.
outputs::HumanWriter::ProcessNamer process_namer(const inputs::Capture& capture);

/// Finds the program at an address: in the memory of each process if the input is a recording, else
/// in the files that the user names and in the image.  The capture must outlive the result.
/// Errors as those of load_symbols().
Result<outputs::PlaceLookup> place_lookup(const inputs::Capture& capture,
                                          const SymbolOptions& options);

/// The same for what needs no names: if no program has functions, that is not an error.
Result<outputs::PlaceLookup> any_place_lookup(const inputs::Capture& capture,
                                              const SymbolOptions& options);

/// The programs in which users name functions, and where they are.
struct ProgramPlaces {
  outputs::PlaceLookup lookup{};
  std::vector<const program::Program*> programs{};
  /// What finds them in memory; nullptr: the capture is a recording, whose processes have them at
  /// addresses of their own.
  std::shared_ptr<const outputs::ImagePrograms> image{};

  /// A recording has programs that are not known before it is read.
  [[nodiscard]] bool others() const { return image == nullptr; }
  /// Which functions the text means.  Errors as those of outputs::FunctionMatch::find().
  [[nodiscard]] Result<outputs::FunctionMatch> match(const std::string& text) const {
    return outputs::FunctionMatch::find(programs, text, others());
  }
};

/// Errors as those of place_lookup().  The capture must outlive the result.
Result<ProgramPlaces> program_places(const inputs::Capture& capture, const SymbolOptions& options);

}  // namespace waymark::cli
