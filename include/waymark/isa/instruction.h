// The facts about an instruction that trace decoding needs: whether it is a waypoint, of which
// kind, and where it goes..  See isa-waypoints.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "waymark/base/result.h"

namespace waymark::isa {

enum class Isa : std::uint8_t {
  kA32 = 0,
  kT32 = 1,
  kA64 = 2,
  kThumbEE = 3,
  kJazelle = 4,
  kCustom = 5,
  kUnknown = 6,
};

/// Instructions of every type except kOther are waypoints.
enum class InstrType : std::uint8_t {
  kOther = 0,
  kBranch = 1,          ///< Direct: the target is in the opcode.
  kIndirectBranch = 2,  ///< The target must come from the trace or the return stack.
  kIsb = 3,
  kDsbDmb = 4,
  kWfiWfe = 5,
  kTstart = 6,
};

enum class InstrSubtype : std::uint8_t {
  kNone = 0,
  kBranchLink = 1,
  kV8Return = 2,
  kV8ExceptionReturn = 3,
  kV7ImpliedReturn = 4,
};

/// Architecture level; compared as a number.
enum class Arch : std::uint16_t {
  kUnknown = 0,
  kCustom = 1,
  kV7 = 0x0700,
  kV8 = 0x0800,
  kV8r3 = 0x0803,
  kAA64 = 0x0864,
};

enum class Profile : std::uint8_t { kUnknown = 0, kM = 1, kR = 2, kA = 3, kCustom = 4 };

struct Core {
  Arch arch = Arch::kV7;
  Profile profile = Profile::kA;
  friend bool operator==(const Core&, const Core&) = default;
};

/// The architecture and profile of a core with this name ("Cortex-A53", "ARMv8.2-A", "ARM-aa64");
/// isa-waypoints.md 2.1.  kNotFound: the name is not known.
Result<Core> core_by_name(std::string_view name);

/// Where the reference classifies otherwise than the architecture says.  All are off in native use.
struct Quirks {
  /// A32 ERET is not a branch.  isa-waypoints.md 4
  bool a32_eret_is_not_a_branch = false;
  /// Compare-and-branch (FEAT_CMPBR) and the loops of Armv8.1-M are not conditional.
  /// isa-waypoints.md 3 and 5.5
  bool newer_branches_unconditional = false;
  /// CLRM of APSR is a branch.  isa-waypoints.md 5.5
  bool clrm_is_a_branch = false;
  /// Only before 1.8.0: TEXIT, compare-and-branch and the loops of Armv8.1-M are not branches.
  bool newer_branches_unknown = false;
  /// Only before 1.5.5: RETAASPPC and RETABSPPC are not branches.
  bool pauth_lr_unknown = false;
  /// An instruction is read only where one region of memory has four bytes from its address on, so
  /// a T32 instruction of two bytes at the end of the memory is not there.  isa-waypoints.md 6
  bool reads_four_bytes = false;

  /// The behaviour of 1.8.0.
  static constexpr Quirks reference();
  friend bool operator==(const Quirks&, const Quirks&) = default;
};

constexpr Quirks Quirks::reference() {
  return {.a32_eret_is_not_a_branch = true,
          .newer_branches_unconditional = true,
          .clrm_is_a_branch = true,
          .reads_four_bytes = true};
}

/// The instructions that a protocol counts as waypoints; isa-waypoints.md 1.
struct Options {
  Arch arch = Arch::kV7;
  bool dsb_dmb_waypoints = false;
  bool wfi_wfe_waypoints = false;
  bool track_it_block = false;
  bool a64_opcode_check = false;  ///< A64 words with zero upper halves are kInvalidOpcode.
  /// Exception returns of A32 and T32 have the subtype of one, as those of A64: for trace without a
  /// packet for them.
  bool aarch32_exception_returns = false;
  Quirks quirks = {};
  friend bool operator==(const Options&, const Options&) = default;
};

struct Instruction {
  std::uint64_t target = 0;  ///< The target of a direct branch; otherwise 0.
  InstrType type = InstrType::kOther;
  InstrSubtype subtype = InstrSubtype::kNone;
  std::uint8_t size = 4;         ///< In bytes: 2 or 4.
  Isa next_isa = Isa::kUnknown;  ///< After a taken branch.
  bool conditional = false;
  bool link = false;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

enum class Outcome : std::uint8_t { kOk, kInvalidOpcode, kUnsupportedIsa };

/// Classifies the instruction at `address`.  `opcode` is the little-endian 32-bit word there, also
/// for T32.  `it_remaining` is the number of instructions left in the current IT block (0..4): read
/// and written when `options.track_it_block`, otherwise untouched.  Pure; safe from any thread.
Outcome classify(const Options& options, Isa isa, std::uint64_t address, std::uint32_t opcode,
                 std::uint8_t& it_remaining, Instruction& out);

/// True if `opcode` is certainly not a waypoint, whatever the options: one mask for A64, whose
/// branches and barriers all have op[28:26] = 101.
constexpr bool is_plain_a64(std::uint32_t opcode) { return (opcode & 0x1C000000U) != 0x14000000U; }

/// Whether the T32 instruction that begins with this halfword has four bytes, not two.
constexpr bool is_wide_t32(std::uint16_t halfword) { return (halfword >> 11) >= 0b11101; }

}  // namespace waymark::isa
