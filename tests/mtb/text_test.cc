#include "waymark/mtb/text.h"

#include <gtest/gtest.h>

#include <string>

#include "waymark/mtb/fields.h"

namespace waymark::mtb {
namespace {

std::string text_of(const Packet& packet) {
  TextBuffer text;
  write_packet(text, packet);
  return std::string(text.view());
}

TEST(MtbText, of_each_type) {
  EXPECT_EQ(
      text_of({.source = 0x102, .destination = 0x10C, .type = PacketType::kBranch, .start = true}),
      "MTB_BRANCH : src=0x00000102; dst=0x0000010c; A=0; S=1");
  EXPECT_EQ(text_of({.source = 0x106, .destination = 0x200, .type = PacketType::kException}),
            "MTB_EXCEPT : ret=0x00000106; dst=0x00000200; A=1; S=0");
  EXPECT_EQ(
      text_of({.source = 0xFFFF'FFF9, .destination = 0x106, .type = PacketType::kExceptionReturn}),
      "MTB_EXC_RTN : EXC_RETURN=0xfffffff9; dst=0x00000106; A=1; S=0");
  EXPECT_EQ(
      text_of({.source = 0xFEFF'FFFF, .destination = 0x40, .type = PacketType::kFunctionReturn}),
      "MTB_FNC_RTN : FNC_RETURN=0xfeffffff; dst=0x00000040; A=1; S=0");
  EXPECT_EQ(text_of({.type = PacketType::kUnused}), "MTB_UNUSED : all zeros");
  EXPECT_EQ(text_of({.type = PacketType::kUnused, .ones = true}), "MTB_UNUSED : all ones");
  EXPECT_EQ(text_of({.type = PacketType::kIncompleteEot}), "MTB_INCOMPLETE_EOT");
}

TEST(MtbFields, of_keywords) {
  for (const std::string_view keyword :
       {"branch", "exception", "exception_return", "function_return", "unused"}) {
    const auto packet = packet_of_keyword(keyword);
    ASSERT_TRUE(packet) << keyword;
    EXPECT_EQ(packet_keyword(packet->type), keyword);
    EXPECT_FALSE(fields_of(packet->type).empty());
  }
  EXPECT_FALSE(packet_of_keyword("incomplete_eot"));
}

}  // namespace
}  // namespace waymark::mtb
