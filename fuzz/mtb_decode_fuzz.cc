// MTB records to elements: registers, the program and how memory shows it come from a seed in the
// first bytes of the input, the records from the rest.  Invariants: enums and ranges are valid, the
// size of spans and chunks and the block cache make no difference, nor does an observer, and the
// output is bounded by the input.  Also, any registers give an order of the records that is in the
// dump.
#include <memory>
#include <string>
#include <vector>

#include "decode_target.h"
#include "support/mtb_stream.h"
#include "waymark/mtb/buffer.h"
#include "waymark/mtb/decoder.h"
#include "waymark/mtb/source.h"

namespace {

using namespace waymark;
using fuzz::require;
using support::Program;
using Plan = fuzz::DecodePlan<mtb::Config>;

Plan plan_of(support::Random& bytes, unsigned mode) {
  Plan plan;
  const std::uint64_t seed = bytes.bits(32);
  plan.chunk = bytes.byte() + 1U;
  if ((mode & 2) != 0) plan.options.range_limit = (mode >> 4) + 1;
  support::Random random(seed);
  plan.config = support::random_mtb_config(random);
  plan.image = Program(random).image(static_cast<Program::Kind>((mode >> 2 & 3U) % 3));
  if ((mode & 1) != 0) plan.before = support::MtbStreamMaker(random, *plan.image).make(20, 0);
  // The next bytes begin a record.
  plan.before.resize(plan.before.size() / mtb::kRecordBytes * mtb::kRecordBytes);
  return plan;
}

/// Brings the addresses into the program: by chance, hardly one would be.
std::vector<std::uint8_t> near(Bytes input) {
  std::vector<std::uint8_t> records(input.begin(), input.end());
  for (std::size_t at = 0; at + 4 <= records.size(); at += 4) {
    if (records[at + 3] >= 0xF0) continue;
    records[at + 1] &= 1;
    records[at + 2] = static_cast<std::uint8_t>(Program::kT32 >> 16);
    records[at + 3] = 0;
    records[at + 1] |= static_cast<std::uint8_t>(Program::kT32 >> 8 & 0xFF);
  }
  return records;
}

void check_order(support::Random& random) {
  mtb::BufferRegisters registers;
  registers.position = static_cast<std::uint32_t>(random.bits(32));
  registers.master = static_cast<std::uint32_t>(random.bits(8));
  if (random.coin()) registers.position &= 0xFFF;
  if (random.coin()) registers.initial_position = static_cast<std::uint32_t>(random.bits(12));
  const std::uint64_t size = random.bits(random.coin() ? 8 : 16);
  const auto parts = mtb::order_records(size, registers);
  if (!parts) return;
  std::uint64_t all = 0;
  for (const mtb::DumpPart& part : *parts) {
    require(part.begin <= part.end && part.end <= size, "records that are not in the dump");
    all += part.size();
  }
  require(all != 0 && all <= registers.size(), "other records than those of the buffer");
}

struct Target {
  using Config = mtb::Config;
  /// A record may pass all conditional branches of the program.
  static constexpr std::size_t kMostElements = 2 + Program::kBytes / 2 / mtb::kRecordBytes;
  static constexpr bool kTimestampsRepeatCycles = false;
  static bool has_cycles(const Config& /*config*/) { return false; }
  static bool chunks_matter(const Plan& /*plan*/) { return false; }
  static auto make_source(const Config& config, const image::Image* image,
                          const SourceOptions& options) {
    return mtb::make_source(config, image, options);
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
  support::Random settings(Bytes(data, kSettings));
  const unsigned mode = settings.byte();
  const Plan plan = plan_of(settings, mode);
  support::Random registers(Bytes(data, size));
  check_order(registers);
  const Bytes input = Bytes(data, size).subspan(kSettings);
  const bool as_it_is = mode >= 0xC0;
  fuzz::DecodeTarget<Target>(plan).run(as_it_is ? input : Bytes(near(input)));
  return 0;
}
