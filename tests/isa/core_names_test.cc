#include "waymark/isa/core_names.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "waymark/isa/instruction.h"

namespace waymark::isa {
namespace {

void expect_cores(Arch arch, Profile profile, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto core = core_by_name(name);
    ASSERT_TRUE(core) << name;
    EXPECT_EQ(*core, (Core{arch, profile})) << name;
  }
}

TEST(CoreNames, exact_names) {
  expect_cores(Arch::kV8r3, Profile::kA,
               {"Cortex-A77", "Cortex-A76", "Cortex-A75", "Cortex-A65", "Cortex-A55"});
  expect_cores(
      Arch::kV8, Profile::kA,
      {"Cortex-A73", "Cortex-A72", "Cortex-A57", "Cortex-A53", "Cortex-A35", "Cortex-A32"});
  expect_cores(Arch::kV7, Profile::kA,
               {"Cortex-A17", "Cortex-A15", "Cortex-A12", "Cortex-A9", "Cortex-A8", "Cortex-A7",
                "Cortex-A5"});
  expect_cores(Arch::kV8, Profile::kR, {"Cortex-R52"});
  expect_cores(Arch::kV7, Profile::kR, {"Cortex-R8", "Cortex-R7", "Cortex-R5", "Cortex-R4"});
  expect_cores(Arch::kV8, Profile::kM, {"Cortex-M33", "Cortex-M55", "Cortex-M23"});
  expect_cores(Arch::kV7, Profile::kM, {"Cortex-M0", "Cortex-M0+", "Cortex-M3", "Cortex-M4"});
}

TEST(CoreNames, cores_of_all_families) {
  expect_cores(Arch::kV7, Profile::kM, {"Cortex-M1", "Cortex-M7", "SC000", "SC300"});
  expect_cores(Arch::kV8, Profile::kM, {"Cortex-M35P", "Cortex-M52", "Cortex-M85", "STAR-MC1"});
  expect_cores(Arch::kV7, Profile::kR, {"Cortex-R5F", "ARM1156T2-S"});
  expect_cores(Arch::kV8, Profile::kR, {"Cortex-R52+"});
  expect_cores(Arch::kAA64, Profile::kR, {"Cortex-R82", "Cortex-R82AE"});
  expect_cores(Arch::kV7, Profile::kA, {"ARM7TDMI", "ARM926EJ-S", "ARM1176JZF-S"});
  expect_cores(Arch::kV8, Profile::kA, {"Cortex-A34"});
  expect_cores(Arch::kV8r3, Profile::kA,
               {"Cortex-A65AE", "Cortex-A78", "Cortex-A78C", "Cortex-X1", "Neoverse-N1"});
  expect_cores(Arch::kAA64, Profile::kA,
               {"Cortex-A320", "Cortex-A510", "Cortex-A725", "Cortex-X2", "Cortex-X925",
                "Neoverse-V1", "Neoverse-N2", "Neoverse-V3AE", "C1-Ultra"});
}

std::string sentence(std::string_view name) {
  const auto core = core_by_name(name);
  return core ? "" : core.error().detail;
}

TEST(CoreNames, an_unknown_name_names_the_nearest_core_and_the_architectures_of_its_family) {
  EXPECT_EQ(sentence("Cortex-M87"),
            "The core 'Cortex-M87' is not known; did you mean Cortex-M85? Its architecture can be "
            "given instead: ARMv7-M or ARMv8.1-M.");
  EXPECT_NE(sentence("cortex-a53").find("did you mean Cortex-A53?"), std::string::npos);
  EXPECT_NE(sentence("Neoverse-N9").find("ARMv9-A"), std::string::npos);
  EXPECT_NE(sentence("cortex-r99xx").find("ARMv8-R"), std::string::npos);
  EXPECT_EQ(sentence("Z80"),
            "The core 'Z80' is not known. Its architecture can be given instead: "
            "ARMv8-A, ARMv8-R or ARMv8-M.");
  // The advice is always good.
  for (const char* name : {"Cortex-M", "SC", "STAR-MC", "Cortex-R", "Cortex-A", "Cortex-X",
                           "Neoverse", "C1", "ARM", "Z80"}) {
    std::string text = sentence(std::string(name) + "-unknown");
    text = text.substr(text.rfind(": ") + 2);
    text.pop_back();
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(", "), text.find(" or "));
      EXPECT_TRUE(core_by_name(text.substr(0, end))) << name << ": " << text;
      text = end == std::string::npos ? "" : text.substr(text.find_first_not_of(", or", end));
    }
  }
}

TEST(CoreNames, versioned_names) {
  expect_cores(Arch::kV7, Profile::kA, {"ARMv7-A", "ARMv7.1-A", "ARMv7.9-A"});
  expect_cores(Arch::kV7, Profile::kR, {"ARMv7-R"});
  expect_cores(Arch::kV7, Profile::kM, {"ARMv7-M"});
  expect_cores(Arch::kV8, Profile::kA, {"ARMv8-A", "ARMv8.0-A", "ARMv8.1-A", "ARMv8.2-A"});
  expect_cores(Arch::kV8, Profile::kM, {"ARMv8-M", "ARMv8.1-M"});
  expect_cores(Arch::kV8r3, Profile::kA, {"ARMv8.3-A"});
  expect_cores(Arch::kV8r3, Profile::kR, {"ARMv8.3-R"});
  expect_cores(Arch::kAA64, Profile::kA, {"ARMv8.4-A", "ARMv8.9-A", "ARMv9-A", "ARMv9.0-A"});
}

TEST(CoreNames, aa64_names) {
  expect_cores(Arch::kAA64, Profile::kA, {"ARM-aa64", "ARM-AA64", "ARM-aa64-A", "ARM-aa64x-R"});
  expect_cores(Arch::kAA64, Profile::kR, {"ARM-aa64-R", "ARM-AA64-R"});
  expect_cores(Arch::kAA64, Profile::kM, {"ARM-aa64-M"});
}

TEST(CoreNames, unknown_names_are_refused_with_the_name_in_the_sentence) {
  for (const std::string name :
       {"",         "Cortex-A", "Cortex-A530", "cortex-a53", " Cortex-A53", "Cortex-Z9",
        "ARMv",     "ARMv8",    "ARMv8-",      "ARMv8-X",    "ARMv8-a",     "ARMv6-A",
        "ARMv10-A", "ARMv8.-A", "ARMv8.10-A",  "ARMv8.x-A",  "ARMv8A",      "ARMv8-A.1",
        "armv8-A",  "ARMvx-A",  "ARM-Aa64",    "ARM-aa6"}) {
    const auto core = core_by_name(name);
    ASSERT_FALSE(core) << name;
    EXPECT_EQ(core.error().code, ErrorCode::kNotFound);
    EXPECT_NE(core.error().detail.find("'" + name + "'"), std::string::npos);
  }
}

TEST(CoreNames, in_any_capitals) {
  EXPECT_EQ(core_spelling("cortex-m33"), "Cortex-M33");
  EXPECT_EQ(core_spelling("CORTEX-A53"), "Cortex-A53");
  EXPECT_EQ(core_spelling("star-mc1"), "STAR-MC1");
  for (const std::string_view name : {"", "Cortex-M", "ARMv8-M", "nonsense"})
    EXPECT_EQ(core_spelling(name), name);
}

}  // namespace
}  // namespace waymark::isa
