// waymark syst: what software said through MIPI SyS-T.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "command.h"
#include "commands.h"
#include "exit_code.h"
#include "interrupt.h"
#include "live_options.h"
#include "option_values.h"
#include "record_options.h"
#include "run.h"
#include "syst_carrier.h"
#include "syst_messages.h"
#include "syst_options.h"
#include "waymark/base/mapped_file.h"
#include "waymark/live/recording.h"
#include "waymark/syst/byte_reader.h"
#include "waymark/syst/trace_reader.h"

namespace waymark::cli {
namespace {

void drain(syst::ByteReader& reader, Messages& messages) {
  syst::Frame frame;
  while (!messages.is_stopped() && reader.next(frame)) messages.on_frame(frame);
}

int run_bytes(Bytes content, syst::ByteForm form, Output& output, Messages& messages) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  syst::ByteReader reader(form);
  for (std::size_t at = 0; at < content.size(); at += kBlock) {
    reader.feed(content.subspan(at, std::min(kBlock, content.size() - at)));
    drain(reader, messages);
    if (interrupted()) return kInterrupted;
    if (output.failed()) return kOutput;
    if (messages.is_stopped()) return kOk;
  }
  syst::Frame frame;
  while (!messages.is_stopped() && reader.finish(frame)) messages.on_frame(frame);
  return interrupted() ? kInterrupted : kOk;
}

void write_gap(Output& output, const SystOptions& options, TraceIndex index) {
  put_gap(output.text(), options.format, message_csv_header(), "status", index);
}

/// A stream, shown as it comes.
int run_stream(live::Stream& stream, std::optional<syst::ByteForm> form, const SystOptions& options,
               Output& output, Messages& messages) {
  constexpr live::Milliseconds kPatience{100};
  std::optional<syst::ByteReader> reader(std::in_place, form, true);
  syst::Frame frame;
  const auto finish = [&] {
    while (!messages.is_stopped() && reader->finish(frame)) messages.on_frame(frame);
  };
  while (!messages.is_stopped()) {
    const auto piece = stream.next(kPatience);
    if (!piece) return interrupted() ? int{kInterrupted} : complain(piece.error().detail, kInput);
    if (piece->kind == live::PieceKind::kEnd) break;
    output.arrives(piece->arrival);
    if (piece->kind == live::PieceKind::kGap) {
      finish();
      write_gap(output, options, messages.place());
      const auto known = reader->form();
      reader.emplace(known, true);
    } else if (piece->kind == live::PieceKind::kBytes) {
      reader->feed(piece->bytes);
      drain(*reader, messages);
      messages.pass(piece->bytes.size());
    }
    if (!output.flush()) return kOutput;
  }
  finish();
  return interrupted() ? kInterrupted : kOk;
}

int run_trace(inputs::Capture& capture, const SystOptions& options, Output& output,
              Messages& messages) {
  syst::TraceReader reader(messages.interpreter(), messages);
  const RunHooks hooks{
      .on_elements =
          [&](std::span<const Element> elements) {
            for (const Element& element : elements) {
              if (messages.is_stopped()) return;
              reader.add(element);
            }
          },
      .stop = [&] { return options.strict && messages.counts().first_bad.has_value(); },
      .gap = [&](TraceIndex index) { write_gap(output, options, index); }};
  const int code = run_capture(capture, output, hooks);
  // Pending messages are shown even if the trace ends in damage.
  const bool is_stopped = options.strict && messages.counts().first_bad.has_value();
  if (code != kInterrupted && code != kOutput && !is_stopped) reader.finish();
  if (options.statistics) {
    const syst::ChannelStatistics& counts = reader.statistics();
    complain(fmt::format("channels: {} messages, {} of them cut; {} packets outside messages",
                         counts.frames, counts.cut, counts.noise),
             kOk);
  }
  return code;
}

/// Text and plain messages have no transport: options for what only a transport has are refused.
Result<void> check_bytes(const MessageOptions& options) {
  const std::pair<std::string_view, bool> given[] = {
      {"--from", !options.from.empty()},
      {"--to", !options.to.empty()},
      {"--master", !options.masters.empty()},
      {"--channel", !options.channels.empty()},
  };
  for (const auto& [option, is_given] : given) {
    if (!is_given) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: text and plain messages have no masters, channels or transport "
                            "times, so no message would be shown.",
                            option));
  }
  return {};
}

bool sends_from_several_ids(const inputs::Capture& capture) {
  return std::ranges::count_if(capture.sources(), [](const inputs::CaptureSource& source) {
           const Protocol protocol = source.source->protocol();
           return protocol == Protocol::kStm || protocol == Protocol::kItm;
         }) > 1;
}

/// True: the user did not say what is in the file, and it is not empty.
bool is_guess(const SystOptions& options) {
  std::error_code error;
  const std::filesystem::path path(options.input.path);
  return options.as.empty() && options.input.protocol.empty() && options.input.framing.empty() &&
         std::filesystem::is_regular_file(path, error) &&
         std::filesystem::file_size(path, error) != 0;
}

std::expected<Output, int> open_plain_output(const std::string& path) {
  auto output = Output::open(path, {});
  if (!output) return std::unexpected(complain(output.error().detail, kOutput));
  return *std::move(output);
}

/// The source of messages.
struct MessageSource {
  MessageCarrier carrier = MessageCarrier::kLines;
  LiveInput stream{};  ///< Without a head: the input is a file.
  std::optional<inputs::Capture> capture{};
  MappedFile file{};

  [[nodiscard]] bool is_trace() const { return carrier == MessageCarrier::kTrace; }
};

/// An exit code.
int choose_carrier(SystOptions& options, MessageSource& source) {
  if (is_message_stream(options)) {
    if (const int code = open_message_stream(options, source.stream, source.carrier); code != kOk)
      return code;
  } else {
    if (const auto good = check_live(options.input); !good)
      return complain(good.error().detail, kUsage);
    const auto found = find_carrier(options);
    if (!found) return interrupted() ? int{kInterrupted} : complain(found.error().detail, kInput);
    source.carrier = *found;
  }
  if (source.is_trace()) return kOk;
  const auto checked = check_bytes(options.messages);
  return checked ? int{kOk} : complain(checked.error().detail, kUsage);
}

/// The same.
int open_source(const SystOptions& options, MessageSource& source) {
  if (source.is_trace()) {
    auto opened = open_capture(options.input, {});
    if (!opened) {
      if (!is_guess(options)) return opened.error();
      return complain(
          fmt::format("{}: there is no `{}` line in it either, and its bytes are not plain "
                      "messages; to read it as such, add --as lines or --as plain.",
                      options.input.path, syst::kLineTag),
          opened.error());
    }
    source.capture = *std::move(opened);
  } else if (source.stream.head == nullptr) {
    auto opened = open_input(options.input.path);
    if (!opened) return complain(opened.error().detail, kInput);
    source.file = *std::move(opened);
  }
  return kOk;
}

/// The same.
int read_source(const SystOptions& options, MessageSource& source, Output& output,
                Messages& messages) {
  if (source.is_trace()) return run_trace(*source.capture, options, output, messages);
  if (source.stream.head != nullptr) {
    const auto stated = stated_carrier(options);
    return run_stream(*source.stream.head, stated ? form_of(*stated) : std::nullopt, options,
                      output, messages);
  }
  auto marks = live::Marks::open(options.input.path);
  if (!marks) return complain(marks.error().detail, kInput);
  if (!*marks) return run_bytes(source.file.bytes(), *form_of(source.carrier), output, messages);
  live::Playback recording(options.input.path, source.file.bytes(), **std::move(marks));
  return run_stream(recording, form_of(source.carrier), options, output, messages);
}

int run(SystOptions options) {
  const auto filter = MessageFilter::make(options.messages);
  if (!filter) return complain(filter.error().detail, kUsage);
  const auto collateral = load_collateral(options.messages.collateral);
  if (!collateral) return collateral.error();
  const auto transport = transport_options(options.messages);
  if (!transport) return complain(transport.error().detail, kUsage);
  MessageSource source;
  if (const int code = choose_carrier(options, source); code != kOk) return code;
  const bool is_trace = source.is_trace();
  // Everything that can be refused is refused before the output is opened.
  if (const int code = open_source(options, source); code != kOk) return code;
  std::vector<std::string> files = options.messages.collateral;
  files.push_back(path_of_input(options.input.path));
  if (const auto safe = refuse_input(options.output, files); !safe) {
    return complain(safe.error().detail, kUsage);
  }
  auto output = is_trace ? open_output(options.output, *source.capture, options.input)
                         : open_plain_output(options.output);
  if (!output) return output.error();
  stamp_lines(*output, options.input, options.format);

  const bool has_ids = is_trace && sends_from_several_ids(*source.capture);
  Messages messages(*collateral, *filter, *output, options,
                    {.time = true, .trace_id = has_ids, .place = is_trace});
  if (const auto& guid = transport->short_guid) messages.interpreter().set_short_client(*guid);
  messages.interpreter().set_transport_frequency(transport->frequency);
  int code = messages.finish(read_source(options, source, *output, messages));
  if (code == kInterrupted) {
    put_interrupted(output->text(), options.format, message_csv_header(), "status");
  }
  code = judge_messages(options, messages, code);
  if (is_trace) return finish_records(*source.capture, *output, options, code);
  return finish_output(*output, code);
}

}  // namespace

void add_syst(Command& app, int& exit_code) {
  auto options = std::make_shared<SystOptions>();
  Command* command = app.add_subcommand("syst", "Show MIPI SyS-T messages");
  add_record_options(*command, *options,
                     "read messages strictly by the specification, and stop at the first bad one "
                     "with exit status 1");
  command->get_option("INPUT")->description(
      "a snapshot folder, raw trace, text with SYS-T lines, or plain messages; - for standard "
      "input");
  command
      ->add_option("--as", options->as,
                   "the form of the input: text with SYS-T lines, plain messages, or trace; "
                   "default: detected")
      ->type_name("KIND")
      ->check(one_of({"lines", "plain", "trace"}));
  command->add_flag("--sort", options->sort,
                    "sort the messages of all sources by time, after reading all of them");
  add_collateral_options(*command, options->messages);
  add_filter_options(*command, options->messages);
  add_live_options(*command, options->input);
  command->footer(
      "Examples:\n"
      "  waymark syst board/ --collateral firmware.xml        messages of an STM capture\n"
      "  waymark syst uart.log -c zephyr.xml --severity warning\n"
      "  picocom -q /dev/ttyUSB0 | waymark syst - -c zephyr.xml");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli
