#include "waymark/inputs/memory_records.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

namespace waymark::inputs {
namespace {

using testing::HasSubstr;
using Octets = std::vector<std::uint8_t>;

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string digits(const Octets& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02X}", byte);
  return text;
}

std::string hex(std::uint16_t address, std::uint8_t type, const Octets& data) {
  Octets record{static_cast<std::uint8_t>(data.size()), static_cast<std::uint8_t>(address >> 8),
                static_cast<std::uint8_t>(address), type};
  record.insert(record.end(), data.begin(), data.end());
  unsigned sum = 0;
  for (const std::uint8_t byte : record) sum += byte;
  record.push_back(static_cast<std::uint8_t>(-sum));
  return ":" + digits(record) + "\n";
}

const std::string kHexEnd = ":00000001FF\r\n";

std::string s_record(char type, std::size_t address_size, std::uint64_t address,
                     const Octets& data) {
  Octets record{static_cast<std::uint8_t>(address_size + data.size() + 1)};
  for (std::size_t i = address_size; i != 0; --i)
    record.push_back(static_cast<std::uint8_t>(address >> (8 * (i - 1))));
  record.insert(record.end(), data.begin(), data.end());
  unsigned sum = 0;
  for (const std::uint8_t byte : record) sum += byte;
  record.push_back(static_cast<std::uint8_t>(~sum));
  return std::string("S") + type + digits(record) + "\n";
}

std::string refusal(const Result<MemoryRecords>& read) { return read ? "" : read.error().detail; }

void expect_blocks(const Result<MemoryRecords>& read,
                   const std::vector<std::pair<std::uint64_t, Octets>>& blocks) {
  ASSERT_TRUE(read) << read.error().detail;
  ASSERT_EQ(read->blocks.size(), blocks.size());
  for (std::size_t i = 0; i != blocks.size(); ++i) {
    EXPECT_EQ(read->blocks[i].address, blocks[i].first);
    EXPECT_EQ(read->blocks[i].bytes, blocks[i].second);
  }
}

// The example that describes the format in many places.
TEST(MemoryRecords, intel_hex_of_others) {
  constexpr std::string_view kText =
      ":10010000214601360121470136007EFE09D2190140\n"
      ":100110002146017E17C20001FF5F16002148011928\n"
      ":00000001FF\n";
  EXPECT_TRUE(is_intel_hex(bytes_of(kText)));
  const auto read = read_intel_hex(kText);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->blocks.size(), 1U);
  EXPECT_EQ(read->blocks[0].address, 0x100U);
  EXPECT_EQ(read->blocks[0].bytes.size(), 32U);
  EXPECT_EQ(read->blocks[0].bytes[1], 0x46);
  EXPECT_TRUE(read->ended);
}

TEST(MemoryRecords, s_records_of_others) {
  constexpr std::string_view kText =
      "S00F000068656C6C6F202020202000003C\n"
      "S11F00007C0802A6900100049421FFF07C6C1B787C8C23783C6000003863000026\n"
      "S11F001C4BFFFFE5398000007D83637880010014382100107C0803A64E800020E9\n"
      "S111003848656C6C6F20776F726C642E0A0042\n"
      "S5030003F9\n"
      "S9030000FC\n";
  EXPECT_TRUE(is_s_records(bytes_of(kText)));
  const auto read = read_s_records(kText);
  ASSERT_TRUE(read) << read.error().detail;
  ASSERT_EQ(read->blocks.size(), 1U);
  EXPECT_EQ(read->blocks[0].address, 0U);
  EXPECT_EQ(read->blocks[0].bytes.size(), 0x46U);
  EXPECT_TRUE(read->ended);
}

TEST(MemoryRecords, blocks_are_in_order_and_neighbours_are_joined) {
  expect_blocks(
      read_intel_hex(hex(0x20, 0, {5}) + hex(0x11, 0, {2, 3}) + hex(0x10, 0, {1}) + kHexEnd),
      {{0x10, {1, 2, 3}}, {0x20, {5}}});
  expect_blocks(read_s_records(s_record('2', 3, 0x10001, {2}) + s_record('2', 3, 0x10000, {1})),
                {{0x10000, {1, 2}}});
}

TEST(MemoryRecords, linear_and_segment_addresses) {
  expect_blocks(read_intel_hex(hex(0, 4, {0x20, 0}) + hex(0x10, 0, {1}) + hex(0, 2, {0x12, 0x34}) +
                               hex(1, 0, {2}) + kHexEnd),
                {{0x12341, {2}}, {0x2000'0010, {1}}});
}

TEST(MemoryRecords, addresses_wrap_as_their_kind_says) {
  expect_blocks(read_intel_hex(hex(0, 2, {0x10, 0}) + hex(0xFFFF, 0, {1, 2}) + kHexEnd),
                {{0x10000, {2}}, {0x1FFFF, {1}}});
  expect_blocks(read_intel_hex(hex(0, 4, {0x00, 0x01}) + hex(0xFFFF, 0, {1, 2}) + kHexEnd),
                {{0x1FFFF, {1, 2}}});
  expect_blocks(read_intel_hex(hex(0, 4, {0xFF, 0xFF}) + hex(0xFFFF, 0, {1, 2}) + kHexEnd),
                {{0, {2}}, {0xFFFF'FFFF, {1}}});
  EXPECT_THAT(refusal(read_s_records(s_record('1', 2, 0xFFFF, {1, 2}))),
              HasSubstr("Line 1: the record goes beyond the last address"));
}

TEST(MemoryRecords, equal_bytes_may_be_stated_twice) {
  expect_blocks(read_intel_hex(hex(0, 0, {1, 2, 3}) + hex(1, 0, {2, 3, 4}) + kHexEnd),
                {{0, {1, 2, 3, 4}}});
  expect_blocks(read_intel_hex(hex(0, 0, {1, 2, 3, 4}) + hex(1, 0, {2}) + kHexEnd),
                {{0, {1, 2, 3, 4}}});
}

TEST(MemoryRecords, contradictions_are_refused) {
  const std::string text = hex(0x100, 0, {1, 2, 3}) + hex(0, 0, {1}) + hex(0x101, 0, {2, 9});
  EXPECT_THAT(refusal(read_intel_hex(text)),
              HasSubstr("lines 1 and 3 state different bytes for address 0x102"));
}

TEST(MemoryRecords, a_missing_end_is_known) {
  const auto read = read_intel_hex(hex(0, 0, {1}));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->ended);
}

TEST(MemoryRecords, bad_intel_hex) {
  const std::string good = hex(0, 0, {1});
  EXPECT_THAT(refusal(read_intel_hex(good + "\n:0100000001FF\n")),
              HasSubstr("Line 3: the checksum of the record is wrong"));
  EXPECT_THAT(refusal(read_intel_hex(good + ":01000000FE\n")),
              HasSubstr("Line 2: it is not a record of Intel HEX"));
  EXPECT_THAT(refusal(read_intel_hex(good + "hello\n")), HasSubstr("Line 2: it is not a record"));
  EXPECT_THAT(refusal(read_intel_hex(good + hex(0, 6, {}))), HasSubstr("no record of type 6"));
  EXPECT_THAT(refusal(read_intel_hex(good + hex(0, 4, {1}))),
              HasSubstr("a record of type 4 has 2 bytes of data, not 1"));
  EXPECT_THAT(refusal(read_intel_hex(good + kHexEnd + good)),
              HasSubstr("Line 3: a record follows the record that ends the file"));
  EXPECT_THAT(refusal(read_intel_hex(kHexEnd)), HasSubstr("No record holds memory"));
}

TEST(MemoryRecords, bad_s_records) {
  const std::string good = s_record('3', 4, 0x8000'0000, {1});
  EXPECT_THAT(refusal(read_s_records(good + "S1030000FD\n")), HasSubstr("Line 2: the checksum"));
  EXPECT_THAT(refusal(read_s_records(good + "S10300\n")), HasSubstr("Line 2: it is not"));
  EXPECT_THAT(refusal(read_s_records(good + s_record('4', 2, 0, {}))), HasSubstr("type S4"));
  EXPECT_THAT(refusal(read_s_records(good + s_record('3', 2, 0, {}))),
              HasSubstr("an S3 record has an address of 4 bytes"));
  EXPECT_THAT(refusal(read_s_records(good + s_record('5', 2, 7, {}))),
              HasSubstr("it counts 7 records before it, but there are 1"));
}

TEST(MemoryRecords, places_are_bounded) {
  std::string text;
  for (unsigned i = 0; i != 5000; ++i) text += hex(static_cast<std::uint16_t>(2 * i), 0, {1});
  EXPECT_THAT(refusal(read_intel_hex(text)), HasSubstr("more than 2048 places"));
  std::string backwards;
  for (unsigned i = 5000; i != 0; --i)
    backwards += hex(static_cast<std::uint16_t>(i), 0, {static_cast<std::uint8_t>(i)});
  const auto read = read_intel_hex(backwards);
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->blocks.size(), 1U);
}

TEST(MemoryRecords, only_whole_records_are_recognised) {
  EXPECT_TRUE(is_intel_hex(bytes_of("\r\n" + kHexEnd)));
  EXPECT_FALSE(is_intel_hex(bytes_of(":00000001FE")));
  EXPECT_FALSE(is_intel_hex(bytes_of(":")));
  EXPECT_FALSE(is_intel_hex({}));
  EXPECT_TRUE(is_s_records(bytes_of("S9030000FC")));
  EXPECT_FALSE(is_s_records(bytes_of("S9030000FD")));
  EXPECT_FALSE(is_s_records(bytes_of("SA030000FC")));
}

}  // namespace
}  // namespace waymark::inputs
