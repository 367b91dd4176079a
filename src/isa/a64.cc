// A64.  See isa-waypoints.md 3, deviations included.
#include "opcode_table.h"
#include "waymark/base/bits.h"

namespace waymark::isa {
namespace {

using enum InstrType;
using enum InstrSubtype;

/// The position of the word offset in the opcode: `width` bits from bit `low` on.
struct Offset {
  std::uint8_t low = 0;
  std::uint8_t width = 0;
};
constexpr Offset kNoOffset{};
constexpr Offset kImm26{0, 26};
constexpr Offset kImm19{5, 19};
constexpr Offset kImm14{5, 14};
constexpr Offset kImm9{5, 9};

constexpr bool kConditional = true;
constexpr bool kUnconditional = false;

constexpr auto kTable = make_opcode_table<24>(std::to_array<Row<Offset>>({
    // BL, B, B.cond and BC.cond, CBZ and CBNZ, TBZ and TBNZ
    {0xfc000000, 0x94000000, kBranch, kBranchLink, kImm26},
    {0xfc000000, 0x14000000, kBranch, kNone, kImm26},
    {0xff000000, 0x54000000, kBranch, kNone, kImm19, kConditional},
    {0x7e000000, 0x34000000, kBranch, kNone, kImm19, kConditional},
    {0x7e000000, 0x36000000, kBranch, kNone, kImm14, kConditional},

    // BR, BLR, RET, ERET
    {0xfffffc1f, 0xd61f0000, kIndirectBranch},
    {0xfffffc1f, 0xd63f0000, kIndirectBranch, kBranchLink},
    {0xfffffc1f, 0xd65f0000, kIndirectBranch, kV8Return},
    {0xffffffff, 0xd69f03e0, kIndirectBranch, kV8ExceptionReturn},

    // BRAA and BRAB, BLRAA and BLRAB, then the same with a zero modifier
    {0xfffff800, 0xd71f0800, kIndirectBranch, kNone, kNoOffset, kUnconditional, Arch::kV8r3},
    {0xfffff800, 0xd73f0800, kIndirectBranch, kBranchLink, kNoOffset, kUnconditional, Arch::kV8r3},
    {0xfffff81f, 0xd61f081f, kIndirectBranch, kNone, kNoOffset, kUnconditional, Arch::kV8r3},
    {0xfffff81f, 0xd63f081f, kIndirectBranch, kBranchLink, kNoOffset, kUnconditional, Arch::kV8r3},

    // ERETAA and ERETAB; RETAA, RETAB and, with a register, RETAASPPCR and RETABSPPCR;
    // RETAASPPC and RETABSPPC; TEXIT, TEXIT NB
    {0xfffffbff, 0xd69f0bff, kIndirectBranch, kV8ExceptionReturn, kNoOffset, kUnconditional,
     Arch::kV8r3},
    {0xfffffbe0, 0xd65f0be0, kIndirectBranch, kV8Return, kNoOffset, kUnconditional, Arch::kV8r3},
    {0xffc0001f, 0x5500001f, kIndirectBranch, kV8Return, kNoOffset, kUnconditional, Arch::kV8r3},
    {0xfffffbff, 0xd6ff03e0, kIndirectBranch, kV8ExceptionReturn, kNoOffset, kUnconditional,
     Arch::kV8r3},

    // FEAT_CMPBR: CB W, CBB and CBH, CB X, CB with an immediate.  The condition [23:21] is not
    // checked.
    {0xff00c000, 0x74000000, kBranch, kNone, kImm9, kConditional},
    {0xff008000, 0x74008000, kBranch, kNone, kImm9, kConditional},
    {0xff00c000, 0xf4000000, kBranch, kNone, kImm9, kConditional},
    {0x7f004000, 0x75000000, kBranch, kNone, kImm9, kConditional},

    // DSB (SSBB and PSSBB too), DMB, ISB; WFE and WFI; WFET and WFIT; TSTART
    {0xfffff0ff, 0xd503309f, kDsbDmb},
    {0xfffff0ff, 0xd50330bf, kDsbDmb},
    {0xfffff0ff, 0xd50330df, kIsb},
    {0xffffffdf, 0xd503205f, kWfiWfe},
    {0xffffffc0, 0xd5031000, kWfiWfe, kNone, kNoOffset, kUnconditional, Arch::kAA64},
    {0xffffffe0, 0xd5233060, kTstart, kNone, kNoOffset, kUnconditional, Arch::kAA64},
}));
static_assert(kTable.well_formed());

bool is_unknown(const Quirks& quirks, const Row<Offset>& row, std::uint32_t opcode) {
  switch (row.value) {
    case 0x5500001f:
      return quirks.pauth_lr_unknown;
    case 0xd65f0be0:
      return quirks.pauth_lr_unknown && (opcode & 0x1F) != 0x1F;
    case 0xd6ff03e0:
      return quirks.newer_branches_unknown;
    default:
      return quirks.newer_branches_unknown && row.target.width == kImm9.width;
  }
}

}  // namespace

Outcome classify_a64(const Options& options, std::uint64_t address, std::uint32_t opcode,
                     Instruction& out) {
  if (is_plain_a64(opcode)) [[likely]] {
    // Only plain opcodes have zero upper halves.
    const bool invalid = options.a64_opcode_check && (opcode >> 16) == 0;
    return invalid ? Outcome::kInvalidOpcode : Outcome::kOk;
  }
  const Row<Offset>* row = kTable.find(opcode, options.arch);
  if (row == nullptr || is_switched_off(row->type, options)) return Outcome::kOk;
  if (is_unknown(options.quirks, *row, opcode)) return Outcome::kOk;
  out.type = row->type;
  out.subtype = row->subtype;
  out.link = row->subtype == kBranchLink;
  out.conditional = row->conditional;
  if (row->type == kBranch) {
    const Offset field = row->target;
    if (options.quirks.newer_branches_unconditional && field.width == kImm9.width)
      out.conditional = false;
    out.target = address + sign_extend(opcode >> field.low, field.width) * 4;
  }
  return Outcome::kOk;
}

}  // namespace waymark::isa
