#include "waymark/logic/pins.h"

#include <gmock/gmock.h>

#include "archive.h"
#include "pin_signal.h"

namespace waymark::logic {
namespace {

using testing::HasSubstr;
using testing_archive::Archive;
using testing_signal::Octets;
using testing_signal::Signal;

const Octets kBytes = {0x00, 0x55, 0x13, 0x80, 0xFE};

Signal uart() {
  Signal signal(10);
  signal.level(true, 20);
  for (const std::uint8_t byte : kBytes) signal.uart(byte);
  signal.level(true, 20);
  return signal;
}

/// A session whose channel `bit` has the signal.
std::vector<std::uint8_t> session(const Signal& signal, unsigned bit, std::string_view names,
                                  std::uint8_t others = 0) {
  std::string samples;
  for (const bool high : signal.samples())
    samples.push_back(static_cast<char>((high ? 1U << bit : 0U) | (samples.size() % 2) * others));
  Archive archive;
  archive.add("version", "2");
  archive.add("metadata", "[device 1]\ncapturefile=logic-1\nsamplerate=20 MHz\nunitsize=1\n" +
                              std::string(names));
  archive.add("logic-1", samples);
  return archive.bytes();
}

Result<PinTrace> decode(const std::vector<std::uint8_t>& bytes, const PinOptions& options,
                        Octets& out) {
  return decode_pins(bytes, options,
                     [&](Bytes piece) -> Result<void> {
                       out.insert(out.end(), piece.begin(), piece.end());
                       return {};
                     },
                     {});
}

std::string refusal(const std::vector<std::uint8_t>& bytes, const PinOptions& options) {
  Octets out;
  const auto trace = decode(bytes, options, out);
  return trace ? "" : trace.error().detail;
}

void expect_swo(const std::vector<std::uint8_t>& bytes, const PinOptions& options) {
  Octets out;
  const auto trace = decode(bytes, options, out);
  ASSERT_TRUE(trace) << trace.error().detail;
  EXPECT_EQ(out, kBytes);
  EXPECT_EQ(trace->width, 0U);
  EXPECT_NEAR(trace->bit, 10, 0.01);
  EXPECT_EQ(trace->sample_rate, 20e6);
}

constexpr std::string_view kNamed = "probe1=D0\nprobe2=SWO\n";
constexpr std::string_view kUnnamed = "probe1=D0\nprobe2=D1\n";

TEST(Pins, the_channel_is_known_by_its_name_by_its_edges_or_by_an_option) {
  expect_swo(session(uart(), 1, kNamed, 1), {});
  expect_swo(session(uart(), 1, kUnnamed), {});
  expect_swo(session(uart(), 1, kUnnamed, 1), {.pins = {{"swo", "D1"}}});
}

TEST(Pins, what_is_not_clear_is_asked_for) {
  EXPECT_THAT(refusal(session(uart(), 1, kUnnamed, 1), {}),
              HasSubstr("The names of the channels (D0, D1) do not show which"));
  EXPECT_THAT(refusal(session(uart(), 1, kUnnamed), {.pins = {{"swo", "D9"}}}),
              HasSubstr("--pin swo=D9: the session has no channel of this name; it has D0, D1."));
  EXPECT_THAT(refusal(session(uart(), 1, kUnnamed), {.pins = {{"tdo", "D1"}}}),
              HasSubstr("there is no such pin"));
  EXPECT_THAT(refusal(session(uart(), 1, kUnnamed), {.pins = {{"clk", "D1"}}}),
              HasSubstr("give either swo, or clk with d0"));
}

TEST(Pins, a_channel_without_trace) {
  EXPECT_THAT(refusal(session(uart(), 1, kUnnamed, 1), {.pins = {{"swo", "D0"}}}),
              HasSubstr("The channel D0 shows no SWO"));
}

TEST(Pins, a_stated_rate_is_used) {
  Octets out;
  const auto bytes = session(uart(), 1, kNamed);
  EXPECT_TRUE(decode(bytes, {.bit_rate = 2e6}, out));
  EXPECT_EQ(out, kBytes);
  EXPECT_THAT(refusal(bytes, {.bit_rate = 9e6}), HasSubstr("no SWO at this rate"));
}

TEST(Pins, reading_can_be_stopped) {
  const auto bytes = session(uart(), 1, kNamed);
  const auto trace =
      decode_pins(bytes, {}, [](Bytes) -> Result<void> { return {}; }, [] { return true; });
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace waymark::logic
