// Rules that hold for every classification, whatever the opcode and the options.  Used by the
// property test and the fuzz target.
#pragma once

#include "waymark/isa/instruction.h"

namespace waymark::isa {

/// The invariant that classify() breaks for this input, or null.
inline const char* broken_invariant(const Options& options, Isa isa, std::uint64_t address,
                                    std::uint32_t opcode, std::uint8_t it_before) {
  std::uint8_t it_remaining = it_before;
  Instruction out;
  // A value that a careless caller may have left.
  out.target = 0x5a5a;
  out.size = 77;
  out.link = true;
  const Outcome outcome = classify(options, isa, address, opcode, it_remaining, out);
  const bool branch = out.type == InstrType::kBranch;

  if (isa != Isa::kA64 && isa != Isa::kA32 && isa != Isa::kT32) {
    if (outcome != Outcome::kUnsupportedIsa) return "an unknown instruction set is refused";
    if (it_remaining != it_before) return "a refusal leaves the IT count alone";
    return nullptr;
  }
  if (outcome == Outcome::kUnsupportedIsa) return "the three instruction sets are supported";
  if (outcome == Outcome::kInvalidOpcode &&
      (isa != Isa::kA64 || !options.a64_opcode_check || opcode >> 16 != 0))
    return "only the A64 opcode check refuses";
  if (out.size != 4 && (out.size != 2 || isa != Isa::kT32)) return "size is 4, or 2 in T32";
  if (out.type > InstrType::kTstart) return "type in range";
  if (out.subtype > InstrSubtype::kV7ImpliedReturn) return "subtype in range";
  if (!branch && out.target != 0) return "only a direct branch has a target";
  if (out.link != (out.subtype == InstrSubtype::kBranchLink)) return "link goes with its subtype";
  if (out.subtype != InstrSubtype::kNone && !branch && out.type != InstrType::kIndirectBranch)
    return "only branches have a subtype";
  if (out.next_isa != isa) {
    const bool interworks = (isa == Isa::kA32 && out.next_isa == Isa::kT32) ||
                            (isa == Isa::kT32 && out.next_isa == Isa::kA32);
    if (!interworks || !branch || !out.link) return "only BLX changes the instruction set";
  }
  if (isa != Isa::kA64 && out.target > 0xFFFFFFFFU) return "AArch32 targets have 32 bits";
  if (isa == Isa::kT32 && (out.target & 1) != 0) return "T32 targets are even";
  if (out.type == InstrType::kDsbDmb && !options.dsb_dmb_waypoints) return "DSB, DMB on demand";
  if (out.type == InstrType::kWfiWfe && !options.wfi_wfe_waypoints) return "WFI, WFE on demand";
  if (isa == Isa::kA64 && is_plain_a64(opcode) && out.type != InstrType::kOther)
    return "a plain A64 opcode is not a waypoint";
  if (isa != Isa::kT32 || !options.track_it_block) {
    if (it_remaining != it_before) return "the IT count belongs to T32 with tracking";
  } else if (it_before != 0) {
    if (it_remaining != it_before - 1 || !out.conditional) return "an IT block counts down";
  } else if (it_remaining > 4) {
    return "an IT block has at most four instructions";
  }
  return nullptr;
}

}  // namespace waymark::isa
