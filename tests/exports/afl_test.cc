#include "waymark/exports/afl.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace waymark::exports {
namespace {

count::Row conditional(std::uint64_t start, std::uint64_t taken, std::uint64_t not_taken,
                       std::uint64_t target) {
  return {.range = {.start = start,
                    .end = start + 8,
                    .count = 2,
                    .isa = isa::Isa::kA64,
                    .last_type = isa::InstrType::kBranch,
                    .last_size = 4,
                    .conditional = true},
          .executed = taken,
          .not_executed = not_taken,
          .target = target};
}

class AflMap : public testing::Test {
 protected:
  void add(const std::vector<count::Row>& rows, std::uint64_t loaded_at) {
    count::Counts counts;
    counts.rows = rows;
    for (count::Row& row : counts.rows) {
      row.range.start += loaded_at;
      row.range.end += loaded_at;
      if (row.target != kNoAddress) row.target += loaded_at;
    }
    profile_.add(counts, [&](TaskId /*task*/, std::uint64_t address) -> profile::Place {
      return {app_.get(), "/bin/app", address - loaded_at};
    });
  }
  std::string write(WriteProfile writer) {
    std::vector<const profile::ProgramProfile*> programs;
    for (const profile::ProgramProfile& program : profile_.programs()) programs.push_back(&program);
    TextBuffer out;
    EXPECT_TRUE(writer(profile_, programs, {}, out));
    return std::string(out.view());
  }
  static std::size_t place(std::uint64_t from, std::uint64_t to) {
    const std::uint64_t key = afl_program_key({}, "app");
    return afl_place(key, from, key, to);
  }

  std::shared_ptr<const program::Program> app_ = program::Program::of({}, "app");
  profile::Profile profile_;
};

TEST_F(AflMap, an_edge_for_each_outcome_of_a_branch) {
  add({conditional(0x100, 700, 2, 0x100)}, 0);
  const std::string taken = fmt::format("{:06}:700\n", place(0x104, 0x100));
  const std::string not_taken = fmt::format("{:06}:2\n", place(0x104, 0x108));
  EXPECT_EQ(write(write_afl), std::min(taken, not_taken) + std::max(taken, not_taken));
}

TEST_F(AflMap, a_count_above_255_stays_in_its_byte) {
  add({conditional(0x100, 700, 2, 0x100)}, 0);
  const std::string map = write(write_afl_map);
  ASSERT_EQ(map.size(), kAflMapSize);
  EXPECT_EQ(map[place(0x104, 0x100)], static_cast<char>(255));
  EXPECT_EQ(map[place(0x104, 0x108)], 2);
}

TEST_F(AflMap, it_does_not_matter_where_the_program_was) {
  add({conditional(0x100, 1, 1, 0x100)}, 0);
  add({conditional(0x100, 1, 1, 0x100)}, 0x5500'0000);
  EXPECT_NE(write(write_afl).find(fmt::format("{:06}:2\n", place(0x104, 0x100))),
            std::string::npos);
}

TEST_F(AflMap, a_branch_to_an_unknown_place_adds_no_edge) {
  add({conditional(0x100, 3, 0, kNoAddress)}, 0);
  EXPECT_EQ(write(write_afl), "");
}

TEST(AflPlace, directions_and_programs_differ) {
  EXPECT_NE(afl_place(1, 0x10, 1, 0x20), afl_place(1, 0x20, 1, 0x10));
  EXPECT_NE(afl_place(1, 0x10, 1, 0x20), afl_place(2, 0x10, 2, 0x20));
  EXPECT_NE(afl_program_key({}, "/bin/a"), afl_program_key({}, "/bin/b"));
  EXPECT_EQ(afl_program_key({}, "/bin/a"), afl_program_key({}, "/usr/bin/a"));
  EXPECT_NE(afl_program_key({1}, "a"), afl_program_key({2}, "a"));
}

}  // namespace
}  // namespace waymark::exports
