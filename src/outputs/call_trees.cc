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

std::string_view name_without_parameters(std::string_view name) {
  const std::size_t open = name.find('(');
  return open == 0 || open == std::string_view::npos ? name : name.substr(0, open);
}

void put_json_code(TextBuffer& out, const Code& code) {
  out.put(fmt::format(R"("kind":"{}","name":)", kind_name(code.kind)));
  write_json_string(out, stacks::name_of(code));
  if (!code.program.empty()) {
    out.put(R"(,"program":)");
    write_json_string(out, code.program);
  }
}

std::vector<bool> marked(const Tree& tree, std::span<const CodeId> functions) {
  std::vector<bool> marks(tree.codes().size());
  for (const CodeId code : functions) marks[code] = true;
  return marks;
}

void add_to(CallRow& row, const stacks::Inclusive& sum) {
  row.all.instructions += sum.instructions;
  row.all.cycles += sum.cycles;
}

std::vector<CallRow> sorted(const std::map<CodeId, CallRow>& rows) {
  std::vector<CallRow> all;
  all.reserve(rows.size());
  for (const auto& [code, row] : rows) all.push_back(row);
  std::ranges::stable_sort(all, kBySize);
  return all;
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

std::vector<CodeId> functions_named(const Tree& tree, const std::string& name) {
  std::vector<CodeId> found;
  for (CodeId id = 0; id < tree.codes().size(); ++id) {
    const Code& code = tree.code(id);
    if (code.kind == CodeKind::kRoot) continue;
    const std::string plain = stacks::name_of(code);
    const std::string readable = readable_name(plain);
    if (plain == name || readable == name || name_without_parameters(readable) == name)
      found.push_back(id);
  }
  return found;
}

std::vector<CallRow> callers_of(const Tree& tree, std::span<const CodeId> functions) {
  const std::vector<stacks::Inclusive> sums = tree.inclusive();
  const std::vector<bool> callees = marked(tree, functions);
  const auto nodes = tree.nodes();
  std::map<CodeId, CallRow> rows;
  std::vector<std::uint32_t> open(tree.codes().size());  // Calls from a function, by that.
  const auto caller = [&](NodeId id) { return nodes[nodes[id].parent].code; };
  stacks::walk(
      tree,
      [&](NodeId id) {
        if (!callees[nodes[id].code]) return;
        CallRow& row = rows[caller(id)];
        row.code = caller(id);
        row.calls += nodes[id].calls;
        if (open[caller(id)]++ == 0) add_to(row, sums[id]);
      },
      [&](NodeId id) {
        if (callees[nodes[id].code]) --open[caller(id)];
      });
  return sorted(rows);
}

std::vector<CallRow> callees_of(const Tree& tree, std::span<const CodeId> functions) {
  const std::vector<stacks::Inclusive> sums = tree.inclusive();
  const std::vector<bool> callers = marked(tree, functions);
  const auto nodes = tree.nodes();
  std::map<CodeId, CallRow> rows;
  CallRow own{.code = functions.empty() ? 0 : functions.front()};
  std::vector<std::uint32_t> open(tree.codes().size());  // Calls to a function, by that.
  const auto is_call = [&](NodeId id) { return callers[nodes[nodes[id].parent].code]; };
  stacks::walk(
      tree,
      [&](NodeId id) {
        const stacks::Node& node = nodes[id];
        if (callers[node.code]) {
          own.calls += node.calls;
          own.all.instructions += node.instructions;
          own.all.cycles += node.cycles;
        }
        if (!is_call(id)) return;
        CallRow& row = rows[node.code];
        row.code = node.code;
        row.calls += node.calls;
        if (open[node.code]++ == 0) add_to(row, sums[id]);
      },
      [&](NodeId id) {
        if (is_call(id)) --open[nodes[id].code];
      });
  std::vector<CallRow> all = sorted(rows);
  all.insert(all.begin(), own);
  return all;
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

std::string row_name(const Tree& tree, const CallRow& row, std::size_t number, CallTable table) {
  const Code& code = tree.code(row.code);
  if (code.kind == CodeKind::kRoot) return "(not known)";
  return table == CallTable::kCallees && number == 0 ? "(its own code)" : shown_name(code);
}

}  // namespace

void write_text(TextBuffer& out, const Tree& tree, std::span<const CallRow> rows, CallTable table,
                const CallTreeFacts& facts) {
  std::uint64_t whole = 0;
  for (const CallRow& row : rows) whole += row.all.instructions;
  constexpr std::string_view kLine = "{:>7} {:>16} {:>16} {:>12}  ";
  out.put(fmt::format(fmt::runtime(kLine), "share", "instructions", "cycles", "calls"));
  out.put(table == CallTable::kCallers ? "caller\n" : "callee\n");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CallRow& row = rows[i];
    out.put(fmt::format(fmt::runtime(kLine),
                        fmt::format("{:.2f}%", percent(row.all.instructions, whole)),
                        row.all.instructions, cycles_or(row.all.cycles, facts, "-"), row.calls));
    out.put(row_name(tree, row, i, table));
    out.put('\n');
  }
}

void write_json(TextBuffer& out, const Tree& tree, std::span<const CallRow> rows, CallTable table,
                const CallTreeFacts& facts) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CallRow& row = rows[i];
    out.put(fmt::format(R"({{"type":"count_call","role":"{}",)", role_of(i, table)));
    put_json_code(out, tree.code(row.code));
    out.put(fmt::format(",\"instructions\":{},\"cycles\":{},\"calls\":{},\"complete\":{}}}\n",
                        row.all.instructions, cycles_or(row.all.cycles, facts, "null"), row.calls,
                        facts.complete));
  }
}

void write_csv(TextBuffer& out, const Tree& tree, std::span<const CallRow> rows, CallTable table,
               const CallTreeFacts& facts) {
  out.put("role,kind,name,program,instructions,cycles,calls,complete\n");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CallRow& row = rows[i];
    const Code& code = tree.code(row.code);
    out.put(fmt::format("{},{},", role_of(i, table), kind_name(code.kind)));
    write_csv_field(out, stacks::name_of(code));
    out.put(',');
    write_csv_field(out, code.program);
    out.put(fmt::format(",{},{},{},{}\n", row.all.instructions,
                        cycles_or(row.all.cycles, facts, ""), row.calls, facts.complete ? 1 : 0));
  }
}

}  // namespace waymark::outputs
