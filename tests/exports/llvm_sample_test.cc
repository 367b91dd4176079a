// Profiles by source line, for Clang.
#include "waymark/exports/llvm_sample.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "../../src/exports/samples.h"

namespace waymark::exports {
namespace {

TEST(Samples, parts_of_discriminators) {
  // LLVM's encoding: base, duplication factor, copy.
  EXPECT_EQ(base_discriminator(0), 0U);
  EXPECT_EQ(base_discriminator(2), 1U);
  EXPECT_EQ(base_discriminator(4), 2U);
  EXPECT_EQ(base_discriminator(12), 6U);
  EXPECT_EQ(base_discriminator(1), 0U);
  EXPECT_EQ(base_discriminator(0x40 | 1U << 7), 0x20U) << "14 bits";
  EXPECT_EQ(duplication_factor(0), 1U);
  EXPECT_EQ(duplication_factor(2), 1U);
  EXPECT_EQ(duplication_factor(2 | 4U << 8), 4U) << "base 1, 4 copies";
  EXPECT_EQ(duplication_factor(1 | 3U << 2), 3U) << "base 0, 3 copies";
  EXPECT_EQ(duplication_factor(0x40 | 1U << 7 | 2U << 15), 2U);
}

TEST(Samples, names_that_compilers_know) {
  EXPECT_EQ(compilers_name("f"), "f");
  EXPECT_EQ(compilers_name("f.llvm.123"), "f");
  EXPECT_EQ(compilers_name("f.part.0"), "f");
  EXPECT_EQ(compilers_name("f.part.0.llvm.12"), "f");
  EXPECT_EQ(compilers_name("f.cold"), "f");
  EXPECT_EQ(compilers_name("f.cold.1"), "f");
  EXPECT_EQ(compilers_name("f.__uniq.123"), "f.__uniq.123");
  EXPECT_EQ(compilers_name("f.llvm.123.other"), "f.llvm.123.other");
  EXPECT_EQ(compilers_name("f.colder"), "f.colder");
}

TEST(LlvmSample, a_program_without_debug_information_is_refused_by_name) {
  const auto program = program::Program::of({{.start = 0x100, .last = 0x10F, .name = "f"}}, "bare");
  count::Counts counts;
  counts.rows = {
      {.range = {.start = 0x100, .end = 0x104, .count = 1, .isa = isa::Isa::kA64}, .executed = 1}};
  profile::Profile profile;
  profile.add(counts, [&](TaskId /*task*/, std::uint64_t address) -> profile::Place {
    return {program.get(), "/bin/bare", address};
  });
  for (const WriteProgram writer : {write_llvm_sample, write_llvm_sample_binary}) {
    TextBuffer out;
    const auto written = writer(profile, profile.programs().front(), {}, out);
    ASSERT_FALSE(written);
    EXPECT_TRUE(written.error().detail.starts_with("/bin/bare: a profile by source line needs"));
    EXPECT_TRUE(out.empty());
  }
}

}  // namespace
}  // namespace waymark::exports
