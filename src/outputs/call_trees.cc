#include "waymark/outputs/call_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>

#include "waymark/base/escape.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/json.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {
namespace {

using stacks::Code;
using stacks::CodeId;
using stacks::CodeKind;
using stacks::NodeId;
using stacks::Tree;

/// The order of rows.
constexpr auto kBySize = [](const auto& a, const auto& b) {
  return std::pair(b.all.instructions, b.all.cycles) < std::pair(a.all.instructions, a.all.cycles);
};

std::string shown_name(const Code& code) {
  return escaped(code.kind == CodeKind::kFunction || code.kind == CodeKind::kInlined
                     ? readable_name(code.name)
                     : stacks::name_of(code));
}

std::string cycles_or(std::uint64_t cycles, const CallTreeFacts& facts, std::string_view none) {
  return facts.cycles ? fmt::format("{}", cycles) : std::string(none);
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view kind_name(CodeKind kind) {
  switch (kind) {
    case CodeKind::kRoot:
      return "root";
    case CodeKind::kFunction:
      return "function";
    case CodeKind::kAddress:
      return "address";
    case CodeKind::kUnknown:
      return "unknown";
    case CodeKind::kException:
      return "exception";
    case CodeKind::kSignal:
      return "signal";
    case CodeKind::kLostCallers:
      return "lost_callers";
    case CodeKind::kInlined:
      return "inlined";
    case CodeKind::kProcess:
      return "process";
  }
  return {};
}

void put_json_code(TextBuffer& out, const Code& code) {
  out.put(fmt::format(R"("kind":"{}","name":)", kind_name(code.kind)));
  write_json_string(out, stacks::name_of(code));
  if (!code.program.empty()) {
    out.put(R"(,"program":)");
    write_json_string(out, code.program);
  }
}

}  // namespace

// ---- Rows -----------------------------------------------------------------------------------

std::vector<CallTreeRow> call_tree_rows(const Tree& tree, std::size_t most) {
  const std::vector<stacks::Inclusive> sums = tree.inclusive();
  const auto nodes = tree.nodes();
  std::vector<std::vector<NodeId>> children(nodes.size());
  for (NodeId id = 1; id < nodes.size(); ++id) children[nodes[id].parent].push_back(id);
  const auto before = [&](NodeId a, NodeId b) {
    return std::tuple(sums[b].instructions, sums[b].cycles, a) <
           std::tuple(sums[a].instructions, sums[a].cycles, b);
  };
  // The largest first; a caller is never smaller than what it called.
  const auto after = [&](NodeId a, NodeId b) { return before(b, a); };
  std::priority_queue<NodeId, std::vector<NodeId>, decltype(after)> open(after);
  for (const NodeId id : children[stacks::kRootNode]) open.push(id);
  std::vector<bool> chosen(nodes.size());
  for (std::size_t count = 0; count < most && !open.empty(); ++count) {
    const NodeId id = open.top();
    open.pop();
    chosen[id] = true;
    for (const NodeId child : children[id]) open.push(child);
  }
  std::vector<CallTreeRow> rows;
  std::vector<CallTreeRow> stack;
  const auto push_children = [&](NodeId id, std::uint32_t depth) {
    std::vector<NodeId>& own = children[id];
    std::erase_if(own, [&](NodeId child) { return !chosen[child]; });
    std::ranges::sort(own, before);
    for (std::size_t i = own.size(); i-- > 0;)
      stack.push_back({.node = own[i], .depth = depth, .all = sums[own[i]]});
  };
  push_children(stacks::kRootNode, 0);
  while (!stack.empty()) {
    const CallTreeRow row = stack.back();
    stack.pop_back();
    rows.push_back(row);
    push_children(row.node, row.depth + 1);
  }
  return rows;
}

CallRows call_rows(const Tree& tree, std::span<const CodeId> functions, CallTable table,
                   std::size_t most) {
  CallRows made{.table = table,
                .rows = table == CallTable::kCallers ? stacks::callers_of(tree, functions)
                                                     : stacks::callees_of(tree, functions)};
  for (const stacks::Neighbour& row : made.rows) made.whole += row.all.instructions;
  const auto first = made.rows.begin() + (table == CallTable::kCallees ? 1 : 0);
  std::stable_sort(first, made.rows.end(), kBySize);
  if (made.rows.size() > most) made.rows.resize(most);
  return made;
}

// ---- Trees ----------------------------------------------------------------------------------

void write_text(TextBuffer& out, const Tree& tree, std::span<const CallTreeRow> rows,
                const CallTreeFacts& facts) {
  const std::uint64_t whole = tree.whole().instructions;
  constexpr std::string_view kLine = "{:>7} {:>16} {:>16} {:>16} {:>16} {:>12}  ";
  out.put(fmt::format(fmt::runtime(kLine), "share", "instructions", "own", "cycles", "own cycles",
                      "calls"));
  out.put("function\n");
  for (const CallTreeRow& row : rows) {
    const stacks::Node& node = tree.node(row.node);
    out.put(fmt::format(
        fmt::runtime(kLine), fmt::format("{:.2f}%", percent(row.all.instructions, whole)),
        row.all.instructions, node.instructions, cycles_or(row.all.cycles, facts, "-"),
        cycles_or(node.cycles, facts, "-"), node.calls));
    constexpr std::uint32_t kMostIndent = 64;
    out.put(std::string(2 * std::size_t{std::min(row.depth, kMostIndent)}, ' '));
    out.put(shown_name(tree.code(node.code)));
    out.put('\n');
  }
}

void write_json(TextBuffer& out, const Tree& tree, std::span<const CallTreeRow> rows,
                const CallTreeFacts& facts) {
  for (const CallTreeRow& row : rows) {
    const stacks::Node& node = tree.node(row.node);
    out.put(fmt::format(R"({{"type":"count_tree","node":{},"parent":{},"depth":{},)", row.node,
                        node.parent, row.depth));
    put_json_code(out, tree.code(node.code));
    out.put(fmt::format(
        ",\"instructions\":{},\"own_instructions\":{},\"cycles\":{},\"own_cycles\":{},\"calls\":"
        "{},\"complete\":{}}}\n",
        row.all.instructions, node.instructions, cycles_or(row.all.cycles, facts, "null"),
        cycles_or(node.cycles, facts, "null"), node.calls, facts.complete));
  }
}

void write_csv(TextBuffer& out, const Tree& tree, std::span<const CallTreeRow> rows,
               const CallTreeFacts& facts) {
  out.put(
      "node,parent,depth,kind,name,program,instructions,own_instructions,cycles,own_cycles,calls,"
      "complete\n");
  for (const CallTreeRow& row : rows) {
    const stacks::Node& node = tree.node(row.node);
    const Code& code = tree.code(node.code);
    out.put(fmt::format("{},{},{},{},", row.node, node.parent, row.depth, kind_name(code.kind)));
    write_csv_field(out, stacks::name_of(code));
    out.put(',');
    write_csv_field(out, code.program);
    out.put(fmt::format(",{},{},{},{},{},{}\n", row.all.instructions, node.instructions,
                        cycles_or(row.all.cycles, facts, ""), cycles_or(node.cycles, facts, ""),
                        node.calls, facts.complete ? 1 : 0));
  }
}

// ---- Callers and callees --------------------------------------------------------------------

namespace {

std::string_view role_of(std::size_t row, CallTable table) {
  if (table == CallTable::kCallers) return "caller";
  return row == 0 ? "own" : "callee";
}

std::string row_name(const Tree& tree, const stacks::Neighbour& row, std::size_t number,
                     CallTable table) {
  const Code& code = tree.code(row.code);
  if (code.kind == CodeKind::kRoot) return "(not known)";
  return table == CallTable::kCallees && number == 0 ? "(its own code)" : shown_name(code);
}

}  // namespace

void write_text(TextBuffer& out, const Tree& tree, const CallRows& rows,
                const CallTreeFacts& facts) {
  constexpr std::string_view kLine = "{:>7} {:>16} {:>16} {:>12}  ";
  out.put(fmt::format(fmt::runtime(kLine), "share", "instructions", "cycles", "calls"));
  out.put(rows.table == CallTable::kCallers ? "caller\n" : "callee\n");
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const stacks::Neighbour& row = rows.rows[i];
    out.put(fmt::format(fmt::runtime(kLine),
                        fmt::format("{:.2f}%", percent(row.all.instructions, rows.whole)),
                        row.all.instructions, cycles_or(row.all.cycles, facts, "-"), row.calls));
    out.put(row_name(tree, row, i, rows.table));
    out.put('\n');
  }
}

void write_json(TextBuffer& out, const Tree& tree, const CallRows& rows,
                const CallTreeFacts& facts) {
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const stacks::Neighbour& row = rows.rows[i];
    out.put(fmt::format(R"({{"type":"count_call","role":"{}",)", role_of(i, rows.table)));
    put_json_code(out, tree.code(row.code));
    out.put(fmt::format(",\"instructions\":{},\"cycles\":{},\"calls\":{},\"complete\":{}}}\n",
                        row.all.instructions, cycles_or(row.all.cycles, facts, "null"), row.calls,
                        facts.complete));
  }
}

void write_csv(TextBuffer& out, const Tree& tree, const CallRows& rows,
               const CallTreeFacts& facts) {
  out.put("role,kind,name,program,instructions,cycles,calls,complete\n");
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const stacks::Neighbour& row = rows.rows[i];
    const Code& code = tree.code(row.code);
    out.put(fmt::format("{},{},", role_of(i, rows.table), kind_name(code.kind)));
    write_csv_field(out, stacks::name_of(code));
    out.put(',');
    write_csv_field(out, code.program);
    out.put(fmt::format(",{},{},{},{}\n", row.all.instructions,
                        cycles_or(row.all.cycles, facts, ""), row.calls, facts.complete ? 1 : 0));
  }
}

}  // namespace waymark::outputs
