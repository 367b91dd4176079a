#include "waymark/locate/code_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "support/small_elf.h"

namespace waymark::locate {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t kNop = 0xD503201F;
constexpr std::uint32_t kRet = 0xD65F03C0;
constexpr std::uint32_t kBlr = 0xD63F0000;

/// The sites of A64 code at 0x400100.
CodeSites sites_of(const std::vector<std::uint32_t>& code, const std::function<bool()>& stop = {}) {
  const std::string path =
      ::testing::TempDir() + "code_sites_" + std::to_string(::getpid()) + ".elf";
  support::write_file(path, support::small_elf({}, code));
  const auto program = elf::File::open(path);
  (void)std::remove(path.c_str());
  return program ? find_sites(*program, isa::Isa::kA64, stop) : CodeSites();
}

TEST(CodeSites, calls_give_the_function_and_the_instruction_after_them) {
  const CodeSites sites = sites_of({0x94000003, kNop, kRet, kNop, kRet});  // BL to the fourth.
  EXPECT_THAT(sites.calls, ElementsAre(0x400104U, 0x40010CU));
}

TEST(CodeSites, an_indirect_call_gives_the_instruction_after_it) {
  EXPECT_THAT(sites_of({kNop, kBlr, kNop, kRet}).calls, ElementsAre(0x400108U));
}

TEST(CodeSites, blocks_are_also_targets_of_branches_and_what_follows_them) {
  const CodeSites sites =
      sites_of({0x54000060, kNop, kNop, kNop, kRet, kNop});  // B.EQ to the fourth.
  EXPECT_TRUE(sites.calls.empty());
  EXPECT_THAT(sites.blocks, ElementsAre(0x400104U, 0x40010CU, 0x400114U));
}

TEST(CodeSites, caller_can_stop) {
  EXPECT_TRUE(sites_of({kNop, kBlr, kNop, kRet}, [] { return true; }).calls.empty());
}

TEST(CodeSites, targets_outside_of_the_program_are_left_out) {
  const CodeSites sites = sites_of({0x94010000, kRet});  // BL far away.
  EXPECT_THAT(sites.calls, ElementsAre(0x400104U));
}

}  // namespace
}  // namespace waymark::locate
