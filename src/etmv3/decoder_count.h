// Counting: atoms and short branches go directly to the nodes of a counter.  Other packets, and
// those at an unknown position, are decoded, and their elements are observed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "waymark/count/node_track.h"
#include "waymark/etmv3/decoder.h"
#include "waymark/etmv3/p_header.h"
#include "waymark/frames/stream.h"
#include "waymark/protocol/visitor.h"

namespace waymark::etmv3 {

/// A visitor of Parser::parse().  While it is live, only `at_` holds the decoder's position;
/// leave() writes it back.  `Host` as for etmv4::CountingWalk.
///
/// An exception may still cancel the last instruction.  So the last P-header with atoms waits, with
/// those after it, which only have cycles, for a packet that shows that it was executed.  If
/// another packet comes, the decoder gets them.
template <class Host, bool kCycles>
class CountingWalk
    : public count::NodeTrack<CountingWalk<Host, kCycles>, false, false, flow::StepPath> {
  using Track = count::NodeTrack<CountingWalk, false, false, flow::StepPath>;
  using Track::at_, Track::budget_, Track::counter_, Track::path_, Track::way_;
  using Track::find, Track::spend;
  friend Track;

 public:
  using Counter = count::Counter;
  using Place = count::Place;

  static consteval protocol::VisitorTakes takes() { return {.p_headers = true}; }

  CountingWalk(Decoder& decoder, Counter& counter, Host& host)
      : Track(decoder.path_, counter, {.unreadable = true}),
        decoder_(decoder),
        host_(host),
        headers_(p_headers(kCycles, false).data()) {}
  CountingWalk(const CountingWalk&) = delete;
  CountingWalk& operator=(const CountingWalk&) = delete;
  ~CountingWalk() {
    give();
    counter_.budget = budget_;
  }

  std::size_t on_p_headers(std::span<const frames::Run> runs, const std::uint8_t* data,
                           std::size_t position, std::size_t size) {
    if (runs_.empty()) runs_ = runs;
    data_ = data;
    if (at_ == 0 && !enter(headers_[data[position]])) return position;
    const bool waits = waiting_ != waiting_end_;
    if (!waits) waiting_ = position;
    std::size_t end = position + 1;
    while (end != size && headers_[data[end]].valid) ++end;
    // After the last header with atoms, unless that is the one that waits.
    std::size_t last = end;
    while (last != position && headers_[data[last - 1]].atom_count == 0) --last;
    waiting_end_ = end;
    std::size_t until = end;
    if (last != position) {
      until = last - 1;
    } else if (waits) {
      until = waiting_;
    }
    std::size_t done = count_up_to(until, position);
    // Nothing can be cancelled there.
    if (is_lost()) done = count_up_to(end, end);
    host_.took(done - position);
    return done;
  }

  bool on_atoms(TraceIndex index, const PHeader& header) { return decode(index, header); }

  bool on_atoms(TraceIndex index, const ShortBranch& branch) {
    if (at_ == 0) {
      if (!begin()) return decode(index, branch);
      at_ = Counter::kLost;
    } else {
      // Not cancelled.
      count_up_to(waiting_end_, waiting_end_);
      if (at_ == 0) return decode(index, branch);
    }
    host_.took(1);
    index_ = index;
    last_ = kNone;
    go_to(branch.address, branch.isa);
    return true;
  }

  bool on_packet(const Packet& packet) {
    give();
    if (host_.takes(packet)) decoder_.accept(packet);
    host_.flush();
    return !decoder_.failed();
  }

 private:
  static constexpr bool kLinksExits = true;
  static constexpr bool kAbsorbs = false;
  static constexpr bool refuses(const count::Node& /*block*/) { return false; }
  static constexpr void before_find() {}
  void passed(Place place) {
    if constexpr (kCycles) {
      counter_.count_cycles_of(place, cycles_);
      cycles_ = other_cycles_;
    }
  }
  void passed_unreadable() {
    if constexpr (kCycles) {
      counter_.count_cycles(cycles_);
      cycles_ = other_cycles_;
    }
  }
  // Nothing says where execution is.
  [[nodiscard]] bool is_lost() const { return at_ == Counter::kLost || Track::is_exit(at_); }

  template <class Atoms>
  [[gnu::noinline]] bool decode(TraceIndex index, const Atoms& atoms) {
    give();
    host_.took(1);
    Packet packet;
    copy_atoms(atoms, packet);
    packet.index = index;
    decoder_.accept(packet);
    host_.flush();
    return !decoder_.failed();
  }

  [[nodiscard]] TraceIndex index_of(std::size_t position) const {
    const auto after = std::ranges::upper_bound(runs_, position, {}, &frames::Run::position);
    return after[-1].index_at(position);
  }

  // Called before a header, from which on counting goes on if no earlier instruction can be
  // cancelled after it.  True: live.
  bool enter(const PHeader& header) {
    if (header.atom_count == 0 && (!path_.lost || decoder_.cancellable_)) return false;
    if (!begin()) return false;
    if (path_.lost) {
      at_ = Counter::kLost;
      lost_reported_ = decoder_.sent_unknown_;
      return true;
    }
    at_ = find(path_.address, path_.isa, 0);
    if (at_ == 0) return false;
    way_ = close_branch(at_);
    return true;
  }
  // Earlier instructions were executed.  False: counting cannot go on here.
  bool begin() {
    Decoder& d = decoder_;
    if (d.sync_.state != DecoderState::State::kDecode) return false;
    d.settle();
    host_.flush();
    if (!d.straight()) return false;
    counter_.begin(path_.cache());
    counter_.select(d.context_, std::max(d.packet_index_, d.memory_from_));
    index_ = d.packet_index_;
    last_ = kNone;
    return true;
  }
  count::Way* close_branch(Place at) {
    const count::Range& range = counter_.node(at).range;
    return Track::close_branch(at, range.start, range.isa);
  }

  // Counts headers that are not cancelled.  If one cannot be followed, the decoder has the place,
  // and has got the headers up to `least`.  Returns the position after what was handled.
  std::size_t count_up_to(std::size_t end, std::size_t least) {
    if (waiting_ != end) last_ = end - 1;
    while (waiting_ != end) {
      pass_headers(end);
      if (waiting_ == end) break;
      const PHeader& header = headers_[data_[waiting_]];
      if (header.atom_count == 0) {
        count_cycles(header.cycle_count);
      } else if (!count_atoms(header)) {
        const std::size_t next = std::max(waiting_, least);
        waiting_end_ = next;
        give_headers();
        return next;
      }
      ++waiting_;
    }
    return waiting_end_;
  }

  // Where the atoms of a header lead; 0 if one of them has no link.
  [[nodiscard]] Place end_of_links(Place at, const PHeader& header) const {
    std::uint32_t atoms = header.atoms;
    for (std::uint32_t left = header.atom_count; left != 0 && at != 0; --left, atoms >>= 1)
      at = this->next(at, atoms & 1);
    return at;
  }
  // Counts the atoms of a header that all have links, and `cycles` with the first one.
  void pass_links(Place at, const PHeader& header, std::uint64_t cycles) {
    std::uint64_t share = cycles + header.first_cycles;
    std::uint32_t atoms = header.atoms;
    for (std::uint32_t left = header.atom_count; left != 0; --left, atoms >>= 1) {
      this->step_over(at, atoms & 1);
      if constexpr (kCycles) counter_.add_cycles(at, share);
      share = header.other_cycles;
      at = this->next(at, atoms & 1);
    }
  }

  // Counts the headers that wait while they only follow links, which nearly all do.  Most of them
  // have one or two atoms.
  void pass_headers(std::size_t end) {
    if (is_lost() || (kCycles && counter_.has_cycle_group())) return;
    Place at = at_;
    std::size_t position = waiting_;
    std::uint32_t budget = budget_;
    std::uint64_t cycles = kCycles ? counter_.exchange_waiting_cycles(0) : 0;
    std::uint64_t cycle_headers = 0;
    for (; position != end; ++position) {
      const PHeader& header = headers_[data_[position]];
      if (header.atom_count == 0) {
        if (Track::is_exit(at)) break;
        cycles += header.cycle_count;
        ++cycle_headers;
        continue;
      }
      if (budget == 1) break;
      if (header.atom_count > 2) {
        const Place to = end_of_links(at, header);
        if (to == 0) break;
        pass_links(at, header, cycles);
        at = to;
      } else {
        const unsigned first = header.atoms & 1U;
        const Place between = this->next(at, first);
        if (between == 0) break;
        Place to = between;
        if (header.atom_count == 2) {
          const unsigned second = header.atoms >> 1;
          to = this->next(between, second);
          if (to == 0) break;
          this->step_over(between, second);
          if constexpr (kCycles) counter_.add_cycles(between, header.other_cycles);
        }
        this->step_over(at, first);
        if constexpr (kCycles) counter_.add_cycles(at, cycles + header.first_cycles);
        at = to;
      }
      cycles = 0;
      --budget;
      way_ = nullptr;
    }
    lost_reported_ = false;
    at_ = at;
    budget_ = budget;
    waiting_ = position;
    if constexpr (!kCycles) return;
    counter_.exchange_waiting_cycles(cycles);
    counter_.count_elements(ElementKind::kCycleCount, cycle_headers);
  }

  void count_cycles(std::uint32_t cycles) {
    if constexpr (!kCycles) return;
    counter_.count_element(ElementKind::kCycleCount);
    counter_.count_cycles(cycles);
    lost_reported_ = is_lost();
  }

  // False: the decoder has got the rest of the header, and waiting_ is after it.
  bool count_atoms(const PHeader& header) {
    std::uint64_t atoms = header.atoms;
    std::uint32_t left = header.atom_count;
    if (!is_lost()) [[likely]] {
      cycles_ = header.first_cycles;
      other_cycles_ = header.other_cycles;
      lost_reported_ = false;
      this->take(atoms, left);
      // Not earlier: harvested counts cannot be taken back.
      spend();
      if (at_ == 0) {
        decoder_.finish_header(index_of(waiting_++), header, header.atom_count - left);
        host_.flush();
        return false;
      }
    }
    if (left != 0) count_lost(header, left);
    return true;
  }

  // As Decoder::unknown_address(), for the last atoms of a header.
  void count_lost(const PHeader& header, std::uint32_t left) {
    if (lost_reported_) {
      if constexpr (!kCycles) return;
      counter_.count_element(ElementKind::kCycleCount);
    } else {
      // Nothing shows where the last branch went.
      counter_.count_unknown_address();
      lose();
      lost_reported_ = true;
    }
    if constexpr (kCycles) counter_.count_cycles(lost_cycles(header, left));
  }

  // A branch packet states the place.
  void go_to(std::uint32_t address, isa::Isa isa) {
    decoder_.packet_isa_ = isa;
    const bool from_exit = Track::is_exit(at_);
    // No instruction has come after the last branch.
    if (!from_exit) this->take_back_way();
    const Place to = from_exit ? this->way_to(at_, address, isa) : find(address, isa, 0);
    if (to == 0) {
      if (from_exit) counter_.open_branch(at_);
      hand_over(address, isa, 0);
      return;
    }
    at_ = to;
    if (!from_exit) way_ = close_branch(to);
  }

  // From an exit.  The path has the place from now on.
  void lose() {
    if (at_ == Counter::kLost) return;
    const count::Range& range = counter_.node(at_).range;
    path_.go_to(static_cast<std::uint32_t>(range.end), range.isa);
    path_.lose();
    at_ = Counter::kLost;
  }

  // The decoder gets the position; what is open is closed by what is observed.
  void leave() {
    if (at_ == 0) return;
    this->take_back_way();
    if (is_lost()) {
      if (Track::is_exit(at_)) counter_.open_branch(at_);
      lose();
      stop(lost_reported_);
      return;
    }
    const count::Range& range = counter_.node(at_).range;
    hand_over(range.start, range.isa, 0);
  }
  void hand_over(std::uint64_t address, isa::Isa isa, std::uint8_t /*it*/) {
    path_.go_to(static_cast<std::uint32_t>(address), isa);
    stop(false);
  }
  void stop(bool lost_reported) {
    decoder_.sent_unknown_ = lost_reported;
    decoder_.packet_index_ = last_ != kNone ? index_of(last_) : index_;
    at_ = 0;
    way_ = nullptr;
  }

  // The decoder gets everything.
  void give() {
    leave();
    give_headers();
  }
  void give_headers() {
    for (; waiting_ != waiting_end_; ++waiting_)
      decoder_.finish_header(index_of(waiting_), headers_[data_[waiting_]], 0);
    if (decoder_.busy()) host_.flush();
  }

  Decoder& decoder_;
  Host& host_;
  const PHeader* headers_;
  /// From the run of the first header on.
  std::span<const frames::Run> runs_;
  const std::uint8_t* data_ = nullptr;
  // The headers that wait.
  std::size_t waiting_ = 0;
  std::size_t waiting_end_ = 0;
  // The last packet that was counted.
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t last_ = kNone;  ///< Its position; kNone: index_ has its index.
  TraceIndex index_ = 0;
  // The cycles of the next element and of those after it.
  std::uint8_t cycles_ = 0;
  std::uint8_t other_cycles_ = 0;
  bool lost_reported_ = false;  ///< As DecoderState::sent_unknown_, where is_lost().
};

}  // namespace waymark::etmv3
