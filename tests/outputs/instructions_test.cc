#include "waymark/outputs/instructions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace waymark::outputs {
namespace {

/// Memory of some regions, and the range of each test.
class InstructionList : public testing::Test {
 protected:
  void put(std::uint64_t address, std::vector<std::uint8_t> bytes) {
    regions_.push_back({address, std::move(bytes)});
  }
  InstructionOptions options() {
    return {.read = [this](const Element&, std::uint64_t address, std::span<std::uint8_t>) {
      for (const Region& region : regions_)
        if (address >= region.address && address - region.address < region.bytes.size())
          return Bytes(region.bytes).subspan(address - region.address);
      return Bytes();
    }};
  }
  static Element range(std::uint64_t start, std::uint64_t end, isa::Isa isa) {
    Element element;
    element.kind = ElementKind::kInstrRange;
    element.start = start;
    element.end = end;
    element.isa = isa;
    element.flags = kElementExecuted;
    return element;
  }
  static std::vector<std::string> list(Instructions& instructions, const Element& element) {
    std::vector<std::string> lines;
    for (instructions.begin(element); instructions.next();) {
      std::string line(instructions.text());
      if (!instructions.outcome().empty()) line += ", " + std::string(instructions.outcome());
      lines.push_back(line);
    }
    return lines;
  }

  struct Region {
    std::uint64_t address;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Region> regions_;
};

using Lines = std::vector<std::string>;

TEST_F(InstructionList, each_instruction_of_a_range) {
  put(0x8000, {0x1F, 0x20, 0x03, 0xD5, 0x41, 0x00, 0x00, 0x54, 0xC0, 0x03, 0x5F, 0xD6});
  Instructions instructions(options());
  Element element = range(0x8000, 0x8008, isa::Isa::kA64);
  element.flags |= kElementConditional;
  EXPECT_EQ(list(instructions, element),
            (Lines{".inst 0xd503201f", ".inst 0x54000041 ; conditional branch to 0x800c, taken"}));
  element.flags &= static_cast<std::uint16_t>(~kElementExecuted);
  EXPECT_EQ(list(instructions, element).back(),
            ".inst 0x54000041 ; conditional branch to 0x800c, not taken");
}

TEST_F(InstructionList, targets_have_names) {
  put(0x8000, {0x41, 0x00, 0x00, 0x54, 0x02, 0x00, 0x00, 0x94});
  InstructionOptions named = options();
  named.places =
      lookup_in(program::Program::of({{.start = 0x8000, .last = 0x800B, .name = "put"},
                                      {.start = 0x800C, .last = 0x80FF, .name = "_ZN3app3runEi"}}));
  Instructions instructions(named);
  EXPECT_EQ(list(instructions, range(0x8000, 0x8008, isa::Isa::kA64)),
            (Lines{".inst 0x54000041 ; conditional branch to 0x8008 <put+0x8>",
                   ".inst 0x94000002 ; call to 0x800c <app::run(int)>"}));
}

TEST_F(InstructionList, an_instruction_in_two_regions) {
  put(0x8000, {0x00, 0xBF, 0x00, 0xF0});
  put(0x8004, {0x02, 0xF8, 0x70, 0x47});
  Instructions instructions(options());
  EXPECT_EQ(
      list(instructions, range(0x8000, 0x8008, isa::Isa::kT32)),
      (Lines{".inst.n 0xbf00", ".inst.w 0xf000f802 ; call to 0x800a", ".inst.n 0x4770 ; return"}));
}

TEST_F(InstructionList, memory_that_is_not_there_ends_the_list) {
  put(0x8000, {0x1F, 0x20, 0x03, 0xD5, 0x1F, 0x20});
  Instructions instructions(options());
  EXPECT_EQ(list(instructions, range(0x8000, 0x8010, isa::Isa::kA64)), Lines{".inst 0xd503201f"});
  EXPECT_EQ(list(instructions, range(0x9000, 0x9010, isa::Isa::kA64)), Lines());
}

TEST_F(InstructionList, only_ranges_whose_instructions_are_known) {
  put(0x8000, std::vector<std::uint8_t>(16));
  Instructions instructions(options());
  Element element = range(0x8000, 0x8010, isa::Isa::kA64);
  element.kind = ElementKind::kInstrRangeNoPath;
  EXPECT_EQ(list(instructions, element), Lines());
  EXPECT_EQ(list(instructions, range(0x8000, 0x8010, isa::Isa::kJazelle)), Lines());
}

TEST_F(InstructionList, a_range_that_begins_in_an_it_block) {
  const auto llvm = program::Llvm::load();
  if (!llvm) GTEST_SKIP() << llvm.error().detail;
  // itte ne; two conditional additions; one of the other sense; one after the block.
  put(0x8000, {0x1A, 0xBF, 0x08, 0x44, 0x08, 0x44, 0x08, 0x44, 0x08, 0x44});
  InstructionOptions with_text = options();
  with_text.llvm = *llvm;
  Instructions instructions(with_text);
  EXPECT_EQ(list(instructions, range(0x8004, 0x800A, isa::Isa::kT32)),
            (Lines{"addne r0, r1", "addeq r0, r1", "add r0, r1"}));
}

TEST(InstructionPool, keeps_what_it_gets_back) {
  InstructionPool pool({});
  Instructions* first = nullptr;
  {
    const InstructionPool::Lease lease(&pool);
    const InstructionPool::Lease other(&pool);
    first = lease.get();
    ASSERT_NE(first, nullptr);
    EXPECT_NE(first, other.get());
  }
  const InstructionPool::Lease one(&pool);
  const InstructionPool::Lease two(&pool);
  EXPECT_TRUE(one.get() == first || two.get() == first);
  EXPECT_EQ(InstructionPool::Lease(nullptr).get(), nullptr);
}

}  // namespace
}  // namespace waymark::outputs
