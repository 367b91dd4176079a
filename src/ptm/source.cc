#include "waymark/ptm/source.h"

#include <algorithm>

#include "decoder_count.h"
#include "findings.h"
#include "waymark/protocol/packet_source_inl.h"
#include "waymark/ptm/decoder.h"
#include "waymark/ptm/fields.h"
#include "waymark/ptm/parser_inl.h"
#include "waymark/ptm/text.h"

namespace waymark::ptm {
namespace {

struct Parts {
  using Config = ptm::Config;
  using Packet = ptm::Packet;
  using Parser = ptm::Parser;
  using Decoder = ptm::Decoder;
  using Atoms = AtomPacket;
  static constexpr protocol::Capabilities kCapabilities{
      .counts = true,
      .runs_atoms = true,
      .settles_atoms = false,
      .runs_rows = false,
      .runs_short_rows = false,
      .puts = true,
      .leaves_spans = false,
      .marks_parts = true,
      .jumps = true,
      .takes_place = false,
      .refreshes = true,
      .remembers_elements = false,
      .is_monitored = true,
      .checks_registers = true,
      .passes_packets = false,
  };

  static Protocol protocol(const Config& /*config*/) { return Protocol::kPtm; }
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
    const bool cycles = decoder.config().cycle_accurate();
    if (decoder.config().return_stack()) {
      if (cycles) {
        parser.parse(CountingWalk<Host, true, true>(decoder, counter, host));
      } else {
        parser.parse(CountingWalk<Host, false, true>(decoder, counter, host));
      }
    } else if (cycles) {
      parser.parse(CountingWalk<Host, true, false>(decoder, counter, host));
    } else {
      parser.parse(CountingWalk<Host, false, false>(decoder, counter, host));
    }
  }
  static bool has_cycles(const Config& config) { return config.cycle_accurate(); }
  static bool can_jump(const Decoder& /*decoder*/) { return true; }
  static bool is_bad(const Packet& packet, const SourceOptions& /*options*/) {
    return ptm::is_bad(packet.type);
  }
  static protocol::PacketFault fault_of(const Packet& packet, const SourceOptions& options) {
    if (packet.type == PacketType::kBadSequence)
      return {Fault::kBadPacketSequence, Finding::kAsyncTooShort};
    if (packet.type == PacketType::kAsync && packet.in_packet)
      return {Fault::kBadPacketSequence, Finding::kAsyncInPacket};
    if (packet.type == PacketType::kReserved && !Quirks::of(options.quirks).bad_packet_unreported)
      return {Fault::kInvalidHeader, Finding::kReservedHeader};
    return {};
  }
  struct Registers {
    explicit Registers(const Config& /*config*/) {}
    // The parser marks a packet once.
    static Finding check(const Packet& packet) { return finding_of(packet.conflict); }
    static Finding at_end(std::uint64_t /*packets*/) { return Finding::kNone; }
  };
  static bool reports_contradictions(const SourceOptions& options) {
    return !Quirks::of(options.quirks).bad_packet_unreported;
  }
  static bool is_sync_point(const Packet& packet) { return packet.type == PacketType::kAsync; }
  /// Times have the encoding that the decoder gives.
  class Landmarks {
   public:
    explicit Landmarks(const Config& config)
        : gray_(config.gray_timestamps()), bits_(config.timestamp_bits()) {}
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit) {
      switch (packet.type) {
        case PacketType::kBranchAddress:
          if (packet.info_bytes != 0 && packet.exception != 0)
            emit({.value = packet.exception, .kind = LandmarkKind::kException});
          return;
        case PacketType::kAsync:
          if (packet.in_packet) known_bits_ = 0;
          return emit({.kind = LandmarkKind::kAlign});
        case PacketType::kIsync:
          return isync(packet, emit);
        case PacketType::kTrigger:
          return emit({.kind = LandmarkKind::kTrigger});
        case PacketType::kContextId:
        case PacketType::kVmid:
          // An I-sync repeats the context ID, but not the VMID.
          return emit({.value = packet.context.context_id,
                       .vmid = packet.context.vmid,
                       .kind = LandmarkKind::kContext,
                       .whole = packet.type == PacketType::kContextId});
        case PacketType::kTimestamp:
          known_bits_ = std::max<unsigned>(known_bits_, packet.timestamp_bits);
          // Without its upper bits, a number in Gray code has no value.
          if (gray_ && known_bits_ < bits_) return;
          return emit({.value = gray_ ? from_gray(packet.timestamp) : packet.timestamp,
                       .kind = LandmarkKind::kTimestamp,
                       .whole = packet.timestamp_bits >= bits_});
        case PacketType::kBadSequence:
        case PacketType::kReserved:
          known_bits_ = 0;
          return emit({.kind = LandmarkKind::kGap});
        default:
          return;
      }
    }

   private:
    template <class Emit>
    static void isync(const Packet& packet, Emit&& emit) {
      emit({.kind = LandmarkKind::kSync});
      if (packet.reason == IsyncReason::kRestartOverflow) emit({.kind = LandmarkKind::kOverflow});
      if (packet.reason != IsyncReason::kPeriodic) emit({.kind = LandmarkKind::kTraceOn});
      if (packet.context.updated_context_id) {
        emit({.value = packet.context.context_id,
              .vmid = packet.context.vmid,
              .kind = LandmarkKind::kContext,
              .whole = true});
      }
    }

    bool gray_ = false;
    unsigned bits_ = 0;
    unsigned known_bits_ = 0;
  };
  static std::size_t length_from_index(const Packet& packet, const Parser& /*parser*/) {
    return packet.length;
  }
  static bool is_monitor_only(const Packet& packet) { return packet.monitor_only; }
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& /*config*/,
                           const SourceOptions& options) {
    ptm::write_packet(out, packet, Quirks::of(options.quirks));
  }
  static std::span<const Field> fields_of(const Packet& packet) {
    return ptm::fields_of(packet.type);
  }
};

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const image::Image* image,
                                            const SourceOptions& options) {
  if (options.decode && image == nullptr)
    return fail(ErrorCode::kInvalidArgument, "Decoding to elements needs an image.", kNoIndex,
                config.trace_id());
  return std::make_unique<protocol::PacketSource<Parts>>(config, image, options);
}

}  // namespace waymark::ptm
