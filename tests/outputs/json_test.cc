#include "waymark/outputs/json.h"

#include <gtest/gtest.h>

#include "outputs/sample_elements.h"

namespace waymark::outputs {
namespace {

std::string json(const Element& element) {
  TextBuffer out;
  write_json(out, element);
  return std::string(out.view());
}

std::string json_string(std::string_view text) {
  TextBuffer out;
  write_json_string(out, text);
  return std::string(out.view());
}

TEST(Json, range_has_addresses_and_last_instruction) {
  EXPECT_EQ(json(call_element(0xffff000000080000, 0xffff00000008000c)),
            "{\"type\":\"element\",\"index\":21,\"id\":16,\"kind\":\"range\","
            "\"start\":\"0xffff000000080000\",\"end\":\"0xffff00000008000c\",\"instructions\":3,"
            "\"isa\":\"A64\",\"taken\":true,\"last\":\"branch\",\"subtype\":\"call\","
            "\"conditional\":false,\"last_size\":4}\n");
}

TEST(Json, context_leaves_out_what_was_never_seen) {
  Element element = element_of(ElementKind::kPeContext);
  element.isa = isa::Isa::kT32;
  element.security = Security::kNonSecure;
  EXPECT_EQ(json(element),
            "{\"type\":\"element\",\"index\":30,\"id\":16,\"kind\":\"context\",\"isa\":\"T32\","
            "\"security\":\"non_secure\",\"bits\":32}\n");
}

TEST(Json, timestamp_is_text_whatever_its_size) {
  Element element = element_of(ElementKind::kTimestamp);
  element.timestamp = (std::uint64_t{1} << 53) - 1;
  EXPECT_NE(
      json(element).find("\"timestamp\":9007199254740991,\"timestamp_text\":\"9007199254740991\""),
      std::string::npos);
  element.timestamp += 1;
  EXPECT_NE(
      json(element).find("\"timestamp\":9007199254740992,\"timestamp_text\":\"9007199254740992\""),
      std::string::npos);
}

TEST(Json, cycle_count_rides_on_any_element) {
  Element element = element_of(ElementKind::kException);
  element.number = 14;
  element.flags = kElementReturnAddress | kElementHasCycleCount;
  element.end = 0xc0010ef4;
  element.cycle_count = 15;
  EXPECT_EQ(json(element),
            "{\"type\":\"element\",\"index\":30,\"id\":16,\"kind\":\"exception\",\"number\":14,"
            "\"return_address\":\"0xc0010ef4\",\"cycles\":15}\n");
}

TEST(Json, damage_leaves_out_unknown_places) {
  Diagnostic record;
  record.fault = Fault::kBadImage;
  record.finding = Finding::kReservedHeader;
  TextBuffer out;
  write_json(out, record);
  EXPECT_EQ(out.view(),
            "{\"type\":\"damage\",\"fault\":\"bad_image\",\"severity\":\"error\","
            "\"stage\":\"elements\",\"message\":\"A packet header is reserved.\"}\n");
}

TEST(Json, range_has_its_function) {
  const auto program = program::Program::of({{.start = 0x8000, .last = 0x80ff, .name = "_Z3foov"}});
  FunctionNames functions(lookup_in(program));
  TextBuffer out;
  write_json(out, call_element(0x8004, 0x8008), &functions);
  EXPECT_TRUE(out.view().ends_with(
      "\"last_size\":4,\"function\":\"_Z3foov\",\"demangled\":\"foo()\",\"offset\":\"0x4\"}\n"))
      << out.view();
  out.clear();
  write_json(out, call_element(0x9004, 0x9008), &functions);
  EXPECT_TRUE(out.view().ends_with("\"last_size\":4}\n")) << out.view();
}

TEST(Json, string_keeps_well_formed_utf8) {
  EXPECT_EQ(json_string("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
}

TEST(Json, string_escapes_what_a_terminal_obeys) {
  EXPECT_EQ(json_string("\x1b[2J\x7f"), "\"\\u001b[2J\\u007f\"");
  // NOLINTNEXTLINE(misc-misleading-bidirectional): what must not be shown as it is.
  EXPECT_EQ(json_string("\xc2\x9b\u202e\ufeff"), "\"\\u009b\\u202e\\ufeff\"");
}

TEST(Json, string_escapes_invalid_utf8) {
  EXPECT_EQ(json_string("\xff\xc0\x80"), "\"\\u00ff\\u00c0\\u0080\"");
  EXPECT_EQ(json_string("\xe2\x82"), "\"\\u00e2\\u0082\"");             // Truncated.
  EXPECT_EQ(json_string("\xed\xa0\x80"), "\"\\u00ed\\u00a0\\u0080\"");  // A surrogate.
}

}  // namespace
}  // namespace waymark::outputs
