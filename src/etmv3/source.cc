#include "waymark/etmv3/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "decoder_count.h"
#include "findings.h"
#include "waymark/etmv3/decoder.h"
#include "waymark/etmv3/fields.h"
#include "waymark/etmv3/parser.h"
#include "waymark/etmv3/register_check.h"
#include "waymark/etmv3/text.h"
#include "waymark/protocol/packet_source_inl.h"

namespace waymark::etmv3 {
namespace {

/// The registers, and whether the reference's wording of packets is wanted.
struct SourceConfig : Config {
  ParserQuirks quirks;
};

DecoderQuirks decoder_quirks(const SourceOptions& options) {
  return DecoderQuirks::of(options.quirks >> kParserQuirks.size());
}

struct Parts {
  using Config = SourceConfig;
  using Packet = etmv3::Packet;
  using Parser = etmv3::Parser;
  using Decoder = etmv3::Decoder;
  using Atoms = PHeader;
  static constexpr protocol::Capabilities kCapabilities{
      .counts = true,
      .runs_atoms = true,
      .settles_atoms = false,
      .runs_rows = true,
      .runs_short_rows = false,
      .puts = true,
      .leaves_spans = true,
      .marks_parts = false,
      .jumps = true,
      .takes_place = false,
      .refreshes = true,
      .remembers_elements = true,
      .is_monitored = false,
      .checks_registers = true,
      .passes_packets = false,
  };

  static Protocol protocol(const Config& /*config*/) { return Protocol::kEtmV3; }
  static Parser make_parser(const Config& config, const SourceOptions& /*options*/) {
    return Parser(config, config.quirks);
  }
  static Decoder make_decoder(const Config& config, const image::Image* image,
                              const SourceOptions& options) {
    Decoder decoder(config, *image, decoder_quirks(options));
    decoder.instructions().set_enabled(options.block_cache);
    return decoder;
  }
  template <class Host>
  static void count(Parser& parser, Decoder& decoder, count::Counter& counter, Host& host) {
    if (decoder.config().cycle_accurate()) {
      parser.parse(CountingWalk<Host, true>(decoder, counter, host));
    } else {
      parser.parse(CountingWalk<Host, false>(decoder, counter, host));
    }
  }
  static bool has_cycles(const Config& config) { return config.cycle_accurate(); }
  static bool can_jump(const Decoder& decoder) { return decoder.can_jump(); }
  static bool is_bad(const Packet& packet, const SourceOptions& /*options*/) {
    return etmv3::is_bad(packet.type);
  }
  static protocol::PacketFault fault_of(const Packet& packet, const SourceOptions& /*options*/) {
    return etmv3::fault_of(packet);
  }
  using Registers = RegisterCheck;
  static bool reports_contradictions(const SourceOptions& options) {
    return !decoder_quirks(options).bad_packets_are_fatal;
  }
  static bool is_sync_point(const Packet& packet) { return packet.type == PacketType::kASync; }
  /// Times have the encoding that the decoder gives.
  class Landmarks {
   public:
    explicit Landmarks(const Config& config)
        : gray_(config.gray_timestamps()), bits_(config.timestamp_bits()) {}
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit) {
      switch (packet.type) {
        case PacketType::kBranchAddress:
          if (packet.exception.present && packet.exception.number != 0)
            emit({.value = packet.exception.number, .kind = LandmarkKind::kException});
          return;
        case PacketType::kASync:
          if (packet.in_packet) known_bits_ = 0;
          return emit({.kind = LandmarkKind::kAlign});
        case PacketType::kISync:
        case PacketType::kISyncCycle:
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
        case PacketType::kBadTraceMode:
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
      if (packet.reason == SyncReason::kOverflow) emit({.kind = LandmarkKind::kOverflow});
      if (packet.reason != SyncReason::kPeriodic) emit({.kind = LandmarkKind::kTraceOn});
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
  static bool is_monitor_only(const Packet& /*packet*/) { return false; }
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& config,
                           const SourceOptions& /*options*/) {
    etmv3::write_packet(out, packet, config, config.quirks);
  }
  static std::span<const Field> fields_of(const Packet& packet) {
    return etmv3::fields_of(packet.type);
  }
};

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const image::Image* image,
                                            const SourceOptions& options) {
  if (options.decode) {
    if (decoder_quirks(options).data_trace_is_unsupported &&
        (config.data_trace() || config.data_only()))
      return fail(ErrorCode::kUnsupported,
                  fmt::format("ETMCR=0x{:x} traces data: only packets can be listed.",
                              config.etmcr.value()),
                  kNoIndex, config.trace_id());
    if (image == nullptr)
      return fail(ErrorCode::kInvalidArgument, "Decoding to elements needs an image.", kNoIndex,
                  config.trace_id());
  }
  const SourceConfig with_quirks{config, ParserQuirks::of(options.quirks)};
  return std::make_unique<protocol::PacketSource<Parts>>(with_quirks, image, options);
}

}  // namespace waymark::etmv3
