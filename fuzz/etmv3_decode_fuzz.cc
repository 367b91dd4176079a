// ETMv3 bytes to elements: registers, quirks, the program and how memory shows it come from a seed
// in the first bytes of the input, the stream from the rest.  Invariants: enums and ranges are
// valid, the size of spans and chunks and the block cache make no difference, nor does an observer,
// and the output is bounded by the input.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/decoded.h"
#include "support/etmv3_stream.h"
#include "waymark/etmv3/decoder.h"
#include "waymark/etmv3/source.h"

namespace {

using namespace waymark;
using support::Program;

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

struct Plan {
  etmv3::Config config;
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
  support::Random random(seed);
  plan.config = support::random_etmv3_config(random);
  // The reference decodes no data; and before the first A-sync its packets depend on the chunks.
  plan.options.reference_quirks = (mode & 1) != 0 && !plan.config.data_trace();
  if ((mode & 2) != 0) plan.options.flags = kNoForwardBadPackets;
  plan.image = Program(random).image(static_cast<Program::Kind>((mode >> 2 & 3U) % 3));
  if (plan.options.reference_quirks || (mode & 0x80) != 0)
    plan.before = support::etmv3_stream(random, plan.config, (mode & 0x40) != 0 ? 40 : 1, 0);
  return plan;
}

support::Decoded decode(const Plan& plan, const SourceOptions& options, Bytes stream,
                        std::size_t chunk, std::size_t span, bool watch) {
  auto made = etmv3::make_source(plan.config, plan.image.get(), options);
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

void check(const Element& element, std::size_t stream_size, TraceId id, bool quirks) {
  require(static_cast<std::size_t>(element.kind) < kElementKindCount, "an unknown kind");
  // Quirk unfinished_is_whole.
  require(quirks || element.kind != ElementKind::kUnknown, "an element without a kind");
  require(element.trace_id == id, "an element of another source");
  require(element.index <= stream_size, "an index past the end");
  require(static_cast<unsigned>(element.isa) <= static_cast<unsigned>(isa::Isa::kUnknown),
          "an unknown instruction set");
  require(element.last_type <= isa::InstrType::kTstart, "an unknown instruction type");
  require(element.last_subtype <= isa::InstrSubtype::kV7ImpliedReturn, "an unknown subtype");
  require(element.security <= Security::kRealm, "an unknown world");
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 6;
  if (size < kSettings || size > 4096 + kSettings) return 0;
  const Plan plan = plan_of(Bytes(data, kSettings));
  std::vector<std::uint8_t> stream = plan.before;
  stream.insert(stream.end(), data + kSettings, data + size);
  const support::Decoded whole = decode(plan, plan.options, stream, 0, 1024, true);
  // At most 16 atoms a byte, and what tells that the walk has ended.
  require(whole.elements.size() <= 18 * (stream.size() + 1) + 8, "more elements than input");
  for (const Element& element : whole.elements)
    check(element, stream.size(), plan.config.trace_id(), plan.options.reference_quirks);

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
  return 0;
}
