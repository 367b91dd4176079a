#include "waymark/etmv3/fields.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace waymark::etmv3 {
namespace {

TEST(Etmv3Fields, keywords_are_unique_and_lead_back) {
  std::set<std::string_view> seen;
  for (const std::string_view keyword : packet_keywords()) {
    EXPECT_TRUE(seen.insert(keyword).second) << keyword;
    const auto packet = packet_of_keyword(keyword);
    ASSERT_TRUE(packet) << keyword;
    EXPECT_EQ(packet_keyword(packet->type), keyword);
  }
  EXPECT_EQ(packet_of_keyword("nothing").error().detail, "There is no packet named 'nothing'.");
}

TEST(Etmv3Fields, every_field_that_can_be_set_gives_its_value_back) {
  for (const std::string_view keyword : packet_keywords()) {
    for (const Field& field : fields_of(packet_of_keyword(keyword)->type)) {
      if (field.set == nullptr) continue;
      Packet packet = *packet_of_keyword(keyword);
      const std::uint64_t value = field.kind == FieldKind::kAtoms ? atom_value(1, 2) : 1;
      field.set(packet, value);
      EXPECT_EQ(field.get(packet), value) << keyword << ' ' << field.name;
    }
  }
}

TEST(Etmv3Fields, a_value_too_wide_is_refused) {
  Packet packet = *packet_of_keyword("vmid");
  EXPECT_TRUE(set_field(packet, "vmid", "0xff"));
  EXPECT_EQ(set_field(packet, "vmid", "0x100").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(set_field(packet, "address", "1").error().code, ErrorCode::kNotFound);
}

TEST(Etmv3Fields, a_branch_shows_its_exception_only_if_it_has_one) {
  Packet packet = *packet_of_keyword("branch");
  const auto names = [&] {
    std::string text;
    for_each_field(packet, [&](const FieldValue& field) { text += std::string(field.name) + ' '; });
    return text;
  };
  EXPECT_EQ(names(), "value isa ");
  ASSERT_TRUE(set_field(packet, "exception", "14"));
  EXPECT_EQ(names(), "value isa exception cancel resume deprecated ns hyp alt_isa ");
}

}  // namespace
}  // namespace waymark::etmv3
