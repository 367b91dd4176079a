// ETMv3 bytes to elements: registers, quirks, the program and how memory shows it come from a seed
// in the first bytes of the input, the stream from the rest.  Invariants: enums and ranges are
// valid, the size of spans and chunks and the block cache make no difference, nor does an observer,
// and the output is bounded by the input.
#include <memory>
#include <string>
#include <vector>

#include "decode_target.h"
#include "support/etmv3_stream.h"
#include "waymark/etmv3/decoder.h"
#include "waymark/etmv3/source.h"

namespace {

using namespace waymark;
using fuzz::require;
using support::Program;
using Plan = fuzz::DecodePlan<etmv3::Config>;

Plan plan_of(Bytes settings) {
  support::Random bytes(settings);
  Plan plan;
  const std::uint64_t seed = bytes.bits(32);
  const unsigned mode = bytes.byte();
  plan.chunk = bytes.byte() + 1U;
  support::Random random(seed);
  plan.config = support::random_etmv3_config(random);
  // The reference decodes no data; and before the first A-sync its packets depend on the chunks.
  if ((mode & 1) != 0 && !plan.config.data_trace()) plan.options.quirks = kReferenceQuirks;
  if ((mode & 2) != 0) plan.options.flags = kNoForwardBadPackets;
  plan.image = Program(random).image(static_cast<Program::Kind>((mode >> 2 & 3U) % 3));
  if (plan.options.quirks != 0 || (mode & 0x80) != 0)
    plan.before = support::etmv3_stream(random, plan.config, (mode & 0x40) != 0 ? 40 : 1, 0);
  return plan;
}

struct Target {
  using Config = etmv3::Config;
  /// At most 16 atoms per byte, and the element for the end of the walk.
  static constexpr std::size_t kMostElements = 18;
  static constexpr bool kTimestampsRepeatCycles = false;
  static bool has_cycles(const Config& config) { return config.cycle_accurate(); }
  static bool chunks_matter(const Plan& /*plan*/) { return false; }
  static auto make_source(const Config& config, const image::Image* image,
                          const SourceOptions& options) {
    return etmv3::make_source(config, image, options);
  }
  static void check(const Element& element, const Plan& plan) {
    const bool quirks = plan.options.quirks != 0;
    // Quirk unfinished_is_whole.
    require(quirks || element.kind != ElementKind::kUnknown, "an element without a kind");
    if (element.kind == ElementKind::kDataEvent)
      require(element.reason <= static_cast<unsigned>(DataEvent::kStoreFailed), "an unknown event");
    if (element.kind == ElementKind::kDataAddress || element.kind == ElementKind::kDataValue) {
      const DataPlace place = DataPlace::unpack(element.extra_value);
      require(place.known_bits <= 32 && place.tag <= 3, "a transfer in no possible place");
      require(element.kind != ElementKind::kDataAddress || place.known_bits != 0, "no address");
    }
    if (element.kind != ElementKind::kInstrRange || quirks) return;
    require(element.count == 1, "not one instruction: " + support::text_of(element));
    require(element.last_size == 2 || element.last_size == 4, "an instruction of impossible size");
    const auto end = static_cast<std::uint32_t>(element.start + element.last_size);
    require(element.end == end, "a range of another size: " + support::text_of(element));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 6;
  if (size < kSettings || size > 4096 + kSettings) return 0;
  const Plan plan = plan_of(Bytes(data, kSettings));
  fuzz::DecodeTarget<Target>(plan).run(Bytes(data, size).subspan(kSettings));
  return 0;
}
