#include "waymark/stm/source.h"

#include <algorithm>
#include <array>

#include "findings.h"
#include "waymark/count/counter.h"
#include "waymark/protocol/packet_source_inl.h"
#include "waymark/stm/decoder.h"
#include "waymark/stm/fields.h"
#include "waymark/stm/parser.h"
#include "waymark/stm/text.h"

namespace waymark::stm {
namespace {

/// Counts simple packets without making their elements.  `Host` is PacketSource::CountingHost.
template <class Host>
struct Counting {
  static consteval protocol::VisitorTakes takes() { return {}; }

  Decoder& decoder;
  Host& host;
  std::uint64_t passed = 0;

  bool on_packet(const Packet& packet) {
    if (decoder.pass(packet)) [[likely]] {
      ++passed;
      return true;
    }
    if (host.takes(packet)) host.give(packet);
    return !decoder.failed();
  }
};

struct Parts {
  using Config = stm::Config;
  using Packet = stm::Packet;
  using Parser = stm::Parser;
  using Decoder = stm::Decoder;
  static constexpr protocol::Capabilities kCapabilities{
      .counts = true,
      .runs_atoms = false,
      .settles_atoms = false,
      .runs_rows = false,
      .runs_short_rows = false,
      .puts = true,
      .leaves_spans = false,
      .marks_parts = true,
      .jumps = true,
      .takes_place = false,
      .refreshes = false,
      .remembers_elements = false,
      .is_monitored = false,
      .checks_registers = true,
      .passes_packets = false,
  };

  static Protocol protocol(const Config& /*config*/) { return Protocol::kStm; }
  static Parser make_parser(const Config& config, const SourceOptions& options) {
    return Parser(config, Quirks::of(options.quirks));
  }
  static Decoder make_decoder(const Config& config, const image::Image* /*image*/,
                              const SourceOptions& options) {
    return Decoder(config, Quirks::of(options.quirks));
  }
  template <class Host>
  static void count(Parser& parser, Decoder& decoder, count::Counter& counter, Host& host) {
    // With tasks, each element says whether it is counted.
    if (counter.has_tasks()) return;
    Counting<Host> counting{decoder, host};
    parser.parse(counting);
    host.took(counting.passed);
    counter.count_elements(ElementKind::kSwTrace, counting.passed);
  }
  static bool has_cycles(const Config& /*config*/) { return false; }
  static bool can_jump(const Decoder& /*decoder*/) { return true; }
  static bool is_bad(const Packet& packet, const SourceOptions& /*options*/) {
    return stm::is_bad(packet.type);
  }
  static protocol::PacketFault fault_of(const Packet& packet, const SourceOptions& /*options*/) {
    // Said once, by Registers.
    if (packet.defect == Defect::kNone || lacks_time(packet)) return {};
    return stm::fault_of(packet.defect);
  }
  class Registers {
   public:
    explicit Registers(const Config& config) : config_(config) {}
    Finding check(const Packet& packet) {
      const Finding found = lacks_time(packet) ? stm::fault_of(packet.defect).finding
                                               : contradiction(config_, packet);
      if (found == Finding::kNone || std::ranges::find(reported_, found) != reported_.end())
        return Finding::kNone;
      reported_[count_++] = found;
      return found;
    }
    static Finding at_end(std::uint64_t /*packets*/) { return Finding::kNone; }

   private:
    Config config_;
    std::array<Finding, 4> reported_{};  ///< Three contradictions, and an unknown encoding.
    std::size_t count_ = 0;
  };
  static bool reports_contradictions(const SourceOptions& options) {
    return !Quirks::of(options.quirks).contradictions_unreported;
  }
  static bool is_sync_point(const Packet& packet) { return packet.type == PacketType::kAsync; }
  /// Besides the time, only rare packets.
  struct Landmarks {
    explicit Landmarks(const Config& /*config*/) {}
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit) {
      constexpr std::uint8_t kWholeTime = 64;
      if (packet.has_timestamp && !lacks_time(packet) && !stm::is_bad(packet.type)) {
        emit({.value = packet.timestamp,
              .kind = LandmarkKind::kTimestamp,
              .whole = packet.timestamp_bits == kWholeTime});
      }
      switch (packet.type) {
        case PacketType::kAsync:
          return emit({.kind = LandmarkKind::kAlign});
        case PacketType::kVersion:
          return emit({.kind = LandmarkKind::kSync});
        case PacketType::kTrig:
          return emit({.value = packet.payload, .kind = LandmarkKind::kTrigger});
        case PacketType::kXsync:
          return emit({.value = packet.payload, .kind = LandmarkKind::kEvent});
        case PacketType::kMerr:
        case PacketType::kGerr:
          return emit({.kind = LandmarkKind::kOverflow});
        case PacketType::kTime:
        case PacketType::kPdid:
        case PacketType::kBadSequence:
        case PacketType::kReserved:
          return emit({.kind = LandmarkKind::kGap});
        default:
          return;
      }
    }
  };
  static std::size_t length_from_index(const Packet& packet, const Parser& parser) {
    return parser.length_from_index(packet);
  }
  static bool is_monitor_only(const Packet& /*packet*/) { return false; }
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& /*config*/,
                           const SourceOptions& /*options*/) {
    stm::write_packet(out, packet);
  }
  static std::span<const Field> fields_of(const Packet& packet) { return stm::fields_of(packet); }
};

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const SourceOptions& options) {
  Config used = config;
  if (options.least_nibble_first)
    used.order = *options.least_nibble_first ? NibbleOrder::kLeastFirst : NibbleOrder::kMostFirst;
  if (Quirks::of(options.quirks).most_nibble_first_only) used.order = NibbleOrder::kMostFirst;
  return std::make_unique<protocol::PacketSource<Parts>>(used, nullptr, options);
}

}  // namespace waymark::stm
