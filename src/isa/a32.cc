// A32.  See isa-waypoints.md 4.  Forms of data processing that no core defines
// count as branches if their bits [15:12] are 15.
#include "opcode_table.h"
#include "waymark/base/bits.h"

namespace waymark::isa {
namespace {

using enum InstrType;
using enum InstrSubtype;

enum class Target : std::uint8_t {
  kNone,
  kArm,    ///< pc + 8 + imm24 words.
  kThumb,  ///< The same plus H = [24] halfwords; continues as T32.
};

/// The condition field 15: instructions without a condition.
constexpr auto kUnconditionalTable = make_opcode_table<20>(std::to_array<Row<Target>>({
    {0xfe500000, 0xf8100000, kIndirectBranch},                       // RFE
    {0xfe000000, 0xfa000000, kBranch, kBranchLink, Target::kThumb},  // BLX label
    {0xfff000f0, 0xf5700040, kDsbDmb},                               // DSB
    {0xfff000f0, 0xf5700050, kDsbDmb},                               // DMB
    {0xfff000f0, 0xf5700060, kIsb},                                  // ISB
    {0x0fff0fff, 0x0e070f9a, kDsbDmb},                               // CP15 DSB
    {0x0fff0fff, 0x0e070fba, kDsbDmb},                               // CP15 DMB
    {0x0fff0fff, 0x0e070f95, kIsb},                                  // CP15 ISB
}));
static_assert(kUnconditionalTable.well_formed());

constexpr std::uint32_t kEret = 0x0160006e;

constexpr auto kConditionalTable = make_opcode_table<20>(std::to_array<Row<Target>>({
    {0x0f000000, 0x0a000000, kBranch, kNone, Target::kArm},        // B
    {0x0f000000, 0x0b000000, kBranch, kBranchLink, Target::kArm},  // BL

    {0x0ff000ff, 0x0120001e, kIndirectBranch, kV7ImpliedReturn},  // BX LR
    {0x0ff000f0, 0x01200030, kIndirectBranch, kBranchLink},       // BLX Rm
    {0x0ff000f0, 0x01200010, kIndirectBranch},                    // BX Rm
    {0x0ff000f0, 0x01200020, kIndirectBranch},                    // BXJ
    {0x0fffa000, 0x08bd8000, kIndirectBranch, kV7ImpliedReturn},  // POP with PC, without SP
    {0x0e108000, 0x08108000, kIndirectBranch},                    // LDM with PC
    {0x0ffff000, 0x049df000, kIndirectBranch, kV7ImpliedReturn},  // LDR PC, [SP], #imm
    {0x0e50f000, 0x0410f000, kIndirectBranch},                    // LDR PC, immediate
    {0x0e50f010, 0x0610f000, kIndirectBranch},                    // LDR PC, register
    {0x0ff0ffff, 0x01a0f00e, kIndirectBranch, kV7ImpliedReturn},  // MOV PC, LR
    {0x0fe0f000, 0x01a0f000, kIndirectBranch},                    // MOV{S} PC

    {0x0fffffff, kEret, kIndirectBranch},
    {0x0f900080, 0x01000000, kOther},           // Miscellaneous: MRS, MSR, CLZ ...
    {0x0f9000f0, 0x01800090, kOther},           // Exclusives
    {0x0ffffffe, 0x0320f002, kWfiWfe},          // WFE, WFI
    {0x0fb0f000, 0x0320f000, kOther},           // MSR immediate, hints
    {0x0f90f000, 0x0310f000, kOther},           // TST, TEQ, CMP, CMN immediate
    {0x0e00f000, 0x0200f000, kIndirectBranch},  // Data processing, immediate, to PC
    {0x0e00f000, 0x0000f000, kIndirectBranch},  // Data processing, register, to PC

    {0x0fff0fff, 0x0e070f9a, kDsbDmb},  // CP15 DSB
    {0x0fff0fff, 0x0e070fba, kDsbDmb},  // CP15 DMB
    {0x0fff0fff, 0x0e070f95, kIsb},     // CP15 ISB
}));
static_assert(kConditionalTable.well_formed());

constexpr std::uint32_t kConditionAlways = 14;
constexpr std::uint32_t kConditionNone = 15;

/// RFE, ERET, LDM^, and data processing to PC that sets the flags, as SUBS PC, LR.  The opcode is
/// that of an indirect branch.  isa-waypoints.md 4.1
constexpr bool is_exception_return(std::uint32_t opcode) {
  if (bits<31, 28>(opcode) == kConditionNone) return true;
  if ((opcode & 0x0fffffffU) == kEret || (opcode & 0x0e508000U) == 0x08508000U) return true;
  const bool compares = bits<24, 23>(opcode) == 2;
  const bool is_extra = !bit<25>(opcode) && bit<7>(opcode) && bit<4>(opcode);
  return (opcode & 0x0c10f000U) == 0x0010f000U && !compares && !is_extra;
}

}  // namespace

Outcome classify_a32(const Options& options, std::uint64_t address, std::uint32_t opcode,
                     Instruction& out) {
  const std::uint32_t condition = bits<31, 28>(opcode);
  out.conditional = condition < kConditionAlways;
  const auto* row = condition == kConditionNone ? kUnconditionalTable.find(opcode, options.arch)
                                                : kConditionalTable.find(opcode, options.arch);
  if (row == nullptr || is_switched_off(row->type, options)) return Outcome::kOk;
  if (options.quirks.a32_eret_is_not_a_branch && row->value == kEret) return Outcome::kOk;
  out.type = row->type;
  out.subtype = row->subtype;
  out.link = row->subtype == kBranchLink;
  if (row->type == kIndirectBranch && options.aarch32_exception_returns &&
      is_exception_return(opcode))
    out.subtype = kV8ExceptionReturn;
  if (row->type == kBranch) {
    const std::uint64_t offset = sign_extend(bits<23, 0>(opcode), 24) * 4;
    out.target = (address + 8 + offset) & low_mask(32);
    if (row->target == Target::kThumb) {
      out.target = (out.target + bits<24, 24>(opcode) * 2) & low_mask(32);
      out.next_isa = Isa::kT32;
    }
  }
  return Outcome::kOk;
}

}  // namespace waymark::isa
