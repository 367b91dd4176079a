#include "waymark/outputs/human.h"

#include <gtest/gtest.h>

#include "outputs/sample_elements.h"
#include "waymark/image/symbols.h"

namespace waymark::outputs {
namespace {

class Human : public testing::Test {
 protected:
  void add(const Element& element) { writer_.add(std::span(&element, 1)); }
  std::string text() {
    writer_.finish();
    return std::string(out_.view());
  }
  TextBuffer out_;
  HumanWriter writer_{out_};
};

TEST_F(Human, call_names_where_the_source_goes_on) {
  add(call_element(0xffff000000080000, 0xffff00000008000c));
  add(range_element(0xffff000000090000, 0xffff000000090004));
  EXPECT_EQ(text(),
            "        21  0x10  0xffff000000080000      +3  insns  → call 0xffff000000090000\n"
            "        21  0x10  0xffff000000090000      +1  insn   not taken\n");
}

TEST_F(Human, functions_are_named_after_their_ranges) {
  const auto program =
      program::Program::of({{.start = 0x8000, .last = 0x80FF, .name = "put"},
                            {.start = 0x8100, .last = 0x81FF, .name = "_ZN3app3runEi"},
                            {.start = 0x8200, .last = 0x82FF, .name = "\x1b[2J"}});
  writer_.name_functions(lookup_in(program));
  Element range;
  range.kind = ElementKind::kInstrRange;
  range.flags = kElementExecuted;
  range.count = 2;
  for (const std::uint64_t start : {0x8000U, 0x8010U, 0x8100U, 0x8200U, 0x10U}) {
    range.start = start;
    range.end = start + 8;
    add(range);
  }
  const std::string lines = text();
  EXPECT_NE(lines.find("insns  in put\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find("insns  in put+0x10\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find("insns  in app::run(int)\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find("insns  in \\x1b[2J\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find("0x0000000000000010      +2  insns\n"), std::string::npos) << lines;
}

TEST_F(Human, ascii_has_no_arrow) {
  writer_.set_style({.ascii = true});
  add(call_element(0x8000, 0x8004));
  EXPECT_NE(text().find("insn   -> call"), std::string::npos) << text();
}

TEST_F(Human, headings_functions_and_damage_are_coloured) {
  const auto program = program::Program::of({{.start = 0x8000, .last = 0x80FF, .name = "put"}});
  writer_.set_style({.colours = true});
  writer_.name_functions(lookup_in(program));
  writer_.header();
  add(range_element(0x8000, 0x8004));
  Diagnostic record;
  record.finding = Finding::kSyncLost;
  writer_.add(record);
  const std::string lines = text();
  EXPECT_TRUE(lines.starts_with("\x1b[1m")) << lines;
  EXPECT_NE(lines.find("what happened\x1b[m\n"), std::string::npos) << lines;
  EXPECT_NE(lines.find("in \x1b[36mput\x1b[m"), std::string::npos) << lines;
  EXPECT_NE(lines.find("\x1b[31m!! damage: Synchronisation with the trace"), std::string::npos)
      << lines;
  EXPECT_TRUE(lines.ends_with("\x1b[m\n")) << lines;
}

TEST_F(Human, target_comes_from_the_same_source) {
  add(call_element(0x8000, 0x8004, 0x10));
  add(range_element(0x9000, 0x9004, 0x11));
  add(range_element(0xa000, 0xa004, 0x10));
  EXPECT_NE(text().find("call 0x000000000000a000\n"), std::string::npos);
}

TEST_F(Human, order_is_kept_while_a_line_waits) {
  add(call_element(0x8000, 0x8004, 0x10));
  add(element_of(ElementKind::kTraceOn, 0x11));
  add(range_element(0xa000, 0xa004, 0x10));
  const std::string lines = text();
  EXPECT_LT(lines.find("call"), lines.find("trace on"));
}

TEST_F(Human, context_change_does_not_hide_the_target) {
  add(call_element(0x8000, 0x8004));
  add(element_of(ElementKind::kPeContext));
  add(range_element(0xa000, 0xa004));
  EXPECT_NE(text().find("call 0x000000000000a000\n"), std::string::npos);
}

TEST_F(Human, end_of_trace_leaves_the_target_open) {
  add(call_element(0x8000, 0x8004));
  add(element_of(ElementKind::kEndOfTrace));
  EXPECT_NE(text().find("call, target not in the trace\n"), std::string::npos);
}

TEST_F(Human, unknown_addresses_are_a_sentence) {
  add(element_of(ElementKind::kAddrUnknown));
  EXPECT_NE(text().find("  -- address unknown until the next branch packet\n"), std::string::npos)
      << text();
}

TEST_F(Human, nothing_waits_forever) {
  add(call_element(0x8000, 0x8004, 0x10));
  for (int i = 0; i < 70000; ++i) add(range_element(0x9000, 0x9004, 0x11));
  EXPECT_GT(out_.size(), 0U);
}

TEST_F(Human, damage_is_a_line_of_its_own_with_its_place) {
  Diagnostic record;
  record.fault = Fault::kBadPacket;
  record.severity = Severity::kWarning;
  record.trace_id = 0x10;
  record.index = 506;
  record.finding = Finding::kMalformedPacket;
  writer_.add(record);
  EXPECT_EQ(text(),
            "       506  0x10  !! damage: The bytes do not form a valid packet. (bad_packet)\n");
}

TEST_F(Human, exception_has_the_name_that_its_source_gives) {
  Element element = element_of(ElementKind::kException);
  element.number = 14;
  add(element);
  writer_.name_exceptions(0x10, ExceptionNumbers::kEtmV4);
  add(element);
  EXPECT_EQ(text(),
            "        30  0x10  -- exception 14\n"
            "        30  0x10  -- exception 14 (IRQ)\n");
}

TEST_F(Human, core_column_is_as_wide_as_the_longest_name) {
  writer_.name_core(0x10, "cpu_0");
  writer_.name_core(0x11, "cluster1_cpu_3");
  add(element_of(ElementKind::kTraceOn, 0x10));
  EXPECT_EQ(text(), "        30  0x10  cpu_0           -- trace on\n");
}

}  // namespace
}  // namespace waymark::outputs
