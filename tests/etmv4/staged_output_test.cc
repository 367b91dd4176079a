#include "waymark/etmv4/staged_output.h"

#include <gtest/gtest.h>

#include <array>

namespace waymark::etmv4 {
namespace {

class Etmv4StagedOutput : public testing::Test {
 protected:
  void make(TraceIndex index) { output_.next().index = index; }
  void begin(std::size_t size) { output_.begin(span_.data(), span_.data() + size); }

  std::array<Element, 8> span_;
  StagedOutput output_;
};

TEST_F(Etmv4StagedOutput, elements_go_to_the_span) {
  begin(2);
  make(1);
  EXPECT_TRUE(output_.room());
  make(2);
  EXPECT_FALSE(output_.room());
  EXPECT_EQ(output_.given(), 2U);
  EXPECT_EQ(span_[1].index, 2U);
  EXPECT_FALSE(output_.waits());
}

TEST_F(Etmv4StagedOutput, what_does_not_fit_waits) {
  begin(1);
  for (TraceIndex index = 1; index <= 4; ++index) make(index);
  output_.release();
  begin(2);
  EXPECT_FALSE(output_.give_released());
  EXPECT_EQ(span_[0].index, 2U);
  EXPECT_EQ(span_[1].index, 3U);
  begin(2);
  EXPECT_TRUE(output_.give_released());
  EXPECT_EQ(output_.given(), 1U);
  EXPECT_EQ(span_[0].index, 4U);
  EXPECT_FALSE(output_.waits());
}

TEST_F(Etmv4StagedOutput, staged_elements_can_be_lost) {
  begin(4);
  output_.set_staging(true);
  make(1);
  output_.release();
  make(2);
  output_.drop_unreleased();
  output_.set_staging(false);
  EXPECT_TRUE(output_.give_released());
  EXPECT_EQ(output_.given(), 1U);
  EXPECT_EQ(span_[0].index, 1U);
}

TEST_F(Etmv4StagedOutput, a_closed_span_takes_nothing) {
  begin(4);
  make(1);
  output_.close();
  EXPECT_FALSE(output_.room());
  EXPECT_EQ(output_.given(), 1U);
}

TEST_F(Etmv4StagedOutput, reset_forgets_what_waits) {
  begin(0);
  make(1);
  output_.release();
  output_.reset();
  begin(1);
  EXPECT_TRUE(output_.give_released());
  EXPECT_EQ(output_.given(), 0U);
}

}  // namespace
}  // namespace waymark::etmv4
