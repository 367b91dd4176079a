#include "waymark/flow/path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "waymark/flow/path_inl.h"

namespace waymark::flow {
namespace {

constexpr std::uint64_t kStart = 0x1000;
constexpr std::uint64_t kFunction = 0x1010;
const isa::Options kOptions{.arch = isa::Arch::kAA64, .track_it_block = true};

/// The input of a sink, such as "1000E 1008N".
struct Sink {
  std::string* text;
  bool needs = false;
  bool full = false;

  [[nodiscard]] bool needs_stack() const { return needs; }
  void pass(const Block& block, bool taken) const {
    constexpr char kDigits[] = "0123456789abcdef";
    if (!text->empty()) *text += ' ';
    for (int shift = 12; shift >= 0; shift -= 4) *text += kDigits[block.start >> shift & 15];
    *text += taken ? 'E' : 'N';
  }
  [[nodiscard]] Turn indirect(const Block& /*block*/) const {
    return full ? Turn::kStuckAfter : Turn::kOn;
  }
};

/// A function that is called, and then a conditional loop or an indirect branch.
class PathTest : public testing::Test {
 protected:
  PathTest() {
    constexpr std::uint32_t kNop = 0xD503201F;
    constexpr std::uint32_t kCall = 0x94000003;      // 0x1004: bl 0x1010
    constexpr std::uint32_t kLoop = 0x54FFFFC0;      // 0x1008: b.eq 0x1000
    constexpr std::uint32_t kIndirect = 0xD61F0020;  // 0x100C: br x1
    constexpr std::uint32_t kReturn = 0xD65F03C0;    // 0x1014: ret
    for (const std::uint32_t word : {kNop, kCall, kLoop, kIndirect, kNop, kReturn})
      for (unsigned shift = 0; shift < 32; shift += 8)
        code_.push_back(static_cast<std::uint8_t>(word >> shift));
    EXPECT_TRUE(image_.add_buffer(kStart, code_));
  }

  [[nodiscard]] Path path(bool returns) const {
    Path path(image_, kOptions, 1, returns);
    path.go_to(kStart, isa::Isa::kA64);
    return path;
  }

  /// Takes atoms, such as "EEN", and returns what the sink was given.
  template <Returns kReturns>
  std::string take(Path& path, std::string_view atoms, bool needs = false, bool full = false) {
    std::string text;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < atoms.size(); ++i) bits |= std::uint64_t{atoms[i] == 'E'} << i;
    left_ = static_cast<std::uint32_t>(atoms.size());
    Sink sink{.text = &text, .needs = needs, .full = full};
    turned_ = path.take<kReturns>(bits, left_, sink);
    return text;
  }

  std::vector<std::uint8_t> code_;
  image::Image image_;
  Turn turned_ = Turn::kOn;
  std::uint32_t left_ = 0;
};

TEST_F(PathTest, atoms_lead_over_direct_branches) {
  Path path = this->path(false);
  EXPECT_EQ(take<Returns::kLater>(path, "E"), "1000E");
  path.settle();
  EXPECT_EQ(path.address, kFunction);
  path.go_to(0x1008, isa::Isa::kA64);
  EXPECT_EQ(take<Returns::kLater>(path, "EEE"), "1008E 1000E 1010E");
  EXPECT_EQ(turned_, Turn::kOn);
  EXPECT_TRUE(path.lost);
}

TEST_F(PathTest, the_return_stack_states_where_a_return_goes) {
  Path path = this->path(true);
  EXPECT_EQ(take<Returns::kLater>(path, "EENE"), "1000E 1010E 1008N 100cE");
  EXPECT_EQ(take<Returns::kLater>(path, "E"), "");
  EXPECT_EQ(turned_, Turn::kStuck);
  EXPECT_EQ(path.stop(), Stop::kStackEmpty);
}

TEST_F(PathTest, an_address_comes_before_the_return_stack) {
  Path path = this->path(true);
  EXPECT_EQ(take<Returns::kLater>(path, "EE"), "1000E 1010E");
  EXPECT_TRUE(path.pop_pending);
  path.go_to(kFunction, isa::Isa::kA64);
  EXPECT_EQ(take<Returns::kLater>(path, "E"), "1010E");
  EXPECT_EQ(path.return_stack.size(), 1U);
}

TEST_F(PathTest, a_return_may_take_the_address_at_once) {
  Path path = this->path(true);
  EXPECT_EQ(take<Returns::kAtOnce>(path, "EE"), "1000E 1010E");
  EXPECT_FALSE(path.lost);
  EXPECT_EQ(path.address, 0x1008U);
  EXPECT_EQ(path.return_stack.size(), 0U);
}

TEST_F(PathTest, a_return_without_a_call_is_passed_unless_the_sink_needs_the_stack) {
  Path path = this->path(true);
  path.go_to(kFunction, isa::Isa::kA64);
  EXPECT_EQ(take<Returns::kAtOnce>(path, "EE", true), "");
  EXPECT_EQ(turned_, Turn::kStuck);
  EXPECT_EQ(left_, 2U);
  EXPECT_EQ(take<Returns::kAtOnce>(path, "EE", false), "1010E");
  EXPECT_EQ(turned_, Turn::kStuckAfter);
  EXPECT_EQ(left_, 1U);
  ASSERT_NE(path.indirect_branch(), nullptr);
  EXPECT_EQ(path.indirect_branch()->end, 0x1018U);
}

TEST_F(PathTest, nothing_is_taken_while_the_place_is_unknown) {
  Path path = this->path(false);
  path.lose();
  EXPECT_EQ(take<Returns::kLater>(path, "EE"), "");
  EXPECT_EQ(turned_, Turn::kStuck);
  EXPECT_EQ(path.stop(), Stop::kLost);
  EXPECT_EQ(left_, 2U);
}

TEST_F(PathTest, a_path_ends_where_memory_does) {
  Path path = this->path(false);
  path.go_to(0x2000, isa::Isa::kA64);
  EXPECT_EQ(take<Returns::kLater>(path, "E"), "");
  EXPECT_EQ(path.stop(), Stop::kBlockEnd);
  ASSERT_NE(path.block(), nullptr);
  EXPECT_EQ(path.block()->ended, BlockEnd::kNotAccessible);
}

TEST_F(PathTest, a_full_sink_stops_after_the_branch) {
  Path path = this->path(false);
  path.go_to(kFunction, isa::Isa::kA64);
  EXPECT_EQ(take<Returns::kNever>(path, "EE", false, true), "1010E");
  EXPECT_EQ(turned_, Turn::kStuckAfter);
  EXPECT_EQ(path.stop(), Stop::kNoRoom);
  EXPECT_EQ(left_, 1U);
}

TEST_F(PathTest, calls_may_be_forgotten) {
  Path path = this->path(true);
  path.calls_forgotten = true;
  EXPECT_EQ(take<Returns::kLater>(path, "E"), "1000E");
  EXPECT_EQ(path.return_stack.size(), 0U);
}

TEST_F(PathTest, what_was_followed_once_is_not_looked_up_again) {
  Path path = this->path(true);
  const auto pass = [&] {
    path.go_to(kStart, isa::Isa::kA64);
    return take<Returns::kLater>(path, "EEE");
  };
  EXPECT_EQ(pass(), "1000E 1010E 1008E");
  const std::uint64_t walks = path.follower().statistics().walks;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pass(), "1000E 1010E 1008E");
  EXPECT_EQ(path.follower().statistics().walks, walks);
}

TEST_F(PathTest, a_copy_takes_the_place_of_the_original) {
  Path original = path(true);
  EXPECT_EQ(take<Returns::kLater>(original, "E"), "1000E");
  EXPECT_EQ(take<Returns::kLater>(original, "EN"), "1010E 1008N");
  original.go_to(0x1008, isa::Isa::kA64);
  EXPECT_EQ(take<Returns::kLater>(original, "E"), "1008E");
  Path copy = original;
  copy.take_place(original);
  EXPECT_EQ(copy.settled(), original.settled());
  EXPECT_EQ(take<Returns::kLater>(copy, "EE"), take<Returns::kLater>(original, "EE"));
}

TEST_F(PathTest, a_changed_image_leaves_no_callers) {
  Path path = this->path(true);
  EXPECT_EQ(take<Returns::kLater>(path, "E"), "1000E");
  path.settle();
  path.cut();
  path.follower().flush();
  EXPECT_EQ(take<Returns::kLater>(path, "EN"), "1010E 1008N");
}

}  // namespace
}  // namespace waymark::flow
