#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "waymark/image/image.h"

namespace waymark::image {
namespace {

TEST(SpaceName, is_what_listings_print) {
  const std::pair<unsigned, const char*> names[] = {
      {0x01, "EL1S"},       {0x02, "EL1N"},       {0x04, "EL2N"},
      {0x08, "EL3"},        {0x10, "EL2S"},       {0x20, "EL1R"},
      {0x40, "EL2R"},       {0x80, "Root"},       {0x19, "Any S"},
      {0x06, "Any NS"},     {0x60, "Any R"},      {0xFF, "Any"},
      {0x00, ""},           {0x03, "EL1S,EL1N,"}, {0x7F, "EL1S,EL1N,EL2N,EL3,EL2S,EL1R,EL2R,"},
      {0x84, "EL2N,Root,"},
  };
  for (const auto& [space, name] : names)
    EXPECT_EQ(space_name(static_cast<SpaceMask>(space)), name) << space;
}

TEST(SpaceByName, knows_the_names_of_snapshots) {
  const std::pair<const char*, SpaceMask> names[] = {
      {"EL1S", kSpaceEl1S}, {"EL1N", kSpaceEl1N}, {"EL2", kSpaceEl2},     {"EL2N", kSpaceEl2},
      {"EL3", kSpaceEl3},   {"EL2S", kSpaceEl2S}, {"EL1R", kSpaceEl1R},   {"EL2R", kSpaceEl2R},
      {"ROOT", kSpaceRoot}, {"S", kSpaceSecure},  {"N", kSpaceNonSecure}, {"R", kSpaceRealm},
      {"ANY", kSpaceAny},   {"H", kSpaceEl2},     {"P", kSpaceEl1N},      {"NP", kSpaceEl1N},
      {"SP", kSpaceEl1S},
  };
  for (const auto& [name, space] : names) {
    const auto found = space_by_name(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(*found, space) << name;
  }
}

TEST(SpaceByName, refuses_other_names) {
  for (const std::string name : {"", "el1s", "Any", "Root", "EL0", "EL1", "NS", "S "}) {
    const auto found = space_by_name(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
    EXPECT_NE(found.error().detail.find("'" + name + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace waymark::image
