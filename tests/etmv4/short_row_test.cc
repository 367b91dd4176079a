// Short rows: the atoms of several packets at once give what the packets give one by one.
#include <gtest/gtest.h>

#include <random>

#include "support/decoder_bench.h"
#include "support/seed_count.h"
#include "waymark/etmv4/atoms.h"
#include "waymark/etmv4/source.h"

namespace waymark::etmv4 {
namespace {

TEST(Etmv4ShortRow, has_the_atoms_of_its_packets_and_marks_their_ends) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const unsigned packets = 1 + random() % kShortRow;
    std::uint32_t headers = 0;
    std::uint64_t atoms = 0;
    std::uint64_t ends = 0;
    std::uint32_t count = 0;
    for (unsigned i = 0; i != packets; ++i) {
      const auto header = static_cast<std::uint8_t>(kFirstAtomHeader + random() % 64);
      const AtomPacket& packet = atom_packet(header);
      headers |= std::uint32_t{header} << 8 * i;
      if (count < 64) atoms |= std::uint64_t{packet.atoms} << count;
      count += packet.atom_count;
      if (count <= 64) ends |= std::uint64_t{1} << (count - 1);
    }
    const AtomRow row = short_row(headers);
    ASSERT_EQ(row.count, count);
    if (count > kMostInRow) continue;
    ASSERT_EQ(row.atoms, atoms);
    ASSERT_EQ(row.ends, ends);
  }
}

/// Everything that a source gives, with so much space for elements at a time.
struct Given {
  std::vector<Element> elements;
  std::uint64_t packets = 0;
  std::vector<std::uint32_t> ends;  ///< PartMarks::ends.

  friend bool operator==(const Given&, const Given&) = default;
};

class Etmv4ShortRows : public testing::Test, protected support::DecoderBench {
 protected:
  Etmv4ShortRows() {
    usual_program();
    program({0x54FFFEA1, 0xFFFFFFFF}, 0x1030);  // B.NE 1004; no waypoint, and then no memory.
  }

  /// Atoms, mostly; and addresses in the program, or a little after it.
  static std::vector<std::uint8_t> trace(std::mt19937_64& random) {
    std::vector<std::uint8_t> bytes = sync();
    while (bytes.size() < 200) {
      if (random() % 4 != 0) {
        bytes.push_back(static_cast<std::uint8_t>(random() % 3 != 0 ? 0xD8 + random() % 4
                                                                    : 0xC0 + random() % 64));
      } else {
        bytes.insert(bytes.end(), {0x95, static_cast<std::uint8_t>(random() % 16)});
      }
    }
    return bytes;
  }

  /// The bytes are frames without ID bytes, whose ends are marked.
  [[nodiscard]] Given given(Bytes bytes, std::size_t space, QuirkSet quirk_set) const {
    SourceOptions options;
    options.quirks = quirk_set;
    auto made = make_source(config, &image, options);
    EXPECT_TRUE(made);
    Source& source = **made;
    Given all;
    PartMarks marks;
    std::vector<Element> out(space);
    const auto take = [&] {
      while (const std::size_t count = source.next(out)) {
        marks.elements += static_cast<std::uint32_t>(count);
        all.elements.insert(all.elements.end(), out.begin(),
                            out.begin() + static_cast<std::ptrdiff_t>(count));
      }
    };
    const frames::Run run{.position = 0, .index = 0, .whole_frames = true};
    marks.begin(PartMarks::Parts::kFrames, 0);
    source.mark_parts(&marks);
    source.feed({bytes, {&run, 1}});
    take();
    all.ends.assign(marks.ends.begin(), marks.ends.begin() + marks.part + 1);
    source.mark_parts(nullptr);
    source.finish();
    take();
    all.packets = source.statistics().packets;
    return all;
  }

  void compare(QuirkSet quirk_set = 0) {
    for (std::uint64_t seed = 0; seed < support::seed_count(400); ++seed) {
      std::mt19937_64 random(seed);
      const std::vector<std::uint8_t> bytes = trace(random);
      const Given one_by_one = given(bytes, 1, quirk_set);
      for (const std::size_t space : {std::size_t{24}, std::size_t{1000}})
        ASSERT_EQ(given(bytes, space, quirk_set), one_by_one) << "seed " << seed << ", " << space;
      ASSERT_GT(one_by_one.elements.size(), 3U);
    }
  }
};

TEST_F(Etmv4ShortRows, give_the_elements_of_single_packets) { compare(); }

TEST_F(Etmv4ShortRows, give_them_with_a_return_stack_that_may_be_empty) {
  config.trcconfigr |= 1U << 12;
  compare();
}

TEST_F(Etmv4ShortRows, end_at_the_exception_returns_of_ete) {
  ete();
  compare();
}

TEST_F(Etmv4ShortRows, lose_what_an_error_loses_with_the_quirks_of_the_reference) {
  config.trcconfigr |= 1U << 12;
  compare(kReferenceQuirks);
}

}  // namespace
}  // namespace waymark::etmv4
