#include "waymark/exports/findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace waymark::exports {
namespace {

std::vector<CaptureFindings> example() {
  return {
      {.input = "runs/a",
       .kind = "perf.data",
       .framing = "pieces",
       .bytes = 1000,
       .findings = {{.kind = "no_bytes", .id = TraceId{0x10}, .text = "Idle."},
                    {.kind = "loss", .text = "Lost, \"twice\"."},
                    {.kind = "no_bytes", .id = TraceId{0x12}, .text = "Idle."}}},
      {.input = "=b", .kind = "snapshot", .framing = "none", .bytes = 7},
      {.input = "c\n",
       .code = 3,
       .findings = {{.kind = "no_bytes", .count = 2, .bytes = 5, .text = "c\n: bad."}}},
  };
}

TEST(Findings, json_has_sums_and_a_line_for_each_capture) {
  TextBuffer out;
  ASSERT_TRUE(write_findings(example(), out));
  EXPECT_EQ(
      out.view(),
      R"({"type":"findings","inputs":3,"inputs_with_findings":2,"kinds":[)"
      R"({"kind":"loss","inputs":1,"findings":1},{"kind":"no_bytes","inputs":2,"findings":3}],)"
      "\n\"captures\":[\n"
      R"({"input":"runs/a","code":0,"kind":"perf.data","framing":"pieces","bytes":1000,)"
      R"("findings":[{"kind":"no_bytes","id":16,"text":"Idle."},)"
      R"({"kind":"loss","text":"Lost, \"twice\"."},{"kind":"no_bytes","id":18,"text":"Idle."}]},)"
      "\n"
      R"({"input":"=b","code":0,"kind":"snapshot","framing":"none","bytes":7,"findings":[]},)"
      "\n"
      R"({"input":"c\u000a","code":3,"kind":"","framing":"","bytes":0,)"
      R"("findings":[{"kind":"no_bytes","count":2,"bytes":5,"text":"c\u000a: bad."}]})"
      "\n]}\n");
}

TEST(Findings, csv_has_a_line_for_each_finding_and_for_a_capture_without_any) {
  TextBuffer out;
  ASSERT_TRUE(write_findings_csv(example(), out));
  EXPECT_EQ(out.view(),
            "input,code,capture,framing,trace_bytes,kind,id,count,bytes,text\n"
            "runs/a,0,perf.data,pieces,1000,no_bytes,0x10,,,Idle.\n"
            "runs/a,0,perf.data,pieces,1000,loss,,,,\"Lost, \"\"twice\"\".\"\n"
            "runs/a,0,perf.data,pieces,1000,no_bytes,0x12,,,Idle.\n"
            "'=b,0,snapshot,none,7,,,,,\n"
            "c\\x0a,3,,,0,no_bytes,,2,5,c\\x0a: bad.\n");
}

TEST(Findings, no_capture_is_valid_json_too) {
  TextBuffer out;
  ASSERT_TRUE(write_findings({}, out));
  EXPECT_EQ(out.view(),
            "{\"type\":\"findings\",\"inputs\":0,\"inputs_with_findings\":0,\"kinds\":[],\n"
            "\"captures\":[\n\n]}\n");
}

}  // namespace
}  // namespace waymark::exports
