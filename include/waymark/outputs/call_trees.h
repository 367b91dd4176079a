// Call trees for people and programs.  Columns and fields: docs/output-formats.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/stacks/neighbours.h"
#include "waymark/stacks/tree.h"

namespace waymark::outputs {

struct CallTreeFacts {
  bool cycles = true;    ///< Cycles were traced; otherwise they are shown as unknown.
  bool complete = true;  ///< False: the tree is that of a part of the trace.
};

/// A node of a tree, as it is shown.
struct CallTreeRow {
  stacks::NodeId node = 0;
  std::uint32_t depth = 0;  ///< 0: a function that nothing called.
  stacks::Inclusive all{};
};

/// The nodes that executed most, with what they called, and their callers; each after its caller,
/// among the same callers those that executed most first.
std::vector<CallTreeRow> call_tree_rows(const stacks::Tree& tree, std::size_t most);

/// Which of the two tables of a function it is.
enum class CallTable : std::uint8_t { kCallers, kCallees };

/// The functions around one function.
struct CallRows {
  CallTable table = CallTable::kCallers;
  /// Most instructions first, but the function itself before its callees.
  std::vector<stacks::Neighbour> rows{};
  std::uint64_t whole = 0;  ///< The instructions that shares are of.
};

/// At most `most` rows.
CallRows call_rows(const stacks::Tree& tree, std::span<const stacks::CodeId> functions,
                   CallTable table, std::size_t most);

void write_text(TextBuffer& out, const stacks::Tree& tree, std::span<const CallTreeRow> rows,
                const CallTreeFacts& facts);
void write_json(TextBuffer& out, const stacks::Tree& tree, std::span<const CallTreeRow> rows,
                const CallTreeFacts& facts);
void write_csv(TextBuffer& out, const stacks::Tree& tree, std::span<const CallTreeRow> rows,
               const CallTreeFacts& facts);

void write_text(TextBuffer& out, const stacks::Tree& tree, const CallRows& rows,
                const CallTreeFacts& facts);
void write_json(TextBuffer& out, const stacks::Tree& tree, const CallRows& rows,
                const CallTreeFacts& facts);
void write_csv(TextBuffer& out, const stacks::Tree& tree, const CallRows& rows,
               const CallTreeFacts& facts);

}  // namespace waymark::outputs
