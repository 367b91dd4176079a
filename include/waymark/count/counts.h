// Execution counts of instructions: the results of counting, as plain values that can be added.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/element/element.h"
#include "waymark/isa/instruction.h"

namespace waymark::count {

/// The bits of ElementFlag that Context keeps.
inline constexpr unsigned kContextFlags =
    kElementContextIdValid | kElementVmidValid | kElementElValid | kElement64Bit;

/// The executor of the instructions: the source, the content of its last context element, and the
/// task.
struct Context {
  std::uint32_t context_id = 0;
  std::uint32_t vmid = 0;
  std::uint16_t flags = 0;  ///< Only those in kContextFlags.
  TraceId trace_id = 0;
  std::uint8_t exception_level = 0;
  Security security = Security::kSecure;
  TaskId task{};  ///< From an image::ImageSelector; without one, the default.
  friend auto operator<=>(const Context&, const Context&) = default;
};

/// Without the task, which no element names.
Context context_of(const Element& element);

/// Whether the execution of `before` continues when the context becomes `now`, with no gap and no
/// exception between. It always does in a kernel, which selects the next context before it goes
/// there. Elsewhere, another context ID, virtual machine or task is another thread; an ID that was
/// not known before is not another one.
bool continues(const Context& before, const Context& now);

/// Consecutive instructions, as in a kInstrRange element.
struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;    ///< After the last instruction.
  std::uint32_t count = 0;  ///< The number of instructions.
  isa::Isa isa = isa::Isa::kUnknown;
  isa::InstrType last_type = isa::InstrType::kOther;
  isa::InstrSubtype last_subtype = isa::InstrSubtype::kNone;
  std::uint8_t last_size = 0;  ///< The size of the last instruction in bytes.
  bool conditional = false;    ///< The last instruction is conditional.

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
  std::uint64_t executed = 0;      ///< Times that its last instruction was executed (atom E),
  std::uint64_t not_executed = 0;  ///< and that it was not executed (atom N).
  std::uint64_t cycles = 0;        ///< See Counter.
  /// The target of its last instruction, if that is a direct branch that was taken; kNoAddress: not
  /// known.  If damaged trace shows several targets, the lowest of them.
  std::uint64_t target = kNoAddress;

  [[nodiscard]] std::uint64_t times() const { return executed + not_executed; }
  [[nodiscard]] std::uint64_t instructions() const { return times() * range.count; }
  /// 0 if the last instruction is not a branch.
  [[nodiscard]] std::uint64_t taken() const { return range.is_branch() ? executed : 0; }
  [[nodiscard]] std::uint64_t not_taken() const { return range.is_branch() ? not_executed : 0; }
  /// The number of branches with link that were taken.  One to the next instruction only reads the
  /// program counter.
  [[nodiscard]] std::uint64_t calls() const {
    return range.last_subtype == isa::InstrSubtype::kBranchLink && target != range.end ? executed
                                                                                       : 0;
  }
  friend bool operator==(const Row&, const Row&) = default;
};

/// How often an indirect branch went to one target.
struct Edge {
  Context context{};
  std::uint64_t from = 0;  ///< The address of the branch.
  std::uint64_t to = 0;    ///< The start of the next range.
  isa::Isa from_isa = isa::Isa::kUnknown;
  isa::InstrSubtype subtype = isa::InstrSubtype::kNone;  ///< That of the branch.
  std::uint64_t times = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// Sums over all rows, and over everything without a row.
struct Totals {
  std::uint64_t instructions = 0;
  std::uint64_t ranges = 0;  ///< The number of kInstrRange elements that there would have been.
  std::uint64_t taken = 0;   ///< Taken branches.
  std::uint64_t not_taken = 0;
  std::uint64_t calls = 0;
  std::uint64_t cycles = 0;  ///< The cycles of rows.
  Totals& operator+=(const Totals& other);
  friend bool operator==(const Totals&, const Totals&) = default;
};

Totals totals_of(const Row& row);

/// All counts.  A value: counts of several sources, or of several parts of a capture, can be added.
struct Counts {
  /// The maximum number of rows, and of edges, which bounds the memory.  Everything else is in
  /// `rest`, and so in the totals.
  static constexpr std::size_t kMaxRows = std::size_t{1} << 20;

  std::vector<Row> rows;    ///< Ascending by context and range, each only once.
  std::vector<Edge> edges;  ///< Ascending by context, from, to.  Direct branches are in the rows.
  Totals rest;              ///< For ranges without a row.
  std::uint64_t lost_edges = 0;

  /// Elements of each kind except kInstrRange.
  std::array<std::uint64_t, kElementKindCount> others{};
  /// Instructions of Q elements whose path is unknown: they are in no range.
  std::uint64_t pathless_instructions = 0;
  /// Where no code could be read, if a selector tells tasks apart: how often, by task and page.
  std::map<std::pair<TaskId, std::uint64_t>, std::uint64_t> unread{};
  /// Cycles without a row, in which nothing known was executed.
  std::uint64_t other_cycles = 0;

  void add(const Counts& other);
  /// The same; it may use the memory of `other`.
  void add(Counts&& other);
  /// Removes the rows and edges of tasks that the filter refuses.
  void keep(const std::function<bool(TaskId task)>& filter);
  /// False: add() would put this row into `rest`.
  [[nodiscard]] bool has_room_for(const Row& row) const;
  /// Sorts rows and edges, and adds up equal ones.
  void combine();
  [[nodiscard]] Totals totals() const;
  /// The trace has cycle counts.
  [[nodiscard]] bool has_cycles() const;
  friend bool operator==(const Counts&, const Counts&) = default;
};

}  // namespace waymark::count
