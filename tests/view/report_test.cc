#include "waymark/view/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "view/fake_session.h"

namespace waymark::view {
namespace {

const std::vector<PageFile> kFiles{
    {"", "text/html",
     "<!DOCTYPE html><html><head><link rel=\"stylesheet\" href=\"app.css\"></head><body><main>"
     "</main><script type=\"module\" src=\"app.js\"></script></body></html>"},
    {"app.js", "text/javascript", "const end = '</script>';"},
    {"app.css", "text/css", "main { color: red }"}};

Stop never() {
  return [] { return false; };
}

Result<Report> report(Session& session, std::size_t most_bytes = 1'000'000,
                      Session* other = nullptr) {
  return make_report(session, other,
                     {.files = kFiles, .version = "1", .most_bytes = most_bytes, .windows = {}},
                     never());
}

/// The text of the element with the data.
std::string data_of(const std::string& html) {
  const std::string start = R"(<script type="application/json" id="waymark-data">)";
  const auto from = html.find(start);
  if (from == std::string::npos) return {};
  const auto end = html.find("</script>", from);
  return html.substr(from + start.size(), end - from - start.size());
}

TEST(ViewReport, is_one_file_with_page_and_data) {
  FakeSession session;
  const auto made = report(session);
  ASSERT_TRUE(made) << made.error().detail;
  EXPECT_TRUE(made->left_out.empty());
  const std::string& html = made->html;
  EXPECT_NE(html.find("<style>main { color: red }</style>"), std::string::npos) << html;
  EXPECT_NE(html.find("<script type=\"module\">const end = '<\\/script>';</script>"),
            std::string::npos)
      << html;
  EXPECT_EQ(html.find("src="), std::string::npos) << html;
  EXPECT_EQ(html.find("href="), std::string::npos) << html;
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_TRUE(html.ends_with("</body></html>"));
  // The script comes after the data that it reads.
  EXPECT_LT(html.find("waymark-data"), html.find("const end"));
  const std::string data = data_of(html);
  EXPECT_TRUE(data.starts_with(R"({"requests":{"capture":{"name":"board")")) << data;
  for (const char* request :
       {R"("tracks":{)", R"("health":{)", R"("timeline?from=0&to=100&width=)",
        R"("functions?from=0&to=100&limit=1000":{)", R"("flame?from=0&to=100&limit=4000":{)",
        R"("measure?from=0&to=100":{)"})
    EXPECT_NE(data.find(request), std::string::npos) << request << data;
}

TEST(ViewReport, names_cannot_leave_the_data) {
  FakeSession session;
  session.capture.name = "</script><script>alert(1)</script><!--";
  const auto made = report(session);
  ASSERT_TRUE(made);
  const std::string data = data_of(made->html);
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_TRUE(data.ends_with("}}"));
}

TEST(ViewReport, stays_below_its_size) {
  FakeSession session;
  const Mark mark{.at = 1, .kind = "text", .text = std::string(100, 'a'), .count = 1};
  session.picture.tracks.push_back({.track = 1, .marks = std::vector<Mark>(1000, mark)});
  const auto whole = report(session);
  ASSERT_TRUE(whole);
  ASSERT_TRUE(whole->left_out.empty());
  for (const std::size_t most : {5'000U, 20'000U, 200'000U}) {
    const auto made = report(session, most);
    ASSERT_TRUE(made) << most;
    EXPECT_LE(made->html.size(), most);
    EXPECT_EQ(made->left_out.empty(), made->html.size() == whole->html.size());
    EXPECT_NE(data_of(made->html).find("\"tracks\":{"), std::string::npos);
  }
  const auto small = report(session, 500);
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code, ErrorCode::kInvalidArgument);
}

TEST(ViewReport, two_captures_are_compared) {
  FakeSession first;
  FakeSession second;
  second.capture.name = "later";
  first.sums.instructions = 10;
  first.sums.rows = {{.function = 1, .self = 7, .total = 9, .calls = 2},
                     {.function = 2, .self = 3, .total = 3, .calls = 1}};
  first.sums.functions = {
      {.number = 1, .name = "sort", .program = "/a/app"},
      {.number = 2, .name = "gone", .program = "/a/app"},
  };
  second.sums.instructions = 5;
  second.sums.rows = {{.function = 8, .self = 5, .total = 5, .calls = 4}};
  second.sums.functions = {{.number = 8, .name = "sort", .program = "/b/app"}};
  ReportOptions options{.files = kFiles, .version = "1"};
  options.divergences = {
      {.thread = "cpu_0", .text = "It was taken in A.", .where = "sort+0x4", .times = 2}};
  options.divergence_count = 3;
  const auto made = make_report(first, &second, options, never());
  ASSERT_TRUE(made);
  const std::string data = data_of(made->html);
  EXPECT_NE(
      data.find(
          R"("compare":{"names":["board","later"],"instructions":[10,5],)"
          R"("cycles":[null,null],"rows":[["sort","app",7,9,2,5,5,4],)"
          R"(["gone","app",3,3,1,0,0,0]],)"
          R"("divergences":[["cpu_0","It was taken in A.","sort+0x4",2]],"divergence_count":3,)"
          R"("note":""})"),
      std::string::npos)
      << data;
}

TEST(ViewReport, has_the_coverage_of_source_files) {
  FakeSession session;
  ReportOptions options{.files = kFiles, .version = "1"};
  EXPECT_EQ(data_of(make_report(session, nullptr, options, never())->html).find("coverage"),
            std::string::npos);
  const auto never_run = exports::LineCoverage{};
  const auto run = exports::LineCoverage{
      .times = 3, .branches = {{.reached = true, .taken = 3}, {.reached = true, .not_taken = 1}}};
  options.coverage["all.c"] = {.lines = {{1, run}}};
  options.coverage["some.c"] = {
      .lines = {{2, run}, {5, never_run}, {7, never_run}, {8, run}, {9, never_run}},
      .functions = {{"_ZN1a1fEv", {.line = 5}}, {"called", {.line = 2, .calls = 4}}}};
  const auto made = make_report(session, nullptr, options, never());
  ASSERT_TRUE(made);
  const std::string data = data_of(made->html);
  const std::string wanted =
      R"x("coverage":{"lines":[3,6],"functions":[1,2],"branches":[6,12],"rows":[)x"
      R"x(["some.c",2,5,1,2,4,8,"5-7, 9",["a::f()"]],["all.c",1,1,0,0,2,4,"",[]]],"note":""})x";
  EXPECT_NE(data.find(wanted), std::string::npos) << data;
  // Without room, the rest of the report is written.
  options.most_bytes = made->html.size() - 100;
  const auto small = make_report(session, nullptr, options, never());
  ASSERT_TRUE(small);
  EXPECT_LE(small->html.size(), options.most_bytes);
}

TEST(ViewReport, ends_when_it_is_stopped) {
  FakeSession session;
  session.capture.stage = Stage::kReading;
  const auto made = make_report(session, nullptr, {.files = kFiles}, [] { return true; });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace waymark::view
