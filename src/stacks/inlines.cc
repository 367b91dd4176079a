#include <algorithm>
#include <string>

#include "waymark/stacks/lines.h"

namespace waymark::stacks {
namespace {

/// Bounds the memory for damaged debug information.
constexpr std::size_t kMostInlined = 64;

}  // namespace

std::vector<std::vector<AddressCost>> costs_by_address(const Tree& tree) {
  std::vector<std::vector<AddressCost>> costs(tree.nodes().size());
  for (const auto& [key, range] : tree.ranges()) {
    const std::uint64_t bytes = key.end - key.start;
    if (range.count == 0 || bytes == 0) continue;
    const std::uint64_t step = bytes == std::uint64_t{4} * range.count ? 4 : 2;
    const std::uint64_t steps = std::max<std::uint64_t>(bytes / step, 1);
    // Ranges of damaged trace may be long.
    if (steps > 4 * std::uint64_t{range.count} + 4) {
      costs[key.node].push_back({key.start, range.times * range.count});
      continue;
    }
    const std::uint64_t all = range.times * range.count;
    std::uint64_t given = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      const std::uint64_t due = all / steps * (i + 1) + all % steps * (i + 1) / steps;
      if (due != given) costs[key.node].push_back({key.start + i * step, due - given});
      given = due;
    }
  }
  for (std::vector<AddressCost>& of_node : costs) {
    std::ranges::sort(of_node, {}, &AddressCost::address);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < of_node.size(); ++i) {
      if (kept != 0 && of_node[kept - 1].address == of_node[i].address) {
        of_node[kept - 1].instructions += of_node[i].instructions;
      } else {
        of_node[kept++] = of_node[i];
      }
    }
    of_node.resize(kept);
  }
  return costs;
}

std::span<const program::Frame> Lines::frames(const program::Program* program,
                                              std::uint64_t address) {
  if (program == nullptr) return {};
  const auto [at, is_new] = known_[program].try_emplace(address);
  if (is_new) program->frames(address, at->second);
  return at->second;
}

Tree with_inlines(const Tree& tree) {
  const std::vector<std::vector<AddressCost>> costs = costs_by_address(tree);
  Lines lines;
  Tree result;
  /// The node for an address in a function that is `below`.
  const auto inlined = [&](NodeId below, const Code& code, std::uint64_t address) {
    const auto frames = lines.frames(code.source, address);
    if (frames.size() < 2) return below;
    const std::size_t most = std::min(frames.size() - 1, kMostInlined);
    for (std::size_t i = most; i-- > 0;) {
      if (frames[i].function.empty()) continue;
      below = result.child(below, result.code({.kind = CodeKind::kInlined,
                                               .name = std::string(frames[i].function),
                                               .program = code.program,
                                               .source = code.source}));
    }
    return below;
  };
  std::vector<NodeId> ids(tree.nodes().size(), kRootNode);
  for (NodeId id = 0; id < tree.nodes().size(); ++id) {
    const Node& node = tree.node(id);
    const Code& code = tree.code(node.code);
    NodeId own = kRootNode;
    if (id != kRootNode) {
      const Code& caller = tree.code(tree.node(node.parent).code);
      NodeId parent = ids[node.parent];
      if (node.site != 0) parent = inlined(parent, caller, node.site);
      own = result.child(parent, result.code(code));
      if (own != parent) result.node(own).calls += node.calls;
    }
    ids[id] = own;
    result.node(own).cycles += node.cycles;
    std::uint64_t rest = node.instructions;
    for (const AddressCost& cost : costs[id]) {
      const std::uint64_t part = std::min(cost.instructions, rest);
      result.node(inlined(own, code, cost.address)).instructions += part;
      rest -= part;
    }
    result.node(own).instructions += rest;
  }
  return result;
}

}  // namespace waymark::stacks
