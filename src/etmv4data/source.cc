#include "waymark/etmv4data/source.h"

#include "waymark/etmv4data/decoder.h"
#include "waymark/etmv4data/fields.h"
#include "waymark/etmv4data/parser.h"
#include "waymark/etmv4data/text.h"
#include "waymark/protocol/packet_source_inl.h"

namespace waymark::etmv4data {
namespace {

struct Parts {
  using Config = etmv4data::Config;
  using Packet = etmv4data::Packet;
  using Parser = etmv4data::Parser;
  using Decoder = etmv4data::Decoder;
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

  static Protocol protocol(const Config& /*config*/) { return Protocol::kEtmV4Data; }
  static Parser make_parser(const Config& config, const SourceOptions& /*options*/) {
    return Parser(config);
  }
  static Decoder make_decoder(const Config& config, const image::Image* /*image*/,
                              const SourceOptions& /*options*/) {
    return Decoder(config);
  }
  static bool has_cycles(const Config& /*config*/) { return false; }
  static bool is_bad(const Packet& packet, const SourceOptions& /*options*/) {
    return etmv4data::is_bad(packet.type);
  }
  static protocol::PacketFault fault_of(const Packet& packet, const SourceOptions& /*options*/) {
    if (packet.type == PacketType::kReserved)
      return {Fault::kInvalidHeader, Finding::kReservedHeader};
    if (packet.type == PacketType::kBadSequence)
      return {Fault::kBadPacketSequence, Finding::kMalformedPacket};
    return {};
  }
  static bool is_sync_point(const Packet& packet) { return packet.type == PacketType::kAsync; }
  struct Landmarks {
    explicit Landmarks(const Config& /*config*/) {}
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit) {
      switch (packet.type) {
        case PacketType::kAsync:
          return emit({.kind = LandmarkKind::kAlign});
        case PacketType::kTraceInfo:
          return emit({.kind = LandmarkKind::kSync});
        case PacketType::kTimestamp:
          return emit({.value = packet.timestamp, .kind = LandmarkKind::kTimestamp});
        case PacketType::kEvent:
          return emit({.kind = LandmarkKind::kEvent});
        case PacketType::kOverflow:
          return emit({.kind = LandmarkKind::kOverflow});
        case PacketType::kDiscard:
          return emit({.kind = LandmarkKind::kDiscard});
        case PacketType::kBadSequence:
        case PacketType::kReserved:
          return emit({.kind = LandmarkKind::kGap});
        default:
          return;
      }
    }
  };
  static bool is_monitor_only(const Packet& packet) { return packet.monitor_only; }
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& /*config*/,
                           const SourceOptions& /*options*/) {
    etmv4data::write_packet(out, packet);
  }
  static std::span<const Field> fields_of(const Packet& packet) {
    return etmv4data::fields_of(packet.type);
  }
};

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const SourceOptions& options) {
  return std::make_unique<protocol::PacketSource<Parts>>(config, nullptr, options);
}

}  // namespace waymark::etmv4data
