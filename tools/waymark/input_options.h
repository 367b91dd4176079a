// The options that say what the input is; shared by all commands that read one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "complain.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/input_file.h"

namespace waymark::cli {

class Command;

/// Sections of --help.
inline constexpr std::string_view kInputGroup = "The capture and its programs";
inline constexpr std::string_view kRecordingGroup = "For perf and simpleperf recordings";

using KnownIdBytes = decltype(inputs::CaptureOptions::known_id_bytes);

/// Options of commands that decode trace while it arrives; live_options.h.
struct LiveOptions {
  bool allowed = false;  ///< The command can do this.
  std::string record;
  bool arrival = false;
  std::optional<std::uint64_t> retry_for;  ///< Seconds.
  std::string whole;                       ///< Options given that need the whole trace.
  std::shared_ptr<live::Head> head{};      ///< The stream, if the command has opened it.
};

/// Texts as given; capture_options() reads them.
struct InputOptions {
  std::string path;
  std::string buffer;
  std::vector<std::string> ids;
  std::vector<std::string> cpus;
  std::string protocol;
  std::vector<std::string> sources;
  std::string core;
  std::string framing;
  std::vector<std::string> registers;
  std::string register_text;
  std::vector<std::string> images;
  std::vector<std::string> programs;
  std::vector<std::string> roots;
  std::vector<std::string> caches;
  bool debuginfod = false;
  std::string vmlinux;
  std::string guest_vmlinux;
  std::string guest_kallsyms;
  std::string kallsyms;
  std::string kcore;
  bool virtual_timestamps = false;
  bool assume_sync = false;
  std::string data_layouts;
  std::string nibble_order;
  LiveOptions live;
  std::vector<std::string> pins;
  std::string swo_coding;
  std::string swo_rate;
  std::string sample_rate;
  std::shared_ptr<image::Image> memory{};  ///< inputs::CaptureOptions::image.
};

void add_input_options(Command& command, InputOptions& options);
/// The same for a command with several inputs, which go to `paths` and need not be given.
void add_input_options(Command& command, InputOptions& options, std::vector<std::string>& paths);

/// kInvalidArgument: a value that is not of its form, with the option in `detail`.
Result<inputs::CaptureOptions> capture_options(const InputOptions& options);

/// Whether the input itself, or the user with --id, says which sources there are.  Then nothing in
/// its frames needs to be counted.
bool names_sources(const InputOptions& options);

/// Opens the file that INPUT names.  Standard input ("-") and pipes are copied to a temporary file
/// first, with a note; they can be opened again.
Result<MappedFile> open_input(const std::string& path);

/// The same for a stream of which `head` was already read.
Result<MappedFile> open_input(inputs::InputStream& stream, Bytes head);

/// The file that INPUT names, for the check that an output does not replace it.
std::string path_of_input(const std::string& path);

/// The content of a file that is read once, also of standard input ("-") and of a pipe.  On failure
/// prints the sentence and returns the exit code.
std::expected<std::string, int> read_text_input(const std::string& path);

/// Opens the capture, and prints nothing.  Errors: those of capture_options() and Capture::open().
Result<inputs::Capture> try_open_capture(const InputOptions& options, const SourceOptions& source,
                                         const KnownIdBytes& known_id_bytes = {},
                                         bool check_image = false);

/// Opens the capture and prints its notes to standard error.  `check_image`: see CaptureOptions. On
/// failure prints the sentence and returns the exit code.
std::expected<inputs::Capture, int> open_capture(const InputOptions& options,
                                                 const SourceOptions& source,
                                                 bool print_notes = true,
                                                 const KnownIdBytes& known_id_bytes = {},
                                                 bool check_image = false);

}  // namespace waymark::cli
