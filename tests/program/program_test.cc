// What is at the addresses of a program.
#include "waymark/program/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/small_elf.h"

namespace waymark::program {
namespace {

const std::string kSample = std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort/quicksort.elf";

std::string name_at(const Program& program, std::uint64_t address) {
  const Function* const function = program.function(address);
  return function == nullptr ? "-" : function->name;
}

TEST(Program, functions_have_the_addresses_of_the_linker) {
  const auto program = Program::open(kSample);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->path(), kSample);
  EXPECT_EQ((*program)->machine(), 183U);
  EXPECT_EQ(name_at(**program, 0x400104), "put");
  EXPECT_EQ(name_at(**program, 0x400104 + 67), "put");
  EXPECT_EQ(name_at(**program, 0x400104 + 68), "-") << "between two functions";
  EXPECT_EQ(name_at(**program, 0), "-");
  EXPECT_EQ(name_at(**program, ~std::uint64_t{0}), "-");
  EXPECT_TRUE(std::ranges::is_sorted((*program)->functions(), {}, &Function::start));
}

TEST(Program, an_offset_in_the_file_has_an_address_if_it_is_loaded) {
  const auto program = Program::open(kSample);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->address_of(0xf0), 0x4000f0U);
  EXPECT_EQ((*program)->address_of(0x2e98), std::nullopt);
  ASSERT_EQ((*program)->code().size(), 1U);
  EXPECT_LE((*program)->code().front().first, 0x4000f0U);
}

TEST(Program, mapping_symbols_tell_code_from_data) {
  const auto program = Program::open(kSample);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->content(0x4000f0), Content::kA64);
  EXPECT_EQ((*program)->content(0x400740), Content::kData);
  EXPECT_EQ((*program)->content(0x1000), std::nullopt);
}

TEST(Program, the_build_id_is_that_of_its_note) {
  const std::string path = testing::TempDir() + "waymark_program_id.elf";
  support::write_file(path, support::small_elf({1, 2, 3, 4}, {0xD65F03C0}));
  const auto program = Program::open(path);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->build_id(), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_TRUE((*program)->functions().empty());
  std::vector<Frame> frames(1);
  (*program)->frames(0x400100, frames);
  EXPECT_TRUE(frames.empty());
  std::filesystem::remove(path);
}

TEST(Program, code_without_a_file_has_only_its_functions) {
  const auto program = Program::of({{.start = 0x10, .last = 0x1f, .name = "a"},
                                    {.start = 0x18, .last = 0x2f, .name = "overlaps it"},
                                    {.start = 0x20, .last = 0x2f, .name = "b"}},
                                   "perf-1.map");
  EXPECT_EQ(program->path(), "perf-1.map");
  EXPECT_EQ(name_at(*program, 0x1f), "a");
  EXPECT_EQ(name_at(*program, 0x20), "b");
  EXPECT_EQ(program->address_of(0x10), std::nullopt);
}

TEST(Program, what_is_not_a_program_is_an_error) {
  const std::string path = testing::TempDir() + "waymark_program_not.elf";
  std::ofstream(path, std::ios::binary) << std::string(64, '\0');
  const auto program = Program::open(path);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kBadData);
  std::filesystem::remove(path);
  EXPECT_EQ(Program::open(path).error().code, ErrorCode::kNotFound);
}

// Damaged segments and symbols can be anywhere, also across the end of the address space.
TEST(Program, a_damaged_program_gives_functions_in_order_or_none) {
  std::ifstream in(kSample, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  const std::string path = testing::TempDir() + "waymark_program_damaged.elf";
  std::size_t opened = 0;
  for (std::size_t at = 4; at < good.size(); at += at < 240 ? 1 : 97) {
    std::string bytes = good;
    bytes[at] = '\xff';
    std::ofstream(path, std::ios::binary) << bytes;
    const auto program = Program::open(path);
    if (!program) continue;
    ++opened;
    const std::vector<Function>& functions = (*program)->functions();
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      ASSERT_LE(functions[i].start, functions[i].last) << at;
      if (i != 0) {
        ASSERT_LT(functions[i - 1].last, functions[i].start) << at;
      }
      ASSERT_EQ((*program)->function(functions[i].last), &functions[i]) << at;
      (*program)->frames(functions[i].start, frames);
      ASSERT_FALSE(frames.empty()) << at;
    }
  }
  EXPECT_GT(opened, 50U);
  std::filesystem::remove(path);
}

TEST(ParentName, drops_what_compilers_add) {
  EXPECT_EQ(parent_name("f"), "f");
  EXPECT_EQ(parent_name("f.cold"), "f");
  EXPECT_EQ(parent_name("f.cold.12"), "f");
  EXPECT_EQ(parent_name("f.constprop.0.isra.1.part.2"), "f");
  EXPECT_EQ(parent_name("f.__uniq.123.llvm.456"), "f");
  EXPECT_EQ(parent_name("f.1"), "f.1");
  EXPECT_EQ(parent_name(".cold"), ".cold");
  EXPECT_EQ(parent_name("a.colder"), "a.colder");
  EXPECT_EQ(parent_name(""), "");
}

}  // namespace
}  // namespace waymark::program
