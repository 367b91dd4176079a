#include "source.h"

#include "decoder.h"
#include "fields.h"
#include "parser.h"
#include "waymark/protocol/packet_source_inl.h"

namespace waymark::toy {
namespace {

struct Parts {
  using Config = toy::Config;
  using Packet = toy::Packet;
  using Parser = toy::Parser;
  using Decoder = toy::Decoder;
  static constexpr protocol::Capabilities kCapabilities{
      .counts = false,
      .runs_atoms = false,
      .settles_atoms = false,
      .runs_rows = false,
      .runs_short_rows = false,
      .puts = false,
      .leaves_spans = false,
      .marks_parts = false,
      .jumps = false,
      .takes_place = false,
      .refreshes = false,
      .remembers_elements = false,
      .is_monitored = false,
      .checks_registers = false,
      .passes_packets = false,
  };

  /// A protocol of its own has its own enumerator; this one borrows that of another.
  static Protocol protocol(const Config& /*config*/) { return Protocol::kStm; }
  static Parser make_parser(const Config& /*config*/, const SourceOptions& /*options*/) {
    return {};
  }
  static Decoder make_decoder(const Config& config, const image::Image* /*image*/,
                              const SourceOptions& /*options*/) {
    return Decoder(config);
  }
  static bool has_cycles(const Config& /*config*/) { return false; }
  static bool is_bad(const Packet& packet, const SourceOptions& /*options*/) {
    return toy::is_bad(packet.type);
  }
  static protocol::PacketFault fault_of(const Packet& packet, const SourceOptions& /*options*/) {
    if (packet.type == PacketType::kReserved)
      return {Fault::kInvalidHeader, Finding::kReservedHeader};
    if (packet.type == PacketType::kBadSequence)
      return {Fault::kBadPacketSequence, Finding::kMalformedPacket};
    return {};
  }
  static bool is_sync_point(const Packet& packet) { return packet.type == PacketType::kSync; }
  struct Landmarks {
    explicit Landmarks(const Config& /*config*/) {}
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit) {
      switch (packet.type) {
        case PacketType::kSync:
          emit({.kind = LandmarkKind::kAlign});
          return emit({.kind = LandmarkKind::kSync});
        case PacketType::kTime:
          return emit({.value = packet.value, .kind = LandmarkKind::kTimestamp, .whole = true});
        case PacketType::kEvent:
          return emit({.value = packet.number, .kind = LandmarkKind::kEvent});
        case PacketType::kBadSequence:
        case PacketType::kReserved:
          return emit({.kind = LandmarkKind::kGap});
        default:
          return;
      }
    }
  };
  static bool is_monitor_only(const Packet& /*packet*/) { return false; }
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& /*config*/,
                           const SourceOptions& /*options*/) {
    toy::write_packet(out, packet);
  }
  static std::span<const Field> fields_of(const Packet& packet) {
    return toy::fields_of(packet.type);
  }
};

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const SourceOptions& options) {
  return std::make_unique<protocol::PacketSource<Parts>>(config, nullptr, options);
}

}  // namespace waymark::toy
