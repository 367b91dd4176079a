// Counting: atoms and branches go directly to the nodes of a counter.  Other packets, and those at
// an unknown position, are decoded, and their elements are observed.
#pragma once

#include <algorithm>
#include <utility>

#include "waymark/count/counter.h"
#include "waymark/ptm/decoder.h"

namespace waymark::ptm {

/// A visitor of Parser::parse().  While it is live, only `at_` holds the decoder's position;
/// leave() writes it back.  `Host` as for etmv4::CountingWalk.
template <class Host, bool kCycles, bool kReturns>
class CountingWalk {
 public:
  using Counter = count::Counter;
  using Node = count::Node;
  using Place = count::Place;
  using Way = count::Way;

  CountingWalk(Decoder& decoder, Counter& counter, Host& host)
      : decoder_(decoder),
        counter_(counter),
        host_(host),
        steps_(counter.steps()),
        budget_(counter.budget) {}
  CountingWalk(const CountingWalk&) = delete;
  CountingWalk& operator=(const CountingWalk&) = delete;
  ~CountingWalk() {
    leave();
    counter_.budget = budget_;
  }

  bool on_atoms(TraceIndex index, const AtomPacket& packet) {
    host_.took(1);
    std::uint32_t atoms = packet.atoms;
    std::uint32_t left = packet.atom_count;
    if (at_ != 0 || enter()) [[likely]] {
      index_ = index;
      const bool done = follow(atoms, left);
      // Not earlier: harvested counts cannot be taken back.
      spend();
      if constexpr (kCycles) {
        if (left == 0 && packet.has_cycle_count) counter_.count_cycles(packet.cycle_count);
      }
      if (done) [[likely]]
        return true;
    }
    return left == 0 || slow_atoms(index, packet, atoms, left);
  }

  bool on_packet(const Packet& packet) {
    if (packet.type == PacketType::kBranchAddress && packet.info_bytes == 0 &&
        packet.doubt == Doubt::kNone && (at_ != 0 || enter())) [[likely]] {
      if (!is_exit(at_) || pop()) [[likely]] {
        host_.took(1);
        branch(packet);
        return true;
      }
    }
    leave();
    if (host_.takes(packet)) decoder_.accept(packet);
    host_.flush();
    return !decoder_.failed();
  }

 private:
  enum class Taken : std::uint8_t {
    kDone,   ///< at_ is after the atom.
    kStuck,  ///< The atom, or what is after it, cannot be followed; the decoder has the position.
    kStuckBehind,
  };

  static bool is_exit(Place place) { return (place & Counter::kExitBit) != 0; }

  // Sometimes drops nodes; then last_ is no longer one.
  Place find(std::uint64_t address, isa::Isa isa) {
    tell_isa();
    return counter_.find(address, isa, 0, decoder_.follower_, false);
  }

  void count(Place block, bool taken) {
    ++counter_.step(block).times[taken ? 1 : 0];
    if constexpr (kCycles) counter_.log(block);
    last_ = block;
  }

  void push(std::uint64_t address, isa::Isa isa) { decoder_.return_stack_.push(address, isa); }

  [[gnu::noinline]] bool slow_atoms(TraceIndex index, const AtomPacket& all, std::uint32_t atoms,
                                    std::uint32_t left) {
    leave();
    Packet packet;
    copy_atoms(all, packet);
    packet.index = index;
    packet.atoms = atoms;
    packet.atom_count = static_cast<std::uint8_t>(left);
    decoder_.accept(packet);
    host_.flush();
    return !decoder_.failed();
  }

  // Called before the next waypoint is executed.  True: live.
  bool enter() {
    Decoder& d = decoder_;
    if (!d.straight() || d.failed_ || d.busy_ || !d.valid_) return false;
    counter_.begin(d.follower_);
    counter_.select(d.range_, std::max(d.packet_index_, d.memory_from_));
    last_ = 0;
    at_ = find(d.address_, d.isa_);
    if (at_ == 0) return false;
    index_ = d.packet_index_;
    way_ = counter_.close_branch(d.address_, d.isa_);
    return true;
  }

  // The decoder gets the position; what is open is closed by what is observed.
  void leave() {
    if (at_ == 0) return;
    if (way_ != nullptr) {
      --way_->times;
      counter_.open_branch(way_->from());
    }
    if (is_exit(at_)) {
      counter_.open_branch(at_);
      const flow::ReturnStack::Entry& top = *decoder_.return_stack_.pop();
      stop(top.address, top.isa);
    } else {
      const Node& block = counter_.node(at_);
      stop(block.range.start, block.range.isa);
    }
  }

  void stop(std::uint64_t address, isa::Isa isa) {
    Decoder& d = decoder_;
    tell_isa();
    d.packet_index_ = index_;
    d.address_ = address;
    d.isa_ = isa;
    d.valid_ = true;
    d.block_ = d.from_ = nullptr;
    at_ = last_ = 0;
    way_ = nullptr;
  }

  // What the decoder shows in the next element that is not a range.
  void tell_isa() {
    if (last_ != 0) decoder_.context_.isa = counter_.node(last_).range.isa;
    last_ = 0;
  }

  void spend() {
    if (--budget_ != 0) [[likely]]
      return;
    counter_.harvest();
    budget_ = counter_.budget;
  }

  // False: the decoder has the position, and gets the remaining atoms too.
  bool follow(std::uint32_t& atoms, std::uint32_t& left) {
    // If not even the first atom can be followed, nothing has come after the address yet.
    Way* const way = std::exchange(way_, nullptr);
    const std::uint32_t all = left;
    std::uint8_t* const steps = steps_;
    Place at = at_;
    do {
      const std::size_t taken = atoms & 1;
      auto* const step = reinterpret_cast<std::uint32_t*>(steps + taken * sizeof(Place) + at);
      const Place next = step[0];
      if (next == 0) [[unlikely]] {
        at_ = at;
        if (left == all) way_ = way;
        const Taken done = resolve(taken != 0);
        if (done != Taken::kDone) {
          if (done == Taken::kStuckBehind) {
            atoms >>= 1;
            --left;
          }
          return false;
        }
        way_ = nullptr;
        at = at_;
      } else {
        ++step[2];
        if constexpr (kCycles) counter_.log(at);
        last_ = at;
        at = next;
      }
      atoms >>= 1;
    } while (--left != 0);
    at_ = at;
    return true;
  }

  // What follows at_ where there is no link.
  [[gnu::noinline]] Taken resolve(bool taken) {
    Decoder& d = decoder_;
    if (is_exit(at_)) {
      if (!pop()) return Taken::kStuck;
      if (const Place next = counter_.step(at_).next[taken ? 1 : 0]; next != 0) {
        count(at_, taken);
        at_ = next;
        return Taken::kDone;
      }
    }
    Node& block = counter_.node(at_);
    Place& link = counter_.step(at_).next[taken ? 1 : 0];
    const bool branches = taken && block.range.is_branch();
    const bool indirect = branches && block.range.last_type == isa::InstrType::kIndirectBranch;
    // The decoder reports an empty or missing stack.
    if (indirect && (!kReturns || block.link || d.return_stack_.size() == 0)) {
      leave();
      return Taken::kStuck;
    }
    count(at_, taken);
    if (indirect) {
      at_ = block.far;
      return Taken::kDone;
    }
    const bool pushes = kReturns && branches && block.link;
    if (pushes) {
      push(block.range.end, block.range.isa);
      if (block.far != 0) {
        at_ = block.far;
        return Taken::kDone;
      }
    }
    const std::uint64_t address = branches ? block.target : block.range.end;
    const isa::Isa isa =
        taken || d.quirks_.untaken_blx_changes_isa ? block.next_isa : block.range.isa;
    const std::uint64_t generation = counter_.generation();
    const Place found = find(address, isa);
    if (found == 0) {
      stop(address, isa);
      return Taken::kStuckBehind;
    }
    // Otherwise the block is gone.
    if (generation == counter_.generation()) (pushes ? block.far : link) = found;
    at_ = found;
    return Taken::kDone;
  }

  // From an exit to the address on the return stack, which is not empty.  False: cannot be
  // followed.
  bool pop() {
    const Place from = at_;
    const flow::ReturnStack::Entry& top = *decoder_.return_stack_.pop();
    if (const Place to = way_to(from, top.address, top.isa)) {
      at_ = to;
      return true;
    }
    counter_.open_branch(from);
    stop(top.address, top.isa);
    return false;
  }

  // A branch address counts as its waypoint, which is executed.
  void branch(const Packet& packet) {
    spend();
    index_ = packet.index;
    way_ = nullptr;
    const Place from = at_;
    count(from, true);
    if constexpr (kCycles) {
      if (packet.has_cycle_count) counter_.count_cycles(packet.cycle_count);
    }
    const Node& block = counter_.node(from);
    if (kReturns && block.link && block.range.is_branch()) push(block.range.end, block.range.isa);
    const std::uint64_t address = packet.address.value;
    if (block.range.last_type == isa::InstrType::kIndirectBranch) {
      if (const Place to = way_to(block.far, address, packet.isa)) {
        at_ = to;
        return;
      }
      counter_.open_branch(from);
    } else if (const Place to = find(address, packet.isa)) {
      at_ = to;
      return;
    }
    stop(address, packet.isa);
  }

  // Counts the way, unless it cannot be followed.  Nothing depends on the previous position, so
  // what comes next need not wait for this.
  Place way_to(Place exit, std::uint64_t address, isa::Isa isa) {
    const count::WayKey key = Counter::way_key(address, isa);
    const Place to = counter_.target(key);
    way_ = counter_.way(exit, key);
    if (to != 0 && way_ != nullptr) [[likely]] {
      ++way_->times;
      return to;
    }
    return new_way_to(exit, address, isa);
  }

  [[gnu::noinline]] Place new_way_to(Place exit, std::uint64_t address, isa::Isa isa) {
    const std::uint64_t generation = counter_.generation();
    const Place found = find(address, isa);
    way_ = nullptr;
    if (found == 0) return 0;
    const count::WayKey key = Counter::way_key(address, isa);
    counter_.remember_target(key, found);
    if (generation != counter_.generation()) return found;  // The origin is gone.
    way_ = counter_.way(exit, key);
    if (way_ == nullptr) way_ = counter_.add_way(exit, key, found);
    ++way_->times;
    return found;
  }

  Decoder& decoder_;
  Counter& counter_;
  Host& host_;
  std::uint8_t* steps_;
  std::uint32_t budget_;  ///< See Counter::budget.
  Place at_ = 0;          ///< 0: not live.
  Place last_ = 0;        ///< The waypoint that was executed last; 0: the decoder knows it.
  TraceIndex index_ = 0;  ///< That of the last packet.
  Way* way_ = nullptr;    ///< Counted for an address that nothing has followed; may be null.
};

}  // namespace waymark::ptm
