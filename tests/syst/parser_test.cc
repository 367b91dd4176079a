#include "waymark/syst/parser.h"

#include <gtest/gtest.h>

#include "support.h"

namespace waymark::syst {
namespace {

constexpr std::string_view kGuidBytes = "494E54438A9C4014A65A2F36A36D96E4";

struct Parsed {
  std::vector<std::uint8_t> bytes;
  Message message;
};

Parsed parse(std::string_view text, const ParseOptions& options = {}) {
  Parsed parsed{.bytes = hex(text), .message = {}};
  parsed.message = parse_message(parsed.bytes, options);
  return parsed;
}

Defect defect_of(std::string_view text, const ParseOptions& options = {}) {
  return parse(text, options).message.defect;
}

constexpr ParseOptions kStrict{.mode = Mode::kStrict, .quirks = {}};
constexpr ParseOptions kReference{.mode = Mode::kTolerant, .quirks = Quirks::reference()};

TEST(SystParser, short_messages_have_values_only) {
  const Parsed parsed = parse("71 56 34 12");
  EXPECT_EQ(parsed.message.type, Type::kShort32);
  EXPECT_EQ(parsed.message.value, 0x1234567U);
  EXPECT_TRUE(parsed.message.ok());
  EXPECT_FALSE(parsed.message.has_guid());
  EXPECT_EQ(parse("F7 FF FF FF FF FF FF FF").message.value, 0xFFFFFFFFFFFFFFFU);
  EXPECT_EQ(defect_of("F7 FF FF FF FF FF FF"), Defect::kHeaderShort);
}

TEST(SystParser, compact_builds_keep_their_upper_bits) {
  EXPECT_EQ(parse("E0 CD AB 00").message.value, 0xABCDEU);
  EXPECT_EQ(parse("F0 FF FF C0").message.value, 0x3FFFFFU);
  EXPECT_EQ(parse("F0 FF FF C0", kReference).message.value, 0xFFFFFU);
  EXPECT_EQ(parse("00 00 00 C1 00 00 00 00").message.value, 0x300000U);
}

TEST(SystParser, long_build_with_every_field_but_location) {
  const Parsed parsed = parse(
      "00 1C 80 02 494E54438A9C4014A65A2F36A36D96E4 C0F77061094C0500 0000010000000000"
      "76657273696F6E2062616E6E657220737472696E6700 F521F81B");
  const Message& message = parsed.message;
  ASSERT_TRUE(message.ok()) << defect_sentence(message.defect);
  EXPECT_EQ(message.value, 0x10000U);
  EXPECT_EQ(message.text, "version banner string");
  EXPECT_EQ(message.timestamp, 0x00054C096170F7C0U);
  EXPECT_EQ(message.checksum, 0x1BF821F5U);
  EXPECT_EQ(message.unit, 1);
  EXPECT_EQ(to_hex(message.guid.bytes), "494e54438a9c4014a65a2f36a36d96e4");
}

TEST(SystParser, a_wrong_checksum_leaves_the_header_fields) {
  const Parsed parsed = parse("42 54 41 01 77 6F 72 64 30 00 A4 79 C7 52");
  EXPECT_EQ(parsed.message.defect, Defect::kChecksum);
  EXPECT_EQ(parsed.message.unit, 5);
  EXPECT_EQ(parsed.message.origin, 0x41);
  EXPECT_EQ(status_of(parsed.message.defect), Status::kChecksumError);
}

TEST(SystParser, locations_of_all_formats) {
  using enum Location::Kind;
  const Message lines = parse("42 51 41 01 00 01 02 03 04 61 00").message;
  EXPECT_EQ(lines.location.kind, kFileLine);
  EXPECT_EQ(lines.location.file, 0x201U);
  EXPECT_EQ(lines.location.line, 0x403U);
  const Message address = parse("42 51 41 01 03 01 02 03 04 05 06 07 08 61 00").message;
  EXPECT_EQ(address.location.kind, kAddress64);
  EXPECT_EQ(address.location.address, 0x0807060504030201U);
  EXPECT_EQ(defect_of("42 51 41 01 06 01 02 03 04 61 00"), Defect::kNone);
  EXPECT_EQ(defect_of("42 51 41 01 06 01 02 03 04 61 00", kStrict), Defect::kLocationFormat);
}

TEST(SystParser, the_length_counts_the_payload_only) {
  EXPECT_EQ(defect_of("42 52 41 01 02 00 61 00"), Defect::kNone);
  EXPECT_EQ(defect_of("42 52 41 01 03 00 61 00"), Defect::kPayloadShort);
  EXPECT_EQ(defect_of("42 52 41 01 01 00 61 00"), Defect::kPayloadLong);
}

TEST(SystParser, a_text_may_end_with_the_message_unless_strict) {
  const Parsed parsed = parse("42 50 41 01 61 62");
  EXPECT_TRUE(parsed.message.ok());
  EXPECT_EQ(parsed.message.text, "ab");
  EXPECT_TRUE(parsed.message.unterminated);
  EXPECT_EQ(defect_of("42 50 41 01 61 62", kStrict), Defect::kTextUnterminated);
  EXPECT_EQ(defect_of("42 50 41 01 61 62", kReference), Defect::kTextUnterminated);
}

TEST(SystParser, reserved_types_and_unknown_subtypes) {
  EXPECT_EQ(defect_of("44 50 41 01 61 00"), Defect::kReservedType);
  EXPECT_EQ(defect_of("42 50 41 04 61 00"), Defect::kUnknownSubtype);
  EXPECT_EQ(defect_of("43 50 41 03 01 00 00 00"), Defect::kUnknownSubtype);
  EXPECT_EQ(defect_of("C2 50 41 01 61 00", kStrict), Defect::kReservedBits);
}

TEST(SystParser, clock_and_binary_data) {
  const Message clock =
      parse("08 30 92 01" + std::string(kGuidBytes) + "8967452301000000 40420F0000000000").message;
  EXPECT_EQ(clock.value, 0x123456789U);
  EXPECT_EQ(clock.extra, 1000000U);
  const Parsed sbd = parse("49 32 92 0E" + std::string(kGuidBytes) +
                           "13 00 DDCCBBAA 7856341200000000 626F746800 A0A1");
  ASSERT_TRUE(sbd.message.ok()) << defect_sentence(sbd.message.defect);
  EXPECT_EQ(sbd.message.value, 0xAABBCCDDU);
  EXPECT_EQ(sbd.message.extra, 0x12345678U);
  EXPECT_EQ(sbd.message.text, "both");
  EXPECT_EQ(to_hex(sbd.message.data), "a0a1");
  EXPECT_EQ(defect_of("49 30 12 0E", kReference), Defect::kReservedType);
}

TEST(SystParser, the_event_of_a_linux_trace_source) {
  // Header 0x01800049: SBD with a 64-bit ID, as p_sys-t sends ftrace events.
  const Parsed parsed = parse("49 00 80 01" + std::string(kGuidBytes) + "3412000000000000 0102");
  const Message& message = parsed.message;
  EXPECT_EQ(message.type, Type::kSbd);
  EXPECT_EQ(message.value, 0x1234U);
  EXPECT_EQ(to_hex(message.data), "0102");
}

TEST(SystParser, every_cut_of_a_message_is_reported_and_never_read_past) {
  const std::vector<std::uint8_t> whole =
      hex("42 5F 41 0B 01 11111111 22222222 0900 0102030405060708 25732025640061620000000000");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::uint8_t> cut(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parse_message(cut).ok()) << size;
  }
}

TEST(SystExtent, only_some_messages_say_where_they_end) {
  using enum Extent::Kind;
  const auto extent = [](std::string_view text) { return message_extent(hex(text)); };
  EXPECT_EQ(extent("71 56 34").kind, kNeedMore);
  EXPECT_EQ(extent("71 56 34 12").size, 4U);
  EXPECT_EQ(extent("42 52 41 01").kind, kNeedMore);
  EXPECT_EQ(extent("42 56 41 01 02 00").size, 4U + 2 + 2 + 4);
  EXPECT_EQ(extent("42 50 41 01 61 00").kind, kOpen);
  EXPECT_EQ(extent("08 30 12 01").size, 20U);
  EXPECT_EQ(extent("42 53 41 01 03").size, 4U + 9 + 2);
}

}  // namespace
}  // namespace waymark::syst
