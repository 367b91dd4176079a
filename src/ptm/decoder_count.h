// Counting: atoms and branches go directly to the nodes of a counter.  Other packets, and those at
// an unknown position, are decoded, and their elements are observed.
#pragma once

#include <algorithm>
#include <utility>

#include "waymark/count/node_track.h"
#include "waymark/ptm/decoder.h"

namespace waymark::ptm {

/// A visitor of Parser::parse().  While it is live, only `at_` holds the decoder's position;
/// leave() writes it back.  `Host` as for etmv4::CountingWalk.
template <class Host, bool kCycles, bool kReturns>
class CountingWalk
    : public count::NodeTrack<CountingWalk<Host, kCycles, kReturns>, kCycles, kReturns> {
  using Track = count::NodeTrack<CountingWalk, kCycles, kReturns>;
  using Track::at_, Track::budget_, Track::counter_, Track::path_, Track::way_;
  using Track::count, Track::find, Track::is_exit, Track::pop, Track::spend, Track::way_to;
  friend Track;

 public:
  using Counter = count::Counter;
  using Node = count::Node;
  using Place = count::Place;

  CountingWalk(Decoder& decoder, Counter& counter, Host& host)
      : Track(decoder.path_, counter, {}), decoder_(decoder), host_(host) {}
  CountingWalk(const CountingWalk&) = delete;
  CountingWalk& operator=(const CountingWalk&) = delete;
  ~CountingWalk() {
    leave();
    counter_.budget = budget_;
  }

  bool on_atoms(TraceIndex index, const AtomPacket& packet) {
    host_.took(1);
    std::uint64_t atoms = packet.atoms;
    std::uint32_t left = packet.atom_count;
    if (at_ != 0 || enter()) [[likely]] {
      index_ = index;
      const bool done = this->take(atoms, left) == flow::Turn::kOn;
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
        packet.conflict == RegisterConflict::kNone && (at_ != 0 || enter())) [[likely]] {
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
  static constexpr bool kLinksExits = false;
  static constexpr bool kAbsorbs = false;
  // The decoder reports an empty or missing stack.
  bool refuses(const Node& block) {
    return !kReturns || block.ending == Node::End::kCall || path_.return_stack.size() == 0;
  }
  // Nodes may go; then last_ is no longer one.
  void before_find() { emit_isa(); }
  void passed(Place block) { last_ = block; }
  static constexpr void passed_unreadable() {}

  [[gnu::noinline]] bool slow_atoms(TraceIndex index, const AtomPacket& all, std::uint64_t atoms,
                                    std::uint32_t left) {
    leave();
    Packet packet;
    copy_atoms(all, packet);
    packet.index = index;
    packet.atoms = static_cast<decltype(packet.atoms)>(atoms);
    packet.atom_count = static_cast<std::uint8_t>(left);
    decoder_.accept(packet);
    host_.flush();
    return !decoder_.failed();
  }

  // Called before the next waypoint is executed.  True: live.
  bool enter() {
    Decoder& d = decoder_;
    if (!d.straight() || d.failed_ || d.busy_ || path_.lost) return false;
    counter_.begin(path_.follower());
    counter_.select(d.range_, std::max(d.packet_index_, d.memory_from_));
    last_ = 0;
    at_ = find(path_.address, path_.isa, 0);
    if (at_ == 0) return false;
    index_ = d.packet_index_;
    way_ = counter_.close_branch(path_.address, path_.isa);
    return true;
  }

  // The decoder gets the position; what is open is closed by what is observed.
  void leave() {
    if (at_ == 0) return;
    this->take_back_way();
    if (is_exit(at_)) {
      counter_.open_branch(at_);
      const flow::ReturnStack::Entry& top = *path_.return_stack.pop();
      stop(top.address, top.isa);
    } else {
      const Node& block = counter_.node(at_);
      stop(block.range.start, block.range.isa);
    }
  }

  void stop(std::uint64_t address, isa::Isa isa) {
    Decoder& d = decoder_;
    emit_isa();
    d.packet_index_ = index_;
    path_.address = address;
    path_.isa = isa;
    path_.lost = false;
    path_.cut();
    at_ = last_ = 0;
    way_ = nullptr;
  }
  void hand_over(std::uint64_t address, isa::Isa isa, std::uint8_t /*it*/) { stop(address, isa); }

  // The values that the decoder shows in the next element that is not a range.
  void emit_isa() {
    if (last_ != 0) decoder_.context_.isa = counter_.node(last_).range.isa;
    last_ = 0;
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
    if (kReturns && block.ending == Node::End::kCall && block.range.is_branch())
      path_.push(block.range.end, block.range.isa);
    const std::uint64_t address = packet.address.value;
    if (block.range.last_type == isa::InstrType::kIndirectBranch) {
      if (const Place to = way_to(block.far, address, packet.isa)) {
        at_ = to;
        return;
      }
      counter_.open_branch(from);
    } else if (const Place to = find(address, packet.isa, 0)) {
      at_ = to;
      return;
    }
    stop(address, packet.isa);
  }

  Decoder& decoder_;
  Host& host_;
  Place last_ = 0;        ///< The waypoint that was executed last; 0: the decoder knows it.
  TraceIndex index_ = 0;  ///< That of the last packet.
};

}  // namespace waymark::ptm
