// Lines for people about ITM data.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "outputs/sample_elements.h"
#include "waymark/outputs/human.h"

namespace waymark::outputs {
namespace {

class HumanItm : public testing::Test {
 protected:
  void add(const Element& element) { writer_.add(std::span(&element, 1)); }
  void write(std::string_view text, std::uint32_t port = 0) {
    for (const char c : text) add(stimulus_element(port, static_cast<unsigned char>(c)));
  }
  void stamp(std::uint64_t time, ItmKind kind = ItmKind::kTimestampSync) {
    Element element = itm_element(kind, 0, 1, 1);
    element.timestamp = time;
    add(element);
  }
  /// The text without the columns before it.
  std::string text() {
    writer_.finish();
    std::string lines;
    std::string_view rest = out_.view();
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n') + 1;
      lines += rest.substr(18, end - 18);
      rest.remove_prefix(end);
    }
    return lines;
  }
  TextBuffer out_;
  HumanWriter writer_{out_};
};

TEST_F(HumanItm, text_is_one_line_up_to_its_newline) {
  write("Hi\r\nyou");
  EXPECT_EQ(text(), "-- port 0: \"Hi\\r\\n\"\n-- port 0: \"you\"\n");
}

TEST_F(HumanItm, text_has_the_time_of_its_last_character) {
  write("H");
  stamp(10);
  write("i\n");
  stamp(20);
  stamp(30);
  EXPECT_EQ(text(), "-- port 0: \"Hi\\n\", time 20\n-- time 30 (+1)\n");
}

TEST_F(HumanItm, release_writes_what_waits_and_the_rest_is_a_line_of_its_own) {
  EXPECT_FALSE(writer_.release());
  write("Hi");
  EXPECT_TRUE(writer_.release());
  EXPECT_FALSE(writer_.release());
  stamp(10);
  write("you\n");
  stamp(20);
  EXPECT_EQ(text(), "-- port 0: \"Hi\"\n-- time 10 (+1)\n-- port 0: \"you\\n\", time 20\n");
}

TEST_F(HumanItm, with_times_a_line_ends_at_its_stamp) {
  writer_.show_times();
  const auto add_at = [&](const Element& element, std::uint64_t time) {
    merge::TimedRecord record;
    record.element = element;
    record.time = time;
    record.kind = merge::TimeKind::kExact;
    writer_.add(record);
  };
  Element stamped = itm_element(ItmKind::kTimestampSync, 0, 1, 1);
  add_at(stimulus_element(0, 'a'), 10);
  add_at(stimulus_element(0, 'b'), 10);
  add_at(stamped, 10);
  add_at(stimulus_element(0, 'c'), 20);
  writer_.finish();
  const std::string_view lines = out_.view();
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2) << lines;
  EXPECT_NE(lines.find("port 0: \"ab\""), lines.npos) << lines;
  EXPECT_NE(lines.find("port 0: \"c\""), lines.npos) << lines;
}

TEST_F(HumanItm, ports_do_not_mix) {
  write("ab", 0);
  write("c", 1);
  write("d", 0);
  EXPECT_EQ(text(), "-- port 0: \"ab\"\n-- port 1: \"c\"\n-- port 0: \"d\"\n");
}

TEST_F(HumanItm, long_text_is_cut) {
  write(std::string(200, 'x'));
  EXPECT_EQ(text(), "-- port 0: \"" + std::string(160, 'x') + "\"\n-- port 0: \"" +
                        std::string(40, 'x') + "\"\n");
}

TEST_F(HumanItm, payloads_that_are_not_text_are_numbers) {
  write("a");
  add(stimulus_element(0, 0x01));
  add(itm_element(ItmKind::kSoftware, 2, 4, 0x12345678));
  add(itm_element(ItmKind::kSoftware, 2, 4, 0x64636261));
  EXPECT_EQ(text(),
            "-- port 0: \"a\"\n-- port 0: 0x01\n-- port 2: 0x12345678\n-- port 2: 0x64636261 "
            "\"abcd\"\n");
}

TEST_F(HumanItm, text_may_be_utf8) {
  write(
      "\xC3\xBC is not text at the start, gr\xC3\xBC\xC3\x9F"
      "e is, \x90 is none\n");
  EXPECT_EQ(text(),
            "-- port 0: 0xc3\n-- port 0: 0xbc\n-- port 0: \" is not text at the start, grüße is, "
            "\\x90 is none\\n\"\n");
}

TEST_F(HumanItm, exceptions_have_names) {
  add(itm_element(ItmKind::kHardware, 1, 2, 0x100F));
  stamp(5, ItmKind::kPacketDelay);
  add(itm_element(ItmKind::kHardware, 1, 2, 0x2012));
  add(itm_element(ItmKind::kHardware, 1, 2, 0x3000));
  EXPECT_EQ(text(),
            "-- SysTick (15) entered, time 5 at the latest\n-- IRQ2 (18) exited\n-- Thread (0) "
            "returned\n");
}

TEST_F(HumanItm, samples_and_pairs_are_with_their_address) {
  add(itm_element(ItmKind::kHardware, 2, 4, 0x08001234));
  Element value = itm_element(ItmKind::kHardware, 0x13, 1, 0x44);
  value.reason = itm_known_bytes(4, 2);
  value.end = 0x2010'0800'1236;
  add(value);
  add(itm_element(ItmKind::kHardware, 2, 1, 0));
  EXPECT_EQ(text(),
            "0x0000000008001234          PC sample\n"
            "0x0000000008001236          comparator 1: wrote 0x44 to ...2010\n"
            "-- PC sample: asleep\n");
}

TEST_F(HumanItm, an_overflow_is_reported) {
  Element element = itm_element(ItmKind::kHardware, 0, 1, 0x21);
  element.extra |= kItmOverflow;
  write("x");
  add(element);
  EXPECT_EQ(text(),
            "-- port 0: \"x\"\n-- counters wrapped: cpi cyc (overflow: packets before this are "
            "lost)\n");
}

TEST_F(HumanItm, every_hardware_source_has_words) {
  for (std::uint32_t discriminator = 0; discriminator < 32; ++discriminator)
    for (const std::uint32_t size : {1U, 2U, 4U})
      add(itm_element(ItmKind::kHardware, discriminator, size, discriminator == 14 ? 1 : 0xFF));
  const std::string lines = text();
  EXPECT_EQ(std::ranges::count(lines, '\n'), 96);
  EXPECT_NE(lines.find("PMU counters overflowed: 0 1 2 3 4 5 6 7"), std::string::npos);
  EXPECT_NE(lines.find("comparator 3 matched"), std::string::npos);
  EXPECT_NE(lines.find("hardware source 31 (reserved): 0x000000ff"), std::string::npos);
}

TEST_F(HumanItm, damage_keeps_its_place) {
  Diagnostic record;
  record.finding = Finding::kReservedHeader;
  write("ab");
  writer_.add(record);
  record.finding = Finding::kMalformedPacket;
  writer_.add(record);
  write("c\n");
  const std::string lines = text();
  EXPECT_EQ(lines.find("port 0: \"abc"), 3U);
  EXPECT_LT(lines.find("A packet header"), lines.find("The bytes do not"));
}

}  // namespace
}  // namespace waymark::outputs
