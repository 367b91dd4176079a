#include "waymark/exports/call_trees.h"

#include <gtest/gtest.h>

#include <string>

#include "waymark/exports/protobuf.h"

namespace waymark::exports {
namespace {

using stacks::Code;
using stacks::CodeKind;
using stacks::NodeId;
using stacks::Tree;

class CallTrees : public testing::Test {
 protected:
  NodeId add(NodeId parent, const std::string& name, std::uint64_t instructions,
             std::uint64_t calls = 1, const std::string& program = "/bin/p") {
    const NodeId id = tree_.child(
        parent, tree_.code({.kind = CodeKind::kFunction, .name = name, .program = program}));
    tree_.node(id).instructions += instructions;
    tree_.node(id).calls += calls;
    return id;
  }
  std::string write(Result<void> (*writer)(const Tree&, const TreeOptions&, TextBuffer&),
                    const TreeOptions& options = {}) {
    TextBuffer out;
    EXPECT_TRUE(writer(tree_, options, out));
    return std::string(out.view());
  }
  Tree tree_;
};

TEST_F(CallTrees, folded_lines_are_sorted) {
  const NodeId work = add(add(stacks::kRootNode, "_start", 7), "work", 188);
  add(work, "tail", 20);
  add(work, "mid", 270);
  EXPECT_EQ(write(write_folded),
            "_start 7\n_start;work 188\n_start;work;mid 270\n_start;work;tail 20\n");
}

TEST_F(CallTrees, names_cannot_break_a_folded_line) {
  add(stacks::kRootNode, "a;b\nc 1", 3);
  add(stacks::kRootNode, "k", 4, 1, "/boot/vmlinux-6.1");
  EXPECT_EQ(write(write_folded), "a:b?c 1 3\nk_[k] 4\n");
}

TEST_F(CallTrees, callgrind) {
  const NodeId main = add(stacks::kRootNode, "main", 5, 0);
  const NodeId one = add(main, "f", 10);
  add(one, "f", 20);
  EXPECT_EQ(write(write_callgrind, {.command = "board/"}),
            "# callgrind format\nversion: 1\ncreator: waymark\npid: 1\ncmd: board/\npart: 1\n\n"
            "positions: line\nevents: Ir\nsummary: 35\n\n"
            "ob=(1) /bin/p\nfl=(1) ???\nfn=(1) f\n0 30\ncfn=(1)\ncalls=1 0\n0 20\n\n"
            "ob=(1)\nfl=(1)\nfn=(2) main\n0 5\ncfn=(1)\ncalls=1 0\n0 30\n\n"
            "totals: 35\n");
}

TEST_F(CallTrees, deep_trees_are_cut_without_losing_anything) {
  NodeId at = stacks::kRootNode;
  for (int i = 0; i < 10; ++i) at = add(at, "f", 1);
  tree_.limit_depth(3);
  EXPECT_EQ(tree_.nodes().size(), 4U);
  EXPECT_EQ(tree_.whole().instructions, 10U);
  EXPECT_EQ(write(write_folded), "f 1\nf;f 1\nf;f;f 8\n");
}

TEST(Protobuf, fields) {
  ProtobufMessage inner;
  inner.number(1, 300);
  ProtobufMessage message;
  message.message(2, inner);
  message.text(16, "ab");
  message.packed(1);
  EXPECT_EQ(message.bytes(), std::string_view("\x12\x03\x08\xac\x02\x82\x01\x02"
                                              "ab\x01"));
}

}  // namespace
}  // namespace waymark::exports
