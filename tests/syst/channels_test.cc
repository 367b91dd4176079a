#include "waymark/syst/channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "waymark/syst/ports.h"

namespace waymark::syst {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Takes elements made by hand, and collects the resulting frames.
class Stm {
 public:
  std::vector<std::string> frames;

  Stm& at(std::uint16_t master, std::uint16_t channel) {
    master_ = master;
    channel_ = channel;
    return *this;
  }
  Stm& data(std::string_view hex_bytes, unsigned flags = 0, std::uint64_t time = 0) {
    const auto bytes = hex(hex_bytes);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
    return put(value, static_cast<std::uint32_t>(8 * bytes.size()), flags, time);
  }
  Stm& flag() { return put(0, 0, kSwMarker, 0); }
  Stm& put(std::uint64_t value, std::uint32_t bits, unsigned flags, std::uint64_t time) {
    Element element;
    element.kind = ElementKind::kSwTrace;
    element.index = index_++;
    element.trace_id = 0x10;
    element.sw_id = {.master = master_, .channel = channel_};
    element.start = value;
    element.extra_value = bits;
    element.extra = static_cast<std::uint8_t>(flags | kSwIdValid);
    element.timestamp = time;
    if ((flags & kSwTimestamp) != 0) element.flags = kElementHasTimestamp;
    take(assembler_.add(element));
    return *this;
  }
  Stm& no_sync() {
    Element element;
    element.kind = ElementKind::kNoSync;
    element.trace_id = 0x10;
    take(assembler_.add(element));
    return *this;
  }
  Stm& finish() {
    take(assembler_.finish());
    return *this;
  }
  [[nodiscard]] const ChannelAssembler& assembler() const { return assembler_; }
  [[nodiscard]] TraceIndex index() const { return index_; }

 private:
  void take(std::span<const Frame> given) {
    for (const Frame& frame : given) {
      frames.push_back(std::to_string(frame.master) + ':' + std::to_string(frame.channel) + ' ' +
                       std::to_string(frame.time) + ' ' + std::string(frame_end_name(frame.end)) +
                       ' ' + to_hex(frame.bytes));
    }
  }

  ChannelAssembler assembler_;
  std::uint16_t master_ = 1;
  std::uint16_t channel_ = 2;
  TraceIndex index_ = 0;
};

TEST(SystChannels, a_timestamp_begins_and_a_flag_ends) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 7).data("6161").data("00").flag();
  EXPECT_THAT(stm.frames, ElementsAre("1:2 7 whole 42504101616100"));
}

TEST(SystChannels, a_marker_ends_too) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 7).data("616100", kSwMarker);
  EXPECT_THAT(stm.frames, ElementsAre("1:2 7 whole 42504101616100"));
}

TEST(SystChannels, one_packet_with_both_is_a_short_message) {
  Stm stm;
  stm.data("71563412", kSwTimestamp | kSwMarker, 9);
  EXPECT_THAT(stm.frames, ElementsAre("1:2 9 whole 71563412"));
}

TEST(SystChannels, channels_and_masters_interleave) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 1).at(1, 3).data("42504101", kSwTimestamp, 2);
  stm.at(2, 2).data("71563412", kSwTimestamp | kSwMarker, 3);
  stm.at(1, 2).data("6100").flag().at(1, 3).data("6200").flag();
  EXPECT_THAT(stm.frames, ElementsAre("2:2 3 whole 71563412", "1:2 1 whole 425041016100",
                                      "1:3 2 whole 425041016200"));
}

TEST(SystChannels, a_new_start_cuts_the_message_before) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 1).data("7156341F", kSwTimestamp | kSwMarker, 2);
  EXPECT_THAT(stm.frames, ElementsAre("1:2 1 restarted 42504101", "1:2 2 whole 7156341f"));
}

TEST(SystChannels, data_and_flags_outside_messages_are_noise) {
  Stm stm;
  stm.data("0102").flag().flag();
  EXPECT_THAT(stm.frames, IsEmpty());
  EXPECT_EQ(stm.assembler().statistics().noise, 3U);
}

TEST(SystChannels, a_loss_of_synchronisation_ends_what_is_open) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 1).no_sync().data("6100").flag();
  EXPECT_THAT(stm.frames, ElementsAre("1:2 1 lost 42504101"));
}

TEST(SystChannels, a_master_error_ends_the_message_of_that_master) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 1).at(5, 2).data("42504101", kSwTimestamp, 2);
  stm.put(0, 8, kSwMasterError, 0).at(1, 2).data("6100").flag();
  EXPECT_THAT(stm.frames, ElementsAre("5:2 2 lost 42504101", "1:2 1 whole 425041016100"));
}

TEST(SystChannels, the_end_of_the_capture) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 1).finish();
  EXPECT_THAT(stm.frames, ElementsAre("1:2 1 end_of_input 42504101"));
}

TEST(SystChannels, a_message_without_end_is_cut) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 1);
  for (std::size_t i = 0; i < kMaxMessage / 4; ++i) stm.data("0102030405060708");
  stm.flag();
  ASSERT_EQ(stm.frames.size(), 1U);
  EXPECT_TRUE(stm.frames.front().starts_with("1:2 1 too_long 42504101"));
}

TEST(SystChannels, open_messages_are_bounded) {
  Stm stm;
  for (std::uint32_t i = 0; i < 2 * ChannelAssembler::kMaxOpen; ++i)
    stm.at(static_cast<std::uint16_t>(i >> 8), static_cast<std::uint16_t>(i & 0xFF))
        .data("42504101", kSwTimestamp, i);
  EXPECT_EQ(stm.frames.size(), ChannelAssembler::kMaxOpen);
}

TEST(SystChannels, the_oldest_message_makes_room) {
  Stm stm;
  for (std::uint32_t i = 0; i <= ChannelAssembler::kMaxOpen; ++i) {
    stm.at(static_cast<std::uint16_t>(i >> 8), static_cast<std::uint16_t>(i & 0xFF))
        .data("42504101", kSwTimestamp, i);
    // Other messages begin and end.
    stm.at(200, static_cast<std::uint16_t>(i)).data("71563412", kSwTimestamp | kSwMarker, i);
  }
  std::vector<std::string> lost;
  std::ranges::copy_if(stm.frames, std::back_inserter(lost), [](const std::string& frame) {
    return frame.find("lost") != std::string::npos;
  });
  EXPECT_THAT(lost, ElementsAre("0:0 0 lost 42504101", "0:1 1 lost 42504101"));
}

TEST(SystChannels, a_null_packet_ends_nothing) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 1).put(0, 0, kSwTimestamp, 5).put(0, 0, 0, 0);
  stm.data("6100").flag().put(0, 0, kSwTimestamp, 6);
  EXPECT_THAT(stm.frames, ElementsAre("1:2 1 whole 425041016100"));
  EXPECT_EQ(stm.assembler().statistics().noise, 0U);
}

TEST(SystChannels, each_trace_id_names_its_own_frequency) {
  Stm stm;
  stm.put(60000000, 32, kSwFrequency, 0);
  EXPECT_EQ(stm.assembler().frequency(0x10), 60000000U);
  EXPECT_EQ(stm.assembler().frequency(0x11), 0U);
}

TEST(SystChannels, what_is_cut_together_comes_in_the_order_in_which_it_began) {
  Stm stm;
  for (const std::uint16_t channel : std::initializer_list<std::uint16_t>{9, 2, 7, 1})
    stm.at(1, channel).data("42504101", kSwTimestamp, channel);
  stm.at(1, 2).flag().no_sync();
  EXPECT_THAT(stm.frames, ElementsAre("1:2 2 whole 42504101", "1:9 9 lost 42504101",
                                      "1:7 7 lost 42504101", "1:1 1 lost 42504101"));
  stm.frames.clear();
  for (const std::uint16_t master : std::initializer_list<std::uint16_t>{5, 1, 3})
    stm.at(master, 1).data("42504101", kSwTimestamp, master);
  stm.finish();
  EXPECT_THAT(stm.frames, ElementsAre("5:1 5 end_of_input 42504101", "1:1 1 end_of_input 42504101",
                                      "3:1 3 end_of_input 42504101"));
}

TEST(SystChannels, bytes_after_the_longest_message_are_dropped) {
  Stm stm;
  stm.data("42504101", kSwTimestamp, 1);
  while (stm.frames.empty() && stm.index() < kMaxMessage / 8 + 10) stm.data("0102030405060708");
  stm.data("09").data("0A").flag();
  ASSERT_EQ(stm.frames.size(), 1U);
  EXPECT_TRUE(stm.frames.front().ends_with("0102030405060708"));
}

TEST(SystChannels, errors_that_cut_nothing_cost_nothing) {
  Stm stm;
  for (std::uint32_t i = 0; i < ChannelAssembler::kMaxOpen; ++i)
    stm.at(static_cast<std::uint16_t>(i >> 8), static_cast<std::uint16_t>(i & 0xFF))
        .data("42504101", kSwTimestamp, i);
  // A search one by one would look at ten thousand million channels.
  stm.at(200, 1);
  for (int i = 0; i < 3'000'000; ++i) stm.put(0, 8, kSwMasterError, 0);
  EXPECT_THAT(stm.frames, IsEmpty());
  stm.at(3, 1).put(0, 8, kSwMasterError, 0);
  EXPECT_EQ(stm.frames.size(), 256U);
}

struct Frames final : FrameSink {
  std::vector<std::string> seen_frames;
  void on_frame(const Frame& frame) override {
    seen_frames.push_back(std::to_string(frame.channel) + ' ' + std::to_string(frame.index) + ' ' +
                          std::string(frame_end_name(frame.end)) + ' ' + to_hex(frame.bytes));
  }
};

TEST(SystPorts, every_port_is_a_stream_of_its_own) {
  Frames frames;
  PortReader reader(frames);
  const std::string text = "hello SYS-T RAW DATA: 0102\n";
  const std::vector<std::uint8_t> plain = hex("425241010300616100 71563412");
  const auto put = [&](std::uint32_t port, std::uint8_t byte, TraceIndex index) {
    Element element;
    element.kind = ElementKind::kItmTrace;
    element.number = port;
    element.start = byte;
    element.extra_value = 1;
    element.index = index;
    reader.add(element);
  };
  for (std::size_t i = 0; i < std::max(text.size(), plain.size()); ++i) {
    if (i < text.size()) put(0, static_cast<std::uint8_t>(text[i]), 10 * i);
    if (i < plain.size()) put(3, plain[i], 10 * i + 1);
  }
  reader.finish();
  EXPECT_THAT(frames.seen_frames, ElementsAre("0 60 whole 0102", "3 1 whole 425241010300616100",
                                              "3 91 whole 71563412"));
}

Element written(std::uint8_t byte, TraceIndex index) {
  Element element;
  element.kind = ElementKind::kItmTrace;
  element.start = byte;
  element.extra_value = 1;
  element.index = index;
  return element;
}

TEST(SystPorts, a_message_far_on_has_its_own_index) {
  Frames frames;
  PortReader reader(frames);
  TraceIndex index = 0;
  for (; index < 300'000; ++index) reader.add(written('.', index));
  for (const char c : std::string("SYS-T RAW DATA: 0102\n"))
    reader.add(written(static_cast<std::uint8_t>(c), index++));
  EXPECT_THAT(frames.seen_frames, ElementsAre("0 300000 whole 0102"));
}

TEST(SystPorts, words_that_look_like_short_messages_are_none) {
  Frames frames;
  PortReader reader(frames);
  TraceIndex index = 0;
  for (int i = 0; i < 100; ++i)
    for (const int byte : {0x71, i, 0x34, 0x12})
      reader.add(written(static_cast<std::uint8_t>(byte), index++));
  reader.finish();
  EXPECT_THAT(frames.seen_frames, IsEmpty());
}

}  // namespace
}  // namespace waymark::syst
