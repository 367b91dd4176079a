#include "waymark/outputs/line_stamp.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::outputs {
namespace {

// 2026-11-26T19:13:33.123456789Z.
constexpr std::int64_t kTime = 1'795'720'413'123'456'789;

std::string stamped(LineStamp& stamp, std::string_view lines) {
  TextBuffer out;
  stamp.put(out, lines);
  return std::string(out.view());
}

TEST(LineStamp, time_is_utc_in_microseconds) {
  TextBuffer out;
  write_arrival(out, kTime);
  EXPECT_EQ(out.view(), "2026-11-26T19:13:33.123456Z");
  out.clear();
  write_arrival(out, 1);
  EXPECT_EQ(out.view(), "1970-01-01T00:00:00.000000Z");
}

TEST(LineStamp, text_has_a_column) {
  LineStamp stamp(LineStamp::Form::kText);
  EXPECT_EQ(stamped(stamp, "index\n"), "arrival                     index\n");
  EXPECT_EQ(stamped(stamp, "one\n"), "-                           one\n");
  stamp.set_time(kTime);
  EXPECT_EQ(stamped(stamp, "two\n\n"),
            "2026-11-26T19:13:33.123456Z two\n2026-11-26T19:13:33.123456Z \n");
}

TEST(LineStamp, text_without_a_header) {
  LineStamp stamp(LineStamp::Form::kText);
  stamp.set_time(kTime);
  EXPECT_EQ(stamped(stamp, "one\n"), "2026-11-26T19:13:33.123456Z one\n");
}

TEST(LineStamp, json_has_a_member) {
  LineStamp stamp(LineStamp::Form::kJson);
  EXPECT_EQ(stamped(stamp, "{\"a\":1}\n"), "{\"a\":1}\n");
  stamp.set_time(kTime);
  EXPECT_EQ(stamped(stamp, "{\"a\":1}\n{}\n"),
            "{\"arrival\":\"2026-11-26T19:13:33.123456Z\",\"a\":1}\n"
            "{\"arrival\":\"2026-11-26T19:13:33.123456Z\"}\n");
}

TEST(LineStamp, csv_has_a_first_column) {
  LineStamp stamp(LineStamp::Form::kCsv);
  EXPECT_EQ(stamped(stamp, "a,b\n1,2\n"), "arrival,a,b\n,1,2\n");
  stamp.set_time(kTime);
  EXPECT_EQ(stamped(stamp, "3,4\n"), "2026-11-26T19:13:33.123456Z,3,4\n");
}

}  // namespace
}  // namespace waymark::outputs
