// Counting: atoms straight to the nodes of a counter.  What is not an atom or an address at a known
// place goes the way of decoding, and its elements are observed.
#pragma once

#include "decoder_inl.h"
#include "waymark/count/counter.h"
#include "waymark/etmv4/decoder.h"
#include "waymark/etmv4/parser.h"

namespace waymark::etmv4 {

/// A visitor of Parser::parse().  While it is live, the place of the decoder is `at_` alone;
/// leave() writes it back.  `Host` has
///   void flush();                     drains the decoder, observes what comes, reports the rest
///   bool takes(const Packet&);        counts a packet; false: it is not for the decoder
///   void took(std::size_t atoms);     the same of packets of atoms
template <class Host, bool kCycles, bool kReturns>
class CountingWalk {
 public:
  using Node = count::Node;
  using Way = count::Way;

  CountingWalk(Parser& parser, Decoder& decoder, count::Counter& counter, Host& host)
      : parser_(parser), decoder_(decoder), counter_(counter), host_(host) {}
  CountingWalk(const CountingWalk&) = delete;
  CountingWalk& operator=(const CountingWalk&) = delete;
  ~CountingWalk() { leave(); }

  /// Of the packet that comes next; nullptr: it knows its index.
  void on_place(const std::uint8_t* at) { place_ = at; }

  bool on_atom_row(Bytes headers) {
    host_.took(headers.size());
    for (const std::uint8_t& header : headers) {
      const AtomPacket& atoms = atom_packet(header);
      std::uint32_t bits = atoms.atoms;
      std::uint32_t count = atoms.atom_count;
      if (at_ == nullptr) [[unlikely]]
        enter();
      if (at_ == nullptr || !follow(bits, count)) [[unlikely]]
        slow_atoms(parser_.index_of(&header), bits, count);
    }
    return !decoder_.failed();
  }

  bool on_packet(Packet& packet) {
    if (at_ != nullptr && before_ == nullptr && is_address(packet.type)) [[likely]] {
      host_.took(1);
      held_place_ = place_;
      if (place_ == nullptr) held_index_ = packet.index;
      go_to(packet.address.value, packet.address.is);
      return true;
    }
    if (packet.atom_count != 0 && is_atoms(packet.type)) {
      // At the end of a block atoms come one by one.
      if (at_ == nullptr) enter();
      std::uint32_t bits = packet.atoms;
      std::uint32_t count = packet.atom_count;
      if (at_ != nullptr) {
        host_.took(1);
        if (!follow(bits, count)) slow_atoms(packet.index, bits, count);
        return !decoder_.failed();
      }
    }
    leave();
    if (place_ != nullptr) packet.index = parser_.index_of(place_);
    if (host_.takes(packet)) decoder_.accept(packet);
    host_.flush();
    return !decoder_.failed();
  }

 private:
  enum class Step : std::uint8_t {
    kDone,   ///< at_ is behind the atom.
    kStuck,  ///< Nobody can follow the atom, or what is behind it; the place is the decoder's.
    kStuckBehind,
  };

  static bool is_address(PacketType type) {
    return type == PacketType::kAddressShortIs0 || type == PacketType::kAddress32Is0 ||
           type == PacketType::kAddressShortIs1 || type == PacketType::kAddressMatch;
  }

  static bool is_atoms(PacketType type) {
    return type >= PacketType::kAtomF6 && type < PacketType::kAsync;
  }

  Node* find(std::uint64_t address, isa::Isa isa, std::uint8_t it) {
    return counter_.find(address, isa, it, decoder_.follower_, refuse_exception_returns_);
  }

  void count(Node& block, bool taken) {
    ++block.times[taken ? 1 : 0];
    if constexpr (kCycles) counter_.log(&block);
  }

  // Before atoms.  Live where they may go straight, and a context is known.
  [[gnu::noinline]] void enter() {
    Decoder& d = decoder_;
    if (!d.straight() || d.failed_ || d.busy_ || d.need_context_ || d.address_pending_) return;
    counter_.begin(d.follower_);
    counter_.select(d.context_);
    if (d.holding_) {
      d.holding_ = false;
      d.apply_address(d.held_address_, d.held_is_);
    }
    if (d.pop_pending_) {
      at_ = counter_.on_return_stack();
    } else if (d.need_address_) {
      at_ = counter_.lost();
    } else {
      at_ = find(d.address_, d.isa_, d.it_);
      if (at_ != nullptr) counter_.close_branch(d.address_, d.isa_);
    }
  }

  // The place becomes the decoder's; what is open is closed by what is observed.
  [[gnu::noinline]] void leave() {
    if (at_ == nullptr) return;
    if (before_ != nullptr) hold();
    if (at_->kind == Node::Kind::kExit) {
      const Node& branch = *at_->far;
      counter_.open_branch(at_);
      set_place(branch.range.end, branch.next_isa, 0);
      decoder_.need_address_ = true;
      decoder_.pop_pending_ = kReturns;
    } else if (at_->kind == Node::Kind::kBlock) {
      set_place(at_->range.start, at_->range.isa, at_->it_in);
    }
    stop();
  }

  // The address that no atom came after is back in the decoder.
  void hold() {
    if (way_ != nullptr) {
      --way_->times;
      counter_.open_branch(way_->from);
    }
    at_ = before_;
    before_ = nullptr;
    decoder_.holding_ = true;
    decoder_.held_index_ = held_place_ != nullptr ? parser_.index_of(held_place_) : held_index_;
    decoder_.held_address_ = held_address_;
    decoder_.held_is_ = decoder_.last_is_;
  }

  void set_place(std::uint64_t address, isa::Isa isa, std::uint8_t it) {
    decoder_.address_ = address;
    decoder_.isa_ = isa;
    decoder_.it_ = it;
    decoder_.need_address_ = false;
    decoder_.pop_pending_ = false;
  }

  void stop() {
    decoder_.block_ = decoder_.from_ = nullptr;
    at_ = nullptr;
    if constexpr (!kCycles) counter_.lose_group();
  }

  // False: the place is the decoder's, and what is left of the atoms is for it, too.
  bool follow(std::uint32_t& atoms, std::uint32_t& left) {
    Node* at = at_;
    std::uint32_t bits = atoms;
    std::uint32_t count = left;
    before_ = nullptr;
    do {
      const std::uint32_t taken = bits & 1;
      Node* const next = at->next[taken];
      if (next == nullptr) [[unlikely]] {
        at_ = at;
        const Step step = resolve(taken != 0);
        if (step != Step::kDone) {
          const unsigned used = step == Step::kStuck ? 0 : 1;
          atoms = bits >> used;
          left = count - used;
          return false;
        }
        at = at_;
      } else {
        ++at->times[taken];
        if constexpr (kCycles) {
          if (at->kind == Node::Kind::kBlock) counter_.log(at);
        }
        at = next;
      }
      bits >>= 1;
    } while (--count != 0);
    at_ = at;
    return true;
  }

  // What is behind at_, where no link leads.
  [[gnu::noinline]] Step resolve(bool taken) {
    Decoder& d = decoder_;
    if (at_->kind != Node::Kind::kBlock) {
      if (!pop()) return Step::kStuck;
      if (Node* const next = at_->next[taken ? 1 : 0]; next != nullptr) {
        count(*at_, taken);
        at_ = next;
        return Step::kDone;
      }
    }
    Node& block = *at_;
    count(block, taken);
    const bool branches = taken && block.range.is_branch();
    const bool pushes = kReturns && branches && block.link;
    if (pushes) d.push_return(block.range.end, block.range.isa);
    if (branches && block.range.last_type == isa::InstrType::kIndirectBranch) {
      Node* const exit = block.far;
      if (!kReturns) exit->next = {exit, exit};
      if (!pushes) block.next[1] = exit;
      at_ = exit;
      return Step::kDone;
    }
    if (pushes && block.far != nullptr) {
      at_ = block.far;
      return Step::kDone;
    }
    const std::uint64_t address = branches ? block.target : block.range.end;
    const isa::Isa isa = taken ? block.next_isa : block.range.isa;
    const std::uint8_t it = branches ? 0 : block.it_out;
    const std::uint64_t generation = counter_.generation();
    Node* const found = find(address, isa, it);
    if (found == nullptr) {
      set_place(address, isa, it);
      stop();
      return Step::kStuckBehind;
    }
    // Else `block` is gone.
    if (generation == counter_.generation())
      (pushes ? block.far : block.next[taken ? 1 : 0]) = found;
    at_ = found;
    return Step::kDone;
  }

  // False: the return stack is empty, or nobody can follow what it says.
  bool pop() {
    Decoder& d = decoder_;
    Node* const from = at_;
    const bool is_exit = from->kind == Node::Kind::kExit;
    if (d.return_stack_.size() == 0) {
      leave();
      return false;
    }
    const flow::ReturnStack::Entry& top = *d.return_stack_.pop();
    const std::uint64_t key = count::Counter::way_key(top.address, top.isa);
    if (is_exit) {
      if (Way* const way = counter_.way(from, key); way != nullptr) {
        ++way->times;
        at_ = way->to;
        return true;
      }
    }
    const std::uint8_t it = is_exit ? std::uint8_t{0} : d.it_;
    const std::uint64_t generation = counter_.generation();
    Node* const found = find(top.address, top.isa, it);
    if (found == nullptr) {
      if (is_exit) counter_.open_branch(from);
      set_place(top.address, top.isa, it);
      stop();
      return false;
    }
    if (!is_exit) {
      counter_.close_branch(top.address, top.isa);
    } else if (generation == counter_.generation()) {
      counter_.add_way(from, key, found)->times = 1;
    }
    d.pop_pending_ = false;
    d.need_address_ = false;
    at_ = found;
    return true;
  }

  void go_to(std::uint64_t address, std::uint8_t is) {
    Decoder& d = decoder_;
    d.last_is_ = is;
    if constexpr (kReturns) d.wait_for_address_ = false;
    held_address_ = address;
    before_ = at_;
    const isa::Isa isa = isa_of(d.is_64bit_, is);
    if (at_->kind == Node::Kind::kExit) [[likely]] {
      Way* const way = counter_.way(at_, count::Counter::way_key(address, isa));
      if (way != nullptr) [[likely]] {
        ++way->times;
        way_ = way;
        at_ = way->to;
        return;
      }
    }
    go_to_new(address, isa);
  }

  [[gnu::noinline]] void go_to_new(std::uint64_t address, isa::Isa isa) {
    way_ = nullptr;
    Node* const from = at_;
    const bool is_exit = from->kind == Node::Kind::kExit;
    std::uint8_t it = decoder_.it_;
    if (is_exit) {
      it = 0;
    } else if (from->kind == Node::Kind::kBlock) {
      it = from->it_in;
    }
    const std::uint64_t generation = counter_.generation();
    Node* const found = find(address, isa, it);
    if (generation != counter_.generation()) {
      // Where it was is gone: as if the address had been applied.
      before_ = nullptr;
      at_ = nullptr;
      set_place(address, isa, it);
      stop();
      return;
    }
    if (found == nullptr) {
      leave();
      return;
    }
    at_ = found;
    if (is_exit) {
      way_ = counter_.add_way(from, count::Counter::way_key(address, isa), found);
      ++way_->times;
    } else {
      way_ = counter_.close_branch(address, isa);
    }
  }

  void slow_atoms(TraceIndex index, std::uint32_t atoms, std::uint32_t count) {
    if (count == 0) return;
    leave();
    Packet packet;
    packet.index = index;
    packet.type = PacketType::kAtomF6;
    packet.atoms = atoms;
    packet.atom_count = static_cast<std::uint8_t>(count);
    decoder_.accept(packet);
    host_.flush();
  }

  Parser& parser_;
  Decoder& decoder_;
  count::Counter& counter_;
  Host& host_;
  const bool refuse_exception_returns_ = decoder_.config_.major_version() >= 5;
  Node* at_ = nullptr;                   ///< nullptr: not live.
  const std::uint8_t* place_ = nullptr;  ///< See on_place().
  // The address that no atom has come after.
  Node* before_ = nullptr;  ///< Where it came; nullptr: there is none.
  Way* way_ = nullptr;      ///< That was counted for it; may be none.
  std::uint64_t held_address_ = 0;
  const std::uint8_t* held_place_ = nullptr;  ///< nullptr: held_index_ says it.
  TraceIndex held_index_ = 0;
};

}  // namespace waymark::etmv4
