#include "waymark/shard/tree_codec.h"

#include <vector>

#include "pack.h"

namespace waymark::shard {
namespace {

constexpr std::uint64_t kLastKind = static_cast<std::uint64_t>(stacks::CodeKind::kProcess);

void put_counts(std::string& out, const stacks::Node& node) {
  put_number(out, node.instructions);
  put_number(out, node.cycles);
  put_number(out, node.calls);
}

void take_counts(Cursor& cursor, stacks::Node& node) {
  node.instructions += take_number(cursor);
  node.cycles += take_number(cursor);
  node.calls += take_number(cursor);
}

}  // namespace

std::string encode(const stacks::Tree& tree) {
  std::string out;
  put_number(out, tree.folded_calls());
  put_number(out, tree.codes().size());
  for (const stacks::Code& code : tree.codes()) {
    put_number(out, static_cast<std::uint64_t>(code.kind));
    put_text(out, code.name);
    put_text(out, code.program);
    put_number(out, code.start);
  }
  put_number(out, tree.nodes().size());
  put_counts(out, tree.node(stacks::kRootNode));
  for (stacks::NodeId id = 1; id < tree.nodes().size(); ++id) {
    const stacks::Node& node = tree.node(id);
    put_number(out, node.parent);
    put_number(out, node.code);
    put_number(out, node.site);
    put_counts(out, node);
  }
  return out;
}

Result<void> add_tree(Bytes content, stacks::Tree& sum) {
  const auto bad = [] {
    return fail(ErrorCode::kBadData, "the content of the part is inconsistent");
  };
  Cursor cursor(content);
  const std::uint64_t folded = take_number(cursor);
  const std::size_t code_count = take_count(cursor);
  stacks::Tree tree;
  std::vector<stacks::CodeId> codes;
  for (std::size_t i = 0; i < code_count && !cursor.overrun(); ++i) {
    const std::uint64_t kind = take_number(cursor);
    if (kind > kLastKind) return bad();
    std::string name = take_text(cursor);
    std::string program = take_text(cursor);
    codes.push_back(tree.code({.kind = static_cast<stacks::CodeKind>(kind),
                               .name = std::move(name),
                               .program = std::move(program),
                               .start = take_number(cursor)}));
  }
  const std::size_t node_count = take_count(cursor);
  take_counts(cursor, tree.node(stacks::kRootNode));
  std::vector<stacks::NodeId> ids{stacks::kRootNode};
  for (std::size_t i = 1; i < node_count && !cursor.overrun(); ++i) {
    const std::size_t parent = take_place(cursor);
    const std::size_t code = take_place(cursor);
    if (parent >= ids.size() || code >= codes.size()) return bad();
    const stacks::NodeId id = tree.child(ids[parent], codes[code], take_number(cursor));
    ids.push_back(id);
    take_counts(cursor, tree.node(id));
  }
  if (cursor.overrun() || !cursor.at_end() || node_count == 0) return bad();
  sum.add(tree);
  sum.fold_calls(folded);
  return {};
}

}  // namespace waymark::shard
