#include "waymark/logic/swo.h"

#include <gtest/gtest.h>

#include "pin_signal.h"

namespace waymark::logic {
namespace {

using testing_signal::Octets;
using testing_signal::Signal;

const Octets kBytes = {0x00, 0xFF, 0x55, 0xAA, 0x01, 0x80, 0x7F, 0xFE, 0x31, 0x0C, 0x00, 0x80};

struct Read {
  Octets bytes;
  std::uint64_t errors = 0;
  std::uint64_t first_error = 0;
};

Read read(const Signal& signal, Coding coding, double bit) {
  SwoDecoder decoder(coding, bit);
  Read result;
  for (const Run& run : signal.runs()) decoder.take(run, result.bytes);
  decoder.finish(result.bytes);
  result.errors = decoder.errors();
  result.first_error = decoder.first_error();
  return result;
}

Signal uart(const Octets& bytes, double bit, unsigned idle_bits) {
  Signal signal(bit);
  signal.level(true, 20);
  for (const std::uint8_t byte : bytes) {
    signal.uart(byte);
    signal.level(true, idle_bits);
  }
  signal.level(true, 20);
  return signal;
}

Signal manchester(const std::vector<Octets>& packets, double bit) {
  Signal signal(bit);
  signal.level(false, 5);
  for (const Octets& packet : packets) signal.manchester(packet);
  signal.level(false, 5);
  return signal;
}

TEST(Swo, uart_at_any_rate) {
  for (const double bit : {3.0, 3.3, 4.17, 8.0, 104.2}) {
    const Read found = read(uart(kBytes, bit, 0), Coding::kUart, bit);
    EXPECT_EQ(found.bytes, kBytes) << bit;
    EXPECT_EQ(found.errors, 0U) << bit;
  }
}

TEST(Swo, uart_tolerates_a_clock_that_is_wrong_by_three_percent) {
  EXPECT_EQ(read(uart(kBytes, 10.3, 0), Coding::kUart, 10).bytes, kBytes);
  EXPECT_EQ(read(uart(kBytes, 9.7, 0), Coding::kUart, 10).bytes, kBytes);
}

TEST(Swo, manchester_packets_of_one_to_eight_bytes) {
  for (const double bit : {6.0, 7.3, 40.0}) {
    const Read found =
        read(manchester({{0x01}, {0x80, 0x00}, {1, 2, 3, 4, 5, 6, 7, 8}, {0xFF}, {0x00}}, bit),
             Coding::kManchester, bit);
    EXPECT_EQ(found.bytes, (Octets{0x01, 0x80, 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0xFF, 0x00})) << bit;
    EXPECT_EQ(found.errors, 0U) << bit;
  }
}

TEST(Swo, a_capture_that_begins_inside_a_byte) {
  Signal signal(8);
  signal.level(false, 3);
  signal.level(true, 12);
  for (const std::uint8_t byte : kBytes) signal.uart(byte);
  const Read found = read(signal, Coding::kUart, 8);
  EXPECT_EQ(found.bytes, kBytes);
  EXPECT_EQ(found.errors, 0U);
}

TEST(Swo, a_byte_without_its_stop_bit_is_left_out_and_counted) {
  Signal signal(8);
  signal.level(true, 20);
  signal.uart(0x11);
  signal.level(false, 12);
  signal.level(true, 3);
  signal.uart(0x22);
  const Read found = read(signal, Coding::kUart, 8);
  EXPECT_EQ(found.bytes, (Octets{0x11, 0x22}));
  EXPECT_EQ(found.errors, 1U);
  EXPECT_EQ(found.first_error, 8U * 30);
}

TEST(Swo, a_manchester_packet_that_breaks_off_is_counted) {
  Signal signal(8);
  signal.level(false, 5);
  signal.level(true, 0.5);  // A start bit, and half of a byte.
  signal.level(false, 1);
  signal.level(true, 1);
  signal.level(false, 9);
  signal.manchester({0x42});
  const Read found = read(signal, Coding::kManchester, 8);
  EXPECT_EQ(found.bytes, Octets{0x42});
  EXPECT_EQ(found.errors, 1U);
}

TEST(Swo, coding_and_rate_are_found) {
  const auto u = find_coding(uart(kBytes, 8.68, 2).runs(), std::nullopt, std::nullopt);
  ASSERT_TRUE(u);
  EXPECT_EQ(u->coding, Coding::kUart);
  EXPECT_NEAR(u->bit, 8.68, 0.2);
  EXPECT_EQ(u->bytes, kBytes.size());
  const auto m = find_coding(manchester({{1, 2, 3}, {0x55}, {0xF0, 0x80}}, 11.4).runs(),
                             std::nullopt, std::nullopt);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->coding, Coding::kManchester);
  EXPECT_NEAR(m->bit, 11.4, 0.4);
  EXPECT_EQ(m->errors, 0U);
}

TEST(Swo, a_half_bit_may_be_two_or_three_samples) {
  const auto found = find_coding(manchester({{0, 0xFF, 0x55}, {0xAA, 0x31}}, 5.37).runs(), {}, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->coding, Coding::kManchester);
  EXPECT_EQ(found->bytes, 5U);
  EXPECT_NEAR(found->bit, 5.37, 0.15);  // From few levels.
}

TEST(Swo, a_rate_is_found_without_a_single_low_bit) {
  // In 0xFE and 0xFC, all low runs have two or three bits.
  const Octets bytes = {0xFE, 0xFC, 0xFE, 0xFE, 0xFC, 0xFE};
  const auto found = find_coding(uart(bytes, 10, 3).runs(), Coding::kUart, std::nullopt);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bit, 10, 0.1);
  EXPECT_EQ(found->errors, 0U);
}

TEST(Swo, other_signals_are_not_taken_for_swo) {
  Signal clock(1);
  for (int i = 0; i != 500; ++i) {
    clock.level(true, 1);
    clock.level(false, 1);
  }
  EXPECT_FALSE(find_coding(clock.runs(), std::nullopt, std::nullopt));
  EXPECT_FALSE(find_coding({}, std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace waymark::logic
