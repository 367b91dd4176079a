#include "../../src/outputs/software_words.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::outputs {
namespace {

Element software(unsigned flags, std::uint32_t bits, std::uint64_t payload) {
  Element element;
  element.kind = ElementKind::kSwTrace;
  element.extra = static_cast<std::uint8_t>(flags);
  element.extra_value = bits;
  element.start = payload;
  element.sw_id = {.master = 0x41, .channel = 5};
  return element;
}

std::string text(const Element& element) {
  TextBuffer out;
  write_software(out, element);
  return std::string(out.view());
}

TEST(SoftwareWords, data_with_marker_and_time) {
  Element element = software(kSwIdValid | kSwMarker | kSwTimestamp, 32, 0xABC);
  element.flags = kElementHasTimestamp;
  element.timestamp = 99;
  EXPECT_EQ(software_word(element), "data");
  EXPECT_EQ(text(element), "master 0x41, channel 5: 0x00000abc, marker, time 99");
}

TEST(SoftwareWords, flag_and_time_alone) {
  EXPECT_EQ(text(software(kSwIdValid | kSwMarker, 0, 0)), "master 0x41, channel 5: flag");
  EXPECT_EQ(software_word(software(kSwMarker, 0, 0)), "flag");
  EXPECT_EQ(software_word(software(kSwTimestamp, 0, 0)), "time");
  EXPECT_EQ(text(software(kSwTimestamp, 0, 0)), "unknown master: time only");
}

TEST(SoftwareWords, events) {
  EXPECT_EQ(text(software(kSwFrequency, 32, 19200000)), "timestamps count at 19200000 Hz");
  EXPECT_EQ(text(software(kSwFrequency, 32, 0)), "timestamp frequency not set");
  EXPECT_EQ(text(software(kSwIdValid | kSwTrigger, 8, 0x77)),
            "master 0x41, channel 5: trigger 0x77");
  EXPECT_EQ(text(software(kSwIdValid | kSwMasterError, 8, 1)),
            "master 0x41, channel 5: master error 0x01");
  EXPECT_EQ(text(software(kSwGlobalError, 8, 2)), "global error 0x02");
}

TEST(SoftwareWords, what_other_sources_send) {
  Element element = software(kSwIdValid, 12, 0xABC);
  element.reason = static_cast<std::uint8_t>(SwTraceKind::kUser);
  EXPECT_EQ(text(element), "master 0x41, channel 5: user 0xabc");
  element = software(kSwIdValid, 8, 0x17);
  element.reason = static_cast<std::uint8_t>(SwTraceKind::kCrossSync);
  EXPECT_EQ(text(element), "cross sync 0x17");
  element.reason = static_cast<std::uint8_t>(SwTraceKind::kChannelError);
  EXPECT_EQ(text(element), "master 0x41, channel 5: channel error 0x17");
}

}  // namespace
}  // namespace waymark::outputs
