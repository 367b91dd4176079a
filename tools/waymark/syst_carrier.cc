#include "syst_carrier.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "exit_code.h"
#include "interrupt.h"
#include "run.h"
#include "waymark/base/mapped_file.h"
#include "waymark/inputs/detect.h"
#include "waymark/live/address.h"

namespace waymark::cli {
namespace {

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

/// True: a stream that begins with `head` contains trace, not messages.
bool looks_like_trace(Bytes head, std::optional<syst::ByteForm> form) {
  if (!form || syst::has_line_tag(head)) return false;
  // The last frame may be incomplete.
  constexpr std::size_t kFrame = 16;
  const inputs::InputKind kind = inputs::detect(head.first(head.size() / kFrame * kFrame)).kind;
  const bool is_other = kind != inputs::InputKind::kUnknown && kind != inputs::InputKind::kEmpty;
  return is_certain(kind) || (is_other && form == syst::ByteForm::kLines);
}

/// Reads until it is known what the stream contains.
Result<MessageCarrier> find_carrier_in(live::Head& head) {
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
  return looks_like_trace(head.bytes(), reader.form()) ? MessageCarrier::kTrace
                                                       : MessageCarrier::kLines;
}

}  // namespace

std::optional<syst::ByteForm> form_of(MessageCarrier carrier) {
  if (carrier == MessageCarrier::kLines) return syst::ByteForm::kLines;
  if (carrier == MessageCarrier::kPlain) return syst::ByteForm::kPlain;
  return std::nullopt;
}

bool is_message_stream(const SystOptions& options) {
  return inputs::is_stream(options.input.path) || live::is_address(options.input.path);
}

std::optional<MessageCarrier> stated_carrier(const SystOptions& options) {
  if (options.as == "lines") return MessageCarrier::kLines;
  if (options.as == "plain") return MessageCarrier::kPlain;
  const InputOptions& input = options.input;
  const bool is_trace = options.as == "trace" || !input.buffer.empty() || !input.ids.empty() ||
                        !input.protocol.empty() || !input.core.empty() || !input.framing.empty() ||
                        !input.registers.empty() || !input.images.empty() ||
                        !input.programs.empty() || !input.data_layouts.empty() ||
                        input.assume_sync || !input.nibble_order.empty();
  return is_trace ? std::optional(MessageCarrier::kTrace) : std::nullopt;
}

// The tag of a line is certain, and so are the marks of most trace.  Plain messages are recognised
// because they make sense one after the other.
Result<MessageCarrier> find_carrier(const SystOptions& options) {
  if (options.as == "lines") return MessageCarrier::kLines;
  if (options.as == "plain") return MessageCarrier::kPlain;
  const InputOptions& input = options.input;
  if (options.as == "trace" || !input.protocol.empty() || !input.framing.empty()) {
    return MessageCarrier::kTrace;
  }
  std::error_code error;
  if (std::filesystem::is_directory(input.path, error)) return MessageCarrier::kTrace;
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
    if (syst::has_line_tag(content.subspan(at, size))) return MessageCarrier::kLines;
  }
  const inputs::InputKind kind = inputs::detect(content).kind;
  if (is_certain(kind) || kind == inputs::InputKind::kEmpty) return MessageCarrier::kTrace;
  const syst::PlainFacts facts = syst::plain_facts(content);
  const bool is_unknown = kind == inputs::InputKind::kUnknown;
  return facts.plausible() || (is_unknown && facts.only_short()) ? MessageCarrier::kPlain
                                                                 : MessageCarrier::kTrace;
}

int open_message_stream(SystOptions& options, LiveInput& stream, MessageCarrier& carrier) {
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
    const auto found = find_carrier_in(*stream.head);
    if (!found) return failed(found.error());
    carrier = *found;
  }
  if (carrier != MessageCarrier::kTrace) return kOk;
  auto head = read_trace_head(stream, options.input);
  if (!head) return failed(head.error());
  options.input.live.head = *std::move(head);
  return kOk;
}

}  // namespace waymark::cli
