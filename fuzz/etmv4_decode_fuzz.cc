// ETMv4 and ETE bytes to elements: registers, decode flags, quirks, the program and how memory
// shows it come from a seed in the first bytes of the input, the stream from the rest.  Invariants:
// enums and ranges are valid, the size of spans and chunks and the block cache make no difference,
// nor does an observer, and the output is bounded by the input.
#include <memory>
#include <string>
#include <vector>

#include "decode_target.h"
#include "support/etmv4_stream.h"
#include "waymark/etmv4/decoder.h"
#include "waymark/etmv4/source.h"

namespace {

using namespace waymark;
using fuzz::require;
using support::Program;
using Plan = fuzz::DecodePlan<etmv4::Config>;

Plan plan_of(Bytes settings) {
  support::Random bytes(settings);
  Plan plan;
  const std::uint64_t seed = bytes.bits(32);
  const unsigned mode = bytes.byte();
  plan.chunk = bytes.byte() + 1U;
  const auto flags = static_cast<std::uint32_t>(bytes.bits(24));
  plan.options.flags = flags & (kNoForwardBadPackets | kErrorOnBadPackets | kHaltOnBadPackets |
                                kCheckDirectBranchN | kCheckStrictBranchN | kCheckRangeContinuity |
                                kCheckBranchNotThumb | kSourceAddressNRanges | kA64OpcodeCheck);
  plan.options.quirks = (mode & 1) != 0 ? kReferenceQuirks : 0;
  if ((mode & 2) != 0) plan.options.range_limit = (mode >> 4) + 1;
  support::Random random(seed);
  plan.config = support::random_config(random);
  plan.image = Program(random).image(static_cast<Program::Kind>((mode >> 2 & 3U) % 3));
  if (bit<23>(flags))
    plan.before = support::StreamMaker(random, plan.config).make(bit<22>(flags) ? 40 : 0, 0);
  return plan;
}

struct Target {
  using Config = etmv4::Config;
  /// At most 24 atoms per byte, each of which makes two elements; queued atoms count once.
  static constexpr std::size_t kMostElements = 64;
  static constexpr bool kTimestampsRepeatCycles = true;
  static bool has_cycles(const Config& config) { return config.cycle_count_enabled(); }
  static bool chunks_matter(const Plan& /*plan*/) { return false; }
  static auto make_source(const Config& config, const image::Image* image,
                          const SourceOptions& options) {
    return etmv4::make_source(config, image, options);
  }
  static void check(const Element& element, const Plan& /*plan*/) {
    require(element.kind != ElementKind::kUnknown, "an element without a kind");
    if (element.kind != ElementKind::kInstrRange) return;
    require(element.start < element.end,
            "a range without an instruction: " + support::text_of(element));
    const std::uint64_t size = element.end - element.start;
    // A source address may be any distance from the previous one, and unaligned.
    const std::uint64_t least = size / 4;
    const bool counted = least > 0xFFFF'FFFFU ||
                         (element.count >= least && 2 * std::uint64_t{element.count} <= size);
    require(counted, "a range whose count is impossible: " + support::text_of(element));
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
