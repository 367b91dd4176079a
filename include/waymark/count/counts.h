// How often what was executed: the result of counting, as plain values that can be added up.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/element/element.h"
#include "waymark/isa/instruction.h"

namespace waymark::count {

/// Of ElementFlag: what Context keeps.
inline constexpr unsigned kContextFlags =
    kElementContextIdValid | kElementVmidValid | kElementElValid | kElement64Bit;

/// Who executed: the source, and what its last context element said.
struct Context {
  std::uint32_t context_id = 0;
  std::uint32_t vmid = 0;
  std::uint16_t flags = 0;  ///< Those of kContextFlags.
  TraceId trace_id = 0;
  std::uint8_t exception_level = 0;
  Security security = Security::kSecure;
  friend auto operator<=>(const Context&, const Context&) = default;
};

Context context_of(const Element& element);

/// Consecutive instructions, as an element of the kind kInstrRange tells them.
struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;    ///< After the last instruction.
  std::uint32_t count = 0;  ///< Instructions.
  isa::Isa isa = isa::Isa::kUnknown;
  isa::InstrType last_type = isa::InstrType::kOther;
  isa::InstrSubtype last_subtype = isa::InstrSubtype::kNone;
  std::uint8_t last_size = 0;  ///< Bytes of the last instruction.
  bool conditional = false;    ///< The last instruction is.

  [[nodiscard]] std::uint64_t last_address() const { return end - last_size; }
  [[nodiscard]] bool is_branch() const {
    return last_type == isa::InstrType::kBranch || last_type == isa::InstrType::kIndirectBranch;
  }
  friend auto operator<=>(const Range&, const Range&) = default;
};

/// A range and how often it was executed.
struct Row {
  Context context{};
  Range range{};
  std::uint64_t executed = 0;      ///< Times that its last instruction was, too (atom E),
  std::uint64_t not_executed = 0;  ///< and that it was not (atom N).
  std::uint64_t cycles = 0;        ///< See Counter.
  /// Where its last instruction goes, if that is a direct branch which was seen to be taken;
  /// kNoAddress: not known.  The least, where a damaged trace shows several.
  std::uint64_t target = kNoAddress;

  [[nodiscard]] std::uint64_t times() const { return executed + not_executed; }
  [[nodiscard]] std::uint64_t instructions() const { return times() * range.count; }
  /// 0 where the last instruction is no branch.
  [[nodiscard]] std::uint64_t taken() const { return range.is_branch() ? executed : 0; }
  [[nodiscard]] std::uint64_t not_taken() const { return range.is_branch() ? not_executed : 0; }
  /// Branches with link that were taken.
  [[nodiscard]] std::uint64_t calls() const {
    return range.last_subtype == isa::InstrSubtype::kBranchLink ? executed : 0;
  }
  friend bool operator==(const Row&, const Row&) = default;
};

/// How often an indirect branch went where.
struct Edge {
  Context context{};
  std::uint64_t from = 0;  ///< Address of the branch.
  std::uint64_t to = 0;    ///< Where the next range begins.
  isa::Isa from_isa = isa::Isa::kUnknown;
  isa::InstrSubtype subtype = isa::InstrSubtype::kNone;  ///< Of the branch.
  std::uint64_t times = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// Sums over all rows, and what is in no row.
struct Totals {
  std::uint64_t instructions = 0;
  std::uint64_t ranges = 0;  ///< As many elements of the kind kInstrRange there would have been.
  std::uint64_t taken = 0;   ///< Branches.
  std::uint64_t not_taken = 0;
  std::uint64_t calls = 0;
  std::uint64_t cycles = 0;  ///< Of rows.
  Totals& operator+=(const Totals& other);
  friend bool operator==(const Totals&, const Totals&) = default;
};

/// All that was counted.  A value: add up those of the sources, or of the parts, of a capture.
struct Counts {
  /// Most rows, and most edges: a bound on memory whatever the trace says.  What comes beyond is in
  /// `rest`, and so in the totals.
  static constexpr std::size_t kMaxRows = std::size_t{1} << 20;

  std::vector<Row> rows;    ///< Ascending by context and range, each once.
  std::vector<Edge> edges;  ///< Ascending by context, from, to.  Direct branches are in the rows.
  Totals rest;              ///< Of ranges for which there was no row.
  std::uint64_t lost_edges = 0;

  /// Elements of each kind but kInstrRange.
  std::array<std::uint64_t, kElementKindCount> others{};
  /// Of Q elements whose way is not known: in no range.
  std::uint64_t pathless_instructions = 0;
  /// Cycles that are no row's: nothing was executed in them, or nothing that is known.
  std::uint64_t other_cycles = 0;

  void add(const Counts& other);
  /// Puts rows and edges in order, and adds up those that stand for the same.
  void combine();
  [[nodiscard]] Totals totals() const;
  friend bool operator==(const Counts&, const Counts&) = default;
};

}  // namespace waymark::count
