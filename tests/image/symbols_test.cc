// Names of code: from programs, from what an image contains of them, and with several candidates.
#include "waymark/image/symbols.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace waymark::image {
namespace {

const std::string kSample = std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort/quicksort.elf";

std::string name_at(const Symbols& symbols, std::uint64_t address) {
  const Function* const function = symbols.find(address);
  return function == nullptr ? "-" : function->name;
}

TEST(Symbols, a_function_reaches_from_its_first_byte_to_its_last) {
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

TEST(Symbols, the_first_that_is_added_keeps_its_addresses) {
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

// The text of the sample is at 0x4000f0, and at 0xf0 in its file.
TEST(Symbols, functions_lie_where_the_image_shows_them) {
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

TEST(Symbols, no_more_are_kept_than_asked) {
  const auto file = ElfFile::open(kSample);
  ASSERT_TRUE(file);
  Symbols all;
  all.add(*file);
  Symbols few(3);
  few.add(*file);
  EXPECT_EQ(few.functions(), std::vector(all.functions().begin(), all.functions().begin() + 3));
  Image image;
  ASSERT_TRUE(image.add_file(kSample, {.address = 0x8000'0000}));
  few.add(image);
  EXPECT_EQ(few.functions().size(), 3U);
  few = Symbols(3);
  few.add(image);
  EXPECT_EQ(few.functions().size(), 3U);
}

TEST(Symbols, others_can_add_theirs_and_nonsense_is_left_out) {
  Symbols symbols;
  symbols.add({{.start = 0x100, .last = 0x10F, .name = "first"},
               {.start = 0x10F, .last = 0x200, .name = "overlaps it"},
               {.start = 0x400, .last = 0x3FF, .name = "ends before it starts"},
               {.start = ~std::uint64_t{0} - 1, .last = ~std::uint64_t{0}, .name = "at the end"},
               {.start = 0x110, .last = 0x110, .name = "one byte"}});
  EXPECT_EQ(symbols.functions().size(), 3U);
  EXPECT_EQ(name_at(symbols, 0x10F), "first");
  EXPECT_EQ(name_at(symbols, 0x110), "one byte");
  EXPECT_EQ(name_at(symbols, 0x111), "-");
  EXPECT_EQ(name_at(symbols, ~std::uint64_t{0}), "at the end");
}

// Damaged segments and symbols can be anywhere, also across the end of the address space.
TEST(Symbols, a_damaged_program_gives_functions_in_order_or_none) {
  std::ifstream in(kSample, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  const std::string path = testing::TempDir() + "waymark_symbols_damaged.elf";
  std::size_t opened = 0;
  for (std::size_t at = 4; at < good.size(); at += at < 240 ? 1 : 97) {
    std::string bytes = good;
    bytes[at] = '\xff';
    std::ofstream(path, std::ios::binary) << bytes;
    Image image;
    ASSERT_TRUE(image.add_file(path, {.address = 0xFFFF'FFFF'FFF0'0000}));
    const auto file = ElfFile::open(path);
    opened += file ? 1U : 0U;
    Symbols symbols;
    if (file) symbols.add(*file);
    symbols.add(image);
    const std::vector<Function>& functions = symbols.functions();
    for (std::size_t i = 0; i < functions.size(); ++i) {
      ASSERT_LE(functions[i].start, functions[i].last) << at;
      if (i != 0) {
        ASSERT_LT(functions[i - 1].last, functions[i].start) << at;
      }
      ASSERT_EQ(symbols.find(functions[i].last), &functions[i]) << at;
    }
  }
  EXPECT_GT(opened, 50U);
  std::filesystem::remove(path);
}

TEST(Symbols, files_that_are_no_programs_have_none) {
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
