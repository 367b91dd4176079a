// waymark index: makes the index of a capture, or continues it.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "command.h"
#include "commands.h"
#include "exit_code.h"
#include "format.h"
#include "index_access.h"
#include "input_options.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/index/builder.h"
#include "waymark/index/store.h"
#include "waymark/outputs/json.h"

namespace waymark::cli {
namespace {

struct IndexOptions {
  InputOptions input;
  bool sparse = false;
  bool full = false;
  bool rebuild = false;
  Format format = Format::kText;
  std::string output;
};

/// If the input names its sources, nothing need be counted before the one pass.
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

std::expected<std::unique_ptr<index::Index>, int> open_index(const std::string& path,
                                                             bool rebuild) {
  bool noted = false;
  const auto wait = [&] {
    if (!noted) note(fmt::format("waiting for another process that uses {}.", path));
    noted = true;
    return !interrupted();
  };
  auto opened =
      index::open_store(path, {.mode = index::StoreMode::kBuild, .rebuild = rebuild, .wait = wait});
  if (opened) return std::move(*opened);
  if (interrupted()) return std::unexpected(static_cast<int>(kInterrupted));
  return std::unexpected(complain(opened.error().detail, kOutput));
}

struct Report {
  const index::Header& header;
  const index::BuildReport& built;
  const std::string& path;
  std::uint64_t trace_bytes = 0;
  double seconds = 0;
};

void write_text(TextBuffer& out, const Report& report) {
  constexpr double kMega = 1e6;
  const index::BuildReport& built = report.built;
  const auto done = static_cast<double>(built.to - built.from);
  put_escaped(out, report.path);
  out.put(fmt::format(": {} index of {} of {} bytes", index::form_name(report.header.form),
                      built.to, report.trace_bytes));
  if (built.from != 0) out.put(fmt::format(", {} of them already indexed", built.from));
  if (done > 0 && report.seconds > 0)
    out.put(fmt::format(", {:.0f} MB/s", done / kMega / report.seconds));
  if (report.header.indexed != 0) {
    const std::uint64_t size = file_size(report.path);
    out.put(
        fmt::format("; {} bytes, {:.2f} % of the trace", size,
                    100 * static_cast<double>(size) / static_cast<double>(report.header.indexed)));
  }
  out.put('\n');
}

/// One object on one line; docs/output-formats.md.
void write_json(TextBuffer& out, const Report& report) {
  out.put(R"({"type":"index","file":)");
  outputs::write_json_string(out, report.path);
  out.put(fmt::format(
      ",\"form\":\"{}\",\"trace_bytes\":{},\"indexed\":{},\"indexed_before\":{},\"complete\":{},"
      "\"file_bytes\":{}}}\n",
      index::form_name(report.header.form), report.trace_bytes, report.built.to, report.built.from,
      report.built.complete, file_size(report.path)));
}

int run(const IndexOptions& options) {
  if (options.output.empty() && inputs::is_stream(options.input.path)) {
    return complain(fmt::format("{} can be read only once, so it cannot have an index next to it; "
                                "name a file for the index with -o, or save the capture to a file.",
                                inputs::input_name(options.input.path)),
                    kUsage);
  }
  auto capture = open_capture(options.input, {.decode = false}, true, uncounted(options.input));
  if (!capture) return capture.error();
  const std::string path =
      options.output.empty() ? new_index_place(capture->trace().path()) : options.output;
  std::vector<std::string> inputs = capture->input_files();
  if (!options.input.data_layouts.empty()) inputs.push_back(options.input.data_layouts);
  if (const auto good = refuse_input(path, inputs); !good)
    return complain(good.error().detail, kUsage);
  auto opened = open_index(path, options.rebuild);
  if (!opened) return opened.error();
  index::Index& index = **opened;
  if (!index.header().streams.empty() && (options.full || options.sparse) &&
      (index.header().form == index::Form::kFull) != options.full) {
    return complain(fmt::format("{} is a {} index; add --rebuild to replace it.", path,
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
  auto output = Output::open({}, {});
  if (!output) return complain(output.error().detail, kOutput);
  const Report report{.header = index.header(),
                      .built = *built,
                      .path = path,
                      .trace_bytes = capture->trace_bytes(),
                      .seconds = time.count()};
  if (options.format == Format::kJson) {
    write_json(output->text(), report);
  } else {
    write_text(output->text(), report);
  }
  return finish_output(*output, built->complete ? kOk : kInterrupted);
}

}  // namespace

void add_index(Command& app, int& exit_code) {
  auto options = std::make_shared<IndexOptions>();
  Command* command =
      app.add_subcommand("index", "Build an index that speeds up find, info, --from and --to");
  add_input_options(*command, options->input);
  auto* sparse =
      command->add_flag("--sparse", options->sparse,
                        "store sums for each block of trace, at most 1 % of its size (default)");
  command
      ->add_flag("--full", options->full, "store every timestamp, event, exception and so on, too")
      ->excludes(sparse);
  command->add_flag("--rebuild", options->rebuild,
                    "rebuild the index even if it is damaged or belongs to another capture");
  command
      ->add_option("-o,--output", options->output,
                   "write the index to this file; default: the name of the trace with "
                   ".waymark-index appended, or in ~/.cache/waymark if its folder is not writable")
      ->type_name("FILE");
  add_format_option(*command, options->format, false);
  command->footer(
      "If indexing was interrupted or the capture has grown, indexing continues where it stopped.\n"
      "Examples:\n"
      "  waymark index board/\n"
      "  waymark index board/ --full -o /tmp/board.waymark-index");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
