// Remedies for a capture that does not decode, by protocol.
#pragma once

#include <string>
#include <string_view>

#include "waymark/inputs/capture.h"

namespace waymark::cli {

/// How to get synchronisation points, or do without them, as the end of a sentence.
std::string_view sync_remedy(Protocol protocol);

/// Why packets of the source may be bad, as the end of a sentence.
std::string_view bad_packet_reason(const inputs::Capture& capture, Protocol protocol);

/// Why nothing was decoded, as the end of a sentence; asked after decoding.
std::string nothing_decoded_reason(const inputs::Capture& capture);

}  // namespace waymark::cli
