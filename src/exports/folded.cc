#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "waymark/exports/call_trees.h"
#include "waymark/exports/frame_name.h"

namespace waymark::exports {
namespace {

std::string folded_name(const stacks::Code& code) {
  std::string name = frame_name(code);
  std::ranges::replace(name, ';', ':');
  if (code.kind == stacks::CodeKind::kInlined) {
    name += "_[i]";
  } else if (code.kind == stacks::CodeKind::kFunction && is_kernel(code)) {
    name += "_[k]";
  }
  return name;
}

}  // namespace

Result<void> write_folded(const stacks::Tree& tree, const TreeOptions& options, TextBuffer& out) {
  static_cast<void>(options);
  std::vector<std::string> names;
  names.reserve(tree.codes().size());
  for (const stacks::Code& code : tree.codes()) names.push_back(folded_name(code));
  const auto nodes = tree.nodes();
  // Two functions may have one name.
  std::map<std::string, std::uint64_t> lines;
  std::vector<stacks::NodeId> path;
  std::string line;
  for (stacks::NodeId id = 0; id < nodes.size(); ++id) {
    if (nodes[id].instructions == 0) continue;
    path.clear();
    for (stacks::NodeId at = id; at != stacks::kRootNode; at = nodes[at].parent) path.push_back(at);
    line.clear();
    for (std::size_t i = path.size(); i-- > 0;) {
      line += names[nodes[path[i]].code];
      if (i != 0) line += ';';
    }
    lines[line.empty() ? "[all]" : line] += nodes[id].instructions;
  }
  for (const auto& [stack, count] : lines) {
    out.put(stack);
    out.put(' ');
    out.dec(count);
    out.put('\n');
  }
  return {};
}

}  // namespace waymark::exports
