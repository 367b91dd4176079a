// STM bytes to elements: registers, quirks, order and chunk size come from the first bytes of the
// input, the stream from the rest, optionally after a random legal one.  Invariants: fields are
// valid, the size of spans and (natively) of chunks makes no difference, nor does an observer, and
// the output is bounded by the input.
#include <string>
#include <vector>

#include "require.h"
#include "support/decoded.h"
#include "support/stm_stream.h"
#include "waymark/stm/source.h"

namespace {

using namespace waymark;
using fuzz::require;

struct Plan {
  stm::Config config;
  SourceOptions options;
  std::size_t chunk = 0;
  std::vector<std::uint8_t> stream;
};

Plan plan_of(Bytes settings, Bytes rest) {
  support::Random bytes(settings);
  Plan plan;
  const unsigned mode = bytes.byte();
  plan.chunk = bytes.byte() + 1U;
  plan.config.stmtcsr = static_cast<std::uint32_t>(bytes.bits(24));
  plan.config.stmdevid = bytes.byte();
  plan.config.stmspfeat3r = static_cast<std::uint32_t>(bytes.bits(16)) + 1;
  plan.config.order = bytes.pick(
      {stm::NibbleOrder::kMostFirst, stm::NibbleOrder::kLeastFirst, stm::NibbleOrder::kAuto});
  plan.options.quirks = (mode & 1) != 0 ? kReferenceQuirks : 0;
  if ((mode & 2) != 0) plan.options.flags |= kNoForwardBadPackets;
  if ((mode & 4) != 0) {
    support::Random random(bytes.bits(16));
    plan.stream = support::random_stm_stream(random, random.between(1, 40),
                                             (mode & 8) != 0 ? random.between(3, 40) : 0);
  }
  plan.stream.insert(plan.stream.end(), rest.begin(), rest.end());
  return plan;
}

support::Decoded decode(const Plan& plan, std::size_t chunk, std::size_t span, bool watch) {
  const std::unique_ptr<Source> source = *stm::make_source(plan.config, plan.options);
  support::Decoded decoded;
  if (watch) {
    decoded.source = source.get();
    source->set_observer(&decoded, 1);
  }
  support::feed(*source, 0, plan.stream, chunk, span, decoded.elements);
  source->finish();
  support::take(*source, span, decoded.elements);
  decoded.source = nullptr;
  return decoded;
}

void check(const Element& element, const Plan& plan) {
  require(element.trace_id == plan.config.trace_id(), "an element of another source");
  require(element.index <= plan.stream.size() + 1, "an index past the end");
  if (element.kind != ElementKind::kSwTrace) {
    require(element.kind == ElementKind::kNoSync || element.kind == ElementKind::kEndOfTrace,
            "a kind that STM does not have");
    return;
  }
  require(element.extra_value <= 64 && element.extra_value % 4 == 0, "a width of impossible size");
  require(element.extra_value == 64 || element.start >> element.extra_value == 0,
          "a payload wider than its width");
  require((element.extra & kSwTimestamp) != 0 || (element.flags & kElementHasTimestamp) == 0,
          "a time without a timestamp");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 11;
  if (size < kSettings || size > 4096 + kSettings) return 0;
  const Plan plan = plan_of(Bytes(data, kSettings), Bytes(data + kSettings, size - kSettings));
  const support::Decoded whole = decode(plan, 0, 1024, true);
  require(whole.elements.size() <= 2 * plan.stream.size() + 8, "more elements than input");
  for (const Element& element : whole.elements) check(element, plan);

  const auto equal = [&](const support::Decoded& other, const char* what) {
    const std::string text = difference(whole, other);
    require(text.empty(), std::string(what) + " makes a difference: " + text);
  };
  equal(decode(plan, 0, 1, true), "the size of spans");
  if (plan.options.quirks == 0) equal(decode(plan, plan.chunk, 7, true), "the size of chunks");
  const support::Decoded alone = decode(plan, 0, 1024, false);
  const std::string text = support::difference(whole.elements, alone.elements);
  require(text.empty(), "an observer makes a difference: " + text);
  return 0;
}
