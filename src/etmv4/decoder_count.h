// Counting: atoms go directly to the nodes of a counter.  Other packets, except for addresses at a
// known position, are decoded, and their elements are observed.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "decoder_inl.h"
#include "waymark/base/bits.h"
#include "waymark/count/node_track.h"
#include "waymark/etmv4/decoder.h"
#include "waymark/etmv4/parser_inl.h"
#include "waymark/protocol/visitor.h"

namespace waymark::etmv4 {

/// A visitor of Parser::parse().  While it is live, only `at_` holds the decoder's position;
/// leave() writes it back.  `Host` has
///   void flush();                     drains the decoder, observes elements, reports the rest
///   bool takes(const Packet&);        counts a packet; false: it is not for the decoder
///   void took(std::size_t atoms);     the same for packets of atoms
template <class Host, bool kCycles, bool kReturns>
class CountingWalk final
    : private AtomCounter,
      public count::NodeTrack<CountingWalk<Host, kCycles, kReturns>, kCycles, kReturns> {
  using Track = count::NodeTrack<CountingWalk, kCycles, kReturns>;
  using Track::at_, Track::budget_, Track::counter_, Track::path_, Track::resolved_, Track::way_;
  using Track::find, Track::is_block, Track::is_exit, Track::spend;
  friend Track;

 public:
  using Counter = count::Counter;
  using Node = count::Node;
  using Place = count::Place;

  static consteval protocol::VisitorTakes takes() { return {.atom_rows = true, .places = true}; }

  CountingWalk(Parser& parser, Decoder& decoder, Counter& counter, Host& host)
      : Track(decoder.path_, counter,
              {.exception_returns = decoder.config_.major_version() < 5, .unreadable = true}),
        parser_(parser),
        decoder_(decoder),
        host_(host) {
    counter.set_expand(expand);
    if (queues_) decoder.counter_ = this;
  }
  CountingWalk(const CountingWalk&) = delete;
  CountingWalk& operator=(const CountingWalk&) = delete;
  ~CountingWalk() {
    CountingWalk::leave();
    decoder_.counter_ = nullptr;
    counter_.budget = budget_;
  }

  /// Counts the rest of the parser's block.
  void parse() {
    if (queues_) {
      parser_.parse(Queued{*this});
    } else {
      parser_.parse(*this);
    }
  }

  /// The place of the next packet; nullptr: the packet knows its index.
  void on_place(const std::uint8_t* at) { place_ = at; }

  /// Eight bytes can be read from there.
  bool on_atom_row(Bytes headers) {
    host_.took(headers.size());
    if (headers.empty()) return true;
    last_.place = &headers.back();
    if (waiting_.count != 0) [[unlikely]]
      count_waiting();
    std::uint32_t used = 0;
    if (at_ == 0) enter([&] { return parser_.index_of(headers.data()); });
    if (at_ != 0) [[likely]] {
      const auto all = load_le<std::uint64_t>(headers.data());
      const std::uint64_t row =
          headers.size() == 8 ? all : all & ((1ULL << 8 * headers.size()) - 1);
      const Place from = at_;
      count::Stretch* stretch = nullptr;
      if constexpr (!kCycles) {
        stretch = &counter_.stretch(from, row);
        if (stretch->row == row && stretch->from == from) [[likely]] {
          spend();
          ++stretch->times;
          held_.before = 0;
          at_ = stretch->to;
          return true;
        }
      }
      const Counter::Atoms atoms = expand(row);
      if (atoms.count <= 64) [[likely]] {
        std::uint64_t bits = atoms.bits;
        std::uint32_t left = atoms.count;
        resolved_ = false;
        if (follow(bits, left)) [[likely]] {
          if constexpr (!kCycles) {
            if (!resolved_) counter_.remember_stretch(*stretch, from, row, at_);
          }
          return true;
        }
        used = atoms.count - left;
      }
    }
    return one_by_one(headers, used);
  }

  [[gnu::always_inline]] bool on_packet(Packet& packet) {
    if (at_ != 0 && held_.before == 0 && is_address(packet.type)) [[likely]] {
      host_.took(1);
      cycles_.first = cycles_.waits;
      held_.place = last_.place = place_;
      last_.index = packet.index;
      if (place_ == nullptr) held_.index = packet.index;
      go_to(packet.address.value, packet.address.is);
      return true;
    }
    if (kCycles && at_ != 0 && !cycles_.waits && is_cycle_count(packet)) {
      host_.took(1);
      cycles_.waits = true;
      cycles_.first = false;
      cycles_.count = packet.cycle_count;
      last_.place = place_;
      last_.index = cycles_.index = index_of(packet);
      return true;
    }
    if (!kCycles && at_ != 0 && can_wait(packet)) {
      host_.took(1);
      last_.place = place_;
      last_.index = index_of(packet);
      waiting_.list[waiting_.count++] = {packet.type, last_.index, value_of(packet)};
      return true;
    }
    return slow_packet(packet);
  }

 private:
  static constexpr bool kLinksExits = true;
  static constexpr bool kAbsorbs = true;
  static constexpr bool refuses(const Node& /*block*/) { return false; }
  static constexpr void before_find() {}
  static constexpr void passed(Place /*block*/) {}
  void passed_unreadable() {
    if (kReturns && !decoder_.quirks_.calls_not_missed) path_.miss_calls();
  }

  // All atoms of a row as one string: one loop, with one end that cannot be predicted.  Beyond 64
  // they have no meaning.
  static Counter::Atoms expand(std::uint64_t row) {
    Counter::Atoms atoms;
    for (; row != 0; row >>= 8) {
      const std::size_t header = row & 0xFF;
      const auto next = static_cast<std::uint32_t>(detail::kRowBits[header]);
      atoms.bits |= std::uint64_t{next} << (atoms.count & 63);
      atoms.count += detail::kRowCounts[header];
    }
    return atoms;
  }

  [[nodiscard]] TraceIndex index_of(const Packet& packet) const {
    return place_ != nullptr ? parser_.index_of(place_) : packet.index;
  }
  static bool is_address(PacketType type) {
    return type == PacketType::kAddressShortIs0 || type == PacketType::kAddress32Is0 ||
           type == PacketType::kAddressShortIs1 || type == PacketType::kAddressMatch;
  }
  /// The decoder makes nothing of it, once it is synchronised.
  static bool is_void(const Packet& packet) {
    return (packet.type == PacketType::kAsync && !packet.in_packet) ||
           packet.type == PacketType::kIgnore;
  }
  static bool is_cycle_count(const Packet& packet) {
    return (packet.type == PacketType::kCycleCountF1 || packet.type == PacketType::kCycleCountF2 ||
            packet.type == PacketType::kCycleCountF3) &&
           (!packet.has_commit || packet.commit == 0);
  }
  [[gnu::noinline]] bool slow_packet(Packet& packet) {
    if (is_void(packet) && decoder_.sync_.state == Decoder::State::kDecode) {
      host_.took(1);
      last_.place = nullptr;
      decoder_.packet_index_ = last_.index = index_of(packet);
      return true;
    }
    if (packet.atom_count != 0 && is_atoms(packet.type)) {
      // At the end of a block, atoms are handled one by one.
      std::uint64_t bits = packet.atoms;
      std::uint32_t count = packet.atom_count;
      if (at_ == 0) enter([&] { return index_of(packet); });
      if (at_ != 0) {
        host_.took(1);
        last_.place = place_;
        last_.index = packet.index;
        if (waiting_.count != 0) count_waiting();
        if (!follow(bits, count)) slow_atoms(packet.index, bits, count);
        return !decoder_.failed();
      }
    }
    leave();
    packet.index = index_of(packet);
    if (host_.takes(packet)) decoder_.accept(packet);
    if (decoder_.busy()) host_.flush();
    return !decoder_.failed();
  }

  // A row whose first `used` atoms are counted.
  [[gnu::noinline]] bool one_by_one(Bytes headers, std::uint32_t used) {
    for (const std::uint8_t& header : headers) {
      const AtomPacket& packet = atom_packet(header);
      const std::uint32_t passed = std::min<std::uint32_t>(used, packet.atom_count);
      used -= passed;
      std::uint64_t bits = packet.atoms >> passed;
      std::uint32_t count = packet.atom_count - passed;
      if (count == 0) continue;
      if (at_ == 0) enter([&] { return parser_.index_of(&header); });
      if (at_ == 0 || !follow(bits, count)) slow_atoms(parser_.index_of(&header), bits, count);
    }
    return !decoder_.failed();
  }

  // Called before atoms.  Becomes live if they can go straight and a context is known.
  template <class IndexOf>
  void enter(IndexOf&& index_of) {
    Decoder& d = decoder_;
    if (d.can_settle()) {
      d.settle(index_of());
      host_.flush();
    }
    last_.index = d.packet_index_;
    if (!d.straight() || d.failed_ || d.busy_ || d.mode_.unknown || d.queue_.awaits_address) return;
    if (d.queue_.holds()) d.take_held();
    enter_at(d.packet_index_);
  }

  void enter_at(TraceIndex index) {
    path_.settle();
    counter_.begin(path_.follower());
    counter_.select(decoder_.context_, std::max(index, decoder_.memory_from_));
    if (path_.pop_pending) {
      at_ = Counter::kReturn;
    } else if (path_.lost) {
      at_ = Counter::kLost;
    } else {
      at_ = find(path_.address, path_.isa, path_.it);
      if (at_ != 0) this->close_branch(at_, path_.address, path_.isa);
    }
  }

  // -- Where the decoder queues atoms and addresses until they are committed. --

  struct Queued {
    static consteval protocol::VisitorTakes takes() { return {}; }

    CountingWalk& walk;

    bool on_atoms(TraceIndex index, const AtomPacket& atoms) {
      walk.host_.took(1);
      walk.decoder_.accept_atoms(index, atoms);
      return drained();
    }
    bool on_packet(const Packet& packet) {
      if (walk.host_.takes(packet)) walk.decoder_.accept(packet);
      return drained();
    }
    bool drained() {
      if (walk.decoder_.busy()) walk.host_.flush();
      return !walk.decoder_.failed();
    }
  };
  flow::Turn take(TraceIndex index, std::uint64_t& atoms, std::uint32_t& left) override {
    if (at_ == 0) enter_at(index);
    if (at_ == 0) return flow::Turn::kStuck;
    const flow::Turn turned = Track::take(atoms, left);
    // Not earlier: harvested counts cannot be taken back.
    spend();
    return turned;
  }
  bool go_to(std::uint64_t address, isa::Isa isa) override {
    if (at_ == 0) return false;
    if (way_ != nullptr) {
      // No atoms have come since the last address.
      leave();
      return false;
    }
    path_.calls_forgotten = false;
    if (is_exit(at_)) [[likely]] {
      if (const Place to = this->known_way(at_, address, isa)) [[likely]] {
        at_ = to;
        return true;
      }
    }
    go_to_new(address, isa);
    return at_ != 0;
  }
  bool count_cycles(std::uint32_t cycles) override {
    if (at_ == 0) return false;
    counter_.count_element(ElementKind::kCycleCount);
    counter_.count_cycles(cycles);
    return true;
  }
  bool count_timestamp() override {
    if (at_ == 0) return false;
    counter_.count_element(ElementKind::kTimestamp);
    return true;
  }

  // The decoder gets the position; what is open is closed by what is observed.
  void leave() override {
    if (at_ == 0) return;
    if (queues_) this->take_back_way();
    const bool address_follows = cycles_.waits && cycles_.first && held_.before != 0;
    if (held_.before != 0) hold();
    if (address_follows) decoder_.queue_.drop_held();
    if (is_exit(at_)) {
      const Node& last = counter_.node(at_);
      counter_.open_branch(at_);
      set_place(last.range.end, last.next_isa, 0);
      path_.lost = true;
      path_.pop_pending = kReturns && !this->is_lost(at_);
    } else if (is_block(at_)) {
      const Node& block = counter_.node(at_);
      set_place(block.range.start, block.range.isa, block.it_in);
    }
    stop();
    if (cycles_.waits) give_cycles(address_follows);
    if (waiting_.count != 0) give_waiting();
  }

  void give(const Packet& packet) {
    decoder_.accept(packet);
    host_.flush();
  }

  // -- Packets that make one element, which is known only when an atom has followed. --

  static std::uint64_t value_of(const Packet& packet) {
    return packet.type == PacketType::kTimestamp ? packet.timestamp : packet.value;
  }
  [[nodiscard]] bool can_wait(const Packet& packet) const {
    if (waiting_.count == waiting_.list.size()) return false;
    if (packet.type == PacketType::kTimestamp) return path_.follower().covers(index_of(packet) + 1);
    return packet.type == PacketType::kTimestampMarker || packet.type == PacketType::kEvent;
  }
  // Atoms have come after them.
  void count_waiting() {
    for (const Waiting& packet : std::span(waiting_.list).first(std::exchange(waiting_.count, 0))) {
      if (packet.type == PacketType::kTimestamp) {
        // Without its marker, it has no position.
        if (!markers_ || decoder_.earlier_.marker) counter_.count_element(ElementKind::kTimestamp);
      } else if (packet.type == PacketType::kTimestampMarker) {
        decoder_.earlier_.marker = true;
        counter_.count_element(ElementKind::kSyncMarker);
      } else {
        counter_.count_element(ElementKind::kEvent);
      }
    }
  }
  // No atoms have come after them: they wait in the decoder's queue.
  [[gnu::noinline]] void give_waiting() {
    for (const Waiting& waiting :
         std::span(waiting_.list).first(std::exchange(waiting_.count, 0))) {
      Packet packet;
      packet.index = waiting.index;
      packet.type = waiting.type;
      if (waiting.type == PacketType::kTimestamp) {
        packet.timestamp = waiting.value;
      } else {
        packet.value = static_cast<decltype(packet.value)>(waiting.value);
      }
      give(packet);
    }
  }

  // The cycle count that no atom has followed waits in the decoder's queue, and so does an address
  // after it.
  [[gnu::noinline]] void give_cycles(bool address_follows) {
    cycles_.waits = false;
    Packet packet;
    packet.index = cycles_.index;
    packet.type = PacketType::kCycleCountF1;
    packet.cycle_count = cycles_.count;
    give(packet);
    if (!address_follows) return;
    const Entry& held = decoder_.queue_.held();
    packet.index = held.index;
    packet.type = held.is != 0 ? PacketType::kAddress64Is1 : PacketType::kAddress64Is0;
    packet.address.value = held.value;
    packet.address.is = held.is;
    give(packet);
  }

  // Returns the address that no atom has followed to the decoder.
  void hold() {
    at_ = held_.before;
    held_.before = 0;
    if (way_ != nullptr) {
      --way_->times;
      // leave() opens an exit.
      if (!is_exit(at_)) counter_.open_branch(way_->from());
    }
    const TraceIndex index = held_.place != nullptr ? parser_.index_of(held_.place) : held_.index;
    if (last_.place != nullptr && last_.place == held_.place)
      last_ = {.place = nullptr, .index = index};
    decoder_.queue_.hold(index, held_.address, decoder_.mode_.is);
    path_.calls_forgotten = held_.forgotten;
  }

  void set_place(std::uint64_t address, isa::Isa isa, std::uint8_t it) {
    path_.address = address;
    path_.isa = isa;
    path_.it = it;
    path_.lost = path_.pop_pending = false;
  }

  void hand_over(std::uint64_t address, isa::Isa isa, std::uint8_t it) {
    set_place(address, isa, it);
    stop();
  }

  void stop() {
    path_.cut();
    at_ = 0;
    if (queues_) return;
    decoder_.packet_index_ = last_.place != nullptr ? parser_.index_of(last_.place) : last_.index;
  }

  // False: the decoder has the position, and gets the remaining atoms too.
  bool follow(std::uint64_t& atoms, std::uint32_t& left) {
    if (held_.before == 0) way_ = nullptr;
    held_.before = 0;
    if constexpr (kCycles) {
      if (cycles_.waits) {
        cycles_.waits = false;
        counter_.count_element(ElementKind::kCycleCount);
        counter_.count_cycles(cycles_.count);
      }
    }
    const flow::Turn turned = Track::take(atoms, left);
    // Not earlier: harvested counts cannot be taken back.
    spend();
    return turned == flow::Turn::kOn;
  }

  void go_to(std::uint64_t address, std::uint8_t is) {
    Decoder& d = decoder_;
    d.mode_.is = is;
    held_.forgotten = std::exchange(path_.calls_forgotten, false);
    held_.address = address;
    held_.before = at_;
    const isa::Isa isa = isa_of(d.mode_.is_64bit, is);
    if (is_exit(at_)) [[likely]] {
      if (const Place to = this->known_way(at_, address, isa)) [[likely]] {
        at_ = to;
        return;
      }
    }
    go_to_new(address, isa);
  }

  // Not from an exit, or by a new way.
  [[gnu::noinline]] void go_to_new(std::uint64_t address, isa::Isa isa) {
    const Place from = at_;
    std::uint8_t it = path_.it;
    if (is_exit(from)) {
      it = 0;
    } else if (is_block(from)) {
      it = counter_.node(from).it_in;
    }
    const std::uint64_t generation = counter_.generation();
    way_ = nullptr;
    const Place found =
        is_exit(from) ? this->new_way_to(from, address, isa) : find(address, isa, it);
    if (generation != counter_.generation()) {
      forget_origin(address, isa, it);
      return;
    }
    if (found == 0) {
      leave();
      return;
    }
    at_ = found;
    if (!is_exit(from)) way_ = this->close_branch(found, address, isa);
  }

  // The previous place is gone: as if the address had been applied.
  void forget_origin(std::uint64_t address, isa::Isa isa, std::uint8_t it) {
    held_.before = 0;
    hand_over(address, isa, it);
    if (cycles_.waits) give_cycles(false);
    if (waiting_.count != 0) give_waiting();
  }

  void slow_atoms(TraceIndex index, std::uint64_t atoms, std::uint32_t count) {
    if (count == 0) return;
    leave();
    Packet packet;
    packet.index = index;
    packet.type = PacketType::kAtomF6;
    packet.atoms = static_cast<std::uint32_t>(atoms);
    packet.atom_count = static_cast<std::uint8_t>(count);
    give(packet);
  }

  Parser& parser_;
  Decoder& decoder_;
  Host& host_;
  /// The decoder queues atoms until they are committed; see AtomCounter.
  const bool queues_ = !decoder_.traits_.straight;
  /// A timestamp may have no position, and then gives no element.
  const bool markers_ = decoder_.traits_.timestamp_markers;
  const std::uint8_t* place_ = nullptr;  ///< See on_place().
  /// The address that no atom has followed.
  struct Held {
    Place before = 0;  ///< Where it came; 0: there is none.  way_ was counted for it.
    std::uint64_t address = 0;
    const std::uint8_t* place = nullptr;  ///< nullptr: `index` is valid.
    TraceIndex index = 0;
    bool forgotten = false;  ///< The change that it made in the path.
  };
  /// A cycle count that no atom has followed.
  struct Cycles {
    bool waits = false;
    bool first = false;  ///< The address that no atom has followed came after it.
    std::uint32_t count = 0;
    TraceIndex index = 0;
  };
  /// A packet that no atom has followed.
  struct Waiting {
    PacketType type = PacketType::kTimestamp;
    TraceIndex index = 0;
    std::uint64_t value = 0;
  };
  struct WaitingPackets {
    std::array<Waiting, 32> list{};
    std::size_t count = 0;
  };
  /// The last packet that was counted.
  struct Last {
    const std::uint8_t* place = nullptr;  ///< nullptr: `index` is valid.
    TraceIndex index = 0;
  };
  Held held_;
  Cycles cycles_;
  WaitingPackets waiting_;
  Last last_;
};

}  // namespace waymark::etmv4
