#include "waymark/view/json.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace waymark::view {
namespace {

std::string string(std::string_view text, std::size_t most = 100) {
  TextBuffer out;
  write_string(out, text, most);
  return std::string(out.view());
}

std::string number(double value) {
  TextBuffer out;
  write_number(out, value);
  return std::string(out.view());
}

template <class... T>
std::string json(const T&... parts) {
  TextBuffer out;
  write_json(out, parts...);
  return std::string(out.view());
}

const std::vector<Track> kTracks{{.number = 1, .kind = TrackKind::kThread},
                                 {.number = 2, .kind = TrackKind::kMessages},
                                 {.number = 3, .kind = TrackKind::kCounter}};

TEST(ViewJson, strings_are_text_everywhere) {
  EXPECT_EQ(string("plain"), R"("plain")");
  EXPECT_EQ(string(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(string("</script><!--"), R"("\u003c/script>\u003c!--")");
  EXPECT_EQ(string("a\nb\x01\x7f"), R"("a\u000ab\u0001\u007f")");
  EXPECT_EQ(string("\xc3\xa9 \xe2\x82\xac"), "\"\xc3\xa9 \xe2\x82\xac\"");
  // A right-to-left override, and the line separator.
  // NOLINTNEXTLINE(misc-misleading-bidirectional)
  EXPECT_EQ(string("\xe2\x80\xae\xe2\x80\xa8"), R"("\u202e\u2028")");
  EXPECT_EQ(string(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(ViewJson, bytes_that_are_not_utf8_are_replaced) {
  EXPECT_EQ(string("a\xff\xc3"), R"("a\ufffd\ufffd")");
  // A surrogate is not a character.
  EXPECT_EQ(string("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");
}

TEST(ViewJson, long_strings_are_cut_between_characters) {
  EXPECT_EQ(string("abcdef", 4), R"("abcd...[cut]")");
  EXPECT_EQ(string("abc\xc3\xa9", 4), R"("abc...[cut]")");
}

TEST(ViewJson, numbers_read_back_as_the_same) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(1e300), "1e+300");
  EXPECT_EQ(number(123456789.125), "123456789.125");
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "null");
}

TEST(ViewJson, capture) {
  CaptureFacts facts;
  facts.name = "board";
  facts.bytes = 10;
  facts.done = 4;
  facts.axis = {.unit = AxisUnit::kNanoseconds,
                .origin = std::numeric_limits<std::uint64_t>::max(),
                .length = 2.5};
  const std::string text = json(facts, "0.1.0");
  EXPECT_NE(text.find(R"("axis":{"unit":"nanoseconds","words":"nanoseconds",)"
                      R"("origin":"18446744073709551615","length":2.5})"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          R"("progress":{"done":4,"total":10,"complete":false,"stage":"overview","failure":""})"),
      std::string::npos)
      << text;
}

TEST(ViewJson, timeline_of_spans) {
  Timeline timeline{.from = 0, .to = 10, .summary = false, .complete = true};
  timeline.tracks.push_back({.track = 1,
                             .spans = {{1, 2.5, 4, 1, 0, kIsException}},
                             .gaps = {{3, 4, GapReason::kMissingCode}},
                             .marks = {{5, "trigger", "", 1}}});
  timeline.tracks.push_back({.track = 2, .marks = {{1, "text", "hello", 3}}});
  timeline.tracks.push_back({.track = 3, .points = {{0, 1, 0.5}}});
  timeline.functions.push_back(
      {.number = 4, .kind = stacks::CodeKind::kFunction, .name = "main", .program = "a.elf"});
  EXPECT_EQ(json(timeline, kTracks),
            R"({"from":0,"to":10,"mode":"spans","complete":true,"tracks":[)"
            R"({"track":1,"spans":[[1,2.5,0,4,16,1]],"gaps":[[3,4,"missing_code"]],)"
            R"("instants":[[5,"trigger","",1]]},)"
            R"({"track":2,"marks":[[1,"text","hello",3]]},)"
            R"({"track":3,"points":[[0,1,0.5]]}],)"
            R"("functions":[[4,"main","a.elf","function"]]})");
}

TEST(ViewJson, timeline_of_buckets) {
  Timeline timeline{.from = 0, .to = 10, .summary = true, .complete = false};
  timeline.tracks.push_back({.track = 1,
                             .buckets = {{.start = 0,
                                          .end = 1,
                                          .instructions = 9,
                                          .cycles = 12,
                                          .depth = 3,
                                          .exceptions = 1,
                                          .messages = 2,
                                          .gap_share = 0.25,
                                          .functions = {{4, 0.5}}}}});
  EXPECT_EQ(json(timeline, kTracks),
            R"({"from":0,"to":10,"mode":"summary","complete":false,"tracks":[)"
            R"({"track":1,"buckets":[[0,1,9,3,1,2,0.25,[[4,0.5]],12]]}],"functions":[]})");
}

TEST(ViewJson, binary_timeline_has_columns) {
  Timeline timeline{.from = 0, .to = 10};
  timeline.tracks.push_back({.track = 1, .spans = {{1, 2, 7, 1, 3, 4}, {2, 3, 8, 2, 4, 8}}});
  timeline.tracks.push_back({.track = 1, .spans = {{5, 6, 9, 1, 0, 0}}});
  const std::string bytes = binary_timeline(timeline, kTracks);
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data(), 4);
  const std::string head = bytes.substr(4, length);
  // Two rows need 2 * 28 bytes, which is a multiple of eight; one row needs four bytes of padding.
  EXPECT_NE(head.find(R"("spans":{"rows":2,"at":0})"), std::string::npos) << head;
  EXPECT_NE(head.find(R"("spans":{"rows":1,"at":56})"), std::string::npos) << head;
  const std::size_t body = (4 + length + 7) / 8 * 8;
  ASSERT_EQ(bytes.size(), body + 56 + 32);
  double second_end = 0;
  std::memcpy(&second_end, bytes.data() + body + 24, 8);
  EXPECT_EQ(second_end, 3);
  std::uint32_t function = 0;
  std::memcpy(&function, bytes.data() + body + 56 + 16, 4);
  EXPECT_EQ(function, 9U);
  std::uint16_t flags = 0;
  std::memcpy(&flags, bytes.data() + body + 54, 2);
  EXPECT_EQ(flags, 8);
}

TEST(ViewJson, what_is_not_known_is_null) {
  EXPECT_NE(json(Functions{.rows = {{1, 2, 3, 4, 5}}}).find(R"("rows":[[1,2,3,4,null]])"),
            std::string::npos);
  EXPECT_NE(json(Functions{.has_cycles = true, .rows = {{1, 2, 3, 4, 5}}})
                .find(R"("rows":[[1,2,3,4,5]])"),
            std::string::npos);
  EXPECT_EQ(json(Hits{.hits = {{.at = 1, .track = 2, .instant = {}, .text = "x"}}}),
            R"({"hits":[{"t":1,"track":2,"source":null,"n":null,"text":"x"}],)"
            R"("complete":false,"searched_to":0,"note":""})");
}

TEST(ViewJson, stack_counts_its_depth_from_outside) {
  PlaceAnswer answer;
  answer.stack = {{.function = 5, .call_address = 0x80, .file = "a.c", .line = 3}, {.function = 6}};
  EXPECT_NE(json(answer).find(
                R"("stack":[{"function":5,"call_address":"0x80","file":"a.c","line":3,"depth":1},)"
                R"({"function":6,"call_address":"","file":"","line":0,"depth":0}])"),
            std::string::npos)
      << json(answer);
}

}  // namespace
}  // namespace waymark::view
