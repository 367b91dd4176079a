#include "waymark/mtb/source.h"

#include "waymark/mtb/decoder.h"
#include "waymark/mtb/fields.h"
#include "waymark/mtb/parser.h"
#include "waymark/mtb/text.h"
#include "waymark/protocol/packet_source_inl.h"

namespace waymark::mtb {
namespace {

struct Parts {
  using Config = mtb::Config;
  using Packet = mtb::Packet;
  using Parser = mtb::Parser;
  using Decoder = mtb::Decoder;
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
      .refreshes = true,
      .remembers_elements = false,
      .is_monitored = false,
      .checks_registers = false,
      .passes_packets = false,
  };

  static Protocol protocol(const Config& /*config*/) { return Protocol::kMtb; }
  static Parser make_parser(const Config& /*config*/, const SourceOptions& /*options*/) {
    return {};
  }
  static Decoder make_decoder(const Config& config, const image::Image* image,
                              const SourceOptions& options) {
    Decoder decoder(config, *image);
    decoder.follower().set_range_limit(options.range_limit);
    decoder.follower().set_cache_enabled(options.block_cache);
    return decoder;
  }
  static bool has_cycles(const Config& /*config*/) { return false; }
  /// Any eight bytes are a record, or unused memory.
  static bool is_bad(const Packet& /*packet*/, const SourceOptions& /*options*/) { return false; }
  static protocol::PacketFault fault_of(const Packet& /*packet*/,
                                        const SourceOptions& /*options*/) {
    return {};
  }
  /// Decoding can begin at any record.
  static bool is_sync_point(const Packet& packet) { return is_record(packet.type); }
  /// The number of an exception is not in its record, so exceptions are not landmarks.
  struct Landmarks {
    explicit Landmarks(const Config& /*config*/) {}
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit) {
      if (packet.type == PacketType::kUnused) return emit({.kind = LandmarkKind::kGap});
      if (!packet.start) return;
      emit({.kind = LandmarkKind::kAlign});
      emit({.kind = LandmarkKind::kSync});
      emit({.kind = LandmarkKind::kTraceOn});
    }
  };
  static bool is_monitor_only(const Packet& /*packet*/) { return false; }
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& /*config*/,
                           const SourceOptions& /*options*/) {
    mtb::write_packet(out, packet);
  }
  static std::span<const Field> fields_of(const Packet& packet) {
    return mtb::fields_of(packet.type);
  }
};

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const image::Image* image,
                                            const SourceOptions& options) {
  if (options.decode && image == nullptr)
    return fail(ErrorCode::kInvalidArgument, "Decoding to elements needs an image.", kNoIndex,
                Config::trace_id());
  return std::make_unique<protocol::PacketSource<Parts>>(config, image, options);
}

}  // namespace waymark::mtb
