#include "waymark/syst/clock.h"

#include <gtest/gtest.h>

#include "support.h"
#include "waymark/syst/interpreter.h"
#include "waymark/syst/parser.h"

namespace waymark::syst {
namespace {

Frame frame_at(const std::vector<std::uint8_t>& bytes, std::uint64_t time,
               std::uint32_t channel = 2) {
  Frame frame;
  frame.bytes = bytes;
  frame.time = time;
  frame.has_time = true;
  frame.has_master = true;
  frame.master = 1;
  frame.channel = channel;
  return frame;
}

/// SYNC of clock 1000 at 1 MHz, and a text with the timestamp 1500.
const auto kSync = hex("08301201 E803000000000000 40420F0000000000");
const auto kText = hex("42584101 DC05000000000000 6100");

TEST(SystClock, own_timestamps_on_the_transport_clock) {
  ClockMap clocks;
  clocks.set_transport_frequency(60'000'000);
  const Frame sync = frame_at(kSync, 100'000);
  const Frame text = frame_at(kText, 190'000);
  EXPECT_EQ(clocks.transport_time(parse_message(kText), text), std::nullopt);
  clocks.learn(parse_message(kSync), sync);
  EXPECT_EQ(clocks.transport_time(parse_message(kText), text), 130'000U);
  EXPECT_EQ(clocks.source_nanoseconds(parse_message(kText), text), 1'500'000U);
}

TEST(SystClock, two_syncs_give_the_rate) {
  ClockMap clocks;
  const auto second = hex("08301201 D007000000000000 40420F0000000000");  // 2000
  clocks.learn(parse_message(kSync), frame_at(kSync, 100'000));
  EXPECT_EQ(clocks.transport_time(parse_message(kText), frame_at(kText, 0)), std::nullopt);
  clocks.learn(parse_message(second), frame_at(second, 110'000));
  // 500 ticks before the second sync.
  EXPECT_EQ(clocks.transport_time(parse_message(kText), frame_at(kText, 0)), 105'000U);
}

TEST(SystClock, another_channel_of_the_master_serves_where_there_is_none) {
  ClockMap clocks;
  clocks.set_transport_frequency(1'000'000);
  clocks.learn(parse_message(kSync), frame_at(kSync, 7000, 9));
  EXPECT_EQ(clocks.transport_time(parse_message(kText), frame_at(kText, 0, 2)), 7500U);
}

TEST(SystClock, another_master_has_another_clock) {
  ClockMap clocks;
  clocks.set_transport_frequency(1'000'000);
  clocks.learn(parse_message(kSync), frame_at(kSync, 7000, 2));
  Frame other = frame_at(kText, 0, 2);
  other.master = 5;
  EXPECT_EQ(clocks.transport_time(parse_message(kText), other), std::nullopt);
  EXPECT_EQ(clocks.source_nanoseconds(parse_message(kText), other), std::nullopt);
}

TEST(SystClock, the_syncs_of_two_channels_give_no_rate) {
  ClockMap clocks;
  const auto second = hex("08301201 D007000000000000 40420F0000000000");  // 2000
  clocks.learn(parse_message(kSync), frame_at(kSync, 100'000, 2));
  clocks.learn(parse_message(second), frame_at(second, 990'000, 3));
  EXPECT_EQ(clocks.transport_time(parse_message(kText), frame_at(kText, 0, 4)), std::nullopt);
}

TEST(SystClock, no_time_before_the_beginning) {
  ClockMap clocks;
  clocks.set_transport_frequency(1'000'000'000);
  const auto early = hex("42584101 0000000000000000 6100");
  clocks.learn(parse_message(kSync), frame_at(kSync, 10));
  EXPECT_EQ(clocks.transport_time(parse_message(early), frame_at(early, 0)), std::nullopt);
}

TEST(SystClock, nanoseconds_without_overflow) {
  EXPECT_EQ(to_nanoseconds(75'000, 60'000'000), 1'250'000U);
  EXPECT_EQ(to_nanoseconds(~std::uint64_t{0}, 1), ~std::uint64_t{0});
  EXPECT_EQ(to_nanoseconds(5, 0), ~std::uint64_t{0});
}

TEST(SystInterpreter, what_strict_mode_finds_is_bad) {
  const Collateral collateral;
  Interpreter strict(collateral, {.mode = Mode::kStrict, .quirks = {}});
  Interpreter tolerant(collateral);
  // A reserved bit; a location of format 5.
  for (const char* text : {"C2504101616100", "42514101050000000000000000616100"}) {
    const auto bytes = hex(text);
    EXPECT_FALSE(strict.interpret(frame_at(bytes, 0)).good()) << text;
    EXPECT_TRUE(tolerant.interpret(frame_at(bytes, 0)).good()) << text;
  }
}

TEST(SystInterpreter, each_trace_id_has_its_own_frequency) {
  const Collateral collateral;
  Interpreter interpreter(collateral);
  interpreter.set_transport_frequency(1'000'000);
  interpreter.set_transport_frequency(0x11, 2'000'000);
  const auto bytes = hex("425041016100");
  Frame frame = frame_at(bytes, 5000);
  frame.trace_id = 0x10;
  EXPECT_EQ(interpreter.interpret(frame).nanoseconds, 5'000'000U);
  frame.trace_id = 0x11;
  EXPECT_EQ(interpreter.interpret(frame).nanoseconds, 2'500'000U);
}

TEST(SystInterpreter, a_time_without_its_upper_bits_gives_no_time_of_day) {
  const Collateral collateral;
  Interpreter interpreter(collateral);
  interpreter.set_transport_frequency(1'000'000);
  const auto bytes = hex("425041016100");
  Frame frame = frame_at(bytes, 5000);
  frame.time_is_partial = true;
  const Record record = interpreter.interpret(frame);
  EXPECT_EQ(record.time, 5000U);
  EXPECT_TRUE(record.time_is_partial());
  EXPECT_EQ(record.nanoseconds, std::nullopt);
}

TEST(SystInterpreter, times_of_messages) {
  const Collateral collateral;
  Interpreter interpreter(collateral);
  interpreter.set_transport_frequency(60'000'000);
  (void)interpreter.interpret(frame_at(kSync, 60'000));
  const Record record = interpreter.interpret(frame_at(kText, 190'000));
  EXPECT_EQ(record.time, 90'000U);
  EXPECT_TRUE(record.time_is_own);
  EXPECT_EQ(record.nanoseconds, 1'500'000U);
}

}  // namespace
}  // namespace waymark::syst
