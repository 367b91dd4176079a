// waymark syst: what software said through MIPI SyS-T.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "commands.h"
#include "exit_code.h"
#include "interrupt.h"
#include "live_options.h"
#include "option_values.h"
#include "record_options.h"
#include "run.h"
#include "syst_options.h"
#include "waymark/base/mapped_file.h"
#include "waymark/inputs/detect.h"
#include "waymark/live/address.h"
#include "waymark/live/recording.h"
#include "waymark/outputs/messages.h"
#include "waymark/syst/byte_reader.h"
#include "waymark/syst/channels.h"
#include "waymark/syst/message_sorter.h"
#include "waymark/syst/ports.h"

namespace waymark::cli {
namespace {

struct SystOptions : RecordOptions {
  MessageOptions messages;
  std::string as;
  bool sort = false;
};

/// Standard input, a pipe or a live source: what is in it is shown as it comes.
bool is_stream(const SystOptions& options) {
  return inputs::is_stream(options.input.path) || live::is_address(options.input.path);
}

struct MessageCounts {
  std::uint64_t all = 0;
  std::uint64_t bad = 0;
  std::uint64_t guessed = 0;   ///< Plain messages whose end is a guess.
  std::uint64_t missing = 0;   ///< Catalog messages whose sender has no collateral.
  std::uint64_t unlisted = 0;  ///< Catalog messages whose sender's collateral has no such ID.
  /// Messages that are not shown because they have no time to compare with --from and --to.
  std::uint64_t untimed = 0;
  std::uint64_t shown = 0;
  std::optional<TraceIndex> first_bad{};
};

/// Converts frames to lines of output.
class Messages final : public syst::FrameSink {
 public:
  Messages(const syst::Collateral& collateral, const MessageFilter& filter, Output& output,
           const SystOptions& options, const outputs::MessageWriter::Columns& columns)
      : interpreter_(
            collateral,
            {.mode = options.strict ? syst::Mode::kStrict : syst::Mode::kTolerant, .quirks = {}}),
        filter_(filter),
        output_(output),
        format_(options.format),
        is_strict_(options.strict),
        is_sorted_(options.sort),
        writer_(options.sort ? line_ : output.text(), columns) {
    if (format_ == Format::kCsv) outputs::MessageWriter::csv_header(output.text());
  }

  syst::Interpreter& interpreter() { return interpreter_; }

  void on_frame(const syst::Frame& frame) override {
    const syst::Record record = interpreter_.interpret(frame);
    ++counts_.all;
    const bool bad = !record.good();
    counts_.bad += bad ? 1 : 0;
    if (bad && !counts_.first_bad) counts_.first_bad = frame.index;
    counts_.guessed += frame.end == syst::FrameEnd::kGuessed ? 1 : 0;
    counts_.missing += !bad && record.status == syst::Status::kMissingCollateral ? 1 : 0;
    const bool is_unlisted = !bad && record.client != nullptr && record.entry == nullptr &&
                             record.message.type == syst::Type::kCatalog;
    counts_.unlisted += is_unlisted ? 1 : 0;
    counts_.untimed += filter_.is_untimed(record) ? 1 : 0;
    if (!filter_.wants(record)) return;
    ++counts_.shown;
    const std::uint64_t time = order_.add(record);
    switch (format_) {
      case Format::kText:
        writer_.text(record);
        break;
      case Format::kJson:
        writer_.json(record);
        break;
      case Format::kCsv:
        writer_.csv(record);
        break;
    }
    if (is_sorted_) {
      keep(time);
    } else {
      output_.settle();
    }
  }

  /// With --sort: writes the messages, which were kept until now.  Returns the exit code: `code`,
  /// unless that fails.
  int finish(int code) {
    if (!is_sorted_) return code;
    if (error_.empty()) {
      const auto written = sorter_.finish([&](std::string_view text) {
        output_.text().put(text);
        return output_.settle();
      });
      if (!written) error_ = written.error().detail;
    }
    return error_.empty() ? code : complain(error_, kOutput);
  }

  /// Nothing more is read: --strict met a bad message, the user interrupted, or sorting failed.
  [[nodiscard]] bool is_stopped() const {
    return (is_strict_ && counts_.first_bad.has_value()) || interrupted() || !error_.empty();
  }
  [[nodiscard]] const MessageCounts& counts() const { return counts_; }
  /// Bytes of the input that were read.
  void pass(std::size_t bytes) { place_ += bytes; }
  [[nodiscard]] TraceIndex place() const { return place_; }
  /// The order of the messages that are shown.
  [[nodiscard]] const syst::MessageOrder& order() const { return order_; }

 private:
  /// The line that was written, until all are sorted.
  void keep(std::uint64_t time) {
    const auto added = sorter_.add(time, line_.view());
    if (!added) error_ = added.error().detail;
    line_.clear();
  }

  syst::Interpreter interpreter_;
  const MessageFilter& filter_;
  Output& output_;
  Format format_;
  bool is_strict_;
  bool is_sorted_;
  TextBuffer line_;  ///< With --sort, where a message is written.
  outputs::MessageWriter writer_;
  syst::MessageOrder order_;
  syst::MessageSorter sorter_;
  std::string error_;  ///< An error of the sorter.
  MessageCounts counts_;
  TraceIndex place_ = 0;
};

std::string message_header() {
  TextBuffer header;
  outputs::MessageWriter::csv_header(header);
  return std::string(header.view());
}

/// What the messages are in.
enum class Carrier { kLines, kPlain, kTrace };

/// Nothing: trace.
std::optional<syst::ByteForm> form_of(Carrier carrier) {
  if (carrier == Carrier::kLines) return syst::ByteForm::kLines;
  if (carrier == Carrier::kPlain) return syst::ByteForm::kPlain;
  return std::nullopt;
}

/// Whether plain messages never look like this.
bool is_certain(inputs::InputKind kind) {
  switch (kind) {
    case inputs::InputKind::kPerfData:
    case inputs::InputKind::kElf:
    case inputs::InputKind::kTraceScript:
    case inputs::InputKind::kStmStream:
    case inputs::InputKind::kTpiuFrames:
    case inputs::InputKind::kDstreamFrames:
      return true;
    default:
      return false;
  }
}

/// The tag of a line is certain, and so are the marks of most trace.  Plain messages are recognised
/// because they make sense one after the other.
Result<Carrier> find_carrier(const SystOptions& options) {
  if (options.as == "lines") return Carrier::kLines;
  if (options.as == "plain") return Carrier::kPlain;
  const InputOptions& input = options.input;
  if (options.as == "trace" || !input.protocol.empty() || !input.framing.empty()) {
    return Carrier::kTrace;
  }
  std::error_code error;
  if (std::filesystem::is_directory(input.path, error)) return Carrier::kTrace;
  auto file = open_input(input.path);
  if (!file) return std::unexpected(std::move(file).error());
  const Bytes content = file->bytes();
  constexpr std::size_t kPart = std::size_t{1} << 20;
  for (std::size_t at = 0; at < content.size(); at += kPart) {
    if (interrupted())
      return fail(ErrorCode::kIo,
                  fmt::format("Reading {} was interrupted.", inputs::input_name(input.path)));
    file->passed(at);
    // The next part begins before this one ends, so that no tag is divided.
    const std::size_t size = std::min(kPart + syst::kLineTag.size() - 1, content.size() - at);
    if (syst::has_line_tag(content.subspan(at, size))) return Carrier::kLines;
  }
  const inputs::InputKind kind = inputs::detect(content).kind;
  if (is_certain(kind) || kind == inputs::InputKind::kEmpty) return Carrier::kTrace;
  const syst::PlainFacts facts = syst::plain_facts(content);
  const bool is_unknown = kind == inputs::InputKind::kUnknown;
  return facts.plausible() || (is_unknown && facts.only_short()) ? Carrier::kPlain
                                                                 : Carrier::kTrace;
}

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
  put_gap(output.text(), options.format, message_header(), "status", index);
}

/// True: a stream that begins with `head` contains trace, not messages.
bool looks_like_trace(Bytes head, std::optional<syst::ByteForm> form) {
  if (!form || syst::has_line_tag(head)) return false;
  // The last frame may be incomplete.
  constexpr std::size_t kFrame = 16;
  const inputs::InputKind kind = inputs::detect(head.first(head.size() / kFrame * kFrame)).kind;
  const bool is_other = kind != inputs::InputKind::kUnknown && kind != inputs::InputKind::kEmpty;
  return is_certain(kind) || (is_other && form == syst::ByteForm::kLines);
}

/// What the options say about a stream; nothing: they leave it open.
std::optional<Carrier> stated_carrier(const SystOptions& options) {
  if (options.as == "lines") return Carrier::kLines;
  if (options.as == "plain") return Carrier::kPlain;
  const InputOptions& input = options.input;
  const bool is_trace = options.as == "trace" || !input.buffer.empty() || !input.ids.empty() ||
                        !input.protocol.empty() || !input.core.empty() || !input.framing.empty() ||
                        !input.registers.empty() || !input.images.empty() ||
                        !input.programs.empty() || !input.data_layouts.empty() ||
                        input.assume_sync || !input.nibble_order.empty();
  return is_trace ? std::optional(Carrier::kTrace) : std::nullopt;
}

/// Reads until it is known what the stream contains.
Result<Carrier> find_carrier(live::Head& head) {
  constexpr live::Milliseconds kPatience{100};
  syst::ByteReader reader(std::nullopt, true);
  std::size_t fed = 0;
  while (!reader.form() && !head.ended()) {
    const auto kind = head.read_more(kPatience);
    if (!kind) return std::unexpected(kind.error());
    const Bytes bytes = head.bytes();
    reader.feed(bytes.subspan(std::exchange(fed, bytes.size())));
  }
  syst::Frame frame;
  // At the end of the stream it decides by what there is.
  while (!reader.form() && reader.finish(frame)) {
  }
  return looks_like_trace(head.bytes(), reader.form()) ? Carrier::kTrace : Carrier::kLines;
}

/// Opens a stream and finds what it contains, without reading more than it must.  Trace that is
/// needed as a whole is copied for open_capture().  kOk, or the exit code after the sentence.
int open_stream(SystOptions& options, LiveInput& stream, Carrier& carrier) {
  const auto failed = [](const Error& error) {
    return interrupted() ? int{kInterrupted} : complain(error.detail, kInput);
  };
  if (options.sort && live::is_address(options.input.path)) options.input.live.whole = "--sort";
  if (const auto good = check_live(options.input); !good)
    return complain(good.error().detail, kUsage);
  auto opened = open_live_input(options.input);
  if (!opened) return failed(opened.error());
  stream = *std::move(opened);
  const auto stated = stated_carrier(options);
  if (stated) carrier = *stated;
  if (stream.head == nullptr) {
    // A redirected file.
    const auto found = find_carrier(options);
    if (!found) return failed(found.error());
    carrier = *found;
    return kOk;
  }
  if (!stated) {
    const auto found = find_carrier(*stream.head);
    if (!found) return failed(found.error());
    carrier = *found;
  }
  if (carrier != Carrier::kTrace) return kOk;
  auto head = read_trace_head(stream, options.input);
  if (!head) return failed(head.error());
  options.input.live.head = *std::move(head);
  return kOk;
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
  syst::ChannelAssembler channels;
  syst::PortReader ports(messages);
  const auto give = [&](std::span<const syst::Frame> frames) {
    for (const syst::Frame& frame : frames) messages.on_frame(frame);
  };
  const RunHooks hooks{
      .on_elements =
          [&](std::span<const Element> elements) {
            for (const Element& element : elements) {
              if (messages.is_stopped()) return;
              if (element.kind == ElementKind::kItmTrace) {
                ports.add(element);
                continue;
              }
              give(channels.add(element));
              messages.interpreter().set_transport_frequency(element.trace_id,
                                                             channels.frequency(element.trace_id));
            }
          },
      .stop = [&] { return options.strict && messages.counts().first_bad.has_value(); },
      .gap = [&](TraceIndex index) { write_gap(output, options, index); }};
  const int code = run_capture(capture, output, hooks);
  // Pending messages are shown even if the trace ends in damage.
  const bool is_stopped = options.strict && messages.counts().first_bad.has_value();
  if (code != kInterrupted && code != kOutput && !is_stopped) {
    give(channels.finish());
    ports.finish();
  }
  if (options.statistics) {
    const syst::ChannelStatistics& counts = channels.statistics();
    complain(fmt::format("channels: {} messages, {} of them cut; {} packets outside messages",
                         counts.frames, counts.cut, counts.noise),
             kOk);
  }
  return code;
}

std::string catalog_messages(std::uint64_t count) {
  return count == 1 ? "1 catalog message has" : fmt::format("{} catalog messages have", count);
}

/// Prints the closing sentences to standard error; returns the exit code.
int judge(const SystOptions& options, const Messages& messages, int code) {
  const MessageCounts& counts = messages.counts();
  if (counts.guessed != 0) {
    complain(
        fmt::format("note: {} no length field, and plain bytes do not say where it ends; it "
                    "was taken to end where the next message makes sense.",
                    counts.guessed == 1 ? "1 message has"
                                        : fmt::format("each of {} messages has", counts.guessed)),
        kOk);
  }
  if (counts.missing != 0) {
    complain(fmt::format("note: {} no text; name the sender's XML with --collateral.",
                         catalog_messages(counts.missing)),
             kOk);
  }
  if (counts.unlisted != 0) {
    complain(fmt::format("note: {} an ID that the collateral of the sender lacks; it may be of "
                         "another build.",
                         catalog_messages(counts.unlisted)),
             kOk);
  }
  if (counts.untimed != 0) {
    complain(fmt::format("note: {} no time that --from and --to can be compared with, and {} not "
                         "shown.",
                         counts.untimed == 1 ? "1 message has"
                                             : fmt::format("{} messages have", counts.untimed),
                         counts.untimed == 1 ? "is" : "are"),
             kOk);
  }
  const syst::MessageOrder& order = messages.order();
  if (!options.sort && order.backwards() != 0) {
    note(fmt::format(
        "{} earlier than a message before {}, first at byte {}: each source has its "
        "own order in time. --sort shows all messages in the order of time.",
        order.backwards() == 1 ? "1 message is" : fmt::format("{} messages are", order.backwards()),
        order.backwards() == 1 ? "it" : "them", *order.first_backwards()));
  }
  if (options.statistics) {
    complain(fmt::format("{} messages, {} bad, {} shown", counts.all, counts.bad, counts.shown),
             kOk);
  }
  if (options.strict && counts.first_bad && (code == kOk || code == kDamaged)) {
    return complain(fmt::format("--strict: the message at byte {} is damaged.", *counts.first_bad),
                    kDamaged);
  }
  if (code == kOk && counts.all == 0) {
    return complain(fmt::format("{}: no SyS-T message was found. If it contains any, say in which "
                                "form with --as lines, --as plain or --as trace.",
                                inputs::input_name(options.input.path)),
                    kDamaged);
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
                fmt::format("{}: text and plain messages have no masters, channels or times of a "
                            "transport, so none would be shown.",
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

int run(SystOptions options) {
  const auto filter = MessageFilter::make(options.messages);
  if (!filter) return complain(filter.error().detail, kUsage);
  const auto collateral = load_collateral(options.messages.collateral);
  if (!collateral) return collateral.error();
  const auto transport = transport_options(options.messages);
  if (!transport) return complain(transport.error().detail, kUsage);
  Carrier carrier = Carrier::kLines;
  LiveInput stream;
  if (is_stream(options)) {
    if (const int code = open_stream(options, stream, carrier); code != kOk) return code;
  } else {
    if (const auto good = check_live(options.input); !good)
      return complain(good.error().detail, kUsage);
    const auto found = find_carrier(options);
    if (!found) return interrupted() ? int{kInterrupted} : complain(found.error().detail, kInput);
    carrier = *found;
  }
  const bool is_trace = carrier == Carrier::kTrace;
  if (!is_trace) {
    if (const auto checked = check_bytes(options.messages); !checked) {
      return complain(checked.error().detail, kUsage);
    }
  }

  // Everything that can be refused is refused before the output is opened.
  std::optional<inputs::Capture> capture;
  MappedFile file;
  if (is_trace) {
    auto opened = open_capture(options.input, {});
    if (!opened) {
      if (!is_guess(options)) return opened.error();
      return complain(
          fmt::format("{}: there is no `{}` line in it either, and its bytes are not plain "
                      "messages; --as lines or --as plain reads it as these.",
                      options.input.path, syst::kLineTag),
          opened.error());
    }
    capture = *std::move(opened);
  } else if (stream.head == nullptr) {
    auto opened = open_input(options.input.path);
    if (!opened) return complain(opened.error().detail, kInput);
    file = *std::move(opened);
  }
  std::vector<std::string> files = options.messages.collateral;
  files.push_back(path_of_input(options.input.path));
  if (const auto safe = refuse_input(options.output, files); !safe) {
    return complain(safe.error().detail, kUsage);
  }
  auto output = is_trace ? open_output(options.output, *capture, options.input)
                         : open_plain_output(options.output);
  if (!output) return output.error();
  stamp_lines(*output, options.input, options.format);

  const bool has_ids = is_trace && sends_from_several_ids(*capture);
  Messages messages(*collateral, *filter, *output, options,
                    {.time = true, .trace_id = has_ids, .place = is_trace});
  if (const auto& guid = transport->short_guid) messages.interpreter().set_short_client(*guid);
  messages.interpreter().set_transport_frequency(transport->frequency);
  int code = kOk;
  if (is_trace) {
    code = run_trace(*capture, options, *output, messages);
  } else if (stream.head != nullptr) {
    const auto stated = stated_carrier(options);
    code = run_stream(*stream.head, stated ? form_of(*stated) : std::nullopt, options, *output,
                      messages);
  } else if (auto marks = live::Marks::open(options.input.path); !marks) {
    code = complain(marks.error().detail, kInput);
  } else if (*marks) {
    live::Playback recording(options.input.path, file.bytes(), **std::move(marks));
    code = run_stream(recording, form_of(carrier), options, *output, messages);
  } else {
    code = run_bytes(file.bytes(), *form_of(carrier), *output, messages);
  }
  code = messages.finish(code);
  if (code == kInterrupted) {
    put_interrupted(output->text(), options.format, message_header(), "status");
  }
  code = judge(options, messages, code);
  if (is_trace) return finish_records(*capture, *output, options, code);
  return finish_output(*output, code);
}

}  // namespace

void add_syst(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SystOptions>();
  CLI::App* command =
      app.add_subcommand("syst", "Show the messages that software sent by MIPI SyS-T");
  add_record_options(*command, *options,
                     "read messages strictly by the specification, and stop at the first bad one, "
                     "with exit status 1");
  command->get_option("INPUT")->description(
      "a snapshot folder, raw trace, text with SYS-T lines, plain messages, or - for standard "
      "input");
  command
      ->add_option(
          "--as", options->as,
          "what the input holds: lines of text with SYS-T messages, plain messages one after the "
          "other, or trace; default: detected")
      ->type_name("KIND")
      ->check(one_of({"lines", "plain", "trace"}));
  command->add_flag(
      "--sort", options->sort,
      "show the messages of all sources in the order of time, once all of them are read");
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
