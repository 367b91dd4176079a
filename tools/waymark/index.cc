// waymark index: makes the index of a capture, or goes on with it.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>

#include "commands.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/index/builder.h"
#include "waymark/index/store.h"

namespace waymark::cli {
namespace {

struct IndexOptions {
  InputOptions input;
  bool sparse = false;
  bool full = false;
  bool rebuild = false;
  std::string output;
};

/// Where the input names its sources, nothing need be counted before the one pass.
KnownIdBytes uncounted(const InputOptions& input) {
  if (!names_sources(input)) return {};
  return [](const MappedFile& /*trace*/, inputs::Framing /*framing*/) {
    return std::optional(inputs::IdBytes{});
  };
}

std::uint64_t file_size(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

/// The store, or an index in memory where the folder cannot be written.
std::expected<std::unique_ptr<index::Index>, int> open_index(const std::string& path, bool anew) {
  bool told = false;
  const auto wait = [&] {
    if (!told) complain(fmt::format("note: another process has {}; waiting for it.", path), kOk);
    told = true;
    return !interrupted();
  };
  auto opened =
      index::open_store(path, {.mode = index::StoreMode::kBuild, .anew = anew, .wait = wait});
  if (opened) return std::move(*opened);
  const Error& error = opened.error();
  if (interrupted()) return std::unexpected(static_cast<int>(kInterrupted));
  if (error.code != ErrorCode::kIo && error.code != ErrorCode::kUnsupported)
    return std::unexpected(complain(error.detail, kOutput));
  complain(fmt::format("note: {} The index is made in memory and goes with this program; choose "
                       "another place with -o to keep it.",
                       error.detail),
           kOk);
  return index::make_memory_index();
}

void write_report(TextBuffer& out, const index::Header& header, const index::BuildReport& report,
                  const std::string& path, std::uint64_t trace_size, double seconds) {
  constexpr double kMega = 1e6;
  const auto done = static_cast<double>(report.to - report.from);
  out.put(fmt::format("{}: {} index of {} of {} bytes", path.empty() ? "in memory" : escaped(path),
                      index::form_name(header.form), report.to, trace_size));
  if (report.from != 0) out.put(fmt::format(", {} of them before", report.from));
  if (done > 0 && seconds > 0) out.put(fmt::format(", {:.0f} MB/s", done / kMega / seconds));
  if (!path.empty() && header.indexed != 0) {
    const std::uint64_t size = file_size(path);
    out.put(
        fmt::format("; {} bytes, {:.2f} % of the trace", size,
                    100 * static_cast<double>(size) / static_cast<double>(header.indexed)));
  }
  out.put('\n');
}

int run(const IndexOptions& options) {
  if (options.output.empty() && inputs::is_stream(options.input.path)) {
    return complain(fmt::format("{} has no index next to it, because it can be read only once; "
                                "name the index with -o FILE, or save the capture to a file.",
                                inputs::input_name(options.input.path)),
                    kUsage);
  }
  auto capture = open_capture(options.input, {.decode = false}, true, uncounted(options.input));
  if (!capture) return capture.error();
  const std::string path =
      options.output.empty() ? index::store_path(capture->trace().path()) : options.output;
  if (const auto good = refuse_input(path, capture->input_files()); !good)
    return complain(good.error().detail, kUsage);
  auto opened = open_index(path, options.rebuild);
  if (!opened) return opened.error();
  index::Index& index = **opened;
  if (!index.header().streams.empty() && (options.full || options.sparse) &&
      (index.header().form == index::Form::kFull) != options.full) {
    return complain(fmt::format("{} is a {} index; add --rebuild to make it anew.", path,
                                index::form_name(index.header().form)),
                    kOutput);
  }
  Progress progress(capture->trace_bytes());
  const auto start = std::chrono::steady_clock::now();
  const auto built = index::build(*capture, index,
                                  {.form = options.full ? index::Form::kFull : index::Form::kSparse,
                                   .stop = [&](std::uint64_t done) {
                                     progress.at(done);
                                     return interrupted();
                                   }});
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (!built) {
    const ErrorCode code = built.error().code;
    return complain(built.error().detail, code == ErrorCode::kConflict ? kInput : kOutput);
  }
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  write_report(output->text(), index.header(), *built, index.place(), capture->trace_bytes(),
               time.count());
  return finish_output(*output, built->complete ? kOk : kInterrupted);
}

}  // namespace

void add_index(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<IndexOptions>();
  CLI::App* command =
      app.add_subcommand("index", "Make an index, which find, --from and info then use");
  add_input_options(*command, options->input);
  auto* sparse = command->add_flag("--sparse", options->sparse,
                                   "Sums by block, at most 1 % of the capture (default)");
  command->add_flag("--full", options->full, "Each timestamp, event, exception ..., too")
      ->excludes(sparse);
  command->add_flag("--rebuild", options->rebuild, "Make an index that is there anew");
  command
      ->add_option("-o,--output", options->output,
                   "The index (default: the trace's name and .waymark-index)")
      ->type_name("FILE");
  command->footer(
      "An index that was interrupted, or whose capture has grown, is gone on with.\n"
      "Examples:\n"
      "  waymark index board/\n"
      "  waymark index board/ --full -o /tmp/board.waymark-index");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
