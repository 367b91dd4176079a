#include "waymark/stacks/neighbours.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::stacks {
namespace {

/// A tree of functions, each with its own instructions and calls.
class Bench {
 public:
  CodeId code(const std::string& name) {
    return tree.code({.kind = CodeKind::kFunction, .name = name});
  }
  NodeId add(NodeId parent, const std::string& name, std::uint64_t own, std::uint64_t calls = 1) {
    const NodeId id = tree.child(parent, code(name));
    tree.node(id).instructions += own;
    tree.node(id).cycles += 2 * own;
    tree.node(id).calls += calls;
    return id;
  }

  Tree tree;
};

std::uint64_t sum(std::span<const Neighbour> rows) {
  std::uint64_t all = 0;
  for (const Neighbour& row : rows) all += row.all.instructions;
  return all;
}

/// main calls f, which calls itself through g, and directly; other calls f as well.
Bench recursion() {
  Bench bench;
  const NodeId main = bench.add(kRootNode, "main", 1, 0);
  const NodeId f = bench.add(main, "f", 10);
  const NodeId g = bench.add(f, "g", 100);
  bench.add(bench.add(g, "f", 20), "h", 5);
  bench.add(bench.add(f, "f", 30, 7), "h", 6);
  const NodeId other = bench.add(main, "other", 2);
  bench.add(other, "f", 40, 3);
  return bench;
}

TEST(Neighbours, callers_have_the_instructions_of_outermost_calls) {
  Bench bench = recursion();
  const CodeId f = bench.code("f");
  const std::vector<Neighbour> rows = callers_of(bench.tree, {&f, 1});
  const std::vector<Neighbour> expected{{.code = bench.code("main"), .calls = 1, .all = {171, 342}},
                                        {.code = f, .calls = 7, .all = {0, 0}},
                                        {.code = bench.code("g"), .calls = 1, .all = {0, 0}},
                                        {.code = bench.code("other"), .calls = 3, .all = {40, 80}}};
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(sum(rows), 211U);
}

TEST(Neighbours, callees_divide_the_same_sum) {
  Bench bench = recursion();
  const CodeId f = bench.code("f");
  const std::vector<Neighbour> rows = callees_of(bench.tree, {&f, 1});
  const std::vector<Neighbour> expected{{.code = f, .calls = 12, .all = {100, 200}},
                                        {.code = f, .calls = 7, .all = {0, 0}},
                                        {.code = bench.code("g"), .calls = 1, .all = {100, 200}},
                                        {.code = bench.code("h"), .calls = 2, .all = {11, 22}}};
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(sum(rows), 211U);
}

TEST(Neighbours, what_nothing_called_has_an_unknown_caller) {
  Bench bench = recursion();
  const CodeId main = bench.code("main");
  const std::vector<Neighbour> rows = callers_of(bench.tree, {&main, 1});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(bench.tree.code(rows[0].code).kind, CodeKind::kRoot);
  EXPECT_EQ(rows[0].all.instructions, bench.tree.whole().instructions);
  EXPECT_TRUE(callers_of(bench.tree, {}).empty());
}

}  // namespace
}  // namespace waymark::stacks
