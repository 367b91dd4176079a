// The code of docs/add-a-protocol.md is that of the toy protocol, and all of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace waymark {
namespace {

const std::string kFolder = WAYMARK_SOURCE_DIR "/tests/protocol/";

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Block {
  std::string file;  ///< The name in the last line before it: "`toy/parser.h`:".
  std::string code;
};

std::vector<Block> blocks_of_page() {
  std::vector<Block> found;
  std::istringstream page(read_text(WAYMARK_SOURCE_DIR "/docs/add-a-protocol.md"));
  std::string file;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (inside && line == "```") {
      inside = false;
      file.clear();
    } else if (inside) {
      found.back().code += line + "\n";
    } else if (line.starts_with("```")) {
      found.push_back({file, {}});
      inside = true;
    } else if (!line.empty()) {
      const bool names = line.starts_with('`') && line.ends_with("`:");
      file = names ? line.substr(1, line.size() - 3) : std::string();
    }
  }
  return found;
}

/// The names in the namespace of a file.
std::string inside_namespace(const std::string& text) {
  constexpr std::string_view kBegin = "namespace waymark::toy {\n";
  const std::size_t begin = text.find_first_not_of('\n', text.find(kBegin) + kBegin.size());
  return text.substr(begin, text.rfind("\n}  // namespace waymark::toy\n") - begin);
}

TEST(ToyPage, has_the_code_of_the_toy) {
  for (const Block& block : blocks_of_page()) {
    ASSERT_FALSE(block.file.empty()) << "no file for\n" << block.code;
    const std::string text = read_text(kFolder + block.file);
    if (block.file.starts_with("toy/")) {
      EXPECT_EQ(inside_namespace(text), block.code) << block.file;
    } else {
      EXPECT_NE(text.find(block.code), std::string::npos) << block.file;
    }
  }
}

TEST(ToyPage, has_every_file_of_the_toy) {
  std::set<std::string> shown;
  for (const Block& block : blocks_of_page()) shown.insert(block.file);
  for (const auto& entry : std::filesystem::directory_iterator(kFolder + "toy")) {
    const std::string name = entry.path().filename().string();
    if (name != "rows.h") {  // It only declares the function of rows.cc.
      EXPECT_TRUE(shown.contains("toy/" + name)) << name;
    }
  }
}

}  // namespace
}  // namespace waymark
