#include "waymark/count/exception_stack.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::count {
namespace {

/// The calls that end, as "number from-to depth preempted".
class Exceptions : public testing::Test {
 protected:
  void enter(std::uint32_t number, std::uint64_t time) { stack_.enter(number, {time, time}); }
  void exit(std::uint32_t number, std::uint64_t time) { stack_.exit(number, {time, time}, left_); }
  void return_to(std::uint32_t number, std::uint64_t time) {
    stack_.return_to(number, {time, time}, left_);
  }

  ExceptionStack stack_;
  std::string ended_;
  ExceptionStack::Left left_ = [this](const ExceptionStack::Handled& handled,
                                      const ExceptionStack::Moment& end) {
    ended_ += std::to_string(handled.number) + " ";
    ended_ += handled.whole ? std::to_string(handled.begin.time) : "?";
    ended_ += "-" + std::to_string(end.time) + " " + std::to_string(handled.depth) + " " +
              std::to_string(handled.preempted) + "\n";
  };
};

TEST_F(Exceptions, nested) {
  enter(15, 10);
  enter(20, 12);
  exit(20, 17);
  return_to(15, 18);
  EXPECT_EQ(stack_.current(), 15);
  exit(15, 30);
  return_to(0, 31);
  EXPECT_EQ(ended_, "20 12-17 1 0\n15 10-30 0 5\n");
  EXPECT_EQ(stack_.current(), std::nullopt);
}

TEST_F(Exceptions, exit_without_a_number_ends_the_innermost) {
  enter(15, 10);
  enter(20, 12);
  stack_.exit({17, 17}, left_);
  EXPECT_EQ(ended_, "20 12-17 1 0\n");
}

TEST_F(Exceptions, lost_exits_end_when_what_they_interrupted_goes_on) {
  enter(15, 10);
  enter(20, 12);
  return_to(0, 31);
  EXPECT_EQ(ended_, "20 12-31 1 0\n15 10-31 0 19\n");
}

TEST_F(Exceptions, begun_before_the_trace) {
  exit(15, 5);
  return_to(16, 6);
  EXPECT_EQ(stack_.current(), 16);
  exit(16, 9);
  EXPECT_EQ(ended_, "15 ?-5 0 0\n16 ?-9 0 0\n");
}

TEST_F(Exceptions, a_gap_ends_all_of_them_at_an_unknown_time) {
  enter(15, 10);
  stack_.lose({12, 12}, left_);
  EXPECT_EQ(ended_, "15 ?-12 0 0\n");
}

TEST_F(Exceptions, depth_is_bounded) {
  for (std::size_t i = 0; i < 2 * ExceptionStack::kMostDepth; ++i) enter(20, i);
  EXPECT_EQ(stack_.open().size(), ExceptionStack::kMostDepth);
  for (std::size_t i = 0; i < ExceptionStack::kMostDepth; ++i) stack_.exit({5000, 0}, left_);
  EXPECT_EQ(stack_.open().size(), ExceptionStack::kMostDepth);
  EXPECT_EQ(ended_, "");
}

}  // namespace
}  // namespace waymark::count
