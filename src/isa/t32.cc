// T32.  See isa-waypoints.md 5.  Masks are over a word with
// the first halfword on top; those of 16-bit instructions have zero low halves.
#include "opcode_table.h"
#include "waymark/base/bits.h"

namespace waymark::isa {
namespace {

using enum InstrType;
using enum InstrSubtype;

/// How a direct branch encodes its offset.
enum class Target : std::uint8_t {
  kNone,
  kBcondT1,
  kBT2,
  kBcondT3,
  kBT4,
  kBlxT2,  ///< Continues as A32.
  kCbz,
  kLoopBack,
  kLoopSkip,
};

constexpr bool kConditional = true;

constexpr auto kTable = make_opcode_table<24>(std::to_array<Row<Target>>({
    {0xfe000000, 0xde000000, kOther},  // UDF, SVC: B<c> with the conditions 14 and 15
    {0xf0000000, 0xd0000000, kBranch, kNone, Target::kBcondT1, kConditional},
    {0xf8000000, 0xe0000000, kBranch, kNone, Target::kBT2},
    {0xf5000000, 0xb1000000, kBranch, kNone, Target::kCbz, kConditional},  // CBZ, CBNZ
    {0xf800d000, 0xf000d000, kBranch, kBranchLink, Target::kBT4},          // BL
    {0xf800d000, 0xf0009000, kBranch, kNone, Target::kBT4},                // B.W
    {0xf800d001, 0xf000c000, kBranch, kBranchLink, Target::kBlxT2},        // BLX label

    // B<c>.W with the conditions 14 and 15 encodes other instructions: BXJ, SUBS PC, LR (ERET),
    // barriers, hints.
    {0xfff0d000, 0xf3c08000, kIndirectBranch},
    {0xfff0d000, 0xf3d08000, kIndirectBranch},
    {0xfffffff0, 0xf3bf8f40, kDsbDmb},
    {0xfffffff0, 0xf3bf8f50, kDsbDmb},
    {0xfffffff0, 0xf3bf8f60, kIsb},
    {0xfffffffe, 0xf3af8002, kWfiWfe},
    {0xfb80d000, 0xf3808000, kOther},
    {0xf800d000, 0xf0008000, kBranch, kNone, Target::kBcondT3, kConditional},

    // LE LR, LE, LETP; WLS, WLSTP.
    {0xfffff001, 0xf00fc001, kBranch, kNone, Target::kLoopBack, kConditional},
    {0xfffff001, 0xf02fc001, kBranch, kNone, Target::kLoopBack, kConditional},
    {0xfffff001, 0xf01fc001, kBranch, kNone, Target::kLoopBack, kConditional},
    {0xfff0f001, 0xf040c001, kBranch, kNone, Target::kLoopSkip, kConditional},
    {0xffc0f001, 0xf000c001, kBranch, kNone, Target::kLoopSkip, kConditional},

    {0xff800000, 0x47800000, kIndirectBranch, kBranchLink},       // BLX Rm, BLXNS
    {0xfff80000, 0x47700000, kIndirectBranch, kV7ImpliedReturn},  // BX LR, BXNS LR
    {0xff000000, 0x47000000, kIndirectBranch},                    // BX Rm, BXNS
    {0xff000000, 0xbd000000, kIndirectBranch, kV7ImpliedReturn},  // POP with PC
    {0xffff0000, 0x46f70000, kIndirectBranch, kV7ImpliedReturn},  // MOV PC, LR
    {0xfd870000, 0x44870000, kIndirectBranch},                    // ADD PC, Rm; MOV PC, Rm
    {0xfff0ffe0, 0xe8d0f000, kIndirectBranch},                    // TBB, TBH
    {0xffd00000, 0xe8100000, kIndirectBranch},                    // RFEDB
    {0xffd00000, 0xe9900000, kIndirectBranch},                    // RFEIA
    {0xfff0f000, 0xf8d0f000, kIndirectBranch},                    // LDR.W PC, [Rn, #imm12]
    {0xff7ff000, 0xf85ff000, kIndirectBranch},                    // LDR.W PC, literal
    {0xffffff00, 0xf85dfb00, kIndirectBranch, kV7ImpliedReturn},  // LDR PC, [SP], #imm
    {0xfff0f800, 0xf850f800, kIndirectBranch},                    // LDR PC, [Rn, #imm8]
    {0xfff0ffc0, 0xf850f000, kIndirectBranch},                    // LDR.W PC, [Rn, Rm, LSL #n]
    {0xffff8000, 0xe8bd8000, kIndirectBranch, kV7ImpliedReturn},  // POP.W with PC
    {0xfe508000, 0xe8108000, kIndirectBranch},                    // LDM, LDMDB with PC

    {0xffff0fff, 0xee070f9a, kDsbDmb},  // CP15 DSB
    {0xffff0fff, 0xee070fba, kDsbDmb},  // CP15 DMB
    {0xffff0fff, 0xee070f95, kIsb},     // CP15 ISB
    {0xffef0000, 0xbf200000, kWfiWfe},  // WFE, WFI
}));
static_assert(kTable.well_formed());

/// The offset of B.W, BL and BLX: S:I1:I2:imm10:imm11:0, where I = NOT(J EOR S).
std::uint64_t long_offset(std::uint32_t op) {
  const std::uint32_t s = bits<26, 26>(op);
  const std::uint32_t i1 = bits<13, 13>(op) ^ s ^ 1;
  const std::uint32_t i2 = bits<11, 11>(op) ^ s ^ 1;
  const std::uint32_t value =
      s << 24 | i1 << 23 | i2 << 22 | bits<25, 16>(op) << 12 | bits<10, 0>(op) << 1;
  return sign_extend(value, 25);
}

/// The offset of B<c>.W: S:J2:J1:imm6:imm11:0.
std::uint64_t conditional_offset(std::uint32_t op) {
  const std::uint32_t value = bits<26, 26>(op) << 20 | bits<11, 11>(op) << 19 |
                              bits<13, 13>(op) << 18 | bits<21, 16>(op) << 12 |
                              bits<10, 0>(op) << 1;
  return sign_extend(value, 21);
}

std::uint64_t loop_offset(std::uint32_t op) { return bits<10, 1>(op) * 4 + bits<11, 11>(op) * 2; }

std::uint64_t branch_target(Target target, std::uint64_t address, std::uint32_t op) {
  const std::uint64_t pc = address + 4;
  switch (target) {
    case Target::kBcondT1:
      return pc + sign_extend(bits<23, 16>(op), 8) * 2;
    case Target::kBT2:
      return pc + sign_extend(bits<26, 16>(op), 11) * 2;
    case Target::kBcondT3:
      return pc + conditional_offset(op);
    case Target::kBT4:
      return pc + long_offset(op);
    case Target::kBlxT2:
      return (pc & ~std::uint64_t{3}) + long_offset(op);
    case Target::kCbz:
      return pc + bits<25, 25>(op) * 64 + bits<23, 19>(op) * 2;
    case Target::kLoopBack:
      return pc - loop_offset(op);
    case Target::kLoopSkip:
      return pc + loop_offset(op);
    case Target::kNone:
      break;
  }
  return pc;
}

bool is_loop(Target target) { return target == Target::kLoopBack || target == Target::kLoopSkip; }

/// CLRM, which clears APSR at the bit with which an LDM would load the PC.
bool is_clrm(std::uint32_t op) { return bits<31, 16>(op) == 0xE89F; }

/// SUBS PC, LR and ERET; RFE.  isa-waypoints.md 5.2
constexpr bool is_exception_return(std::uint32_t op) {
  return (op & 0xfff0d000U) == 0xf3d08000U || (op & 0xffd00000U) == 0xe8100000U ||
         (op & 0xffd00000U) == 0xe9900000U;
}

/// Opens an IT block at an IT instruction: its mask [19:16] ends with a one, and the bits above
/// that one are the instructions.  Inside a block each instruction is conditional and uses one up.
void track_it_block(std::uint32_t op, std::uint8_t& it_remaining, Instruction& out) {
  if (it_remaining != 0) {
    out.conditional = true;
    --it_remaining;
    return;
  }
  const std::uint32_t mask = bits<19, 16>(op);
  if (out.type == kOther && bits<31, 24>(op) == 0xBF && mask != 0)
    it_remaining = static_cast<std::uint8_t>(4 - std::countr_zero(mask));
}

}  // namespace

Outcome classify_t32(const Options& options, std::uint64_t address, std::uint32_t opcode,
                     std::uint8_t& it_remaining, Instruction& out) {
  const std::uint32_t op = std::rotl(opcode, 16);
  out.size = is_wide_t32(static_cast<std::uint16_t>(op >> 16)) ? 4 : 2;
  const auto* row = kTable.find(op, options.arch);
  if (!options.quirks.clrm_is_a_branch && is_clrm(op)) row = nullptr;
  const bool loop = row != nullptr && is_loop(row->target);
  if (options.quirks.newer_branches_unknown && loop) row = nullptr;
  if (row != nullptr && !is_switched_off(row->type, options)) {
    out.type = row->type;
    out.subtype = row->subtype;
    out.link = row->subtype == kBranchLink;
    out.conditional = row->conditional;
    if (options.quirks.newer_branches_unconditional && loop) out.conditional = false;
    if (row->type == kIndirectBranch && options.aarch32_exception_returns &&
        is_exception_return(op))
      out.subtype = kV8ExceptionReturn;
    if (row->type == kBranch) {
      out.target = branch_target(row->target, address, op) & low_mask(32) & ~std::uint64_t{1};
      if (row->target == Target::kBlxT2) out.next_isa = Isa::kA32;
    }
  }
  if (options.track_it_block) track_it_block(op, it_remaining, out);
  return Outcome::kOk;
}

}  // namespace waymark::isa
