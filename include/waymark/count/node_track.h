// A path over the nodes of a counter: what flow::take_atoms() counts on.
#pragma once

#include <concepts>
#include <cstdint>

#include "waymark/count/counter.h"
#include "waymark/flow/path_inl.h"
#include "waymark/flow/step_path.h"

namespace waymark::count {

/// The base of a protocol's walk over nodes: blocks of a flow::Path, or instructions of a
/// flow::StepPath, which has no return stack.  While it is live, only at_ has the place of the
/// path. `Walk`, which derives from this, has
///   void leave();                         the path gets the place, and what is open stays open
///   void hand_over(address, isa, it);     the same at a place that has no node
///   void before_find();                   nodes may be dropped now
///   void passed(Place);                   a block was counted
///   bool refuses(const Node&);            a taken indirect branch is not counted here
///   void passed_unreadable();             an atom was counted where nothing can be read
///   static constexpr bool kLinksExits;    refuses() never depends on the state of the path
///   static constexpr bool kAbsorbs;       atoms after that one make no elements
template <class Walk, bool kCycles, bool kReturns, class WalkedPath = flow::Path>
class NodeTrack {
  static constexpr bool kBlocks = std::same_as<WalkedPath, flow::Path>;

 public:
  using Place = count::Place;

  // -- For flow::take_atoms(). --
  // The order matters: what depends on the previous step is one load from a sum of two registers.
  [[nodiscard]] Place next(Place at, unsigned taken) const { return words(at, taken)[0]; }
  void pass(Place at, unsigned taken) {
    step_over(at, taken);
    if constexpr (kCycles) counter_.log(at);
    walk().passed(at);
  }
  [[gnu::noinline]] flow::Turn turn(Place& at, unsigned taken, std::uint32_t left) {
    at_ = at;
    if (left != all_) way_ = nullptr;
    const flow::Turn turned = resolve(taken != 0);
    at = at_;
    return turned;
  }

 protected:
  static bool is_exit(Place place) { return (place & Counter::kExitBit) != 0; }
  static bool is_block(Place place) { return !is_exit(place) && place > Counter::kReturn; }
  // After memory that cannot be read.
  bool is_lost(Place place) {
    return is_exit(place) && counter_.node(place).ending == Node::End::kUnreadable;
  }

  Place find(std::uint64_t address, isa::Isa isa, std::uint8_t it) {
    walk().before_find();
    if constexpr (kBlocks) {
      return counter_.find(address, isa, it, path_.follower(), passes_);
    } else {
      return counter_.find(static_cast<std::uint32_t>(address), isa, path_.cache(), passes_);
    }
  }

  // Follows a link and counts no more than that.
  void step_over(Place at, unsigned taken) { ++words(at, taken)[2]; }

  void count(Place block, bool taken) {
    ++counter_.step(block).times[taken ? 1 : 0];
    way_ = nullptr;
    if constexpr (kCycles) counter_.log(block);
    walk().passed(block);
  }

  void spend() {
    if (--budget_ != 0) [[likely]]
      return;
    counter_.harvest();
    budget_ = counter_.budget;
  }

  // From an exit, or from kReturn, to the address on the return stack.  False: it is empty, or the
  // address cannot be followed.
  bool pop()
    requires kBlocks
  {
    const Place from = at_;
    if (path_.return_stack.size() == 0) {
      walk().leave();
      return false;
    }
    const flow::ReturnStack::Entry& top = *path_.return_stack.pop();
    const std::uint8_t it = is_exit(from) ? std::uint8_t{0} : path_.it;
    const Place found =
        is_exit(from) ? way_to(from, top.address, top.isa) : find(top.address, top.isa, it);
    if (found == 0) {
      if (is_exit(from)) counter_.open_branch(from);
      walk().hand_over(top.address, top.isa, it);
      return false;
    }
    if (!is_exit(from)) close_branch(found, top.address, top.isa);
    path_.pop_pending = path_.lost = false;
    at_ = found;
    return true;
  }

  // A range begins at the block.  If it has no instructions, no range comes: what is open stays
  // open until an atom does.
  Way* close_branch(Place block, std::uint64_t address, isa::Isa isa) {
    return counter_.node(block).range.count != 0 ? counter_.close_branch(address, isa) : nullptr;
  }

  // Counts the way, unless it cannot be followed.
  Place way_to(Place exit, std::uint64_t address, isa::Isa isa) {
    const Place to = known_way(exit, address, isa);
    return to != 0 ? to : new_way_to(exit, address, isa);
  }

  // The same for ways that were counted before; otherwise 0.  Nothing depends on the previous
  // place, so what comes next need not wait for this.
  Place known_way(Place exit, std::uint64_t address, isa::Isa isa) {
    const WayKey key = Counter::way_key(address, isa);
    Place to = counter_.target(key);
    Way* const way = counter_.way(exit, key);
    if (way == nullptr) [[unlikely]]
      return 0;
    if (to == 0) [[unlikely]] {
      to = way->to;
      if (to == 0) return 0;
      counter_.remember_target(key, to);
    }
    ++way->times;
    way_ = way;
    return to;
  }

  [[gnu::noinline]] Place new_way_to(Place exit, std::uint64_t address, isa::Isa isa) {
    const std::uint64_t generation = counter_.generation();
    const Place found = find(address, isa, 0);
    way_ = nullptr;
    if (found == 0) return 0;
    const WayKey key = Counter::way_key(address, isa);
    counter_.remember_target(key, found);
    if (generation != counter_.generation()) return found;  // The origin is gone.
    way_ = counter_.way(exit, key);
    if (way_ == nullptr) way_ = counter_.add_way(exit, key, found);
    ++way_->times;
    return found;
  }

  // Takes atoms.  While not even the first one is followed, nothing has come after way_.
  flow::Turn take(std::uint64_t& atoms, std::uint32_t& left) {
    all_ = left;
    const flow::Turn turned = flow::take_atoms(*this, at_, atoms, left);
    if (left != all_) way_ = nullptr;
    return turned;
  }

  // Nothing has come after way_: it is not counted, and stays open.
  void take_back_way() {
    if (way_ == nullptr) return;
    --way_->times;
    counter_.open_branch(way_->from());
    way_ = nullptr;
  }

  WalkedPath& path_;
  Counter& counter_;
  std::uint8_t* steps_;
  std::uint32_t budget_;   ///< See Counter::budget.
  std::uint32_t all_ = 0;  ///< The atoms of the current take().
  bool resolved_ = false;  ///< More was done than following links.
  Place at_ = 0;           ///< 0: not live.
  /// The one that leads to at_, while nothing was counted there; may be null.
  Way* way_ = nullptr;

 private:
  friend Walk;

  NodeTrack(WalkedPath& path, Counter& counter, Counter::Passes passes)
      : path_(path),
        counter_(counter),
        steps_(counter.steps()),
        budget_(counter.budget),
        passes_(passes) {}

  const Counter::Passes passes_;

  Walk& walk() { return static_cast<Walk&>(*this); }
  [[nodiscard]] std::uint32_t* words(Place at, unsigned taken) const {
    return reinterpret_cast<std::uint32_t*>(steps_ + std::size_t{taken} * sizeof(Place) + at);
  }

  // The address after an indirect branch is on the return stack.
  bool leaves_exit() {
    if constexpr (kBlocks) {
      return !is_lost(at_) && pop();
    } else {
      return false;
    }
  }
  [[nodiscard]] bool untaken_changes_isa() const {
    if constexpr (kBlocks) {
      return path_.untaken_blx_changes_isa();
    } else {
      return false;
    }
  }

  // Takes an atom where the instructions end that can be read.  Nothing says where it leads.
  void take_unreadable(const Node& block) {
    if (block.range.count != 0) {
      count(at_, true);
    } else if (way_ != nullptr) {
      // Nothing was executed there, so no edge leads to it.
      --way_->times;
      way_ = nullptr;
    }
    counter_.count_unreadable(block.range.end);
    at_ = block.far;
    if (Walk::kAbsorbs) counter_.step(at_).next = {at_, at_};
    walk().passed_unreadable();
  }

  // Takes an atom at a place that has no link for it.
  flow::Turn resolve(bool taken) {
    resolved_ = true;
    if (!is_block(at_)) {
      if (!leaves_exit()) return flow::Turn::kStuck;
      if (const Place next = counter_.step(at_).next[taken ? 1 : 0]; next != 0) {
        count(at_, taken);
        at_ = next;
        return flow::Turn::kOn;
      }
    }
    Node& block = counter_.node(at_);
    if (block.ending == Node::End::kUnreadable) {
      take_unreadable(block);
      return flow::Turn::kOn;
    }
    Place& link = counter_.step(at_).next[taken ? 1 : 0];
    const bool branches = taken && block.range.is_branch();
    const bool indirect = branches && block.range.last_type == isa::InstrType::kIndirectBranch;
    if (indirect && walk().refuses(block)) {
      walk().leave();
      return flow::Turn::kStuck;
    }
    count(at_, taken);
    const bool pushes = kReturns && branches && block.ending == Node::End::kCall;
    if constexpr (kReturns) {
      if (pushes) path_.push(block.range.end, block.range.isa);
    }
    if (indirect) {
      at_ = block.far;
      // Without a return stack, waypoints that follow are unknown.  Instructions are reported.
      if (!kReturns && kBlocks) counter_.step(at_).next = {at_, at_};
      if (!pushes && Walk::kLinksExits) link = at_;
      return flow::Turn::kOn;
    }
    if (pushes && block.far != 0) {
      at_ = block.far;
      return flow::Turn::kOn;
    }
    const std::uint64_t address = branches ? block.target : block.range.end;
    const isa::Isa isa = taken || untaken_changes_isa() ? block.next_isa : block.range.isa;
    const std::uint8_t it = branches ? 0 : block.it_out;
    const std::uint64_t generation = counter_.generation();
    const Place found = find(address, isa, it);
    if (found == 0) {
      walk().hand_over(address, isa, it);
      return flow::Turn::kStuckAfter;
    }
    // Otherwise the block is gone.
    if (generation == counter_.generation()) (pushes ? block.far : link) = found;
    at_ = found;
    return flow::Turn::kOn;
  }
};

}  // namespace waymark::count
