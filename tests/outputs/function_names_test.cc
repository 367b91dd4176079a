// Which program is at an address of the target, and the names there.
#include "waymark/outputs/function_names.h"

#include <gtest/gtest.h>

namespace waymark::outputs {
namespace {

const std::string kSample = std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort/quicksort.elf";

std::shared_ptr<const program::Program> sample() {
  auto opened = program::Program::open(kSample);
  EXPECT_TRUE(opened);
  return opened ? *opened : program::Program::of({});
}

std::uint64_t start_of(const program::Program& program, std::string_view name) {
  for (const program::Function& function : program.functions())
    if (function.name == name) return function.start;
  ADD_FAILURE() << name;
  return 0;
}

// The text of the sample is at 0x4000f0, and at 0xf0 in its file.
TEST(ImagePrograms, functions_are_where_the_image_shows_them) {
  const auto program = sample();
  const std::uint64_t put = start_of(*program, "put") - 0x40'0000;
  const std::uint64_t run = start_of(*program, "run") - 0x40'0000;
  image::Image image;
  ASSERT_TRUE(image.add_file(kSample, {.address = 0x8000'0000 + put, .offset = put, .length = 16}));
  ASSERT_TRUE(image.add_file(kSample, {.address = 0x1000, .offset = run, .length = 64}));
  ASSERT_TRUE(image.add_buffer(0x5000, std::vector<std::uint8_t>(64)));
  const ImagePrograms programs({}, image);
  EXPECT_TRUE(programs.has_functions());
  EXPECT_EQ(programs.symbols().functions(),
            (std::vector<program::Function>{
                {.start = 0x1000, .last = 0x103F, .name = "run"},
                {.start = 0x8000'0000 + put, .last = 0x8000'000F + put, .name = "put"}}));
  const program::Place place = programs.find(0x1010);
  ASSERT_NE(place.program, nullptr);
  EXPECT_EQ(place.address, 0x40'0010 + run);
  EXPECT_EQ(programs.find(0x5000).program, nullptr);
  EXPECT_EQ(programs.find(0x1040).program, nullptr);
}

TEST(ImagePrograms, a_program_that_is_given_counts_first_where_it_has_a_function) {
  const auto given =
      program::Program::of({{.start = 0x10, .last = 0x1F, .name = "first"}}, "given");
  image::Image image;
  ASSERT_TRUE(image.add_file(kSample, {.address = 0x1000, .offset = 0xF0, .length = 0x600}));
  const ImagePrograms programs({{given, 0x1000}}, image);
  EXPECT_EQ(programs.find(0x1010).program, given.get());
  EXPECT_EQ(programs.find(0x1010).address, 0x10U);
  EXPECT_EQ(programs.find(0x1020).program->path(), kSample);
  EXPECT_EQ(programs.symbols().find(0x1018)->name, "first");
}

TEST(ImagePrograms, programs_at_the_same_addresses_are_found) {
  const auto one = program::Program::open(kSample);
  const auto again = program::Program::open(kSample);
  ASSERT_TRUE(one && again);
  const image::Image none;
  EXPECT_FALSE(ImagePrograms({{*one, 0}, {*again, 0}}, none).overlap());
  EXPECT_FALSE(ImagePrograms({{*one, 0}, {*again, 0x10'0000}}, none).overlap());
  const auto found = ImagePrograms({{*one, 0}, {*again, 0x10}}, none).overlap();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->programs[0], one->get());
  EXPECT_EQ(found->programs[1], again->get());
  EXPECT_EQ(found->first, (*one)->segments().front().address + 0x10);
}

TEST(ImagePrograms, a_program_with_other_code_than_the_image_is_found) {
  const auto given = program::Program::open(kSample);
  ASSERT_TRUE(given);
  image::Image image;
  ASSERT_TRUE(image.add_file(kSample, {.address = 0x40'00F0, .offset = 0xF0, .length = 0x600}));
  EXPECT_FALSE(ImagePrograms({{*given, 0}}, image).overlap());
  // A program of which only names are known, as in a file with debug information.
  const auto names = program::Program::of({{.start = 0x40'0100, .last = 0x40'0110, .name = "f"}});
  EXPECT_FALSE(ImagePrograms({{names, 0}}, image).overlap());
  const ImagePrograms moved({{*given, 0x40}}, image);
  const auto found = moved.overlap();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, 0x40'0130U);
  EXPECT_EQ(found->programs[0]->path(), kSample);
}

TEST(ImagePrograms, files_that_are_not_programs_have_no_functions) {
  image::Image image;
  ASSERT_TRUE(image.add_buffer(0x5000, std::vector<std::uint8_t>(64)));
  const ImagePrograms programs({}, image);
  EXPECT_FALSE(programs.has_functions());
  EXPECT_TRUE(programs.symbols().functions().empty());
}

TEST(FunctionNames, details_are_found_only_if_they_are_wanted) {
  Element range;
  range.kind = ElementKind::kInstrRange;
  range.start = 0x40'0548;  // In run(), inlined from flush().
  FunctionNames names(lookup_in(sample()));
  ASSERT_TRUE(names.find(range));
  EXPECT_EQ(names.function().name, "run");
  EXPECT_EQ(names.offset(), 0x44U);
  EXPECT_TRUE(names.frames().empty());
  FunctionNames all(lookup_in(sample()), {.lines = true, .inlines = true});
  ASSERT_TRUE(all.find(range));
  ASSERT_EQ(all.frames().size(), 2U);
  EXPECT_EQ(all.readable(all.frames()[0]), "flush");
  EXPECT_EQ(all.frames()[1].line, 178U);
  range.start = 0x10;
  EXPECT_FALSE(all.find(range));
}

}  // namespace
}  // namespace waymark::outputs
