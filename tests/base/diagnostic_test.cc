#include "waymark/base/diagnostic.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace waymark {
namespace {

std::vector<std::string_view> all_sentences() {
  std::vector<std::string_view> all;
  for (std::size_t finding = 1; finding < kFindingCount; ++finding)
    all.push_back(describe(static_cast<Finding>(finding)));
  return all;
}

TEST(Diagnostic, each_finding_has_a_sentence_of_its_own) {
  std::vector<std::string_view> all = all_sentences();
  for (const std::string_view sentence : all) {
    ASSERT_FALSE(sentence.empty());
    EXPECT_TRUE(sentence.ends_with('.')) << sentence;
    EXPECT_EQ(sentence.find_first_of("\n\"\t"), std::string_view::npos) << sentence;
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_EQ(describe(Finding::kNone), "");
}

TEST(Diagnostic, sentences_are_not_those_of_the_reference) {
  for (const std::string_view sentence : all_sentences()) {
    for (const char* const words :
         {"Overflow.", "Malformed Packet", "Error processing", "Warning:"})
      EXPECT_THAT(std::string(sentence), testing::Not(testing::HasSubstr(words)));
  }
}

TEST(Diagnostic, is_described_by_its_finding) {
  Diagnostic record;
  EXPECT_EQ(describe(record), "");
  record.finding = Finding::kCommitsTooMany;
  EXPECT_EQ(describe(record), "The trace commits more elements than are outstanding.");
}

}  // namespace
}  // namespace waymark
