#include "waymark/itm/source.h"

#include "findings.h"
#include "waymark/element/dwt.h"
#include "waymark/itm/decoder.h"
#include "waymark/itm/fields.h"
#include "waymark/itm/parser.h"
#include "waymark/itm/text.h"
#include "waymark/protocol/packet_source_inl.h"

namespace waymark::itm {
namespace {

struct Parts {
  using Config = itm::Config;
  using Packet = itm::Packet;
  using Parser = itm::Parser;
  using Decoder = itm::Decoder;
  static constexpr protocol::Capabilities kCapabilities{
      .counts = false,
      .runs_atoms = false,
      .settles_atoms = false,
      .runs_rows = false,
      .runs_short_rows = false,
      .puts = true,
      .leaves_spans = false,
      .marks_parts = false,
      .jumps = false,
      .takes_place = false,
      .refreshes = false,
      .remembers_elements = false,
      .is_monitored = false,
      .checks_registers = true,
      .passes_packets = false,
  };

  static Protocol protocol(const Config& /*config*/) { return Protocol::kItm; }
  static Parser make_parser(const Config& config, const SourceOptions& /*options*/) {
    return Parser(config);
  }
  static Decoder make_decoder(const Config& config, const image::Image* /*image*/,
                              const SourceOptions& /*options*/) {
    return Decoder(config);
  }
  static bool has_cycles(const Config& /*config*/) { return false; }
  static bool is_bad(const Packet& packet, const SourceOptions& /*options*/) {
    return itm::is_bad(packet.type);
  }
  static protocol::PacketFault fault_of(const Packet& packet, const SourceOptions& /*options*/) {
    const bool reserved = packet.type == PacketType::kReserved;
    if (!reserved && packet.type != PacketType::kBadSequence && !packet.in_packet) return {};
    return {reserved ? Fault::kInvalidHeader : Fault::kBadPacketSequence, finding_of(packet)};
  }
  class Registers {
   public:
    explicit Registers(const Config& config) : config_(config) {}
    /// The first contradiction is enough to doubt the register.
    Finding check(const Packet& packet) {
      if (reported_) return Finding::kNone;
      const Finding found = contradiction(config_, packet);
      reported_ = found != Finding::kNone;
      return found;
    }
    static Finding at_end(std::uint64_t /*packets*/) { return Finding::kNone; }

   private:
    Config config_;
    bool reported_ = false;
  };
  static bool reports_contradictions(const SourceOptions& options) {
    return !Quirks::of(options.quirks).contradictions_unreported;
  }
  static bool is_sync_point(const Packet& packet) { return packet.type == PacketType::kAsync; }
  /// The time is the sum of the local timestamps, as the decoder counts it; in a stream whose first
  /// timestamp is a global one, it is the global time.
  class Landmarks {
   public:
    explicit Landmarks(const Config& config)
        : prescale_(config.prescale()),
          loss_restarts_time_(config.quirks.loss_restarts_time),
          global_time_(config.quirks.global_time_is_whole, config.quirks.upper_half_alone) {}
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit) {
      switch (packet.type) {
        case PacketType::kAsync:
          emit({.kind = LandmarkKind::kAlign});
          return emit({.kind = LandmarkKind::kSync});
        case PacketType::kLocalTimestamp:
          time_ += packet.value * prescale_;
          if (clock_ == Clock::kUnknown) clock_ = Clock::kLocal;
          if (clock_ == Clock::kLocal) emit({.value = time_, .kind = LandmarkKind::kTimestamp});
          return;
        case PacketType::kGlobalTimestamp1:
        case PacketType::kGlobalTimestamp2:
          if (clock_ == Clock::kUnknown) clock_ = Clock::kGlobal;
          if (clock_ == Clock::kGlobal && global_time_.add(packet))
            emit({.value = global_time_.value(), .kind = LandmarkKind::kTimestamp});
          return;
        case PacketType::kHardware: {
          const DwtEvent event =
              dwt_event(packet.source, packet.size, static_cast<std::uint32_t>(packet.value));
          if (event.kind == DwtKind::kException && event.action == DwtExceptionAction::kEntered)
            emit({.value = event.exception, .kind = LandmarkKind::kException});
          return;
        }
        case PacketType::kOverflow:
          lose_times();
          return emit({.kind = LandmarkKind::kOverflow});
        case PacketType::kBadSequence:
        case PacketType::kReserved:
          lose_times();
          return emit({.kind = LandmarkKind::kGap});
        default:
          return;
      }
    }

   private:
    enum class Clock : std::uint8_t { kUnknown, kLocal, kGlobal };

    void lose_times() {
      if (loss_restarts_time_) time_ = 0;
      global_time_.lose();
    }

    std::uint64_t prescale_;
    bool loss_restarts_time_;
    Clock clock_ = Clock::kUnknown;
    std::uint64_t time_ = 0;
    GlobalTime global_time_;
  };
  static bool is_monitor_only(const Packet& packet) { return packet.monitor_only; }
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& config,
                           const SourceOptions& /*options*/) {
    itm::write_packet(out, packet, config.quirks);
  }
  static std::span<const Field> fields_of(const Packet& packet) {
    return itm::fields_of(packet.type);
  }
};

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const SourceOptions& options) {
  Config used = config;
  if (options.quirks != 0) used.quirks = Quirks::of(options.quirks);
  used.starts_in_sync = config.starts_in_sync || options.starts_in_sync;
  return std::make_unique<protocol::PacketSource<Parts>>(used, nullptr, options);
}

}  // namespace waymark::itm
