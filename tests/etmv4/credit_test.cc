#include "waymark/etmv4/credit.h"

#include <gtest/gtest.h>

namespace waymark::etmv4 {
namespace {

TEST(Etmv4Credit, work_is_bounded) {
  Credit credit;
  EXPECT_TRUE(credit.take(Credit::kMost));
  EXPECT_FALSE(credit.take(1));
  EXPECT_TRUE(credit.take(0));
}

TEST(Etmv4Credit, bytes_of_trace_add_to_it) {
  Credit credit;
  credit.take(Credit::kMost);
  credit.refill(10);
  EXPECT_EQ(credit.left(), 640U);
  credit.refill(10);
  EXPECT_EQ(credit.left(), 640U);
  // A place before the last one adds nothing.
  credit.refill(5);
  EXPECT_EQ(credit.left(), 640U);
}

TEST(Etmv4Credit, never_more_than_the_most) {
  Credit credit;
  credit.refill(100);
  EXPECT_EQ(credit.left(), Credit::kMost);
  credit.take(1);
  credit.refill(~TraceIndex{0});
  EXPECT_EQ(credit.left(), Credit::kMost);
}

TEST(Etmv4Credit, reset_gives_all_of_it) {
  Credit credit;
  credit.take(100);
  credit.reset(7);
  EXPECT_EQ(credit.left(), Credit::kMost);
  EXPECT_FALSE(credit == Credit());
}

}  // namespace
}  // namespace waymark::etmv4
