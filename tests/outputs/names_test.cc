#include "waymark/outputs/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace waymark::outputs {
namespace {

/// The words between backquotes from `start` up to the next full stop.
std::vector<std::string> documented_words(std::string_view start) {
  std::ifstream in(WAYMARK_OUTPUT_FORMATS);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t from = text.find(start);
  if (from == std::string::npos) return {};
  text = text.substr(from, text.find('.', from) - from);
  std::vector<std::string> words;
  for (std::size_t at = text.find('`'); at != std::string::npos;) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    words.push_back(text.substr(at + 1, end - at - 1));
    at = text.find('`', end + 1);
  }
  return words;
}

TEST(Names, document_lists_every_fault) {
  std::vector<std::string> faults;
  for (std::size_t fault = 1; fault < kFaultCount; ++fault)
    faults.emplace_back(fault_word(static_cast<Fault>(fault)));
  EXPECT_THAT(documented_words("\nFaults: "), testing::ElementsAreArray(faults));
}

TEST(Names, every_fault_has_a_word_of_its_own) {
  std::vector<std::string_view> words;
  words.reserve(kFaultCount);
  for (std::size_t fault = 0; fault < kFaultCount; ++fault)
    words.push_back(fault_word(static_cast<Fault>(fault)));
  EXPECT_THAT(words, testing::Each(testing::Not(testing::IsEmpty())));
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

}  // namespace
}  // namespace waymark::outputs
