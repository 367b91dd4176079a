// Names of code: by program, by what an image shows of it, and where names compete.
#include "waymark/image/symbols.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace waymark::image {
namespace {

const std::string kSample = std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort/quicksort.elf";

std::string name_at(const Symbols& symbols, std::uint64_t address) {
  const Function* const function = symbols.find(address);
  return function == nullptr ? "-" : function->name;
}

class SymbolsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto file = ElfFile::open(kSample);
    if (!file && file.error().code == ErrorCode::kUnsupported) GTEST_SKIP() << file.error().detail;
    ASSERT_TRUE(file) << file.error().detail;
  }
};

TEST_F(SymbolsTest, a_function_reaches_from_its_first_byte_to_its_last) {
  const auto file = ElfFile::open(kSample);
  ASSERT_TRUE(file);
  const ElfSymbol* const quicksort = file->find("quicksort");
  ASSERT_NE(quicksort, nullptr);
  Symbols symbols;
  EXPECT_EQ(symbols.find(quicksort->address), nullptr);
  symbols.add(*file);
  EXPECT_EQ(name_at(symbols, quicksort->address), "quicksort");
  EXPECT_EQ(name_at(symbols, quicksort->address + quicksort->size - 1), "quicksort");
  EXPECT_EQ(name_at(symbols, quicksort->address + quicksort->size), "fibonacci");
  const ElfSymbol* const trap = file->find("trap");
  ASSERT_NE(trap, nullptr);
  EXPECT_EQ(name_at(symbols, trap->address + trap->size), "-") << "between two functions";
  EXPECT_EQ(symbols.find(0), nullptr);
  EXPECT_EQ(symbols.find(~std::uint64_t{0}), nullptr);
  EXPECT_TRUE(std::ranges::is_sorted(symbols.functions(), {}, &Function::start));
}

TEST_F(SymbolsTest, the_first_that_is_added_keeps_its_addresses) {
  const auto file = ElfFile::open(kSample);
  ASSERT_TRUE(file);
  Symbols symbols;
  symbols.add(*file);
  const std::vector<Function> once = symbols.functions();
  symbols.add(*file);
  EXPECT_EQ(symbols.functions(), once);
  const auto moved = ElfFile::open(kSample, 0x10'0000);
  ASSERT_TRUE(moved);
  symbols.add(*moved);
  EXPECT_EQ(symbols.functions().size(), 2 * once.size());
  EXPECT_EQ(symbols.find(once.front().start + 0x10'0000)->name, once.front().name);
}

// The text of the sample lies at 0x4000f0, and at 0xf0 in its file.
TEST_F(SymbolsTest, functions_lie_where_the_image_shows_them) {
  const auto file = ElfFile::open(kSample);
  ASSERT_TRUE(file);
  const std::uint64_t put = file->find("put")->address - 0x40'0000;
  const std::uint64_t run = file->find("run")->address - 0x40'0000;
  Image image;
  ASSERT_TRUE(image.add_file(kSample, {.address = 0x8000'0000 + put, .offset = put, .length = 16}));
  ASSERT_TRUE(image.add_file(kSample, {.address = 0x1000, .offset = run, .length = 64}));
  ASSERT_TRUE(image.add_buffer(0x5000, std::vector<std::uint8_t>(64)));
  Symbols symbols;
  symbols.add(image);
  EXPECT_EQ(symbols.functions(),
            (std::vector<Function>{
                {.start = 0x1000, .last = 0x103F, .name = "run"},
                {.start = 0x8000'0000 + put, .last = 0x8000'000F + put, .name = "put"}}));
}

TEST_F(SymbolsTest, files_that_are_no_programs_have_none) {
  const std::string path = testing::TempDir() + "waymark_symbols_test.bin";
  std::ofstream(path, std::ios::binary) << std::string(64, '\0');
  Image image;
  ASSERT_TRUE(image.add_file(path, {.address = 0x1000}));
  Symbols symbols;
  symbols.add(image);
  EXPECT_TRUE(symbols.functions().empty());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace waymark::image
