#include "waymark/stacks/tree.h"

#include <fmt/format.h>

namespace waymark::stacks {
namespace {

constexpr std::size_t kFirstTable = 1024;

std::size_t hash_of(NodeId parent, CodeId code, std::uint64_t site) {
  std::uint64_t mixed = (std::uint64_t{parent} << 32 | code) ^ site * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ mixed >> 32) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(mixed >> 32 ^ mixed);
}

}  // namespace

std::string name_of(const Code& code) {
  switch (code.kind) {
    case CodeKind::kRoot:
      return "[all]";
    case CodeKind::kFunction:
    case CodeKind::kInlined:
      return code.name;
    case CodeKind::kAddress:
      return fmt::format("0x{:x}", code.start);
    case CodeKind::kUnknown: {
      const std::size_t slash = code.program.rfind('/');
      const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
      return code.program.empty() ? "[unknown]"
                                  : fmt::format("[unknown in {}]", code.program.substr(begin));
    }
    case CodeKind::kException:
      return code.name.empty() ? fmt::format("[exception {}]", code.start)
                               : fmt::format("[{}]", code.name);
    case CodeKind::kSignal:
      return "[signal]";
    case CodeKind::kProcess:
      return code.name;
    case CodeKind::kLostCallers:
      return "[callers not known: code is missing]";
  }
  return {};
}

Tree::Tree(std::size_t most_nodes) : most_nodes_(most_nodes), table_(kFirstTable) {
  codes_.push_back({.kind = CodeKind::kUnknown});
  code_ids_.emplace(Identity{CodeKind::kUnknown, {}, 0, {}}, 0);
  nodes_.push_back({.code = code({.kind = CodeKind::kRoot})});
}

CodeId Tree::code(const Code& code) {
  Identity identity{code.kind, code.program, code.start, code.name};
  const auto known = code_ids_.find(identity);
  if (known != code_ids_.end()) {
    // It may have come from a state that was read, which has no programs.
    if (codes_[known->second].source == nullptr) codes_[known->second].source = code.source;
    return known->second;
  }
  if (codes_.size() >= kMostCodes) return 0;
  const auto id = static_cast<CodeId>(codes_.size());
  codes_.push_back(code);
  code_ids_.emplace(std::move(identity), id);
  return id;
}

NodeId Tree::find_child(NodeId parent, CodeId code, std::uint64_t site) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash_of(parent, code, site) & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const Node& node = nodes_[table_[at]];
    if (node.parent != parent || node.code != code || node.site != site) continue;
    nodes_[parent].last_child = table_[at];
    return table_[at];
  }
  if (nodes_.size() >= most_nodes_) {
    ++folded_calls_;
    return parent;
  }
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.parent = parent, .code = code, .site = site});
  nodes_[parent].last_child = id;
  table_[at] = id;
  if (2 * nodes_.size() > table_.size()) grow_table();
  return id;
}

void Tree::grow_table() {
  table_.assign(2 * table_.size(), 0);
  const std::size_t mask = table_.size() - 1;
  for (NodeId id = 1; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    std::size_t at = hash_of(node.parent, node.code, node.site) & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = id;
  }
}

void Tree::add(const Tree& other) {
  std::vector<CodeId> codes;
  codes.reserve(other.codes_.size());
  for (const Code& each : other.codes_) codes.push_back(code(each));
  std::vector<NodeId> ids{kRootNode};
  ids.reserve(other.nodes_.size());
  const auto add_counts = [this](NodeId to, const Node& from) {
    nodes_[to].instructions += from.instructions;
    nodes_[to].cycles += from.cycles;
  };
  add_counts(kRootNode, other.nodes_[kRootNode]);
  for (NodeId id = 1; id < other.nodes_.size(); ++id) {
    const Node& node = other.nodes_[id];
    const NodeId parent = ids[node.parent];
    const NodeId own = child(parent, codes[node.code], node.site);
    ids.push_back(own);
    add_counts(own, node);
    if (own != parent) nodes_[own].calls += node.calls;
  }
  for (const auto& [key, range] : other.ranges_) {
    const RangeKey own{.node = ids[key.node], .start = key.start, .end = key.end};
    if (ranges_.size() >= kMostRanges && !ranges_.contains(own)) continue;
    RangeCount& sum = ranges_[own];
    sum.times += range.times;
    sum.count = range.count;
  }
  folded_calls_ += other.folded_calls_;
}

void Tree::limit_depth(std::size_t most) {
  std::vector<std::uint32_t> depths(nodes_.size());
  std::vector<NodeId> ids(nodes_.size(), kRootNode);
  bool deeper = false;
  for (NodeId id = 1; id < nodes_.size(); ++id) {
    depths[id] = depths[nodes_[id].parent] + 1;
    deeper = deeper || depths[id] > most;
  }
  if (!deeper) return;
  Tree limited(most_nodes_);
  for (const Code& each : codes_) limited.code(each);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    const NodeId parent = ids[node.parent];
    if (id != kRootNode)
      ids[id] = depths[id] > most ? parent : limited.child(parent, node.code, node.site);
    Node& own = limited.nodes_[ids[id]];
    own.instructions += node.instructions;
    own.cycles += node.cycles;
    if (ids[id] == parent && id != kRootNode) {
      limited.folded_calls_ += node.calls;
    } else {
      own.calls += node.calls;
    }
  }
  for (const auto& [key, range] : ranges_) {
    RangeCount& sum = limited.ranges_[{.node = ids[key.node], .start = key.start, .end = key.end}];
    sum.times += range.times;
    sum.count = range.count;
  }
  limited.folded_calls_ += folded_calls_;
  *this = std::move(limited);
}

std::vector<Inclusive> Tree::inclusive() const {
  std::vector<Inclusive> sums(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    sums[i].instructions += nodes_[i].instructions;
    sums[i].cycles += nodes_[i].cycles;
    if (i == kRootNode) break;
    sums[nodes_[i].parent].instructions += sums[i].instructions;
    sums[nodes_[i].parent].cycles += sums[i].cycles;
  }
  return sums;
}

Inclusive Tree::whole() const {
  Inclusive sum;
  for (const Node& node : nodes_) {
    sum.instructions += node.instructions;
    sum.cycles += node.cycles;
  }
  return sum;
}

}  // namespace waymark::stacks
