#include "message_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace waymark::cli {
namespace {

using syst::hex;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr TraceId kId = 0x10;
/// SYNC of clock 1000 at 1 MHz.
constexpr const char* kSync = "08300001 E803000000000000 40420F0000000000";

/// Takes packets made by hand, and collects what a reader sees: "time text" for messages, "time
/// packet" for others.
class Stage {
 public:
  explicit Stage(std::uint64_t frequency = 0, bool as_json = false)
      : stage_(collateral_, frequency, as_json) {}

  std::vector<std::string> shown;

  Stage& packet(std::uint16_t channel, std::string_view bytes, unsigned flags,
                std::uint64_t time = 0) {
    const auto data = hex(bytes);
    Element element;
    element.kind = ElementKind::kSwTrace;
    element.trace_id = kId;
    element.sw_id = {.master = 1, .channel = channel};
    for (std::size_t i = 0; i < data.size(); ++i)
      element.start |= std::uint64_t{data[i]} << (8 * i);
    element.extra_value = static_cast<std::uint32_t>(8 * data.size());
    element.extra = static_cast<std::uint8_t>(flags | kSwIdValid);
    element.timestamp = time;
    if ((flags & kSwTimestamp) != 0) {
      element.flags = partial_ ? kElementHasTimestamp | kElementTimeIsPartial
                               : static_cast<unsigned>(kElementHasTimestamp);
    }
    return give(element);
  }
  /// A whole message whose first packet has this time.
  Stage& message(std::uint16_t channel, std::string_view bytes, std::uint64_t time) {
    begin(channel, bytes, time);
    return flag(channel);
  }
  Stage& begin(std::uint16_t channel, std::string_view bytes, std::uint64_t time) {
    std::string digits(bytes);
    std::erase(digits, ' ');
    packet(channel, digits.substr(0, 8), kSwTimestamp, time);
    for (std::size_t at = 8; at < digits.size(); at += 2) packet(channel, digits.substr(at, 2), 0);
    return *this;
  }
  Stage& flag(std::uint16_t channel) { return packet(channel, "", kSwMarker); }
  Stage& text(std::uint16_t channel, std::uint64_t time) {
    return message(channel, "425041016100", time);
  }
  Stage& write_port(std::uint32_t port, std::string_view bytes) {
    for (const char byte : bytes) {
      Element element;
      element.kind = ElementKind::kItmTrace;
      element.trace_id = kId;
      element.number = port;
      element.start = static_cast<std::uint8_t>(byte);
      element.extra_value = 1;
      give(element);
    }
    return *this;
  }
  Stage& no_sync() {
    Element element;
    element.kind = ElementKind::kNoSync;
    element.trace_id = kId;
    return give(element);
  }
  Stage& partial(bool on) {
    partial_ = on;
    return *this;
  }
  Stage& give(const Element& element) {
    take(stage_.replace({&element, 1}));
    return *this;
  }
  Stage& finish() {
    take(stage_.finish());
    return *this;
  }

 private:
  void take(std::span<const Element> elements) {
    for (const Element& element : elements) {
      std::string line = (element.flags & kElementHasTimestamp) != 0
                             ? std::to_string(element.timestamp)
                             : std::string("-");
      if ((element.flags & kElementTimeIsPartial) != 0) line.insert(0, "~");
      if (element.kind != ElementKind::kCustom) {
        shown.push_back(line + " packet");
        continue;
      }
      TextBuffer text;
      stage_.write(text, element);
      shown.push_back(line + ' ' + std::string(text.view()));
      text.clear();
      stage_.write(text, element);
      EXPECT_TRUE(text.empty()) << "said twice";
    }
  }

  syst::Collateral collateral_;
  MessageStage stage_;
  bool partial_ = false;
};

TEST(MessageStage, messages_replace_their_packets) {
  Stage stage;
  stage.packet(4, "07", 0).text(2, 100).flag(3).packet(2, "", kSwTimestamp, 105);
  EXPECT_THAT(stage.shown,
              ElementsAre("- packet", "100 1:2  INFO    module 65:5  a", "- packet", "105 packet"));
}

TEST(MessageStage, times_never_go_back) {
  Stage stage;
  stage.begin(2, "425041016100", 100).begin(3, "425041016200", 200).flag(3).flag(2).text(2, 300);
  EXPECT_THAT(stage.shown,
              ElementsAre("200 1:3  INFO    module 65:5  b", "200 1:2  INFO    module 65:5  a",
                          "300 1:2  INFO    module 65:5  a"));
}

TEST(MessageStage, messages_are_not_dated_after_their_packets) {
  Stage stage(1'000'000);
  // The own time of the second message, 1500, is 10 000 500 on the transport's clock.
  stage.message(2, kSync, 10'000'000).message(2, "42584101 DC05000000000000 6100", 10'000'100);
  stage.text(2, 10'000'200);
  EXPECT_THAT(stage.shown,
              ElementsAre(HasSubstr("10000000 "), HasSubstr("10000100 "), HasSubstr("10000200 ")));
}

TEST(MessageStage, one_damaged_time_holds_up_no_others) {
  Stage stage;
  stage.text(2, 100).text(2, 1'000'000'000'000).text(2, 200).text(3, 300);
  EXPECT_THAT(stage.shown, ElementsAre(HasSubstr("100 "), HasSubstr("1000000000000 "),
                                       HasSubstr("200 "), HasSubstr("300 ")));
}

TEST(MessageStage, a_loss_of_synchronisation_forgets_times) {
  Stage stage;
  stage.text(2, 100).begin(2, "4250", 900'000).no_sync().text(2, 200);
  EXPECT_THAT(stage.shown, ElementsAre(HasSubstr("100 "), HasSubstr("BAD"), HasSubstr("packet"),
                                       HasSubstr("200 ")));
}

TEST(MessageStage, partial_times_are_left_alone) {
  Stage stage;
  stage.text(2, 1000).partial(true).text(2, 7).partial(false).text(2, 1100);
  EXPECT_THAT(stage.shown, ElementsAre(HasSubstr("1000 "), HasSubstr("~7 "), HasSubstr("1100 ")));
}

TEST(MessageStage, the_frequency_of_the_trace_counts_before_the_one_of_the_caller) {
  Stage stage(1'000'000, true);
  stage.text(2, 5000).packet(0, "80841E00", kSwFrequency).text(2, 5000);  // 2 MHz
  ASSERT_EQ(stage.shown.size(), 3U);
  EXPECT_THAT(stage.shown[0], HasSubstr("\"nanoseconds\":\"5000000\","));
  EXPECT_THAT(stage.shown[2], HasSubstr("\"nanoseconds\":\"2500000\","));
}

TEST(MessageStage, messages_of_an_itm_follow_their_packets) {
  Stage stage;
  stage.write_port(3, "SYS-T RAW DATA: 425041016100\n")
      .write_port(3, "SYS-T RAW DATA: 42504101")
      .finish();
  std::erase(stage.shown, "- packet");
  EXPECT_THAT(stage.shown,
              ElementsAre("- port 3  INFO    module 65:5  a", "- port 3  INFO    module 65:5  "));
  stage.shown.clear();
  stage.write_port(3, "x");
  EXPECT_THAT(stage.shown, ElementsAre("- packet"));
}

TEST(MessageStage, the_end_of_the_trace_cuts_what_is_open) {
  Stage stage;
  stage.begin(3, "42504101", 100).begin(2, "42504101", 200).finish();
  EXPECT_THAT(stage.shown,
              ElementsAre("100 1:3  INFO    module 65:5    !! the capture ends within this message",
                          HasSubstr("200 1:2  INFO")));
}

}  // namespace
}  // namespace waymark::cli
