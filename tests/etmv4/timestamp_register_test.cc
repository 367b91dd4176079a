#include "waymark/etmv4/timestamp_register.h"

#include <gtest/gtest.h>

namespace waymark::etmv4 {
namespace {

TEST(Etmv4TimestampRegister, a_packet_replaces_the_low_bits) {
  TimestampRegister time;
  EXPECT_EQ(time.take(0x12345, 21), 21U);
  EXPECT_EQ(time.take(0x01, 7), 7U);
  EXPECT_EQ(time.value(), 0x12301U);
}

TEST(Etmv4TimestampRegister, the_first_after_a_synchronisation_point_is_complete) {
  TimestampRegister time;
  time.take(0x12345, 21);
  time.synchronise();
  EXPECT_EQ(time.take(0x01, 7), 64U);
  EXPECT_EQ(time.value(), 1U);
  EXPECT_EQ(time.take(0x02, 7), 7U);
}

TEST(Etmv4TimestampRegister, reset_forgets_the_value) {
  TimestampRegister time;
  time.take(5, 7);
  time.synchronise();
  time.reset();
  EXPECT_TRUE(time == TimestampRegister());
}

}  // namespace
}  // namespace waymark::etmv4
