#include "waymark/exports/branch_profiles.h"

#include <gtest/gtest.h>

namespace waymark::exports {
namespace {

count::Row block(std::uint64_t start, std::uint64_t end, std::uint64_t taken,
                 std::uint64_t not_taken, std::uint64_t target) {
  return {.range = {.start = start,
                    .end = end,
                    .count = static_cast<std::uint32_t>((end - start) / 4),
                    .isa = isa::Isa::kA64,
                    .last_type = isa::InstrType::kBranch,
                    .last_size = 4,
                    .conditional = true},
          .executed = taken,
          .not_executed = not_taken,
          .target = target};
}

/// A program and a library that it calls; neither has segments, so that addresses count from 0.
class BranchProfiles : public testing::Test {
 protected:
  void SetUp() override {
    count::Counts counts;
    counts.rows = {block(0x100, 0x108, 2, 7, 0x8000), block(0x108, 0x110, 9, 0, 0x100),
                   block(0x8000, 0x8004, 2, 0, 0x108)};
    profile_.add(counts, [this](TaskId /*task*/, std::uint64_t address) -> profile::Place {
      if (address >= 0x8000) return {library_.get(), "/lib/lib.so", address - 0x8000};
      return {app_.get(), "/bin/app", address};
    });
  }
  std::string write(WriteProgram writer) {
    TextBuffer out;
    EXPECT_TRUE(writer(profile_, profile_.programs().front(), {}, out));
    return std::string(out.view());
  }

  std::shared_ptr<const program::Program> app_ = program::Program::of({}, "app");
  std::shared_ptr<const program::Program> library_ = program::Program::of({}, "lib.so");
  profile::Profile profile_;
};

TEST_F(BranchProfiles, bolt) {
  EXPECT_EQ(write(write_bolt),
            "B 10c 100 9 0\n"
            "B 104 0 2 0\n"
            "B 0 108 2 0\n"
            "F 100 104 2\n"
            "F 100 10c 7\n"
            "F 108 10c 2\n");
}

TEST_F(BranchProfiles, llvm_unsymbolized) {
  EXPECT_EQ(write(write_llvm_unsymbolized), "3\n100-104:2\n100-10c:7\n108-10c:2\n1\n10c->100:9\n");
}

TEST_F(BranchProfiles, autofdo_has_a_block_of_addresses) {
  const std::string text = write(write_autofdo);
  EXPECT_NE(text.find("\n0\n1\n10c->100:9\n"), std::string::npos) << text;
}

TEST_F(BranchProfiles, a_program_without_a_file_is_refused_by_name) {
  profile::Profile profile;
  count::Counts counts;
  counts.rows = {block(0x100, 0x108, 1, 0, 0x200)};
  profile.add(counts, [](TaskId /*task*/, std::uint64_t address) -> profile::Place {
    return {.path = "/tmp/gone", .address = address};
  });
  TextBuffer out;
  const auto written = write_bolt(profile, profile.programs().front(), {}, out);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().detail.find("/tmp/gone: "), std::string::npos);
}

}  // namespace
}  // namespace waymark::exports
