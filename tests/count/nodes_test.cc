#include "waymark/count/nodes.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::count {
namespace {

std::uint32_t hash_of(const Node& node) {
  return static_cast<std::uint32_t>(node.range.start * 0x9E3779B1U);
}

Node* find(const NodeTable& table, const Nodes& nodes, std::uint64_t address) {
  Node wanted;
  wanted.range.start = address;
  return table.find(nodes, hash_of(wanted),
                    [&](const Node& node) { return node.range.start == address; });
}

TEST(Nodes, have_their_number_as_their_place) {
  Nodes nodes;
  EXPECT_EQ(nodes.size(), Nodes::kFirst);
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::size_t number = nodes.size();
    Node& node = nodes.make(7);
    EXPECT_EQ(node.place, number * sizeof(Step));
    EXPECT_EQ(node.context, 7U);
    EXPECT_EQ(&nodes.at(node.place), &node);
    EXPECT_EQ(&nodes.numbered(number), &node);
    EXPECT_EQ(&nodes.step(node.place), nodes.steps() + number);
  }
}

TEST(Nodes, stay_in_place) {
  Nodes nodes;
  std::vector<const Node*> made;
  made.reserve(5000);
  for (std::size_t i = 0; i < 5000; ++i) made.push_back(&nodes.make(0));
  for (std::size_t i = 0; i < made.size(); ++i)
    ASSERT_EQ(&nodes.numbered(Nodes::kFirst + i), made[i]);
}

TEST(Nodes, an_exit_leads_to_the_node_of_its_block) {
  Nodes nodes;
  nodes.make(0);
  Node& block = nodes.make(0);
  nodes.add_exit(block);
  EXPECT_NE(block.far & Nodes::kExitBit, 0U);
  EXPECT_EQ(&nodes.at(block.far), &block);
  EXPECT_NE(&nodes.step(block.far), &nodes.step(block.place));
}

TEST(Nodes, a_cleared_store_gives_empty_nodes_and_steps) {
  Nodes nodes;
  Node& first = nodes.make(1);
  first.times = {1, 2};
  nodes.add_exit(first);
  nodes.step(first.place).next = {first.place, first.place};
  nodes.step(first.far).next = {first.place, first.place};
  const Place far = first.far;
  nodes.step(0).times = {5, 5};
  nodes.clear();
  EXPECT_EQ(nodes.size(), Nodes::kFirst);
  EXPECT_EQ(nodes.step(0).times[0], 5U);
  Node& again = nodes.make(2);
  EXPECT_EQ(again.times[1], 0U);
  EXPECT_EQ(again.far, 0U);
  EXPECT_EQ(nodes.step(again.place).next[0], 0U);
  EXPECT_EQ(nodes.step(far).next[1], 0U);
}

TEST(NodeTable, finds_what_was_added_however_large_it_grows) {
  Nodes nodes;
  NodeTable table;
  EXPECT_EQ(find(table, nodes, 0x1000), nullptr);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    Node& node = nodes.make(0);
    node.range.start = 4 * i;
    table.add(nodes, node, hash_of);
  }
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const Node* const found = find(table, nodes, 4 * i);
    ASSERT_NE(found, nullptr) << i;
    ASSERT_EQ(found->range.start, 4 * i);
  }
  EXPECT_EQ(find(table, nodes, 2), nullptr);
  std::size_t count = 0;
  table.for_each(nodes, [&](const Node&) { ++count; });
  EXPECT_EQ(count, 10'000U);
}

TEST(NodeTable, holds_nothing_after_clear) {
  Nodes nodes;
  NodeTable table;
  Node& node = nodes.make(0);
  node.range.start = 0x40;
  table.add(nodes, node, hash_of);
  table.clear();
  EXPECT_EQ(find(table, nodes, 0x40), nullptr);
}

}  // namespace
}  // namespace waymark::count
