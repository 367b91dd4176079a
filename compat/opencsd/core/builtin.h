// The built-in decoders: their names, and sources made from the reference's configuration
// structures.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "opencsd/ocsd_if_types.h"
#include "packet_struct.h"
#include "waymark/image/image.h"
#include "waymark/protocol/source.h"

namespace waymark::compat {

/// nullopt: no decoder has this name.  Also for "ETMV4D", a name without a decoder in the
/// reference.
std::optional<Protocol> builtin_by_name(std::string_view name);

/// The reference's number of a protocol.
ocsd_trace_protocol_t protocol_number(Protocol protocol);

struct Builtin {
  std::unique_ptr<Source> source;
  TraceId trace_id = 0;
  PacketStruct packets;
  /// Decoding needs memory.
  bool reads_memory = false;
  /// The registers select a mode that cannot be decoded: the source only gives packets.
  bool refused = false;
};

/// The flags of a packet processor that have an effect for `protocol`: for the flags of PTM no
/// packet is bad, and only software trace ends at a bad packet.
std::uint32_t effective_flags(Protocol protocol, std::uint32_t flags);

/// `config` points to the structure of `protocol`.  The image must outlive the source.
Builtin make_builtin(Protocol protocol, const void* config, bool decode, std::uint32_t flags,
                     const image::Image& image);

}  // namespace waymark::compat
