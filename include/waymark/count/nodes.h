// The nodes in which a counter counts, and the steps of a walk over them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "waymark/count/counts.h"
#include "waymark/isa/instruction.h"

namespace waymark::count {

/// A position in a walk: the offset of a step in bytes.  Exits have kExitBit.
using Place = std::uint32_t;

/// The data that a walk touches at each atom, as little as possible: a walk mostly waits for the
/// cache. [0] not executed, [1] executed.
struct Step {
  /// The next position; 0: not visited yet, or going there takes more than a step.  An exit
  /// and kLost may lead to themselves: they absorb atoms.
  std::array<Place, 2> next{};
  std::array<std::uint32_t, 2> times{};  ///< Without meaning for an exit and kLost.
};
static_assert(sizeof(Step) == 16);

/// The content common to all elements of a range in a context, as three of their words.
struct ElementWords {
  std::uint64_t ids = 0;   ///< Context ID and VMID.
  std::uint64_t kind = 0;  ///< Kind to last size; among the flags, only those compared.
  std::uint64_t rest = 0;  ///< Exception level and security state.
};

/// Everything else about a block, or about instructions that an element reported.
struct Node {
  enum class End : std::uint8_t {
    kOther,
    kCall,
    /// A block: what follows its instructions, if it has any, cannot be read.
    kUnreadable,
  };
  Range range;
  ElementWords words;                    ///< For a range that was observed.
  std::array<Node*, 2> guess{};          ///< The range that was observed next.
  std::array<std::uint64_t, 2> times{};  ///< In addition to those of its step.
  std::uint64_t cycles = 0;
  std::uint64_t target = kNoAddress;
  /// For a block with an indirect branch, or that cannot be read to its end: its exit.  For a call
  /// whose return address goes to the return stack: its target.
  Place far = 0;
  Place place = 0;
  std::uint32_t context = 0;  ///< Its number in the counter.
  std::uint8_t it_in = 0;
  std::uint8_t it_out = 0;
  isa::Isa next_isa = isa::Isa::kUnknown;  ///< After a taken branch.
  End ending = End::kOther;
  bool opens = false;  ///< If it is observed as executed, it asks for what comes next.
};

/// The nodes of a counter, with their steps and exits.  They stay in place until clear().
class Nodes {
 public:
  static constexpr Place kExitBit = 1U << 23;
  // Steps: nodes in the lower half, exits in the upper one.
  static constexpr std::size_t kMax = kExitBit / sizeof(Step);
  static constexpr std::size_t kMaxExits = kMax;
  /// The nodes before it are not blocks: place 0, Counter::kLost, kReturn and kBefore.
  static constexpr std::size_t kFirst = 4;

  Nodes();

  /// The number of nodes; that of a block is that of its step.
  [[nodiscard]] std::size_t size() const { return used_; }
  [[nodiscard]] bool full() const { return used_ == kMax; }
  [[nodiscard]] bool exits_full() const { return exits_.size() == kMaxExits; }

  /// There must be room.
  Node& make(std::uint32_t context);
  /// Gives a block with an indirect branch, or without a waypoint, its exit.
  void add_exit(Node& block);

  /// The steps, from place 0 on; they never move.
  [[nodiscard]] Step* steps() const { return steps_.get(); }
  [[nodiscard]] Step& step(Place place) const { return steps_[place / sizeof(Step)]; }
  /// For a block, its node; for an exit, the node of the block before it.
  [[nodiscard]] Node& at(Place place) const {
    if ((place & kExitBit) != 0) place = exits_[(place & ~kExitBit) / sizeof(Step)];
    return numbered(place / sizeof(Step));
  }
  [[nodiscard]] Node& numbered(std::size_t number) const {
    return slabs_[number / kSlab][number % kSlab];
  }

  /// Only those before kFirst are left; their steps stay as they are.
  void clear();

 private:
  static constexpr std::size_t kSlab = 256;
  struct Free {
    void operator()(Step* steps) const;
  };

  std::unique_ptr<Step[], Free> steps_;  ///< Not touched before it is used.
  std::vector<std::unique_ptr<Node[]>> slabs_;
  std::size_t used_ = 0;
  std::vector<Place> exits_;  ///< The block of each exit.
};

/// Finds nodes: open addressing, with a size that is a power of two.  A slot holds the number of a
/// node plus 1, and above it the upper bits of its hash, so that a search hardly ever reads a wrong
/// node.  0: empty.
class NodeTable {
 public:
  NodeTable() { clear(); }

  /// The node of this hash for which `same` is true; nullptr: there is none.
  template <class Same>
  [[nodiscard]] Node* find(const Nodes& nodes, std::uint32_t hash, Same same) const {
    const std::uint32_t at = slots_[slot(nodes, hash, same)];
    return at != 0 ? &node_of(nodes, at) : nullptr;
  }
  /// Adds a node that is not in the table.  `hash_of` gives the hash of a node.
  template <class HashOf>
  void add(const Nodes& nodes, const Node& node, HashOf hash_of) {
    put(nodes, node, hash_of(node));
    if (++used_ * 2 <= slots_.size()) return;
    std::vector<std::uint32_t> old(slots_.size() * 2, 0);
    old.swap(slots_);
    for (const std::uint32_t moved : old) {
      if (moved == 0) continue;
      const Node& at = node_of(nodes, moved);
      put(nodes, at, hash_of(at));
    }
  }
  template <class Use>
  void for_each(const Nodes& nodes, Use use) const {
    for (const std::uint32_t slot : slots_)
      if (slot != 0) use(node_of(nodes, slot));
  }

  void clear();

 private:
  static constexpr unsigned kNumberBits = 20;
  static constexpr std::uint32_t kNumberMask = (std::uint32_t{1} << kNumberBits) - 1;
  static_assert(Nodes::kMax <= kNumberMask);

  static Node& node_of(const Nodes& nodes, std::uint32_t slot) {
    return nodes.numbered((slot & kNumberMask) - 1);
  }
  /// The slot of the node, or an empty slot for it.
  template <class Same>
  [[nodiscard]] std::size_t slot(const Nodes& nodes, std::uint32_t hash, Same same) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      const std::uint32_t found = slots_[i];
      if (found == 0) return i;
      if (((found ^ hash) & ~kNumberMask) == 0 && same(node_of(nodes, found))) return i;
    }
  }
  void put(const Nodes& nodes, const Node& node, std::uint32_t hash) {
    const auto number = static_cast<std::uint32_t>(node.place / sizeof(Step));
    slots_[slot(nodes, hash, [](const Node&) { return false; })] =
        (hash & ~kNumberMask) | (number + 1);
  }

  std::vector<std::uint32_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace waymark::count
