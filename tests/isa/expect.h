// One instruction, in the form that the tests of this module use.
#pragma once

#include <gtest/gtest.h>

#include <bit>

#include "waymark/isa/instruction.h"

namespace waymark::isa {

using enum InstrType;
using enum InstrSubtype;

inline constexpr std::uint64_t kPc = 0x10000;

/// Everything on and the highest level, so that nothing is hidden; with the deviations that
/// isa-waypoints.md 3 to 5 list.
inline constexpr Options kAll{.arch = Arch::kAA64,
                              .dsb_dmb_waypoints = true,
                              .wfi_wfe_waypoints = true,
                              .track_it_block = true,
                              .quirks = Quirks::reference()};

inline Instruction classify_one(Isa isa, std::uint32_t opcode, const Options& options = kAll,
                                std::uint64_t address = kPc) {
  Instruction out;
  std::uint8_t it_remaining = 0;
  EXPECT_EQ(classify(options, isa, address, opcode, it_remaining, out), Outcome::kOk)
      << std::hex << opcode;
  return out;
}

/// The memory word of a T32 instruction: `op` has its first halfword on top.
inline std::uint32_t t32_word(std::uint32_t op) { return std::rotl(op, 16); }

}  // namespace waymark::isa
