#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/memory_store.h"

namespace waymark::inputs {
namespace {

using testing::ElementsAre;

std::string dump(const std::string& file, const std::string& rest) {
  return "[dump]\nfile=" + file + "\n" + rest;
}

MemoryStore with_dumps(const std::string& dumps) {
  MemoryStore store = sound_store();
  store.texts["cpu_0.ini"] = "[device]\nname=cpu_0\ntype=Cortex-A53\n" + dumps;
  store.sizes["a.bin"] = 0x100;
  store.sizes["b.bin"] = 0x101;
  store.sizes["empty.bin"] = 0;
  EXPECT_TRUE(store.read());
  return store;
}

TEST(SnapshotCheck, missing_dump_file) {
  const MemoryStore store = with_dumps(dump("gone.bin", "address=0\n"));
  ASSERT_EQ(store.problems.size(), 1U);
  EXPECT_EQ(store.problems[0].kind, ProblemKind::kDumpFileMissing);
  EXPECT_EQ(store.problems[0].line, 4U);
  EXPECT_THAT(store.problems[0].values, ElementsAre("s/gone.bin"));
}

TEST(SnapshotCheck, dump_that_asks_for_more_than_the_file_has) {
  for (const char* rest : {"address=0\nlength=0x101\n", "address=0\nlength=1\noffset=0x100\n",
                           "address=0\nlength=-1\noffset=1\n"}) {
    const MemoryStore store = with_dumps(dump("a.bin", rest));
    EXPECT_NE(store.find(ProblemKind::kDumpFileShort), nullptr) << rest;
  }
  EXPECT_TRUE(with_dumps(dump("a.bin", "address=0\nlength=0xFF\noffset=1\n")).problems.empty());
}

TEST(SnapshotCheck, a_short_dump_names_both_sizes) {
  const MemoryStore store = with_dumps(dump("a.bin", "address=0\nlength=0x100\noffset=0x10\n"));
  EXPECT_THAT(store.find(ProblemKind::kDumpFileShort)->values,
              ElementsAre("s/a.bin", "272", "256"));
}

TEST(SnapshotCheck, empty_dump_unknown_space_and_offset_without_length) {
  const MemoryStore store = with_dumps(dump("empty.bin", "address=0\n") +
                                       dump("a.bin", "address=0\noffset=4\nspace=el1\n"));
  EXPECT_NE(store.find(ProblemKind::kDumpFileEmpty), nullptr);
  EXPECT_THAT(store.find(ProblemKind::kUnknownSpace)->values, ElementsAre("el1"));
  EXPECT_THAT(store.find(ProblemKind::kDumpOffsetUnused)->values, ElementsAre("s/a.bin", "0x4"));
}

TEST(SnapshotCheck, overlap_of_two_files_names_both) {
  const MemoryStore store =
      with_dumps(dump("a.bin", "address=0x1000\n") + dump("b.bin", "address=0x10FF\n"));
  ASSERT_EQ(store.problems.size(), 1U);
  EXPECT_EQ(store.problems[0].kind, ProblemKind::kDumpOverlap);
  EXPECT_THAT(store.problems[0].values, ElementsAre("s/b.bin", "0x10ff", "s/a.bin", "0x1000"));
}

TEST(SnapshotCheck, adjacent_ranges_do_not_overlap_and_odd_sizes_are_rounded_down) {
  EXPECT_TRUE(with_dumps(dump("b.bin", "address=0x1000\n") + dump("a.bin", "address=0x1100\n"))
                  .problems.empty());
}

TEST(SnapshotCheck, ranges_in_different_spaces_do_not_overlap) {
  EXPECT_TRUE(
      with_dumps(dump("a.bin", "address=0\nspace=S\n") + dump("b.bin", "address=0\nspace=N\n"))
          .problems.empty());
  // The narrowest space wins.
  EXPECT_TRUE(
      with_dumps(dump("a.bin", "address=0\nspace=S\n") + dump("b.bin", "address=0\nspace=EL3\n"))
          .problems.empty());
  EXPECT_FALSE(
      with_dumps(dump("a.bin", "address=0\nspace=S\n") + dump("b.bin", "address=0\nspace=S\n"))
          .problems.empty());
}

TEST(SnapshotCheck, long_range_hides_no_later_overlap) {
  const MemoryStore store =
      with_dumps(dump("a.bin", "address=0\n") + dump("b.bin", "address=0x10\nlength=4\n") +
                 dump("b.bin", "address=0x80\nlength=4\n"));
  EXPECT_EQ(store.problems.size(), 2U);
}

TEST(SnapshotCheck, end_of_the_address_space) {
  EXPECT_TRUE(with_dumps(dump("a.bin", "address=0xFFFFFFFFFFFFFF00\n")).problems.empty());
  EXPECT_NE(with_dumps(dump("a.bin", "address=0xFFFFFFFFFFFFFF02\n")).find(ProblemKind::kDumpWraps),
            nullptr);
}

TEST(SnapshotCheck, repeated_dump_is_noted_within_a_core_only) {
  MemoryStore store = with_dumps(dump("a.bin", "address=0\n") + dump("a.bin", "address=0\n"));
  EXPECT_NE(store.find(ProblemKind::kDumpRepeated), nullptr);
  store = with_dumps(dump("a.bin", "address=0\n"));
  store.texts["etm_0.ini"] += dump("a.bin", "address=0\n");
  ASSERT_TRUE(store.read());
  EXPECT_TRUE(store.problems.empty());
}

TEST(SnapshotCheck, missing_and_empty_captures) {
  MemoryStore store = sound_store();
  store.sizes.erase("t.bin");
  ASSERT_TRUE(store.read());
  EXPECT_THAT(store.find(ProblemKind::kBufferFileMissing)->values, ElementsAre("s/t.bin"));
  store.sizes["t.bin"] = 0;
  ASSERT_TRUE(store.read());
  EXPECT_NE(store.find(ProblemKind::kBufferFileEmpty), nullptr);
}

}  // namespace
}  // namespace waymark::inputs
