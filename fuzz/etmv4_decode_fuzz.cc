// ETMv4 and ETE bytes to elements: registers, decode flags, quirks, the program and how memory
// shows it come from a seed in the first bytes of the input, the stream from the rest.  Invariants:
// enums and ranges are valid, the size of spans and chunks and the block cache make no difference,
// nor does an observer, and the output is bounded by the input.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/counting.h"
#include "support/decoded.h"
#include "support/etmv4_stream.h"
#include "waymark/etmv4/decoder.h"
#include "waymark/etmv4/source.h"

namespace {

using namespace waymark;
using support::Program;

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

struct Plan {
  etmv4::Config config;
  SourceOptions options;
  std::unique_ptr<image::Image> image;
  std::size_t chunk = 0;
  std::vector<std::uint8_t> before;  ///< Valid stream that comes before the input.
};

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
  plan.options.reference_quirks = (mode & 1) != 0;
  if ((mode & 2) != 0) plan.options.range_limit = (mode >> 4) + 1;
  support::Random random(seed);
  plan.config = support::random_config(random);
  plan.image = Program(random).image(static_cast<Program::Kind>((mode >> 2 & 3U) % 3));
  if (bit<23>(flags))
    plan.before = support::StreamMaker(random, plan.config).make(bit<22>(flags) ? 40 : 0, 0);
  return plan;
}

support::Decoded decode(const Plan& plan, const SourceOptions& options, Bytes stream,
                        std::size_t chunk, std::size_t span, bool watch) {
  auto made = etmv4::make_source(plan.config, plan.image.get(), options);
  require(made.has_value(), "the configuration was refused");
  Source& source = **made;
  support::Decoded decoded;
  if (watch) {
    decoded.source = &source;
    source.set_observer(&decoded, 1);
  }
  support::feed(source, 0, stream, chunk, span, decoded.elements);
  source.finish();
  support::take(source, span, decoded.elements);
  decoded.source = nullptr;
  return decoded;
}

void check(const Element& element, std::size_t stream_size, TraceId id) {
  require(static_cast<std::size_t>(element.kind) < kElementKindCount, "an unknown kind");
  require(element.kind != ElementKind::kUnknown, "an element without a kind");
  require(element.trace_id == id, "an element of another source");
  require(element.index <= stream_size, "an index past the end");
  require(static_cast<unsigned>(element.isa) <= static_cast<unsigned>(isa::Isa::kUnknown),
          "an unknown instruction set");
  require(element.last_type <= isa::InstrType::kTstart, "an unknown instruction type");
  require(element.last_subtype <= isa::InstrSubtype::kV7ImpliedReturn, "an unknown subtype");
  require(element.security <= Security::kRealm, "an unknown world");
  if (element.kind != ElementKind::kInstrRange) return;
  require(element.start < element.end,
          "a range without an instruction: " + support::text_of(element));
  const std::uint64_t size = element.end - element.start;
  // A source address may be as far from the one before, and as unaligned, as the trace likes.
  const std::uint64_t least = size / 4;
  const bool counted =
      least > 0xFFFF'FFFFU || (element.count >= least && 2 * std::uint64_t{element.count} <= size);
  require(counted, "a range whose count is impossible: " + support::text_of(element));
  require(element.last_size == 2 || element.last_size == 4, "an instruction of impossible size");
}

/// Without cycle counting there are no cycle counts but in a damaged trace.
count::Counts comparable(count::Counts counts, const etmv4::Config& config) {
  if (config.cycle_count_enabled()) return counts;
  for (count::Row& row : counts.rows) row.cycles = 0;
  counts.other_cycles = 0;
  return counts;
}

count::Counts count_all(const Plan& plan, Bytes stream, std::size_t chunk) {
  auto made = etmv4::make_source(plan.config, plan.image.get(), plan.options);
  require(made.has_value(), "the configuration was refused");
  Source& source = **made;
  count::Counter counter;
  support::feed_each(source, 0, stream, chunk, [&] { source.count(counter); });
  source.finish();
  source.count(counter);
  return counter.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 9;
  if (size < kSettings || size > 4096 + kSettings) return 0;
  const Plan plan = plan_of(Bytes(data, kSettings));
  std::vector<std::uint8_t> stream = plan.before;
  stream.insert(stream.end(), data + kSettings, data + size);
  const support::Decoded whole = decode(plan, plan.options, stream, 0, 1024, true);
  // At most 24 atoms a byte, each of which makes two elements; queued ones count once.
  require(whole.elements.size() <= 64 * (stream.size() + 1) + 8, "more elements than input");
  for (const Element& element : whole.elements)
    check(element, stream.size(), plan.config.trace_id());

  const auto equal = [&](const support::Decoded& other, const char* what) {
    const std::string text = difference(whole, other);
    require(text.empty(), std::string(what) + " makes a difference: " + text);
  };
  equal(decode(plan, plan.options, stream, 0, 1, true), "the size of spans");
  equal(decode(plan, plan.options, stream, plan.chunk, 7, true), "the size of chunks");
  SourceOptions uncached = plan.options;
  uncached.block_cache = false;
  equal(decode(plan, uncached, stream, 0, 1024, true), "the block cache");
  const support::Decoded alone = decode(plan, plan.options, stream, 0, 1024, false);
  const std::string text = support::difference(whole.elements, alone.elements);
  require(text.empty(), "an observer makes a difference: " + text);
  support::PlainCounter plain(true);
  plain.add(whole.elements);
  for (const std::size_t size_of_chunk : {std::size_t{0}, plan.chunk}) {
    const std::string counted =
        support::difference(comparable(plain.counts(), plan.config),
                            comparable(count_all(plan, stream, size_of_chunk), plan.config));
    require(counted.empty(), "counts are not those of the elements: " + counted);
  }
  return 0;
}
