// Properties that hold for any stream of any protocol, tested on random streams.
//
// A protocol states its random streams as a type Case, which is made from a seed:
//   explicit Case(std::uint64_t seed);
//   SourceOptions options;
//   std::vector<std::uint8_t> bytes;                          // the stream
//   std::unique_ptr<Source> source(const SourceOptions&) const;
// and, for CodeProperties, of a protocol that traces a processor:
//   PlainCounter plain_counter() const;                       // how its elements share cycles
//   count::Counts comparable(count::Counts) const;            // without what cannot be compared
// It then needs one line for each suite:
//   INSTANTIATE_TYPED_TEST_SUITE_P(Ptm, StreamProperties, support::Shares<Case>);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/counting.h"
#include "support/decoded.h"
#include "support/random.h"

namespace waymark::support {

inline constexpr TraceIndex kStreamStart = 1000;

enum class Watch : std::uint8_t { kNothing, kDiagnostics, kPackets };

inline Decoded decode(std::unique_ptr<Source> source, Bytes bytes, std::size_t chunk,
                      std::size_t span, Watch watch) {
  Decoded decoded;
  if (watch == Watch::kPackets) decoded.source = source.get();
  if (watch != Watch::kNothing) source->set_observer(&decoded, 0x33);
  feed(*source, kStreamStart, bytes, chunk, span, decoded.elements);
  source->finish();
  take(*source, span, decoded.elements);
  decoded.source = nullptr;
  return decoded;
}

template <class Case>
Decoded decode(const Case& one, std::size_t chunk, std::size_t span, Watch watch) {
  return decode(one.source(one.options), one.bytes, chunk, span, watch);
}

// -- The properties: the text of a difference, or an empty string. --------------------------------

inline constexpr std::array<std::size_t, 6> kChunks = {1, 2, 3, 7, 16, 4096};

template <class Case>
std::string chunks_differ(const Case& one, const SourceOptions& options, std::size_t span) {
  const Decoded whole = decode(one.source(options), one.bytes, 0, span, Watch::kPackets);
  for (const std::size_t chunk : kChunks) {
    const Decoded cut = decode(one.source(options), one.bytes, chunk, span, Watch::kPackets);
    if (auto text = difference(whole, cut); !text.empty())
      return "chunks of " + std::to_string(chunk) + ", " + text;
  }
  return {};
}

template <class Case>
std::string spans_differ(const Case& one) {
  for (const Watch watch : {Watch::kPackets, Watch::kDiagnostics, Watch::kNothing}) {
    const Decoded many = decode(one, 0, 1024, watch);
    for (const std::size_t span : {1U, 2U, 7U}) {
      if (auto text = difference(many, decode(one, 0, span, watch)); !text.empty())
        return "spans of " + std::to_string(span) + ", " + text;
    }
  }
  return {};
}

template <class Case>
std::string observers_differ(const Case& one) {
  Decoded watched = decode(one, 0, 64, Watch::kPackets);
  const Decoded alone = decode(one, 0, 64, Watch::kNothing);
  if (auto text = difference(watched.elements, alone.elements); !text.empty()) return text;
  watched.packets.clear();
  return difference(watched, decode(one, 0, 64, Watch::kDiagnostics));
}

template <class Case>
std::string clone_differs(const Case& one) {
  const std::size_t half = one.bytes.size() / 2;
  auto original = one.source(one.options);
  std::vector<Element> before;
  feed(*original, kStreamStart, Bytes(one.bytes).first(half), 0, 64, before);
  const frames::Run run{0, kStreamStart + half};
  original->feed({Bytes(one.bytes).subspan(half), {&run, 1}});
  // The clone starts between the elements of a packet.
  std::vector<Element> out(Random(one.bytes.size()).between(1, 40));
  out.resize(original->next(out));
  before.insert(before.end(), out.begin(), out.end());
  auto clone = original->clone();
  original.reset();
  take(*clone, 5, before);
  clone->finish();
  take(*clone, 5, before);
  return difference(decode(one, 0, 64, Watch::kNothing).elements, before);
}

template <class Case>
std::string damage_reaches_back(const Case& one) {
  Random random(one.bytes.size());
  const std::size_t first = random.below(static_cast<std::uint32_t>(one.bytes.size()));
  std::vector<Element> before;
  feed(*one.source(one.options), kStreamStart, Bytes(one.bytes).first(first), 0, 64, before);
  for (const unsigned changes : {1U, 10U, 1000U}) {
    std::vector<std::uint8_t> damaged = one.bytes;
    damaged[first] ^= 0x55;
    const auto rest = static_cast<std::uint32_t>(damaged.size() - first);
    for (unsigned i = 1; i < changes; ++i) damaged[first + random.below(rest)] = random.byte();
    const Decoded all = decode(one.source(one.options), damaged, 0, 64, Watch::kNothing);
    if (all.elements.size() < before.size()) return "fewer elements than before";
    const auto head = std::span(all.elements).first(before.size());
    if (auto text = difference(before, head); !text.empty()) return text;
  }
  return {};
}

template <class Case>
std::string reset_differs(const Case& one) {
  // Values of contexts and the listing's sticky threshold survive a reset: start from the same
  // values.
  auto source = one.source(one.options);
  std::vector<Element> ignored;
  feed(*source, kStreamStart, one.bytes, 0, 64, ignored);
  source->reset();
  auto clone = source->clone();
  std::vector<Element> first;
  std::vector<Element> second;
  feed(*source, kStreamStart, one.bytes, 0, 64, first);
  feed(*clone, kStreamStart, one.bytes, 3, 1, second);
  return difference(first, second);
}

template <class Case>
std::string cache_differs(const Case& one) {
  SourceOptions uncached = one.options;
  uncached.block_cache = false;
  return difference(decode(one, 0, 256, Watch::kPackets),
                    decode(one.source(uncached), one.bytes, 0, 256, Watch::kPackets));
}

/// `counts` against the sums of `elements`.
template <class Case>
std::string counts_differ(const Case& one, std::span<const Element> elements,
                          const count::Counts& counts) {
  PlainCounter plain = one.plain_counter();
  plain.add(elements);
  return difference(one.comparable(plain.counts()), one.comparable(counts));
}

template <class Case>
std::string chunks_count_differently(const Case& one) {
  const Decoded whole = decode(one, 0, 1024, Watch::kDiagnostics);
  for (const std::size_t chunk : {0U, 1U, 3U, 7U, 16U, 64U}) {
    const auto source = one.source(one.options);
    Decoded seen;
    source->set_observer(&seen, 0x33);
    count::Counter counter;
    auto turn = static_cast<std::uint32_t>(one.bytes.size());
    feed_each(*source, kStreamStart, one.bytes, chunk, [&] {
      harvest_soon(counter, turn++);
      source->count(counter);
    });
    source->finish();
    source->count(counter);
    if (auto text = counts_differ(one, whole.elements, counter.take()); !text.empty())
      return "chunks of " + std::to_string(chunk) + ", " + text;
    const auto same_record = [](const auto& a, const auto& b) { return same(a.what, b.what); };
    if (!std::ranges::equal(seen.diagnostics, whole.diagnostics, same_record))
      return "other diagnostics in chunks of " + std::to_string(chunk);
  }
  return {};
}

template <class Case>
std::string repetitions_count_differently(const Case& one) {
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < 6; ++i) bytes.insert(bytes.end(), one.bytes.begin(), one.bytes.end());
  const Decoded whole = decode(one.source(one.options), bytes, 0, 1024, Watch::kNothing);
  const auto source = one.source(one.options);
  count::Counter counter;
  count::Counts counts;
  std::uint32_t turn = 0;
  feed_each(*source, kStreamStart, bytes, bytes.size() / 4 + 1, [&] {
    harvest_soon(counter, turn++);
    source->count(counter);
    counts.add(counter.take());
  });
  source->finish();
  source->count(counter);
  counts.add(counter.take());
  return counts_differ(one, whole.elements, counts);
}

/// Some elements are taken from the source and given to the counter, the others only counted.
template <class Case>
std::string turns_count_differently(const Case& one) {
  const Decoded whole = decode(one, 0, 1024, Watch::kNothing);
  Random random(one.bytes.size());
  const auto source = one.source(one.options);
  count::Counter counter;
  count::Counts counts;
  std::array<Element, 5> some;
  feed_each(*source, kStreamStart, one.bytes, 7, [&] {
    for (unsigned i = random.below(4); i != 0; --i) {
      const std::size_t got = source->next(std::span(some).first(random.between(1, 5)));
      counter.observe(std::span(some).first(got));
    }
    source->count(counter);
    if (random.one_in(8)) counts.add(counter.take());
  });
  source->finish();
  source->count(counter);
  counts.add(counter.take());
  return counts_differ(one, whole.elements, counts);
}

// -- The suites. ----------------------------------------------------------------------------------

/// A part of the seeds, so that several processes can share the work.
template <class CaseType, std::uint64_t kShare>
struct Share {
  using Case = CaseType;
  static constexpr std::uint64_t kSeeds = 40;
  static constexpr std::uint64_t kFirst = kShare * kSeeds;
};
template <class Case>
using Shares = testing::Types<Share<Case, 0>, Share<Case, 1>, Share<Case, 2>, Share<Case, 3>,
                              Share<Case, 4>, Share<Case, 5>, Share<Case, 6>, Share<Case, 7>>;

template <class Part>
class Properties : public testing::Test {
 protected:
  using Case = typename Part::Case;

  template <class Property>
  static void holds(Property differs) {
    for (std::uint64_t seed = Part::kFirst; seed < Part::kFirst + Part::kSeeds; ++seed) {
      const Case one(seed);
      const std::string text = differs(one);
      ASSERT_TRUE(text.empty()) << "seed " << seed << ": " << text;
    }
  }
};

}  // namespace waymark::support

namespace waymark {

// GoogleTest makes classes of these names.
// NOLINTBEGIN(readability-identifier-naming)

/// Of any stream.
template <class Part>
using StreamProperties = support::Properties<Part>;
TYPED_TEST_SUITE_P(StreamProperties);

TYPED_TEST_P(StreamProperties, gives_the_same_in_any_chunks) {
  this->holds([](const auto& one) { return support::chunks_differ(one, one.options, 1024); });
}
TYPED_TEST_P(StreamProperties, gives_the_same_packets_in_any_chunks_without_a_decoder) {
  this->holds([](const auto& one) {
    SourceOptions packets_only = one.options;
    packets_only.decode = false;
    return support::chunks_differ(one, packets_only, 1);
  });
}
TYPED_TEST_P(StreamProperties, gives_the_same_in_spans_of_any_size) {
  this->holds([](const auto& one) { return support::spans_differ(one); });
}
TYPED_TEST_P(StreamProperties, gives_the_same_elements_and_records_whoever_looks_on) {
  this->holds([](const auto& one) { return support::observers_differ(one); });
}
TYPED_TEST_P(StreamProperties, goes_on_alike_in_a_clone_whose_original_is_gone) {
  this->holds([](const auto& one) { return support::clone_differs(one); });
}
TYPED_TEST_P(StreamProperties, gives_the_same_up_to_the_first_changed_byte) {
  this->holds([](const auto& one) { return support::damage_reaches_back(one); });
}
TYPED_TEST_P(StreamProperties, gives_the_same_again_after_a_reset) {
  this->holds([](const auto& one) { return support::reset_differs(one); });
}
REGISTER_TYPED_TEST_SUITE_P(StreamProperties, gives_the_same_in_any_chunks,
                            gives_the_same_packets_in_any_chunks_without_a_decoder,
                            gives_the_same_in_spans_of_any_size,
                            gives_the_same_elements_and_records_whoever_looks_on,
                            goes_on_alike_in_a_clone_whose_original_is_gone,
                            gives_the_same_up_to_the_first_changed_byte,
                            gives_the_same_again_after_a_reset);

/// For the trace of a processor, which leads through a program.
template <class Part>
using CodeProperties = support::Properties<Part>;
TYPED_TEST_SUITE_P(CodeProperties);

TYPED_TEST_P(CodeProperties, gives_the_same_with_and_without_the_block_cache) {
  this->holds([](const auto& one) { return support::cache_differs(one); });
}
TYPED_TEST_P(CodeProperties, counts_what_its_elements_state) {
  this->holds([](const auto& one) { return support::chunks_count_differently(one); });
}
TYPED_TEST_P(CodeProperties, counts_what_repeats) {
  this->holds([](const auto& one) { return support::repetitions_count_differently(one); });
}
TYPED_TEST_P(CodeProperties, counts_and_gives_elements_in_turn) {
  this->holds([](const auto& one) { return support::turns_count_differently(one); });
}
REGISTER_TYPED_TEST_SUITE_P(CodeProperties, gives_the_same_with_and_without_the_block_cache,
                            counts_what_its_elements_state, counts_what_repeats,
                            counts_and_gives_elements_in_turn);

// NOLINTEND(readability-identifier-naming)
// A protocol without a program has only the others.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CodeProperties);

}  // namespace waymark
