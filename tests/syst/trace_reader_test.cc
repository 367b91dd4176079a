#include "waymark/syst/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support.h"

namespace waymark::syst {
namespace {

using testing::ElementsAre;

constexpr TraceId kStm = 0x10;
constexpr TraceId kItm = 0x20;

/// Collects "place, nanoseconds" of messages.
class Reading : private FrameSink {
 public:
  std::vector<std::string> messages;

  void stm(std::string_view bytes, unsigned flags, std::uint64_t time = 0) {
    const std::vector<std::uint8_t> data = hex(bytes);
    Element element;
    element.kind = ElementKind::kSwTrace;
    element.trace_id = kStm;
    for (std::size_t i = 0; i < data.size(); ++i)
      element.start |= std::uint64_t{data[i]} << (8 * i);
    element.sw_id = {.master = 1, .channel = 2};
    element.extra_value = static_cast<std::uint32_t>(8 * data.size());
    element.extra = static_cast<std::uint8_t>(flags | kSwIdValid);
    element.timestamp = time;
    if ((flags & kSwTimestamp) != 0) element.flags = kElementHasTimestamp;
    reader_.add(element);
  }
  void itm(std::string_view text) {
    for (const char byte : text) {
      Element element;
      element.kind = ElementKind::kItmTrace;
      element.trace_id = kItm;
      element.number = 3;
      element.start = static_cast<std::uint8_t>(byte);
      element.extra_value = 1;
      reader_.add(element);
    }
  }
  void frequency(std::uint64_t hertz) {
    Element element;
    element.kind = ElementKind::kSwTrace;
    element.trace_id = kStm;
    element.start = hertz;
    element.extra = kSwFrequency;
    reader_.add(element);
  }
  void finish() { reader_.finish(); }

 private:
  void on_frame(const Frame& frame) override {
    const Record record = interpreter_.interpret(frame);
    messages.push_back((frame.has_master ? "channel " : "port ") + std::to_string(frame.channel) +
                       ": " + std::string(frame_end_name(frame.end)) + ", " +
                       (record.nanoseconds ? std::to_string(*record.nanoseconds) : "no time"));
  }

  Collateral collateral_;
  Interpreter interpreter_{collateral_};
  TraceReader reader_{interpreter_, *this};
};

TEST(SystTraceReader, channels_have_the_frequency_of_their_trace) {
  Reading reading;
  reading.stm("42504101", kSwTimestamp, 3);
  reading.stm("6100", kSwMarker);
  reading.frequency(1'000'000);
  reading.stm("42504101", kSwTimestamp, 5);
  reading.stm("6100", kSwMarker);
  EXPECT_THAT(reading.messages, ElementsAre("channel 2: whole, no time", "channel 2: whole, 5000"));
}

TEST(SystTraceReader, ports_and_what_is_incomplete_at_the_end) {
  Reading reading;
  reading.stm("42504101", kSwTimestamp, 3);
  reading.itm("SYS-T RAW DATA: 425041016100\nSYS-T RAW DATA: 42504101");
  reading.finish();
  EXPECT_THAT(reading.messages,
              ElementsAre("port 3: whole, no time", "channel 2: end_of_input, no time",
                          "port 3: whole, no time"));
}

TEST(SystTraceReader, names_the_elements_that_it_reads) {
  EXPECT_TRUE(TraceReader::reads(ElementKind::kSwTrace));
  EXPECT_TRUE(TraceReader::reads(ElementKind::kItmTrace));
  EXPECT_TRUE(TraceReader::reads(ElementKind::kNoSync));
  EXPECT_FALSE(TraceReader::reads(ElementKind::kInstrRange));
}

}  // namespace
}  // namespace waymark::syst
