#include "waymark/outputs/csv.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "outputs/sample_elements.h"

namespace waymark::outputs {
namespace {

auto commas(std::string_view line) { return std::ranges::count(line, ','); }

TEST(Csv, every_kind_has_the_columns_of_the_header) {
  TextBuffer header;
  write_csv_element_header(header);
  for (std::size_t kind = 0; kind < kElementKindCount; ++kind) {
    TextBuffer out;
    write_csv(out, element_of(static_cast<ElementKind>(kind)));
    EXPECT_EQ(commas(out.view()), commas(header.view())) << out.view();
  }
}

TEST(Csv, damage_has_the_columns_of_the_header) {
  TextBuffer header;
  write_csv_element_header(header);
  Diagnostic record;
  record.finding = Finding::kReservedHeader;
  TextBuffer out;
  write_csv(out, record);
  EXPECT_EQ(commas(out.view()), commas(header.view()));
  EXPECT_TRUE(out.view().ends_with(",A packet header is reserved.\n"));
}

TEST(Csv, range_fills_its_columns) {
  TextBuffer out;
  write_csv(out, call_element(0x8000, 0x8008));
  EXPECT_EQ(out.view(), "element,21,16,range,0x8000,0x8008,2,A64,branch,call,1,0,,,,,,,,,,,,,\n");
}

TEST(Csv, functions_are_columns_at_the_end) {
  const auto program = program::Program::of({{.start = 0x8000, .last = 0x80ff, .name = "_Z3foov"}});
  FunctionNames functions(lookup_in(program));
  TextBuffer header;
  write_csv_element_header(header, {.functions = true});
  EXPECT_TRUE(header.view().ends_with(",message,function,demangled,offset\n"));
  TextBuffer out;
  write_csv(out, call_element(0x8004, 0x8008), &functions);
  EXPECT_TRUE(out.view().ends_with(",_Z3foov,foo(),0x4\n")) << out.view();
  for (std::size_t kind = 0; kind < kElementKindCount; ++kind) {
    out.clear();
    write_csv(out, element_of(static_cast<ElementKind>(kind)), &functions);
    EXPECT_EQ(commas(out.view()), commas(header.view())) << out.view();
  }
  out.clear();
  write_csv(out, Diagnostic{}, {.functions = true});
  EXPECT_EQ(commas(out.view()), commas(header.view())) << out.view();
}

TEST(Csv, field_with_comma_or_quote_is_quoted) {
  TextBuffer out;
  write_csv_field(out, "a,b \"c\"");
  EXPECT_EQ(out.view(), "\"a,b \"\"c\"\"\"");
}

TEST(Csv, field_is_one_line_without_control_characters) {
  TextBuffer out;
  // NOLINTNEXTLINE(misc-misleading-bidirectional): what must not be shown as it is.
  write_csv_field(out, "a\n\x1b[2J\"\xff\u202e");
  EXPECT_EQ(out.view(), "\"a\\x0a\\x1b[2J\"\"\\xff\\u{202e}\"");
}

TEST(Csv, a_field_cannot_become_a_formula) {
  for (const std::string text : {"=1+1", "+1", "-1", "@a"}) {
    TextBuffer out;
    write_csv_field(out, text);
    EXPECT_EQ(out.view(), "'" + text);
  }
  TextBuffer out;
  write_csv_field(out, "=\"a\"");
  EXPECT_EQ(out.view(), "\"'=\"\"a\"\"\"");
}

}  // namespace
}  // namespace waymark::outputs
