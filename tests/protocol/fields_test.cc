#include "waymark/protocol/fields.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark {
namespace {

std::string written(const FieldValue& value) {
  TextBuffer out;
  write_field(out, value);
  return std::string(out.view());
}

TEST(Fields, values_are_written_by_kind) {
  EXPECT_EQ(written({"f", FieldKind::kFlag, 1, {}}), "1");
  EXPECT_EQ(written({"d", FieldKind::kDecimal, 4096, {}}), "4096");
  EXPECT_EQ(written({"h", FieldKind::kHex, 4096, {}}), "0x1000");
  EXPECT_EQ(written({"w", FieldKind::kWord, 7, "async"}), "async");
  EXPECT_EQ(written({"a", FieldKind::kAtoms, atom_value(0b001, 3), {}}), "ENN");
}

TEST(Fields, atom_values_know_their_number) {
  for (unsigned count = 0; count <= 32; ++count) {
    EXPECT_EQ(atom_count(atom_value(0, count)), count);
    EXPECT_EQ(atom_count(atom_value(0xFFFFFFFF, count)), count);
  }
  EXPECT_EQ(atom_value(0xFFFFFFFF, 4), 0b11111U);
}

TEST(Fields, texts_are_parsed_by_kind) {
  EXPECT_EQ(parse_field("f", FieldKind::kDecimal, 8, "255").value(), 255U);
  EXPECT_EQ(parse_field("f", FieldKind::kHex, 8, "0xfF").value(), 255U);
  EXPECT_EQ(parse_field("f", FieldKind::kHex, 64, "0xffffffffffffffff").value(), ~std::uint64_t{0});
  EXPECT_EQ(parse_field("f", FieldKind::kAtoms, 32, "ENN").value(), atom_value(1, 3));
  EXPECT_EQ(parse_field("f", FieldKind::kDecimal, 8, "256").error().detail,
            "256 does not fit the field f, which has 8 bits.");
  EXPECT_EQ(parse_field("f", FieldKind::kHex, 64, "0x10000000000000000").error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(parse_field("f", FieldKind::kAtoms, 3, "ENEN").error().detail,
            "4 atoms: one to 3 letters E and N are allowed.");
}

}  // namespace
}  // namespace waymark
