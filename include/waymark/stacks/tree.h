// The calling-context tree: what was executed in each function, by the chain of its callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "waymark/program/program.h"

namespace waymark::stacks {

/// The meaning of a frame of a stack.
enum class CodeKind : std::uint8_t {
  kRoot,         ///< What calls the outermost frames; only node 0.
  kFunction,     ///< A function with a name.
  kAddress,      ///< Code without a name that was called: `start` is its address.
  kUnknown,      ///< Code without a name that was not called.
  kException,    ///< An exception; the frames of its handler are above it.
  kSignal,       ///< A handler that an operating system called in the middle of a function.
  kLostCallers,  ///< Frames above it had callers that unreadable code hides.
  kInlined,      ///< A function that the compiler inlined in the one below it.
  kProcess,      ///< A process or thread, below all of its frames: see Options::root_name.
};

/// One kind of frame.
struct Code {
  CodeKind kind = CodeKind::kUnknown;
  std::string name{};       ///< The linker's name; that of the exception; or empty.
  std::string program{};    ///< The path of the program; empty: not known.
  std::uint64_t start = 0;  ///< Where it begins, as it was linked.
  /// The program that `start` is of, which must outlive the tree; nullptr: not known.
  const program::Program* source = nullptr;
};

/// The name for people and for files: "main", "0x8000", "[unknown]", "[IRQ]".
std::string name_of(const Code& code);

using CodeId = std::uint32_t;
using NodeId = std::uint32_t;
inline constexpr NodeId kRootNode = 0;

/// A function below one chain of callers.
struct Node {
  NodeId parent = kRootNode;
  CodeId code = 0;
  /// The address of the call in the program of the caller, if the tree keeps call sites.
  std::uint64_t site = 0;
  std::uint64_t instructions = 0;  ///< Its own, without those of what it called.
  std::uint64_t cycles = 0;        ///< The same.
  std::uint64_t calls = 0;         ///< How often it was entered by a call.
  NodeId last_child = 0;           ///< The one that was asked for last; 0: none.
};

/// Sums of a node and everything below it.
struct Inclusive {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  friend bool operator==(const Inclusive&, const Inclusive&) = default;
};

/// How often a range was executed in a node.
struct RangeKey {
  NodeId node = 0;
  std::uint64_t start = 0;  ///< As its program was linked.
  std::uint64_t end = 0;
  friend bool operator==(const RangeKey&, const RangeKey&) = default;
};
struct RangeKeyHash {
  std::size_t operator()(const RangeKey& key) const {
    std::uint64_t mixed = (key.start ^ key.end << 24) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ key.node ^ mixed >> 29) * 0xBF58476D1CE4E5B9ULL;
    return static_cast<std::size_t>(mixed ^ mixed >> 32);
  }
};
struct RangeCount {
  std::uint64_t times = 0;
  std::uint32_t count = 0;  ///< Instructions of the range.
};

/// A value.  Bounded: beyond kMostNodes, a new call is added to its caller, and counted in
/// folded_calls(); no instruction is lost.  Nodes are in the order in which they were made: parents
/// come before their children.
class Tree {
 public:
  static constexpr std::size_t kMostNodes = std::size_t{1} << 21;
  static constexpr std::size_t kMostCodes = std::size_t{1} << 20;
  static constexpr std::size_t kMostRanges = std::size_t{1} << 21;

  explicit Tree(std::size_t most_nodes = kMostNodes);

  /// The same code has the same number.  Beyond kMostCodes: that of kUnknown.
  CodeId code(const Code& code);
  [[nodiscard]] const Code& code(CodeId id) const { return codes_[id]; }
  [[nodiscard]] const std::vector<Code>& codes() const { return codes_; }

  /// The child of `parent` with this code and call site; or `parent`, if there is no room.
  NodeId child(NodeId parent, CodeId code, std::uint64_t site = 0) {
    const NodeId last = nodes_[parent].last_child;
    if (last != 0 && nodes_[last].code == code && nodes_[last].site == site) return last;
    return find_child(parent, code, site);
  }
  [[nodiscard]] Node& node(NodeId id) { return nodes_[id]; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }

  /// One more time; without room, only the instructions of the node show it.
  void add_range(const RangeKey& key, std::uint32_t count) {
    if (ranges_.size() < kMostRanges || ranges_.contains(key)) {
      RangeCount& range = ranges_[key];
      ++range.times;
      range.count = count;
    }
  }
  [[nodiscard]] const std::unordered_map<RangeKey, RangeCount, RangeKeyHash>& ranges() const {
    return ranges_;
  }

  /// Adds another tree, of this capture or of another one.
  void add(const Tree& other);

  /// Calls that were added to their caller.
  [[nodiscard]] std::uint64_t folded_calls() const { return folded_calls_; }
  void fold_call() { ++folded_calls_; }
  void fold_calls(std::uint64_t count) { folded_calls_ += count; }

  /// Adds what is deeper than `most` frames to its caller there.
  void limit_depth(std::size_t most);

  /// By node.
  [[nodiscard]] std::vector<Inclusive> inclusive() const;
  /// All instructions and cycles.
  [[nodiscard]] Inclusive whole() const;

 private:
  NodeId find_child(NodeId parent, CodeId code, std::uint64_t site);
  void grow_table();

  using Identity = std::tuple<CodeKind, std::string, std::uint64_t, std::string>;

  std::size_t most_nodes_;
  std::vector<Code> codes_;
  std::map<Identity, CodeId> code_ids_;
  std::vector<Node> nodes_;
  std::vector<NodeId> table_;  ///< Open addressing; 0: free.
  std::unordered_map<RangeKey, RangeCount, RangeKeyHash> ranges_;
  std::uint64_t folded_calls_ = 0;
};

/// Calls enter(node) and leave(node) depth first, for all nodes but the root.
template <class Enter, class Leave>
void walk(const Tree& tree, Enter&& enter, Leave&& leave) {
  const std::span<const Node> nodes = tree.nodes();
  std::vector<NodeId> first_child(nodes.size());
  std::vector<NodeId> next(nodes.size());
  for (std::size_t id = nodes.size(); id-- > 1;) {
    next[id] = first_child[nodes[id].parent];
    first_child[nodes[id].parent] = static_cast<NodeId>(id);
  }
  NodeId at = first_child[kRootNode];
  while (at != kRootNode) {
    enter(at);
    if (first_child[at] != 0) {
      at = first_child[at];
      continue;
    }
    while (at != kRootNode) {
      leave(at);
      if (next[at] != 0) {
        at = next[at];
        break;
      }
      at = nodes[at].parent;
    }
  }
}

}  // namespace waymark::stacks
