#include "waymark/etm4x/mode.h"

#include <gtest/gtest.h>

#include "etm4x/units.h"

namespace waymark::etm4x {
namespace {

struct Registers {
  std::uint32_t configr;
  std::uint32_t eventctl1r;
  std::uint32_t stallctlr;
  std::uint32_t victlr;
  friend bool operator==(const Registers&, const Registers&) = default;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name.
void PrintTo(const Registers& r, std::ostream* out) {
  *out << std::hex << r.configr << ' ' << r.eventctl1r << ' ' << r.stallctlr << ' ' << r.victlr;
}

Registers after(const IdRegisters& id, std::uint64_t word, Quirks quirks = kAllQuirks) {
  Unit unit(id, {}, quirks);
  store_mode(unit, word);
  const State& s = unit.state;
  return {s.configr, s.eventctl1r, s.stallctlr, s.victlr};
}

constexpr std::uint32_t kFullLevels = 0x004F0001;  // Before any start or exclusion.
constexpr std::uint32_t kBareLevels = 0x00400001;

struct Bit {
  std::uint32_t word;
  Registers full;
  Registers bare;
};

TEST(Mode, each_bit_alone_with_and_without_the_feature) {
  constexpr Bit kBits[] = {
      {1U << 0, {0, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 1, {1U << 1, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 2, {2U << 1, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 3, {3U << 1, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 4, {1U << 3, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 5, {1U << 4, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 6, {1U << 6, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 7, {1U << 7, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 8, {1U << 8, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {7U << 8, {7U << 8, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 11, {1U << 11, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 12, {1U << 12, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 13, {1U << 13, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {2U << 13, {3U << 13, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {3U << 13, {3U << 13, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {0xFU << 15, {0, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 19, {0, 1U << 11, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 20, {0, 1U << 12, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 21, {0, 0, 1U << 8, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 22, {0, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 23, {0, 0, 1U << 10, kFullLevels}, {0, 0, 1U << 10, kBareLevels}},
      {1U << 24, {0, 0, 1U << 13, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 25, {0, 0, 0, kFullLevels | 1U << 10}, {0, 0, 0, kBareLevels | 1U << 10}},
      {1U << 26, {0, 0, 0, kFullLevels | 1U << 11}, {0, 0, 0, kBareLevels}},
      {1U << 27, {0, 0, 0, kFullLevels | 1U << 9}, {0, 0, 0, kBareLevels | 1U << 9}},
      {3U << 28, {0, 0, 0, kFullLevels}, {0, 0, 0, kBareLevels}},
      {1U << 30, {0, 0, 0, 0x006F0001}, {0, 0, 0, 0x00600001}},
      {1U << 31, {0, 0, 0, 0x005F0001}, {0, 0, 0, 0x00500001}},
      {3U << 30, {0, 0, 0, 0x007F0001}, {0, 0, 0, 0x00700001}},
  };
  // The full unit here has every feature.  The bare one has none, and a TRCIDR0 without Q elements.
  for (const Bit& bit : kBits) {
    EXPECT_EQ(after(full_unit(), bit.word), bit.full) << std::hex << bit.word;
    EXPECT_EQ(after(bare_unit(), bit.word), bit.bare) << std::hex << bit.word;
  }
}

TEST(Mode, word_without_a_bit_clears_it) {
  Unit unit(full_unit());
  store_mode(unit, 0xCFFFFFFF);
  store_mode(unit, 0);
  EXPECT_EQ(unit.state.configr, 0);
  EXPECT_EQ(unit.state.eventctl1r, 0);
  EXPECT_EQ(unit.state.stallctlr, 0);
  EXPECT_EQ(unit.state.victlr, 0x007F0001) << "levels stay excluded";
}

TEST(Mode, q_elements_without_counts_need_support_for_them) {
  IdRegisters id = full_unit();
  id.idr[0] = (id.idr[0] & ~(3U << 15)) | 1U << 15;
  EXPECT_EQ(after(id, 3U << 13).configr, 1U << 13);
  EXPECT_EQ(after(id, 2U << 13).configr, 1U << 13);
}

TEST(Mode, kernel_at_el2_is_another_level) {
  Environment environment;
  environment.kernel_at_el2 = true;
  Unit unit(full_unit(), environment);
  store_mode(unit, mode::kExcludeKernel);
  EXPECT_EQ(unit.state.victlr, 0x004F0001);
  store_mode(unit, mode::kExcludeUser);
  EXPECT_EQ(unit.state.victlr, 0x001F0001);
}

TEST(Mode, event_bits_survive) {
  Unit unit(full_unit());
  EXPECT_EQ(write(unit, "event_instren", "5"), "ok");
  store_mode(unit, mode::kAtbTrigger);
  EXPECT_EQ(unit.state.eventctl1r, 0x805);
}

TEST(Mode, fixed_driver_gates_what_the_document_says) {
  EXPECT_EQ(after(bare_unit(), 1U << 23, kNoQuirks).stallctlr, 0);
  EXPECT_EQ(after(bare_unit(), 1U << 25, kNoQuirks).victlr, kBareLevels);
  Unit unit(full_unit(), {}, kNoQuirks);
  store_mode(unit, 3U << 30);
  store_mode(unit, 0);
  EXPECT_EQ(unit.state.victlr, kFullLevels);
}

TEST(Mode, table_covers_the_word) {
  std::uint32_t covered = 0;
  for (const ModeRow& row : mode_table()) {
    for (unsigned i = row.low; i <= row.high; ++i) {
      EXPECT_EQ(covered >> i & 1, 0) << i;
      covered |= 1U << i;
    }
  }
  EXPECT_EQ(covered, mode::kStored);
}

}  // namespace
}  // namespace waymark::etm4x
