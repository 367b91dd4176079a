#include "live_options.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "command.h"
#include "interrupt.h"
#include "waymark/live/connected_stream.h"
#include "waymark/live/recording.h"

namespace waymark::cli {
namespace {

/// Standard input and pipes that were not copied.  A redirected file is read as a file.
bool is_pipe(const std::string& path) {
  struct stat status{};
  if (path == "-") return ::fstat(STDIN_FILENO, &status) == 0 && !S_ISREG(status.st_mode);
  return inputs::is_stream(path);
}

live::Tell teller() {
  return [](const std::string& sentence) { note(sentence); };
}

Result<std::unique_ptr<live::Stream>> connect(const InputOptions& options) {
  const auto address = live::parse_address(options.path);
  if (!address) return std::unexpected(address.error());
  live::ConnectOptions connecting{.stop = interrupted, .tell = teller()};
  if (options.live.retry_for)
    connecting.retry_for =
        std::chrono::seconds(std::min<std::uint64_t>(*options.live.retry_for, 1'000'000'000));
  return live::connect(*address, std::move(connecting));
}

}  // namespace

void add_live_options(Command& command, InputOptions& options, bool arrival) {
  const std::string group = "For live sources";
  options.live.allowed = true;
  Option* const input = command.get_option("INPUT");
  input->description(input->get_description() + "; or a live source, such as tcp://HOST:PORT");
  command
      .add_option("--record", options.live.record,
                  "also keep the trace in this file, which is an INPUT later")
      ->type_name("FILE")
      ->group(group);
  if (arrival) {
    command
        .add_flag("--arrival", options.live.arrival,
                  "begin each line with the time at which its last bytes arrived")
        ->group(group);
  }
  command
      .add_option("--retry-for", options.live.retry_for,
                  "how many seconds to try again after the connection is lost; 0: the trace ends "
                  "there; default: until Ctrl-C")
      ->type_name("N")
      ->group(group);
}

Result<void> check_live(const InputOptions& options) {
  const LiveOptions& live = options.live;
  const bool is_live = live::is_address(options.path);
  if (is_live) {
    if (const auto address = live::parse_address(options.path); !address)
      return std::unexpected(address.error());
    if (!live.allowed)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{0}: this command needs the whole trace; record it first with "
                              "`waymark decode {0} --record FILE`, and name the file.",
                              options.path));
    if (!live.whole.empty())
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: {} cannot be used with a live source; record it first with "
                              "--record FILE, and use the option with the file.",
                              options.path, live.whole));
  }
  if (live.record.empty()) return {};
  if (!is_live && !is_pipe(options.path))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--record: {} is not a live source; copy the file instead.",
                            inputs::input_name(options.path)));
  if (!live.whole.empty())
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--record: {} needs the whole trace; copy the pipe to a file first.",
                            live.whole));
  const std::string files[] = {path_of_input(options.path)};
  if (!refuse_input(live.record, files) || live.record == "-")
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("--record {}: this is the input or the output; choose another file.",
                            live.record));
  return {};
}

Result<LiveInput> open_live_input(const InputOptions& options) {
  LiveInput input;
  std::unique_ptr<live::Stream> stream;
  if (live::is_address(options.path)) {
    auto connected = connect(options);
    if (!connected) return std::unexpected(connected.error());
    stream = *std::move(connected);
  } else if (is_pipe(options.path) && options.live.whole.empty()) {
    auto opened = inputs::InputStream::open(options.path, interrupted);
    if (!opened) return std::unexpected(opened.error());
    auto made = std::make_unique<inputs::PipeStream>(*std::move(opened));
    input.pipe = made.get();
    stream = std::move(made);
  } else {
    return input;
  }
  if (!options.live.record.empty()) {
    auto recorded = live::record(
        std::move(stream),
        {.path = options.live.record, .arrivals = options.live.arrival, .tell = teller()});
    if (!recorded) return std::unexpected(recorded.error());
    stream = *std::move(recorded);
  }
  input.head = std::make_shared<live::Head>(std::move(stream));
  return input;
}

Result<std::shared_ptr<live::Head>> read_trace_head(const LiveInput& input,
                                                    const InputOptions& options) {
  if (input.head == nullptr) return nullptr;
  const auto wanted = capture_options(options);
  if (!wanted) return std::unexpected(wanted.error());
  WAYMARK_TRY(inputs::read_head(*input.head, *wanted, teller()));
  if (input.pipe == nullptr || inputs::is_streamable(*input.head, *wanted)) return input.head;
  if (!options.live.record.empty())
    return fail(ErrorCode::kUnsupported,
                fmt::format("--record: {} is not trace that can be decoded while it arrives; copy "
                            "it to a file.",
                            inputs::input_name(options.path)));
  const auto copied = open_input(input.pipe->input(), input.head->bytes());
  if (!copied) return std::unexpected(copied.error());
  return nullptr;
}

Result<std::shared_ptr<live::Head>> open_live(const InputOptions& options) {
  const auto input = open_live_input(options);
  if (!input) return std::unexpected(input.error());
  return read_trace_head(*input, options);
}

void stamp_lines(Output& output, const InputOptions& options, Format format) {
  using Form = outputs::LineStamp::Form;
  if (!options.live.arrival) return;
  output.stamp_lines(format == Format::kJson  ? Form::kJson
                     : format == Format::kCsv ? Form::kCsv
                                              : Form::kText);
}

}  // namespace waymark::cli
