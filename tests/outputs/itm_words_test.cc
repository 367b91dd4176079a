// ITM elements in JSON and CSV.
#include <gtest/gtest.h>

#include "outputs/sample_elements.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/json.h"

namespace waymark::outputs {
namespace {

std::string json(const Element& element) {
  TextBuffer out;
  write_json(out, element);
  const std::string_view all = out.view();
  const std::size_t start = all.find("\"what\"");
  return std::string(all.substr(start, all.size() - start - 2));
}
std::string csv(const Element& element) {
  TextBuffer out;
  write_csv(out, element);
  return std::string(out.view());
}

TEST(ItmJson, stimulus) {
  EXPECT_EQ(json(itm_element(ItmKind::kSoftware, 3, 1, 'A')),
            R"("what":"stimulus","port":3,"size":1,"value":"0x41","text":"A")");
  EXPECT_EQ(json(itm_element(ItmKind::kSoftware, 3, 2, 0x0041)),
            R"("what":"stimulus","port":3,"size":2,"value":"0x41","text":"A")");
  EXPECT_EQ(json(itm_element(ItmKind::kSoftware, 3, 2, 0x0141)),
            R"("what":"stimulus","port":3,"size":2,"value":"0x141")");
}

TEST(ItmJson, hardware) {
  EXPECT_EQ(json(itm_element(ItmKind::kHardware, 0, 1, 0x21)),
            R"("what":"event_counters","discriminator":0,"size":1,"value":"0x21",)"
            R"("counters":"cpi cyc")");
  EXPECT_EQ(json(itm_element(ItmKind::kHardware, 1, 2, 0x100B)),
            R"("what":"exception","discriminator":1,"size":2,"value":"0x100b","exception":11,)"
            R"("name":"SVCall","action":"entered")");
  EXPECT_EQ(json(itm_element(ItmKind::kHardware, 2, 4, 0x1080)),
            R"("what":"pc_sample","discriminator":2,"size":4,"value":"0x1080","pc":"0x1080")");
  EXPECT_EQ(json(itm_element(ItmKind::kHardware, 3, 1, 5)),
            R"("what":"pmu_overflow","discriminator":3,"size":1,"value":"0x5")");
}

TEST(ItmJson, pairs_of_data_trace) {
  Element value = itm_element(ItmKind::kHardware, 0x12, 1, 0x44);
  value.reason = itm_known_bytes(4, 2);
  value.end = 0x2010'0800'1236;
  EXPECT_EQ(json(value),
            R"("what":"data_read","discriminator":18,"size":1,"value":"0x44","comparator":1,)"
            R"("pc":"0x8001236","address_low_bytes":"0x2010")");
}

TEST(ItmJson, times) {
  Element time = itm_element(ItmKind::kPacketDelay, 0, 1, 5);
  time.timestamp = 77;
  time.extra |= kItmOverflow;
  EXPECT_EQ(
      json(time),
      R"("what":"local_timestamp","delta":5,"delayed":"packet","timestamp":77,"timestamp_text":"77",)"
      R"("overflow":true)");
  Element global = itm_element(ItmKind::kGlobalTimestamp, 0, 0, 0);
  global.timestamp = 0x1020304cf23456;
  global.flags = kElementFrequencyChange;
  EXPECT_EQ(
      json(global),
      R"("what":"global_timestamp","timestamp":4538991448831062,"timestamp_text":"4538991448831062","frequency_change":true)");
}

TEST(ItmCsv, columns) {
  EXPECT_EQ(csv(itm_element(ItmKind::kSoftware, 3, 1, 'A')),
            "element,30,16,itm,,,1,,,,,,,,,,,3,stimulus,0x41,,,,,\n");
  EXPECT_EQ(csv(itm_element(ItmKind::kHardware, 2, 4, 0x1080)),
            "element,30,16,itm,0x1080,,4,,,,,,,,,,,2,pc_sample,0x1080,,,,,\n");
  Element time = itm_element(ItmKind::kTimestampSync, 0, 1, 5);
  time.timestamp = 77;
  EXPECT_EQ(csv(time), "element,30,16,itm,,,,,,,,,,,,,,,local_timestamp,0x5,77,,,,\n");
}

}  // namespace
}  // namespace waymark::outputs
