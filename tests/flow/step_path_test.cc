#include "waymark/flow/step_path.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "waymark/flow/step_path_inl.h"

namespace waymark::flow {
namespace {

using isa::Isa;

constexpr std::uint32_t kStart = 0x8000;
constexpr std::uint32_t kAway = 0x8008;  // bx lr
constexpr std::uint32_t kEnd = 0x801C;

/// The input of a sink, such as "8000E 8004N".
struct Sink {
  std::string text;
  void pass(const Step& step, std::uint32_t executed) {
    constexpr char kDigits[] = "0123456789abcdef";
    if (!text.empty()) text += ' ';
    for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[step.address >> shift & 15];
    text += executed != 0 ? 'E' : 'N';
  }
  void pass_on(const Step& step) { pass(step, 1); }
};

class StepPathTest : public testing::Test {
 protected:
  StepPathTest() {
    constexpr std::uint32_t kNop = 0xE1A00000;
    constexpr std::uint32_t kLoop = 0x0AFFFFFD;    // 0x8004: beq 0x8000
    constexpr std::uint32_t kReturn = 0xE12FFF1E;  // 0x8008: bx lr
    constexpr std::uint32_t kThumb = 0xFA000000;   // 0x800C: blx 0x8014, T32
    constexpr std::uint32_t kFar = 0xEA003FFB;     // 0x8010: b 0x18004
    constexpr std::uint32_t kThumbNops = 0xBF00BF00;
    for (const std::uint32_t word : {kNop, kLoop, kReturn, kThumb, kFar, kThumbNops, kThumbNops})
      for (unsigned shift = 0; shift < 32; shift += 8)
        code_.push_back(static_cast<std::uint8_t>(word >> shift));
    EXPECT_TRUE(image_.add_buffer(kStart, code_));
  }

  [[nodiscard]] StepPath path(std::uint32_t address = kStart, Isa isa = Isa::kA32) const {
    StepPath path(image_, {.arch = isa::Arch::kV7}, 1);
    path.go_to(address, isa);
    return path;
  }

  /// Takes atoms, such as "EEN", and returns what the sink was given.
  std::string take(StepPath& path, std::string_view atoms) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < atoms.size(); ++i)
      bits |= static_cast<std::uint32_t>(atoms[i] == 'E') << i;
    left_ = static_cast<unsigned>(atoms.size());
    Sink sink;
    turned_ = path.take(bits, left_, sink);
    return sink.text;
  }

  std::vector<std::uint8_t> code_;
  image::Image image_;
  Turn turned_ = Turn::kOn;
  unsigned left_ = 0;
};

TEST_F(StepPathTest, each_atom_is_one_instruction) {
  StepPath path = this->path();
  EXPECT_EQ(take(path, "ENE"), "8000E 8004N 8008E");
  EXPECT_EQ(turned_, Turn::kOn);
  EXPECT_EQ(left_, 0U);
}

TEST_F(StepPathTest, an_executed_direct_branch_leads_to_its_target) {
  StepPath path = this->path();
  EXPECT_EQ(take(path, "EEE"), "8000E 8004E 8000E");
  EXPECT_EQ(path.address, kStart + 4);
  EXPECT_EQ(take(path, "EN"), "8004E 8000N");
  EXPECT_EQ(path.address, kStart + 4);
}

TEST_F(StepPathTest, a_place_is_kept_between_calls) {
  StepPath path = this->path();
  EXPECT_EQ(take(path, "N"), "8000N");
  EXPECT_EQ(take(path, "N"), "8004N");
  EXPECT_EQ(path.address, kAway);
  EXPECT_FALSE(path.lost);
}

TEST_F(StepPathTest, an_indirect_branch_loses_the_path) {
  StepPath path = this->path(kAway);
  EXPECT_EQ(take(path, "E"), "8008E");
  EXPECT_EQ(turned_, Turn::kOn);
  EXPECT_TRUE(path.lost);
  EXPECT_EQ(path.address, kAway + 4);
  path.go_to(kStart, Isa::kA32);
  EXPECT_FALSE(path.lost);
}

TEST_F(StepPathTest, atoms_after_an_indirect_branch_are_left) {
  StepPath path = this->path(kAway);
  EXPECT_EQ(take(path, "EEE"), "8008E");
  EXPECT_EQ(turned_, Turn::kStuckAfter);
  EXPECT_EQ(left_, 2U);
}

TEST_F(StepPathTest, an_indirect_branch_that_is_not_executed_is_passed) {
  StepPath path = this->path(kAway);
  EXPECT_EQ(take(path, "NN"), "8008N 800cN");
}

TEST_F(StepPathTest, a_branch_changes_the_instruction_set) {
  StepPath path = this->path(kAway + 4);
  EXPECT_EQ(take(path, "EEE"), "800cE 8014E 8016E");
  EXPECT_EQ(path.isa, Isa::kT32);
  EXPECT_EQ(path.address, kEnd - 4);
}

TEST_F(StepPathTest, a_target_without_code_is_a_place_where_nothing_can_be_taken) {
  StepPath path = this->path(kAway + 8);
  EXPECT_EQ(take(path, "E"), "8010E");
  EXPECT_EQ(turned_, Turn::kOn);
  EXPECT_EQ(path.address, 0x18004U);
  EXPECT_FALSE(path.lost);
  EXPECT_EQ(take(path, "EE"), "");
  EXPECT_EQ(turned_, Turn::kStuck);
  EXPECT_EQ(left_, 2U);
  EXPECT_EQ(path.cache().outcome(), BlockEnd::kNotAccessible);
}

TEST_F(StepPathTest, the_end_of_the_code_leaves_the_other_atoms) {
  StepPath path = this->path(kEnd - 4, Isa::kT32);
  EXPECT_EQ(take(path, "EEE"), "8018E 801aE");
  EXPECT_EQ(turned_, Turn::kStuck);
  EXPECT_EQ(left_, 1U);
  EXPECT_EQ(path.address, kEnd);
}

TEST_F(StepPathTest, without_a_cache_the_path_is_the_same) {
  StepPath path = this->path();
  path.cache().set_enabled(false);
  EXPECT_EQ(take(path, "EEENE"), "8000E 8004E 8000E 8004N 8008E");
  EXPECT_TRUE(path.lost);
}

TEST_F(StepPathTest, a_copy_continues_at_the_place) {
  StepPath path = this->path();
  EXPECT_EQ(take(path, "N"), "8000N");
  StepPath copy = path;
  EXPECT_EQ(take(copy, "N"), "8004N");
  EXPECT_EQ(take(path, "N"), "8004N");
}

TEST_F(StepPathTest, another_path_can_be_continued) {
  StepPath path = this->path();
  EXPECT_EQ(take(path, "N"), "8000N");
  StepPath other = this->path(kAway);
  other.restore(path);
  EXPECT_EQ(static_cast<const StepPathState&>(other), path);
  EXPECT_EQ(take(other, "N"), "8004N");
}

TEST_F(StepPathTest, another_instruction_set_is_looked_up) {
  StepPath path = this->path(kEnd - 4);
  path.find();
  path.change_isa(Isa::kT32);
  EXPECT_EQ(take(path, "E"), "8018E");
  EXPECT_EQ(path.address, kEnd - 2);
}

}  // namespace
}  // namespace waymark::flow
