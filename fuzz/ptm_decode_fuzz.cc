// PTM bytes to elements: registers, decode flags, quirks, the program and how memory
// shows it come from a seed in the first bytes of the input, the stream from the rest.  Invariants:
// enums and ranges are valid, the size of spans and chunks and the block cache make no difference,
// nor does an observer, and the output is bounded by the input.
#include <memory>
#include <string>
#include <vector>

#include "decode_target.h"
#include "support/ptm_stream.h"
#include "waymark/ptm/decoder.h"
#include "waymark/ptm/source.h"

namespace {

using namespace waymark;
using fuzz::require;
using support::Program;
using Plan = fuzz::DecodePlan<ptm::Config>;

Plan plan_of(Bytes settings) {
  support::Random bytes(settings);
  Plan plan;
  const std::uint64_t seed = bytes.bits(32);
  const unsigned mode = bytes.byte();
  plan.chunk = bytes.byte() + 1U;
  const auto flags = static_cast<std::uint32_t>(bytes.bits(24));
  plan.options.flags = flags & (kNoForwardBadPackets | kErrorOnBadPackets | kHaltOnBadPackets);
  plan.options.quirks = (mode & 1) != 0 ? kReferenceQuirks : 0;
  if ((mode & 2) != 0) plan.options.range_limit = (mode >> 4) + 1;
  support::Random random(seed);
  plan.config = support::random_ptm_config(random);
  plan.image = Program(random).image(static_cast<Program::Kind>((mode >> 2 & 3U) % 3));
  if (bit<23>(flags))
    plan.before =
        support::PtmStreamMaker(random, plan.config).make(bit<22>(flags) ? 40 : 0, 0, false);
  return plan;
}

struct Target {
  using Config = ptm::Config;
  /// At most five atoms per byte, and three more elements.
  static constexpr std::size_t kMostElements = 8;
  static constexpr bool kTimestampsRepeatCycles = false;
  static bool has_cycles(const Config& config) { return config.cycle_accurate(); }
  /// The chunks of unsynchronised bytes depend on the blocks under the quirks; the rest does not.
  static bool chunks_matter(const Plan& plan) { return plan.options.quirks != 0; }
  static auto make_source(const Config& config, const image::Image* image,
                          const SourceOptions& options) {
    return ptm::make_source(config, image, options);
  }
  static void check(const Element& element, const Plan& /*plan*/) {
    require(element.kind != ElementKind::kUnknown, "an element without a kind");
    if (element.kind != ElementKind::kInstrRange) return;
    require(element.start < element.end,
            "a range without an instruction: " + support::text_of(element));
    const std::uint64_t size = element.end - element.start;
    require(4 * std::uint64_t{element.count} >= size && 2 * std::uint64_t{element.count} <= size,
            "a range whose count is impossible: " + support::text_of(element));
    require(element.last_size == 2 || element.last_size == 4, "an instruction of impossible size");
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 9;
  if (size < kSettings || size > 4096 + kSettings) return 0;
  const Plan plan = plan_of(Bytes(data, kSettings));
  fuzz::DecodeTarget<Target>(plan).run(Bytes(data, size).subspan(kSettings));
  return 0;
}
