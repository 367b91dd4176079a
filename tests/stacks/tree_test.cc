#include "waymark/stacks/tree.h"

#include <gtest/gtest.h>

namespace waymark::stacks {
namespace {

Code function(const std::string& name, std::uint64_t start) {
  return {.kind = CodeKind::kFunction, .name = name, .program = "/p", .start = start};
}

TEST(StackTree, the_same_path_is_one_node) {
  Tree tree;
  const CodeId main = tree.code(function("main", 0x100));
  const CodeId leaf = tree.code(function("leaf", 0x200));
  EXPECT_EQ(tree.code(function("main", 0x100)), main);
  const NodeId a = tree.child(kRootNode, main);
  const NodeId b = tree.child(a, leaf);
  EXPECT_EQ(tree.child(kRootNode, main), a);
  EXPECT_EQ(tree.child(a, leaf), b);
  EXPECT_NE(tree.child(a, leaf, 0x104), b);
  EXPECT_NE(tree.child(kRootNode, leaf), b);
}

TEST(StackTree, sums_include_what_was_called) {
  Tree tree;
  const NodeId a = tree.child(kRootNode, tree.code(function("a", 1)));
  const NodeId b = tree.child(a, tree.code(function("b", 2)));
  tree.node(a).instructions = 3;
  tree.node(b).instructions = 4;
  tree.node(b).cycles = 9;
  const std::vector<Inclusive> sums = tree.inclusive();
  EXPECT_EQ(sums[a].instructions, 7U);
  EXPECT_EQ(sums[kRootNode].instructions, 7U);
  EXPECT_EQ(sums[kRootNode].cycles, 9U);
  EXPECT_EQ(tree.whole().instructions, 7U);
}

TEST(StackTree, trees_can_be_added) {
  Tree one;
  const NodeId a = one.child(kRootNode, one.code(function("a", 1)));
  one.node(a).instructions = 3;
  one.node(a).calls = 1;
  Tree two;
  const NodeId b = two.child(kRootNode, two.code(function("b", 2)));
  const NodeId ba = two.child(b, two.code(function("a", 1)));
  const NodeId a2 = two.child(kRootNode, two.code(function("a", 1)));
  two.node(b).instructions = 10;
  two.node(ba).instructions = 20;
  two.node(a2).instructions = 30;
  two.node(a2).calls = 2;
  two.add_range({.node = a2, .start = 1, .end = 9}, 2);
  one.add(two);
  EXPECT_EQ(one.node(a).instructions, 33U);
  EXPECT_EQ(one.node(a).calls, 3U);
  EXPECT_EQ(one.whole().instructions, 63U);
  EXPECT_EQ(one.nodes().size(), 4U);
  ASSERT_EQ(one.ranges().size(), 1U);
  EXPECT_EQ(one.ranges().begin()->first.node, a);
}

TEST(StackTree, without_room_calls_belong_to_their_caller) {
  Tree tree(3);
  const CodeId code = tree.code(function("f", 1));
  NodeId at = kRootNode;
  for (int i = 0; i < 5; ++i) at = tree.child(at, code);
  EXPECT_EQ(tree.nodes().size(), 3U);
  EXPECT_EQ(at, 2U);
  EXPECT_EQ(tree.folded_calls(), 3U);
}

TEST(StackTree, names_for_people) {
  EXPECT_EQ(name_of(function("main", 1)), "main");
  EXPECT_EQ(name_of({.kind = CodeKind::kAddress, .start = 0x80}), "0x80");
  EXPECT_EQ(name_of({.kind = CodeKind::kUnknown}), "[unknown]");
  EXPECT_EQ(name_of({.kind = CodeKind::kUnknown, .program = "/lib/a.so"}), "[unknown in a.so]");
  EXPECT_EQ(name_of({.kind = CodeKind::kException, .start = 7}), "[exception 7]");
  EXPECT_EQ(name_of({.kind = CodeKind::kException, .name = "IRQ"}), "[IRQ]");
}

}  // namespace
}  // namespace waymark::stacks
