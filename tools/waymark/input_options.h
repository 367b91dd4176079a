// The options that say what the input is; shared by all commands that read one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "complain.h"
#include "waymark/inputs/capture.h"

namespace waymark::cli {

using KnownIdBytes = decltype(inputs::CaptureOptions::known_id_bytes);

/// Texts as given; capture_options() reads them.
struct InputOptions {
  std::string path;
  std::string buffer;
  std::vector<std::string> ids;
  std::string protocol;
  std::string core;
  std::string framing;
  std::vector<std::string> registers;
  std::vector<std::string> images;
  bool assume_sync = false;
  std::string data_layouts;
  std::string nibble_order;
};

void add_input_options(CLI::App& command, InputOptions& options);

/// kInvalidArgument: a value that is not of its form, with the option in `detail`.
Result<inputs::CaptureOptions> capture_options(const InputOptions& options);

/// Whether the input says by itself, or the user by --id, which sources there are: then nothing in
/// its frames need be counted.
bool names_sources(const InputOptions& options);

/// Opens the capture and prints its notes to standard error.  On failure prints the sentence and
/// returns the exit code.
std::expected<inputs::Capture, int> open_capture(const InputOptions& options,
                                                 const SourceOptions& source,
                                                 bool print_notes = true,
                                                 const KnownIdBytes& known_id_bytes = {});

}  // namespace waymark::cli
