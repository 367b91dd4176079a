#include "waymark/perf/address_spaces.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace waymark::perf {
namespace {

std::shared_ptr<const Mapping> mapping(std::uint64_t address, std::uint64_t size,
                                       std::uint64_t offset, std::string path = "a") {
  return std::make_shared<const Mapping>(
      Mapping{.address = address, .size = size, .file_offset = offset, .path = std::move(path)});
}

TaskEvent event(std::int32_t pid, std::int32_t tid, decltype(TaskEvent::what) what) {
  TaskEvent out;
  out.pid = pid;
  out.tid = tid;
  out.what = std::move(what);
  return out;
}

TEST(AddressSpace, a_later_mapping_replaces_what_it_covers_and_the_rest_keeps_its_offsets) {
  AddressSpace space;
  space.map(mapping(0x1000, 0x4000, 0x100, "reservation"));
  space.map(mapping(0x2000, 0x1000, 0x9000, "segment"));
  const auto ranges = space.ranges();
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0].last, 0x1FFFU);
  EXPECT_EQ(ranges[0].file_offset, 0x100U);
  EXPECT_EQ(ranges[1].mapping->path, "segment");
  EXPECT_EQ(ranges[1].file_offset, 0x9000U);
  EXPECT_EQ(ranges[2].first, 0x3000U);
  EXPECT_EQ(ranges[2].file_offset, 0x2100U);
  EXPECT_EQ(space.find(0x2FFF)->mapping->path, "segment");
  EXPECT_EQ(space.find(0x5000), nullptr);
  EXPECT_EQ(space.find(0xFFF), nullptr);
}

TEST(AddressSpace, mappings_up_to_the_end_of_the_address_space) {
  AddressSpace space;
  space.map(mapping(0xFFFF'8000'0000'0000, ~std::uint64_t{0} - 0xFFFF'8000'0000'0000, 0, "kernel"));
  space.map(mapping(0, ~std::uint64_t{0}, 0, "bpf"));
  EXPECT_EQ(space.find(0xFFFF'FFFF'FFFF'FFFE)->mapping->path, "bpf");
  space.map(mapping(0xFFFF'FFFF'FFFF'F000, ~std::uint64_t{0}, 0, "last page"));
  EXPECT_EQ(space.find(~std::uint64_t{0})->mapping->path, "last page");
  EXPECT_EQ(space.ranges().size(), 2U);
}

TEST(AddressSpace, random_mappings_equal_a_table_of_bytes) {
  support::Random random(7);
  for (int round = 0; round < 50; ++round) {
    AddressSpace space;
    std::vector<std::pair<int, std::uint64_t>> bytes(64, {-1, 0});  // Which map, and its offset.
    for (int number = 0; number < 20; ++number) {
      const std::uint64_t first = random.below(64);
      const std::uint64_t size = random.below(64 - static_cast<std::uint32_t>(first)) + 1;
      space.map(mapping(first, size, 1000, std::to_string(number)));
      for (std::uint64_t i = 0; i < size; ++i) bytes[first + i] = {number, 1000 + i};
    }
    for (std::uint64_t address = 0; address < bytes.size(); ++address) {
      const MappedRange* const found = space.find(address);
      ASSERT_EQ(found == nullptr, bytes[address].first < 0);
      if (found == nullptr) continue;
      EXPECT_EQ(found->mapping->path, std::to_string(bytes[address].first));
      EXPECT_EQ(found->file_offset + (address - found->first), bytes[address].second);
    }
  }
}

TEST(AddressSpaces, processes_share_addresses_but_not_memory) {
  AddressSpaces spaces;
  spaces.apply(event(1, 1, *mapping(0x1000, 0x100, 0, "alpha")));
  spaces.apply(event(2, 2, *mapping(0x1000, 0x100, 0, "beta")));
  EXPECT_EQ(spaces.of(1).find(0x1010)->mapping->path, "alpha");
  EXPECT_EQ(spaces.of(2).find(0x1010)->mapping->path, "beta");
  EXPECT_EQ(spaces.of(3).find(0x1010), nullptr);
  EXPECT_NE(spaces.of(1).version(), spaces.of(2).version());
}

TEST(AddressSpaces, fork_copies_exec_clears_and_a_thread_shares) {
  AddressSpaces spaces;
  spaces.apply(event(1, 1, NewName{"parent", true}));
  spaces.apply(event(1, 1, *mapping(0x1000, 0x100, 0, "alpha")));
  spaces.apply(event(2, 2, Forked{1, 1}));
  spaces.apply(event(1, 5, Forked{1, 1}));
  EXPECT_EQ(spaces.of(2).find(0x1000)->mapping->path, "alpha");
  EXPECT_EQ(spaces.of(2).version(), spaces.of(1).version());
  EXPECT_EQ(spaces.process_of(5), 1);
  EXPECT_EQ(spaces.name_of(2), "parent");

  spaces.apply(event(2, 2, NewName{"child", true}));
  EXPECT_EQ(spaces.of(2).find(0x1000), nullptr);
  EXPECT_NE(spaces.of(2).version(), spaces.of(1).version());
  EXPECT_EQ(spaces.of(1).find(0x1000)->mapping->path, "alpha");
  EXPECT_EQ(spaces.name_of(2), "child");
  // Only the name changes without exec.
  spaces.apply(event(1, 5, NewName{"worker", false}));
  EXPECT_EQ(spaces.of(1).find(0x1000)->mapping->path, "alpha");
}

TEST(AddressSpaces, an_exit_keeps_the_memory_for_trace_that_comes_later) {
  AddressSpaces spaces;
  spaces.apply(event(1, 1, *mapping(0x1000, 0x100, 0)));
  spaces.apply(event(1, 1, Exited{}));
  EXPECT_NE(spaces.of(1).find(0x1000), nullptr);
}

TEST(AddressSpaces, a_version_can_be_made_again) {
  AddressSpaces spaces;
  spaces.apply(event(1, 1, *mapping(0x1000, 0x100, 0, "a")));
  const std::uint64_t first = spaces.of(1).version();
  spaces.apply(event(2, 2, Forked{1, 1}));
  spaces.apply(event(1, 1, *mapping(0x1080, 0x100, 0, "b")));
  const std::uint64_t second = spaces.of(1).version();
  spaces.apply(event(1, 1, NewName{"other", true}));
  EXPECT_TRUE(spaces.at(spaces.of(1).version()).ranges().empty()) << "exec";
  EXPECT_EQ(spaces.at(first).ranges(), spaces.of(2).ranges());
  EXPECT_EQ(spaces.at(second).find(0x1080)->mapping->path, "b");
  EXPECT_EQ(spaces.at(second).find(0x107F)->last, 0x107FU);
  EXPECT_TRUE(spaces.at(0).ranges().empty());
}

TEST(AddressSpaces, the_kernel_is_one_space) {
  AddressSpaces spaces;
  TaskEvent map =
      event(-1, 0, *mapping(0xFFFF'8000'0000'0000, 0x1000, 0, "[kernel.kallsyms]_text"));
  map.mode = CpuMode::kKernel;
  spaces.apply(map);
  EXPECT_EQ(spaces.kernel().find(0xFFFF'8000'0000'0010)->mapping->path, "[kernel.kallsyms]_text");
}

}  // namespace
}  // namespace waymark::perf
