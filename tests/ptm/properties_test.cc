// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include "support/counting.h"
#include "support/decoded.h"
#include "support/ptm_stream.h"
#include "waymark/ptm/source.h"

namespace waymark::ptm {
namespace {

using support::Decoded;
using support::difference;
using support::Program;
using support::Random;

constexpr TraceIndex kStart = 1000;

/// A configuration, a program and a stream, all from one seed.
struct Case {
  explicit Case(std::uint64_t seed) : random(seed), config(support::random_ptm_config(random)) {
    const auto kind = random.pick({Program::Kind::kBuffers, Program::Kind::kBuffers,
                                   Program::Kind::kSpaces, Program::Kind::kCallback});
    image = Program(random).image(kind);
    options.reference_quirks = random.coin();
    // Without the first quirk, which makes chunks depend on blocks.
    if (options.reference_quirks && random.one_in(3)) options.native_quirks = random.bits(15) | 1;
    for (const std::uint32_t flag : {kNoForwardBadPackets, kErrorOnBadPackets, kHaltOnBadPackets})
      if (random.one_in(8)) options.flags |= flag;
    if (random.one_in(6)) options.range_limit = random.between(2, 12);
    // With quirks the chunks of unsynchronised bytes depend on the blocks.
    bytes = support::PtmStreamMaker(random, config)
                .make(random.between(50, 250), random.pick({0U, 0U, 60U, 10U}),
                      !options.reference_quirks);
  }

  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    auto made = make_source(config, image.get(), with);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  [[nodiscard]] std::unique_ptr<Source> source() const { return source(options); }

  Random random;
  Config config;
  std::unique_ptr<image::Image> image;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

enum class Watch : std::uint8_t { kNothing, kDiagnostics, kPackets };

Decoded decode(std::unique_ptr<Source> source, Bytes bytes, std::size_t chunk, std::size_t span,
               Watch watch) {
  Decoded decoded;
  if (watch == Watch::kPackets) decoded.source = source.get();
  if (watch != Watch::kNothing) source->set_observer(&decoded, 0x33);
  support::feed(*source, kStart, bytes, chunk, span, decoded.elements);
  source->finish();
  support::take(*source, span, decoded.elements);
  decoded.source = nullptr;
  return decoded;
}

class PtmStream : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t kSeedsEach = 40;

  /// `check(case)` returns the text of a difference, or an empty string.
  template <class Check>
  static void for_each_case(Check check) {
    for (std::uint64_t seed = GetParam() * kSeedsEach; seed < (GetParam() + 1) * kSeedsEach;
         ++seed) {
      const Case one(seed);
      const std::string text = check(one);
      ASSERT_TRUE(text.empty()) << "seed " << seed << ": " << text;
    }
  }
};

TEST_P(PtmStream, gives_the_same_in_any_chunks) {
  for_each_case([](const Case& one) {
    const Decoded whole = decode(one.source(), one.bytes, 0, 1024, Watch::kPackets);
    for (const std::size_t chunk : {1U, 2U, 3U, 7U, 16U, 4096U}) {
      const Decoded cut = decode(one.source(), one.bytes, chunk, 1024, Watch::kPackets);
      if (auto text = difference(whole, cut); !text.empty())
        return "chunks of " + std::to_string(chunk) + ", " + text;
    }
    return std::string();
  });
}

TEST_P(PtmStream, counts_what_its_elements_tell) {
  for_each_case([](const Case& one) {
    const Decoded whole = decode(one.source(), one.bytes, 0, 1024, Watch::kNothing);
    support::PlainCounter plain(false, one.config.cycle_accurate());
    plain.add(whole.elements);
    for (const std::size_t chunk : {0U, 7U, 64U}) {
      if (auto text = support::counting_difference(plain, *one.source(), kStart, one.bytes, chunk);
          !text.empty())
        return "chunks of " + std::to_string(chunk) + ", " + text;
    }
    return std::string();
  });
}

TEST_P(PtmStream, gives_the_same_packets_in_any_chunks_without_a_decoder) {
  for_each_case([](const Case& one) {
    SourceOptions packets_only = one.options;
    packets_only.decode = false;
    const Decoded whole = decode(one.source(packets_only), one.bytes, 0, 1, Watch::kPackets);
    for (const std::size_t chunk : {1U, 2U, 3U, 7U, 16U, 4096U}) {
      const Decoded cut = decode(one.source(packets_only), one.bytes, chunk, 1, Watch::kPackets);
      if (auto text = difference(whole, cut); !text.empty())
        return "chunks of " + std::to_string(chunk) + ", " + text;
    }
    return std::string();
  });
}

TEST_P(PtmStream, gives_the_same_in_spans_of_any_size) {
  for_each_case([](const Case& one) {
    for (const Watch watch : {Watch::kPackets, Watch::kDiagnostics, Watch::kNothing}) {
      const Decoded many = decode(one.source(), one.bytes, 0, 1024, watch);
      for (const std::size_t span : {1U, 2U, 7U}) {
        const Decoded few = decode(one.source(), one.bytes, 0, span, watch);
        if (auto text = difference(many, few); !text.empty())
          return "spans of " + std::to_string(span) + ", " + text;
      }
    }
    return std::string();
  });
}

TEST_P(PtmStream, gives_the_same_with_and_without_the_block_cache) {
  for_each_case([](const Case& one) {
    SourceOptions uncached = one.options;
    uncached.block_cache = false;
    return difference(decode(one.source(), one.bytes, 0, 256, Watch::kPackets),
                      decode(one.source(uncached), one.bytes, 0, 256, Watch::kPackets));
  });
}

TEST_P(PtmStream, gives_the_same_elements_and_records_whoever_looks_on) {
  for_each_case([](const Case& one) {
    Decoded watched = decode(one.source(), one.bytes, 0, 64, Watch::kPackets);
    const Decoded alone = decode(one.source(), one.bytes, 0, 64, Watch::kNothing);
    if (auto text = difference(watched.elements, alone.elements); !text.empty()) return text;
    watched.packets.clear();
    return difference(watched, decode(one.source(), one.bytes, 0, 64, Watch::kDiagnostics));
  });
}

TEST_P(PtmStream, goes_on_alike_in_a_clone_whose_original_is_gone) {
  for_each_case([](const Case& one) {
    const std::size_t half = one.bytes.size() / 2;
    auto original = one.source();
    std::vector<Element> before;
    support::feed(*original, kStart, Bytes(one.bytes).first(half), 0, 64, before);
    const frames::Run run{0, kStart + half};
    original->feed({Bytes(one.bytes).subspan(half), {&run, 1}});
    std::vector<Element> out(Random(one.bytes.size()).between(1, 40));
    out.resize(original->next(out));  // The clone starts between the elements of a packet.
    before.insert(before.end(), out.begin(), out.end());
    auto clone = original->clone();
    original.reset();
    support::take(*clone, 5, before);
    clone->finish();
    support::take(*clone, 5, before);
    return difference(decode(one.source(), one.bytes, 0, 64, Watch::kNothing).elements, before);
  });
}

TEST_P(PtmStream, gives_the_same_up_to_the_first_changed_byte) {
  for_each_case([](const Case& one) {
    Random random(one.bytes.size());
    const std::size_t first = random.below(static_cast<std::uint32_t>(one.bytes.size()));
    std::vector<Element> before;
    support::feed(*one.source(), kStart, Bytes(one.bytes).first(first), 0, 64, before);
    for (const unsigned changes : {1U, 10U, 1000U}) {
      std::vector<std::uint8_t> damaged = one.bytes;
      damaged[first] ^= 0x55;
      const auto rest = static_cast<std::uint32_t>(damaged.size() - first);
      for (unsigned i = 1; i < changes; ++i) damaged[first + random.below(rest)] = random.byte();
      const Decoded all = decode(one.source(), damaged, 0, 64, Watch::kNothing);
      if (all.elements.size() < before.size()) return std::string("fewer elements than before");
      const auto head = std::span(all.elements).first(before.size());
      if (auto text = difference(before, head); !text.empty()) return text;
    }
    return std::string();
  });
}

TEST_P(PtmStream, gives_the_same_again_after_a_reset) {
  for_each_case([](const Case& one) {
    // Values of contexts survive a reset: start from the same values.
    auto source = one.source();
    std::vector<Element> ignored;
    support::feed(*source, kStart, one.bytes, 0, 64, ignored);
    source->reset();
    auto clone = source->clone();
    std::vector<Element> first;
    std::vector<Element> second;
    support::feed(*source, kStart, one.bytes, 0, 64, first);
    support::feed(*clone, kStart, one.bytes, 3, 1, second);
    return difference(first, second);
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, PtmStream, testing::Range<std::uint64_t>(0, 8));

}  // namespace
}  // namespace waymark::ptm
