// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "support/counting.h"
#include "support/decoded.h"
#include "support/etmv4_stream.h"
#include "waymark/etmv4/parser.h"
#include "waymark/etmv4/source.h"

namespace waymark::etmv4 {
namespace {

using support::Decoded;
using support::difference;
using support::Program;
using support::Random;

constexpr TraceIndex kStart = 1000;

/// A configuration, a program and a stream, all from one seed.
struct Case {
  /// `straight`: without anything that keeps atoms from the fast path.
  explicit Case(std::uint64_t seed, bool straight = false)
      : random(seed), config(support::random_config(random)) {
    if (straight) config.trcidr8 = 0;
    const auto kind = random.pick({Program::Kind::kBuffers, Program::Kind::kBuffers,
                                   Program::Kind::kSpaces, Program::Kind::kCallback});
    image = Program(random).image(kind);
    options.reference_quirks = random.coin();
    if (options.reference_quirks && random.one_in(3)) options.native_quirks = random.bits(13);
    for (const std::uint32_t flag :
         {kNoForwardBadPackets, kCheckDirectBranchN, kCheckStrictBranchN, kCheckRangeContinuity,
          kCheckBranchNotThumb, kA64OpcodeCheck, kHaltOnBadPackets})
      if (random.one_in(8)) options.flags |= flag;
    if (random.coin()) options.flags |= kSourceAddressNRanges;
    if (random.one_in(6)) options.range_limit = random.between(2, 12);
    if (straight) options = {};
    bytes = support::StreamMaker(random, config)
                .make(random.between(50, 250), random.pick({0U, 0U, 60U, 10U}));
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

class Stream : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t kSeedsEach = 40;

  /// `check(case)` returns the text of a difference, or an empty string.
  template <class Check>
  static void for_each_case(Check check, bool straight = false) {
    for (std::uint64_t seed = GetParam() * kSeedsEach; seed < (GetParam() + 1) * kSeedsEach;
         ++seed) {
      const Case one(seed, straight);
      const std::string text = check(one);
      ASSERT_TRUE(text.empty()) << "seed " << seed << ": " << text;
    }
  }
};

TEST_P(Stream, gives_the_same_in_any_chunks) {
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

TEST_P(Stream, gives_the_same_packets_in_any_chunks_without_a_decoder) {
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

/// A short form of every packet, whether it comes alone or in a row of atoms.
struct Digest {
  std::vector<std::pair<PacketType, std::uint64_t>> packets;

  bool on_atoms(TraceIndex /*index*/, const AtomPacket& atoms) {
    packets.emplace_back(atoms.type, atoms.atoms);
    return true;
  }
  bool on_packet(const Packet& packet) {
    const bool atoms = packet.type >= PacketType::kAtomF6 && packet.type < PacketType::kAsync;
    const bool address =
        packet.type >= PacketType::kAddressMatch && packet.type <= PacketType::kAddress64Is1;
    std::uint64_t told = packet.length;
    if (atoms) told = packet.atoms;
    if (address) told = packet.address.value;
    packets.emplace_back(packet.type, told);
    return true;
  }
};

struct RowDigest : Digest {
  void on_atom_row(Bytes headers) {
    for (const std::uint8_t header : headers) on_atoms(0, atom_packet(header));
  }
};

TEST_P(Stream, gives_rows_of_atoms_the_packets_that_come_one_by_one) {
  for_each_case([](const Case& one) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{16}, one.bytes.size()}) {
      Parser by_rows(one.config);
      Parser one_by_one(one.config);
      RowDigest rows;
      Digest single;
      for (std::size_t at = 0; at < one.bytes.size(); at += chunk) {
        const frames::Run run{0, kStart + at};
        const Bytes bytes = Bytes(one.bytes).subspan(at, std::min(chunk, one.bytes.size() - at));
        by_rows.feed({bytes, {&run, 1}});
        by_rows.parse(rows);
        one_by_one.feed({bytes, {&run, 1}});
        Packet packet{};
        while (one_by_one.next(packet)) single.on_packet(packet);
        if (by_rows.position() != bytes.size()) return std::string("bytes left");
      }
      if (rows.packets.size() < 20) return std::string("too few packets to tell");
      const auto [a, b] = std::ranges::mismatch(rows.packets, single.packets);
      if (a != rows.packets.end() || b != single.packets.end())
        return "packet " + std::to_string(a - rows.packets.begin()) + " in chunks of " +
               std::to_string(chunk);
    }
    return std::string();
  });
}

/// Without cycle counting, only a damaged trace has cycle counts.
count::Counts comparable(count::Counts counts, const Config& config) {
  if (config.cycle_count_enabled()) return counts;
  for (count::Row& row : counts.rows) row.cycles = 0;
  counts.other_cycles = 0;
  return counts;
}

TEST_P(Stream, counts_what_its_elements_tell) {
  const auto check = [](const Case& one) {
    const Decoded whole = decode(one.source(), one.bytes, 0, 1024, Watch::kDiagnostics);
    support::PlainCounter plain(true);
    plain.add(whole.elements);
    for (const std::size_t chunk : {0U, 1U, 3U, 16U}) {
      const auto source = one.source();
      Decoded seen;
      source->set_observer(&seen, 0x33);
      count::Counter counter;
      auto turn = static_cast<std::uint32_t>(one.bytes.size());
      support::feed_each(*source, kStart, one.bytes, chunk, [&] {
        support::harvest_soon(counter, turn++);
        source->count(counter);
      });
      source->finish();
      source->count(counter);
      if (auto text = support::difference(comparable(plain.counts(), one.config),
                                          comparable(counter.take(), one.config));
          !text.empty())
        return "chunks of " + std::to_string(chunk) + ", " + text;
      if (seen.diagnostics.size() != whole.diagnostics.size()) return std::string("other records");
      for (std::size_t i = 0; i < seen.diagnostics.size(); ++i)
        if (!support::same(seen.diagnostics[i].what, whole.diagnostics[i].what))
          return "record " + describe(seen.diagnostics[i]);
    }
    return std::string();
  };
  for_each_case(check, false);
  for_each_case(check, true);
}

TEST_P(Stream, counts_what_repeats) {
  for_each_case(
      [](const Case& one) {
        std::vector<std::uint8_t> bytes;
        for (unsigned i = 0; i < 6; ++i)
          bytes.insert(bytes.end(), one.bytes.begin(), one.bytes.end());
        const Decoded whole = decode(one.source(), bytes, 0, 1024, Watch::kNothing);
        support::PlainCounter plain(true);
        plain.add(whole.elements);
        const auto source = one.source();
        count::Counter counter;
        count::Counts counts;
        std::uint32_t turn = 0;
        support::feed_each(*source, kStart, bytes, bytes.size() / 4 + 1, [&] {
          support::harvest_soon(counter, turn++);
          source->count(counter);
          counts.add(counter.take());
        });
        source->finish();
        source->count(counter);
        counts.add(counter.take());
        return support::difference(comparable(plain.counts(), one.config),
                                   comparable(counts, one.config));
      },
      true);
}

TEST_P(Stream, counts_and_gives_elements_in_turn) {
  const auto check = [](const Case& one) {
    const Decoded whole = decode(one.source(), one.bytes, 0, 1024, Watch::kNothing);
    support::PlainCounter plain(true);
    plain.add(whole.elements);
    Random random(one.bytes.size());
    const auto source = one.source();
    count::Counter counter;
    count::Counts counts;
    std::array<Element, 5> some;
    support::feed_each(*source, kStart, one.bytes, 7, [&] {
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
    return support::difference(comparable(plain.counts(), one.config),
                               comparable(counts, one.config));
  };
  for_each_case(check, false);
  for_each_case(check, true);
}

TEST_P(Stream, gives_the_same_in_spans_of_any_size) {
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

TEST_P(Stream, gives_the_same_with_and_without_the_block_cache) {
  for_each_case([](const Case& one) {
    SourceOptions uncached = one.options;
    uncached.block_cache = false;
    return difference(decode(one.source(), one.bytes, 0, 256, Watch::kPackets),
                      decode(one.source(uncached), one.bytes, 0, 256, Watch::kPackets));
  });
}

TEST_P(Stream, gives_the_same_elements_and_records_whoever_looks_on) {
  for_each_case([](const Case& one) {
    Decoded watched = decode(one.source(), one.bytes, 0, 64, Watch::kPackets);
    const Decoded alone = decode(one.source(), one.bytes, 0, 64, Watch::kNothing);
    if (auto text = difference(watched.elements, alone.elements); !text.empty()) return text;
    watched.packets.clear();
    return difference(watched, decode(one.source(), one.bytes, 0, 64, Watch::kDiagnostics));
  });
}

TEST_P(Stream, goes_on_alike_in_a_clone_whose_original_is_gone) {
  for_each_case([](const Case& one) {
    const std::size_t half = one.bytes.size() / 2;
    auto original = one.source();
    std::vector<Element> before;
    support::feed(*original, kStart, Bytes(one.bytes).first(half), 0, 64, before);
    const frames::Run run{0, kStart + half};
    original->feed({Bytes(one.bytes).subspan(half), {&run, 1}});
    // The clone starts between the elements of a packet.
    std::vector<Element> out(Random(one.bytes.size()).between(1, 40));
    out.resize(original->next(out));
    before.insert(before.end(), out.begin(), out.end());
    auto clone = original->clone();
    original.reset();
    support::take(*clone, 5, before);
    clone->finish();
    support::take(*clone, 5, before);
    return difference(decode(one.source(), one.bytes, 0, 64, Watch::kNothing).elements, before);
  });
}

TEST_P(Stream, gives_the_same_again_after_a_reset) {
  for_each_case([](const Case& one) {
    // Values of contexts and the listing's sticky threshold survive a reset: start from the same
    // values.
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

INSTANTIATE_TEST_SUITE_P(Seeds, Stream, testing::Range<std::uint64_t>(0, 8));

}  // namespace
}  // namespace waymark::etmv4
