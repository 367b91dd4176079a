#include "waymark/diff/programs.h"

#include <gtest/gtest.h>

#include <memory>

namespace waymark::diff {
namespace {

using Form = NamedPlace::Form;
using Functions = std::vector<program::Function>;

std::shared_ptr<const program::Program> program_of(Functions functions, std::string name,
                                                   program::SourceLines lines = {}) {
  return program::Program::of(std::move(functions), std::move(name), std::move(lines));
}

TEST(DiffPrograms, equal_programs_are_the_same_whatever_their_paths) {
  const Functions functions{{0x100, 0x13f, "one"}, {0x140, 0x17f, "two"}};
  const auto a = program_of(functions, "/a/prog");
  const auto b = program_of(functions, "/b/other");
  Programs programs;
  programs.add(0, *a);
  programs.add(1, *b);
  ASSERT_EQ(programs.pairs().size(), 1U);
  EXPECT_EQ(programs.pairs()[0].match, Match::kSame);
  EXPECT_EQ(programs.name(0, {a.get(), 0x148}), programs.name(1, {b.get(), 0x148}));
}

TEST(DiffPrograms, a_function_has_one_name_in_two_builds) {
  const auto a = program_of({{0x100, 0x13f, "one"}, {0x140, 0x17f, "two"}}, "/a/prog");
  const auto b = program_of({{0x100, 0x14f, "one"}, {0x150, 0x18f, "two"}}, "/b/prog");
  Programs programs;
  programs.add(0, *a);
  programs.add(1, *b);
  EXPECT_EQ(programs.pairs()[0].match, Match::kBuilds);
  EXPECT_EQ(programs.name(0, {a.get(), 0x148}), programs.name(1, {b.get(), 0x158}));
  EXPECT_FALSE(programs.function(programs.function()).differs);
  (void)programs.name(0, {a.get(), 0x100});
  EXPECT_TRUE(programs.function(programs.function()).differs);
}

TEST(DiffPrograms, functions_of_one_name_are_told_apart) {
  const auto a = program_of({{0x100, 0x13f, "init"}, {0x140, 0x17f, "init"}}, "prog");
  Programs programs;
  programs.add(0, *a);
  EXPECT_NE(programs.name(0, {a.get(), 0x100}), programs.name(0, {a.get(), 0x140}));
}

TEST(DiffPrograms, the_only_ones_left_are_two_builds) {
  const auto a = program_of({{0x100, 0x13f, "one"}}, "before.elf");
  const auto b = program_of({{0x200, 0x24f, "one"}}, "after.elf");
  Programs programs;
  programs.add(0, *a);
  programs.add(1, *b);
  EXPECT_EQ(programs.pairs().size(), 2U);
  programs.pair_rest();
  EXPECT_EQ(programs.pairs()[0].match, Match::kBuilds);
  EXPECT_EQ(programs.name(0, {a.get(), 0x104}), programs.name(1, {b.get(), 0x204}));
}

TEST(DiffPrograms, builds_of_other_sizes_are_compared_by_line) {
  const auto lines = [](std::uint64_t start, std::uint64_t second) {
    return program::SourceLines{.files = {"/src/one.c"},
                                .lines = {{.address = start, .line = 10, .column = 1},
                                          {.address = second, .line = 11, .column = 1}}};
  };
  const auto a = program_of({{0x100, 0x13f, "one"}}, "prog", lines(0x100, 0x110));
  const auto b = program_of({{0x100, 0x14f, "one"}}, "prog", lines(0x100, 0x120));
  Programs programs;
  programs.add(0, *a);
  programs.add(1, *b);
  const NamedPlace first = programs.name(0, {a.get(), 0x110});
  EXPECT_EQ(first.form, Form::kLine);
  EXPECT_EQ(first, programs.name(1, {b.get(), 0x120}));
  EXPECT_NE(first, programs.name(1, {b.get(), 0x110}));
}

TEST(DiffPrograms, code_without_a_program_has_its_address) {
  Programs programs;
  const NamedPlace place = programs.name(0, {nullptr, 0x8000});
  EXPECT_EQ(place.form, Form::kAddress);
  EXPECT_EQ(place, programs.name(1, {nullptr, 0x8000}));
  const auto a = program_of({{0x100, 0x13f, "one"}}, "prog");
  EXPECT_NE(programs.name(0, {a.get(), 0x8000}), place);
}

}  // namespace
}  // namespace waymark::diff
