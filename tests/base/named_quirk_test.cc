#include "waymark/base/named_quirk.h"

#include <gtest/gtest.h>

namespace waymark {
namespace {

struct Flags {
  bool first = false;
  bool second = false;
  bool old = false;
};
constexpr std::array<NamedQuirk<Flags>, 2> kFlags{{
    {"first", &Flags::first},
    {"second", &Flags::second},
}};
constexpr std::array<NamedQuirk<Flags>, 1> kOldFlags{{{"old", &Flags::old}}};

TEST(NamedQuirk, is_on_by_the_bit_of_its_row) {
  EXPECT_FALSE(chosen(kFlags, 0).first);
  EXPECT_TRUE(chosen(kFlags, 1).first);
  EXPECT_FALSE(chosen(kFlags, 1).second);
  EXPECT_TRUE(chosen(kFlags, 2).second);
}

TEST(NamedQuirk, of_the_reference_are_all_but_the_older_ones) {
  const Flags reference = chosen(kFlags, kOldFlags, kReferenceQuirks);
  EXPECT_TRUE(reference.first && reference.second);
  EXPECT_FALSE(reference.old);
  EXPECT_TRUE(chosen(kFlags, kOldFlags, QuirkSet{1} << kOlderQuirkBit).old);
}

}  // namespace
}  // namespace waymark
