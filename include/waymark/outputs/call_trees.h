// Call trees for people and programs.  Columns and fields: docs/output-formats.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
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

/// A function that called another one, or was called by it.
struct CallRow {
  stacks::CodeId code = 0;
  std::uint64_t calls = 0;
  /// The callee and everything that it called; a recursion counts its outermost call only.
  stacks::Inclusive all{};
};

/// Functions of this name: the linker's, that of the source, or that without its parameters.
std::vector<stacks::CodeId> functions_named(const stacks::Tree& tree, const std::string& name);

/// The callers of any of the functions, most instructions first.  kUnknown without a program:
/// nothing that is known.
std::vector<CallRow> callers_of(const stacks::Tree& tree,
                                std::span<const stacks::CodeId> functions);
/// The callees of any of the functions, preceded by the functions themselves with their own
/// instructions.
std::vector<CallRow> callees_of(const stacks::Tree& tree,
                                std::span<const stacks::CodeId> functions);

/// Which of the two tables of a function it is.
enum class CallTable : std::uint8_t { kCallers, kCallees };

void write_text(TextBuffer& out, const stacks::Tree& tree, std::span<const CallTreeRow> rows,
                const CallTreeFacts& facts);
void write_json(TextBuffer& out, const stacks::Tree& tree, std::span<const CallTreeRow> rows,
                const CallTreeFacts& facts);
void write_csv(TextBuffer& out, const stacks::Tree& tree, std::span<const CallTreeRow> rows,
               const CallTreeFacts& facts);

void write_text(TextBuffer& out, const stacks::Tree& tree, std::span<const CallRow> rows,
                CallTable table, const CallTreeFacts& facts);
void write_json(TextBuffer& out, const stacks::Tree& tree, std::span<const CallRow> rows,
                CallTable table, const CallTreeFacts& facts);
void write_csv(TextBuffer& out, const stacks::Tree& tree, std::span<const CallRow> rows,
               CallTable table, const CallTreeFacts& facts);

}  // namespace waymark::outputs
