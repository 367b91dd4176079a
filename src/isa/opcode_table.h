// Tables of opcode patterns, and the search in them.  The first match wins, as in isa-waypoints.md
// 3 to 5.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "waymark/isa/instruction.h"

namespace waymark::isa {

/// `opcode & mask == value` makes the instruction what the rest of the row says.  `Target` says how
/// a direct branch encodes its target; each instruction set has its own.
///
/// A row of type kOther is an exception to the wider rows below it.
template <class Target>
struct Row {
  std::uint32_t mask;
  std::uint32_t value;
  InstrType type;
  InstrSubtype subtype = InstrSubtype::kNone;
  Target target{};
  bool conditional = false;
  Arch min_arch = Arch::kUnknown;
};

/// A table with an index over the byte of the opcode at bit `Shift`: a set bit n says that row n
/// can match.  So a search tests only the few rows that agree with that byte, mostly none.
template <class Target, std::size_t Count, unsigned Shift>
class OpcodeTable {
  static_assert(Count <= 64, "a row is a bit of a 64-bit word");

 public:
  constexpr explicit OpcodeTable(const std::array<Row<Target>, Count>& rows) : rows_(rows) {
    for (std::uint32_t key = 0; key < index_.size(); ++key) {
      for (std::size_t n = 0; n < Count; ++n) {
        const std::uint32_t mask = (rows_[n].mask >> Shift) & 0xFF;
        const std::uint32_t value = (rows_[n].value >> Shift) & 0xFF;
        if ((key & mask) == value) index_[key] |= std::uint64_t{1} << n;
      }
    }
  }

  /// The first row that matches on a core of level `arch`, or null.
  [[nodiscard]] constexpr const Row<Target>* find(std::uint32_t opcode, Arch arch) const {
    for (std::uint64_t left = index_[(opcode >> Shift) & 0xFF]; left != 0; left &= left - 1) {
      const Row<Target>& row = rows_[static_cast<std::size_t>(std::countr_zero(left))];
      if ((opcode & row.mask) == row.value && arch >= row.min_arch) return &row;
    }
    return nullptr;
  }

  /// No row requires a bit that its own mask hides: such a row could never match.
  [[nodiscard]] constexpr bool well_formed() const {
    return std::ranges::all_of(rows_,
                               [](const Row<Target>& row) { return (row.value & ~row.mask) == 0; });
  }

 private:
  std::array<Row<Target>, Count> rows_;
  std::array<std::uint64_t, 256> index_{};
};

template <unsigned Shift, class Target, std::size_t Count>
constexpr auto make_opcode_table(const std::array<Row<Target>, Count>& rows) {
  return OpcodeTable<Target, Count, Shift>(rows);
}

/// True if `type` is a waypoint only on request, and it is not requested.
constexpr bool is_switched_off(InstrType type, const Options& options) {
  return (type == InstrType::kDsbDmb && !options.dsb_dmb_waypoints) ||
         (type == InstrType::kWfiWfe && !options.wfi_wfe_waypoints);
}

/// The classifiers that classify() calls.  `out` has defaults on entry and is complete on return.
Outcome classify_a64(const Options& options, std::uint64_t address, std::uint32_t opcode,
                     Instruction& out);
Outcome classify_a32(const Options& options, std::uint64_t address, std::uint32_t opcode,
                     Instruction& out);
Outcome classify_t32(const Options& options, std::uint64_t address, std::uint32_t opcode,
                     std::uint8_t& it_remaining, Instruction& out);

}  // namespace waymark::isa
