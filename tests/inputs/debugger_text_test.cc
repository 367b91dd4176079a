#include "waymark/inputs/debugger_text.h"

#include <gmock/gmock.h>

#include <string>

namespace waymark::inputs {
namespace {

using testing::HasSubstr;

const std::vector<std::uint8_t> kRecord = {2, 1, 0, 0, 0x0D, 1, 0, 0};

std::vector<std::uint8_t> twice(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint8_t> both = bytes;
  both.insert(both.end(), bytes.begin(), bytes.end());
  return both;
}

DebuggerText read(std::string_view text) {
  auto found = read_debugger_text(text);
  EXPECT_TRUE(found) << found.error().detail;
  return found ? *found : DebuggerText{};
}

/// The text is recognised, and shows these bytes at this address and no other memory.
void expect_block(std::string_view text, std::uint64_t address,
                  const std::vector<std::uint8_t>& bytes) {
  EXPECT_TRUE(
      is_debugger_text(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size())))
      << text;
  const DebuggerText found = read(text);
  ASSERT_EQ(found.blocks.size(), 1U) << text;
  EXPECT_EQ(found.blocks.front().address, address);
  EXPECT_EQ(found.blocks.front().bytes, bytes) << text;
}

std::string refusal(std::string_view text) {
  const auto found = read_debugger_text(text);
  return found ? "" : found.error().detail;
}

TEST(DebuggerText, reads_what_gdb_prints) {
  expect_block(
      "(gdb) x/4wx 0x20000000\n"
      "0x20000000:\t0x00000102\t0x0000010d\t0x00000102\t0x0000010d\n"
      "(gdb) \n",
      0x2000'0000, twice(kRecord));
  expect_block(
      "0x20000000 <buffer>:\t0x00000102\t0x0000010d\n"
      "0x20000008 <ns::f<int>::g()+8>:\t0x00000102\t0x0000010d\n",
      0x2000'0000, twice(kRecord));
  expect_block("0x20000000:\t0x0000010d00000102\n", 0x2000'0000, kRecord);
  expect_block("0x20000000:\t0x0102\t0x0000\t0x010d\t0x0000\n", 0x2000'0000, kRecord);
  expect_block("0x20000000:\t0x02\t0x01\t0x00\t0x00\t0x0d\t0x01\t0x00\t0x00\n", 0x2000'0000,
               kRecord);
}

TEST(DebuggerText, reads_dumps_of_hexdump) {
  expect_block(
      "00000010  02 01 00 00 0d 01 00 00  02 01 00 00 0d 01 00 00  |..|......|.....|\n"
      "00000020\n",
      0x10, twice(kRecord));
  std::vector<std::uint8_t> all(64, 0x55);
  all.push_back(0x02);
  expect_block(
      "00000000  55 55 55 55 55 55 55 55  55 55 55 55 55 55 55 55  |UUUUUUUUUUUUUUUU|\n"
      "*\n"
      "00000040  02                                                |.|\n"
      "00000041\n",
      0, all);
  all.pop_back();
  expect_block(
      "00000000  55 55 55 55 55 55 55 55  55 55 55 55 55 55 55 55  |UUUUUUUUUUUUUUUU|\n"
      "*\n00000040\n",
      0, all);
}

TEST(DebuggerText, repeated_lines_are_bounded) {
  EXPECT_THAT(refusal("00000000: 5555 5555\n*\nffffffff: 5555\n"), HasSubstr("256 MiB"));
}

TEST(DebuggerText, reads_plain_digits) {
  expect_block("020100000d010000020100000d010000\n", 0, twice(kRecord));
  expect_block("02 01 0000 0D010000\r\n02 01 00 00 0d 01 00 00\r\n", 0, twice(kRecord));
  EXPECT_FALSE(is_debugger_text(Bytes(reinterpret_cast<const std::uint8_t*>("cafe babe"), 9)));
}

TEST(DebuggerText, reads_what_openocd_prints) {
  expect_block("> mdw 0x20000000 4\r\n0x20000000: 00000102 0000010d 00000102 0000010d \r\n\r\n> ",
               0x2000'0000, twice(kRecord));
  expect_block("0x20000000: 02 01 00 00 0d 01 00 00 \n", 0x2000'0000, kRecord);
  expect_block("0x20000000: 0102 0000 010d 0000 \n", 0x2000'0000, kRecord);
}

TEST(DebuggerText, reads_what_u_boot_prints) {
  expect_block(
      "=> md.l 20000000 4\n20000000: 00000102 0000010d 00000102 0000010d    ................\n",
      0x2000'0000, twice(kRecord));
  expect_block("20000000: 0102 0000 010d 0000    ........\n", 0x2000'0000, kRecord);
}

TEST(DebuggerText, reads_what_xxd_prints) {
  expect_block(
      "00000000: 0201 0000 0d01 0000  ........\n"
      "00000008: 0201 0000 0d01 0000  ........\n",
      0, twice(kRecord));
  expect_block("00000000: 02010000 0d010000    xxxxxx\n", 0, kRecord);
}

TEST(DebuggerText, has_a_block_for_each_place) {
  const DebuggerText found = read(
      "0x20000000: 00000102 0000010d\n"
      "0x41006000: 00000008 80000002 00000000 20000000\n"
      "0x20000000: 00000102 0000010d 00000000\n");
  ASSERT_EQ(found.blocks.size(), 2U) << "the first was printed again";
  EXPECT_EQ(found.blocks[0].address, 0x4100'6000U);
  EXPECT_EQ(found.blocks[0].word(3), 0x2000'0000U);
  EXPECT_EQ(found.blocks[1].bytes.size(), 12U);
}

TEST(DebuggerText, has_the_last_pc) {
  EXPECT_EQ(read("pc             0x10c               0x10c <main+12>\n").pc, 0x10CU);
  EXPECT_EQ(read("pc (/32): 0x0000010c\n").pc, 0x10CU);
  EXPECT_EQ(read("(15) pc (/32): 0x0000010C (dirty)\n").pc, 0x10CU);
  EXPECT_EQ(read("xPSR: 0x61000000 pc: 0x0000010c msp: 0x20001fe0\npc: 0x00000200\n").pc, 0x200U);
  EXPECT_FALSE(read("spc: 0x10c\npc is not known\nepc 0x4\n").pc);
}

TEST(DebuggerText, names_the_line_that_it_cannot_read) {
  EXPECT_THAT(refusal("\n0x20000000:\t258\t269\n"), HasSubstr("Line 2: the values are not"));
  EXPECT_THAT(refusal("0x20000000:\t0x00000102\t0x01\n"), HasSubstr("Line 1"));
  EXPECT_THAT(refusal("0x20000000:\tCannot access memory at address 0x20000000\n"),
              HasSubstr("Line 1: the debugger could not read this memory"));
  EXPECT_THAT(refusal("0x20000000:\n"), HasSubstr("Line 1"));
}

TEST(DebuggerText, has_a_limit_of_places) {
  std::string text;
  for (unsigned i = 0; i != 5000; ++i) text += std::to_string(10'000'000 + 16 * i) + ": 00\n";
  EXPECT_THAT(refusal(text), HasSubstr("more than 4096 places"));
}

TEST(DebuggerText, is_not_any_text_or_bytes) {
  const auto is_it = [](std::string_view text) {
    return is_debugger_text(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  };
  EXPECT_FALSE(is_it("[device]\nname=cpu_0\n"));
  EXPECT_FALSE(is_it("0x100: see the manual\n"));
  EXPECT_FALSE(is_it("   0x100 <main>:\tmovs\tr0, #0\n"));
  EXPECT_FALSE(is_it(std::string_view("0x100: 00000001\n\0", 17)));
  EXPECT_FALSE(is_it(""));
}

TEST(MtbRegisters, are_found_at_a_known_base) {
  const auto found =
      find_mtb_registers(read("0x20000000: 00000102 0000010d\n"
                              "0x40000000: 00000008 00000002\n"
                              "0x41006000: 0000000c 80000002 00000000 20000000\n"));
  ASSERT_TRUE(found);
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->address, 0x4100'6000U);
  EXPECT_EQ((*found)->position, 0xCU);
  EXPECT_EQ((*found)->master, 0x8000'0002U);
  EXPECT_EQ((*found)->base, 0x2000'0000U);
}

TEST(MtbRegisters, are_found_at_another_base) {
  const auto found =
      find_mtb_registers(read("0x50001000: 0000000c 80000002\n0x0: 00000100 00000101\n"));
  ASSERT_TRUE(found);
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->address, 0x5000'1000U);
  EXPECT_EQ((*found)->base, 0U);
}

TEST(MtbRegisters, in_two_places_are_refused) {
  const auto found =
      find_mtb_registers(read("0x50000000: 00000000 00000041\n0x50002000: 0000000c 80000002\n"));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().detail, HasSubstr("may be at 0x50000000 or 0x50002000"));
}

TEST(MtbRegisters, are_not_found_without_their_reserved_zeros) {
  EXPECT_FALSE(*find_mtb_registers(read("0x50000000: 00000001 80000002\n")));
  EXPECT_FALSE(*find_mtb_registers(read("0x50000000: 00000008 80010002\n")));
  EXPECT_FALSE(*find_mtb_registers(read("0x50000000: 00000008\n")));
  EXPECT_FALSE(*find_mtb_registers(read("0x20000000: 00000008 80000002\n")));
}

}  // namespace
}  // namespace waymark::inputs
