// The carrier of the messages that `waymark syst` shows: lines of text, plain bytes or trace.
#pragma once

#include <cstdint>
#include <optional>

#include "live_options.h"
#include "syst_options.h"
#include "waymark/syst/byte_reader.h"

namespace waymark::cli {

enum class MessageCarrier : std::uint8_t { kLines, kPlain, kTrace };

/// Nothing: trace.
std::optional<syst::ByteForm> form_of(MessageCarrier carrier);

/// Whether what is in the input is shown as it comes: standard input, a pipe or a live source.
bool is_message_stream(const SystOptions& options);

/// The facts that the options state about a stream; nothing: they leave it open.
std::optional<MessageCarrier> stated_carrier(const SystOptions& options);

/// The facts that the options state about a file or folder, or that are found in it.
Result<MessageCarrier> find_carrier(const SystOptions& options);

/// Opens a stream and finds what it contains, without reading more than it must.  Trace that is
/// needed as a whole is copied for open_capture().  kOk, or the exit code after the sentence.
int open_message_stream(SystOptions& options, LiveInput& stream, MessageCarrier& carrier);

}  // namespace waymark::cli
