#include "waymark/base/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace waymark {
namespace {

constexpr std::array<std::string_view, 6> kCommands = {"info",  "packets", "decode",
                                                       "count", "index",   "assemble"};

std::string near(std::string_view word) {
  return std::string(nearest(word, kCommands).value_or("nothing"));
}

TEST(Nearest, one_mistake_of_each_kind) {
  EXPECT_EQ(near("decodee"), "decode");
  EXPECT_EQ(near("decde"), "decode");
  EXPECT_EQ(near("decude"), "decode");
  EXPECT_EQ(near("deocde"), "decode");
}

TEST(Nearest, longer_words_may_hold_more_mistakes) {
  EXPECT_EQ(near("asembl"), "assemble");
  EXPECT_EQ(near("ifo"), "info");
  EXPECT_EQ(near("xyfo"), "nothing");
  EXPECT_EQ(near("dexoee"), "decode");
  EXPECT_EQ(near("dddddd"), "nothing");
}

TEST(Nearest, case_does_not_count) { EXPECT_EQ(near("DECODE"), "decode"); }

TEST(Nearest, the_beginning_of_a_word) {
  EXPECT_EQ(near("ass"), "assemble");
  EXPECT_EQ(near("as"), "nothing");
}

TEST(Nearest, fewest_edits_then_first) {
  constexpr std::array<std::string_view, 3> kWords = {"ETM1", "ETM2", "ETM"};
  EXPECT_EQ(nearest("ETM3", kWords), "ETM1");
  EXPECT_EQ(nearest("ETM2", kWords), "ETM2");
  EXPECT_EQ(nearest("ETM", kWords), "ETM");
}

TEST(Nearest, nothing_is_near_to_very_short_or_unlike_words) {
  EXPECT_EQ(near(""), "nothing");
  EXPECT_EQ(near("x"), "nothing");
  EXPECT_EQ(near("frobnicate"), "nothing");
  EXPECT_EQ(nearest("info", {}), std::nullopt);
}

TEST(Nearest, a_mistyped_path_means_a_file_in_its_folder) {
  const std::string folder = ::testing::TempDir() + "nearest_path_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  EXPECT_EQ(nearest_path(folder + "/trace.bin"), std::nullopt);
  for (const char* const name : {"trace.bin", "other.elf"}) std::ofstream(folder + "/" + name);
  EXPECT_EQ(nearest_path(folder + "/trace.bn"), folder + "/trace.bin");
  EXPECT_EQ(nearest_path(folder + "/Other.elf"), folder + "/other.elf");
  EXPECT_EQ(nearest_path(folder + "/notes.txt"), std::nullopt);
  EXPECT_EQ(nearest_path(folder + "/missing/trace.bin"), std::nullopt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace waymark
