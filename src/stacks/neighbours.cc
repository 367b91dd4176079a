#include "waymark/stacks/neighbours.h"

#include <map>

namespace waymark::stacks {
namespace {

std::vector<bool> marked(const Tree& tree, std::span<const CodeId> functions) {
  std::vector<bool> marks(tree.codes().size());
  for (const CodeId code : functions) marks[code] = true;
  return marks;
}

void add_to(Neighbour& row, const Inclusive& sum) {
  row.all.instructions += sum.instructions;
  row.all.cycles += sum.cycles;
}

std::vector<Neighbour> values_of(const std::map<CodeId, Neighbour>& rows) {
  std::vector<Neighbour> all;
  all.reserve(rows.size());
  for (const auto& [code, row] : rows) all.push_back(row);
  return all;
}

}  // namespace

std::vector<Neighbour> callers_of(const Tree& tree, std::span<const CodeId> functions) {
  const std::vector<bool> callees = marked(tree, functions);
  const std::vector<Inclusive> sums = tree.inclusive();
  const auto nodes = tree.nodes();
  // Whether a node is one of the functions, or below one.  Parents come before their children.
  std::vector<bool> within(nodes.size());
  std::map<CodeId, Neighbour> rows;
  for (NodeId id = 1; id < nodes.size(); ++id) {
    const bool nested = within[nodes[id].parent];
    within[id] = nested || callees[nodes[id].code];
    if (!callees[nodes[id].code]) continue;
    const CodeId caller = nodes[nodes[id].parent].code;
    Neighbour& row = rows[caller];
    row.code = caller;
    row.calls += nodes[id].calls;
    if (!nested) add_to(row, sums[id]);
  }
  return values_of(rows);
}

std::vector<Neighbour> callees_of(const Tree& tree, std::span<const CodeId> functions) {
  const std::vector<bool> callers = marked(tree, functions);
  const auto nodes = tree.nodes();
  // What is below each node, without what is below one of the functions there.
  std::vector<Inclusive> sums(nodes.size());
  for (NodeId id = static_cast<NodeId>(nodes.size()); id-- > 1;) {
    sums[id].instructions += nodes[id].instructions;
    sums[id].cycles += nodes[id].cycles;
    if (callers[nodes[id].code]) continue;
    sums[nodes[id].parent].instructions += sums[id].instructions;
    sums[nodes[id].parent].cycles += sums[id].cycles;
  }
  Neighbour own{.code = functions.empty() ? 0 : functions.front()};
  std::map<CodeId, Neighbour> rows;
  for (NodeId id = 1; id < nodes.size(); ++id) {
    const Node& node = nodes[id];
    const bool is_function = callers[node.code];
    if (is_function) {
      own.calls += node.calls;
      add_to(own, {.instructions = node.instructions, .cycles = node.cycles});
    }
    if (node.parent == kRootNode || !callers[nodes[node.parent].code]) continue;
    Neighbour& row = rows[node.code];
    row.code = node.code;
    row.calls += node.calls;
    if (!is_function) add_to(row, sums[id]);
  }
  std::vector<Neighbour> all = values_of(rows);
  all.insert(all.begin(), own);
  return all;
}

}  // namespace waymark::stacks
