#include "waymark/etmv4/source.h"

#include <fmt/format.h>

#include "decoder_count.h"
#include "waymark/etmv4/decoder.h"
#include "waymark/etmv4/fields.h"
#include "waymark/etmv4/parser_inl.h"
#include "waymark/etmv4/text.h"
#include "waymark/protocol/packet_source_inl.h"

namespace waymark::etmv4 {
namespace {

struct Parts {
  using Config = etmv4::Config;
  using Packet = etmv4::Packet;
  using Parser = etmv4::Parser;
  using Decoder = etmv4::Decoder;
  using Atoms = AtomPacket;
  static constexpr protocol::Capabilities kCapabilities{
      .counts = true,
      .runs_atoms = true,
      .settles_atoms = true,
      .runs_rows = false,
      .runs_short_rows = true,
      .puts = false,
      .leaves_spans = false,
      .marks_parts = true,
      .jumps = true,
      .takes_place = true,
      .refreshes = true,
      .remembers_elements = false,
      .is_monitored = false,
      .checks_registers = false,
      .passes_packets = true,
  };

  static Protocol protocol(const Config& config) {
    return config.ete ? Protocol::kEte : Protocol::kEtmV4;
  }
  static Parser make_parser(const Config& config, const SourceOptions& options) {
    return Parser(config, Quirks::of(options.quirks));
  }
  static Decoder make_decoder(const Config& config, const image::Image* image,
                              const SourceOptions& options) {
    Decoder decoder(config, *image, options.flags, Quirks::of(options.quirks));
    decoder.set_range_limit(options.range_limit);
    decoder.follower().set_cache_enabled(options.block_cache);
    return decoder;
  }
  template <class Host>
  static void count(Parser& parser, Decoder& decoder, count::Counter& counter, Host& host) {
    const bool cycles = decoder.config().cycle_count_enabled();
    if (decoder.config().return_stack_enabled()) {
      if (cycles) {
        CountingWalk<Host, true, true>(parser, decoder, counter, host).parse();
      } else {
        CountingWalk<Host, false, true>(parser, decoder, counter, host).parse();
      }
    } else if (cycles) {
      CountingWalk<Host, true, false>(parser, decoder, counter, host).parse();
    } else {
      CountingWalk<Host, false, false>(parser, decoder, counter, host).parse();
    }
  }
  static bool has_cycles(const Config& config) { return config.cycle_count_enabled(); }
  static bool can_jump(const Decoder& /*decoder*/) { return true; }
  static bool is_bad(const Packet& packet, const SourceOptions& options) {
    return etmv4::is_bad(packet.type) || (is_ete_exception(packet.type) && options.quirks != 0 &&
                                          Quirks::of(options.quirks).pe_reset_is_bad);
  }
  static protocol::PacketFault fault_of(const Packet& packet, const SourceOptions& options) {
    if (packet.type == PacketType::kReserved)
      return {Fault::kInvalidHeader, Finding::kReservedHeader};
    if (packet.type == PacketType::kReservedConfig)
      return {Fault::kInvalidHeader, Finding::kReservedInConfig};
    if (packet.type == PacketType::kAsync && packet.in_packet)
      return {Fault::kBadPacketSequence, Finding::kAsyncInPacket};
    if (options.quirks != 0) return {};
    if (packet.type == PacketType::kBadSequence)
      return {Fault::kBadPacketSequence, Finding::kMalformedPacket};
    if (packet.type == PacketType::kBadTraceMode)
      return {Fault::kUnsupportedConfig, Finding::kNotInThisMode};
    return {};
  }
  static bool is_sync_point(const Packet& packet) { return packet.type == PacketType::kTraceInfo; }
  /// Every timestamp is complete: a trace info packet clears what later ones are compressed
  /// against.
  struct Landmarks {
    explicit Landmarks(const Config& /*config*/) {}
    /// Addresses without context, and atoms.
    static bool passes(const Packet& packet) {
      return packet.type >= PacketType::kAddressMatch && packet.type < PacketType::kAsync;
    }
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit) {
      switch (packet.type) {
        case PacketType::kAsync:
          return emit({.kind = LandmarkKind::kAlign});
        case PacketType::kTraceInfo:
          return emit({.kind = LandmarkKind::kSync});
        case PacketType::kTimestamp:
          return emit({.value = packet.timestamp, .kind = LandmarkKind::kTimestamp, .whole = true});
        case PacketType::kContext:
        case PacketType::kAddressContext32Is0:
        case PacketType::kAddressContext32Is1:
        case PacketType::kAddressContext64Is0:
        case PacketType::kAddressContext64Is1:
          if (packet.context.updated) {
            emit({.value = packet.context.context_id,
                  .vmid = packet.context.vmid,
                  .kind = LandmarkKind::kContext,
                  .whole = true,
                  .el = packet.context.el});
          }
          return;
        case PacketType::kEvent:
          for (unsigned number = 0; number < 4; ++number) {
            if ((packet.value >> number & 1) != 0)
              emit({.value = number, .kind = LandmarkKind::kEvent});
          }
          return;
        case PacketType::kException:
          return emit({.value = packet.exception, .kind = LandmarkKind::kException});
        case PacketType::kPeReset:
          return emit({.kind = LandmarkKind::kException});
        case PacketType::kOverflow:
          return emit({.kind = LandmarkKind::kOverflow});
        case PacketType::kDiscard:
          return emit({.kind = LandmarkKind::kDiscard});
        case PacketType::kTraceOn:
          return emit({.kind = LandmarkKind::kTraceOn});
        case PacketType::kBadSequence:
        case PacketType::kBadTraceMode:
        case PacketType::kReserved:
        case PacketType::kReservedConfig:
          return emit({.kind = LandmarkKind::kGap});
        default:
          return;
      }
    }
  };
  static std::size_t length_from_index(const Packet& packet, const Parser& /*parser*/) {
    return packet.length;
  }
  static bool is_monitor_only(const Packet& packet) { return packet.monitor_only; }
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& config,
                           const SourceOptions& /*options*/) {
    etmv4::write_packet(out, packet, config);
  }
  static std::span<const Field> fields_of(const Packet& packet) {
    return etmv4::fields_of(packet.type);
  }
};

Result<void> check_decodable(const Config& config, const Quirks& quirks) {
  // The order matters: the first reason that applies is reported.
  if (quirks.data_trace_is_unsupported && config.data_trace())
    return fail(ErrorCode::kUnsupported,
                fmt::format("TRCCONFIGR=0x{:x} switches data trace on: only packets can be listed.",
                            config.trcconfigr),
                kNoIndex, config.trace_id());
  if (quirks.data_trace_is_unsupported && config.load_store_p0())
    return fail(ErrorCode::kUnsupported,
                fmt::format("TRCCONFIGR=0x{:x} makes loads or stores P0 elements (INSTP0): only "
                            "packets can be listed.",
                            config.trcconfigr),
                kNoIndex, config.trace_id());
  const unsigned cond = bits<10, 8>(config.trcconfigr);
  if (cond != 0 && !(quirks.reserved_cond_is_off && cond >= 4 && cond <= 6))
    return fail(ErrorCode::kUnsupported,
                fmt::format("TRCCONFIGR=0x{:x} traces conditional instructions (COND): only "
                            "packets can be listed.",
                            config.trcconfigr),
                kNoIndex, config.trace_id());
  return {};
}

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const image::Image* image,
                                            const SourceOptions& options) {
  if (options.decode) {
    WAYMARK_TRY(check_decodable(config, Quirks::of(options.quirks)));
    if (image == nullptr)
      return fail(ErrorCode::kInvalidArgument, "Decoding to elements needs an image.", kNoIndex,
                  config.trace_id());
  }
  return std::make_unique<protocol::PacketSource<Parts>>(config, image, options);
}

}  // namespace waymark::etmv4
