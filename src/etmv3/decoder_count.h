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
  using Track::find, Track::is_exit, Track::spend;
  friend Track;

 public:
  using Counter = count::Counter;
  using Place = count::Place;

  static consteval protocol::VisitorTakes takes() { return {.p_headers = true}; }

  CountingWalk(Decoder& decoder, Counter& counter, Host& host)
      : Track(decoder.path_, counter, false),
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
    // The last header with atoms.
    std::size_t last = waiting_;
    bool has_atoms = waits;
    std::size_t end = position;
    for (; end != size && headers_[data[end]].valid; ++end) {
      if (headers_[data[end]].atom_count == 0) continue;
      last = end;
      has_atoms = true;
    }
    waiting_end_ = end;
    const std::size_t done = count_up_to(has_atoms ? last : end, position);
    host_.took(done - position);
    return done;
  }

  bool on_atoms(TraceIndex index, const PHeader& header) { return decode(index, header); }

  bool on_atoms(TraceIndex index, const ShortBranch& branch) {
    if (at_ == 0) return decode(index, branch);
    // Not cancelled.
    count_up_to(waiting_end_, waiting_end_);
    if (at_ == 0) return decode(index, branch);
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
  static constexpr bool refuses(const count::Node& /*block*/) { return false; }
  static constexpr void before_find() {}
  void passed(Place place) {
    if constexpr (kCycles) {
      counter_.count_cycles_of(place, cycles_);
      cycles_ = other_cycles_;
    }
  }

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

  // Called before a header, from which on counting goes on if it has atoms.  True: live.
  bool enter(const PHeader& header) {
    Decoder& d = decoder_;
    if (d.sync_.state != DecoderState::State::kDecode || header.atom_count == 0) return false;
    d.settle();
    host_.flush();
    if (!d.straight() || path_.lost) return false;
    counter_.begin(path_.cache());
    counter_.select(d.context_, std::max(d.packet_index_, d.memory_from_));
    at_ = find(path_.address, path_.isa, 0);
    if (at_ == 0) return false;
    index_ = d.packet_index_;
    last_ = kNone;
    lost_told_ = false;
    way_ = counter_.close_branch(path_.address, path_.isa);
    return true;
  }

  // Counts headers that are not cancelled.  If one cannot be followed, the decoder has the place,
  // and has got the headers up to `least`.  Returns the position after what was handled.
  std::size_t count_up_to(std::size_t end, std::size_t least) {
    if (waiting_ != end) last_ = end - 1;
    while (waiting_ != end) {
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

  void count_cycles(std::uint32_t cycles) {
    if constexpr (!kCycles) return;
    counter_.count_element(ElementKind::kCycleCount);
    counter_.count_cycles(cycles);
    lost_told_ = is_exit(at_);
  }

  // False: the decoder has got the rest of the header, and waiting_ is after it.
  bool count_atoms(const PHeader& header) {
    std::uint64_t atoms = header.atoms;
    std::uint32_t left = header.atom_count;
    cycles_ = header.first_cycles;
    other_cycles_ = header.other_cycles;
    if (!is_exit(at_)) lost_told_ = false;
    if (this->take(atoms, left) == flow::Turn::kOn) [[likely]] {
      // Not earlier: harvested counts cannot be taken back.
      spend();
      return true;
    }
    decoder_.finish_header(index_of(waiting_++), header, header.atom_count - left);
    host_.flush();
    return false;
  }

  // A branch packet states the place.
  void go_to(std::uint32_t address, isa::Isa isa) {
    decoder_.packet_isa_ = isa;
    const bool from_exit = is_exit(at_);
    // No instruction has come after the last branch.
    if (!from_exit) this->take_back_way();
    const Place to = from_exit ? this->way_to(at_, address, isa) : find(address, isa, 0);
    if (to == 0) {
      if (from_exit) counter_.open_branch(at_);
      hand_over(address, isa, 0);
      return;
    }
    at_ = to;
    if (!from_exit) way_ = counter_.close_branch(address, isa);
  }

  // The decoder gets the position; what is open is closed by what is observed.
  void leave() {
    if (at_ == 0) return;
    this->take_back_way();
    const count::Range& range = counter_.node(at_).range;
    const bool lost = is_exit(at_);
    if (lost) counter_.open_branch(at_);
    hand_over(static_cast<std::uint32_t>(lost ? range.end : range.start), range.isa, 0);
    if (!lost) return;
    path_.lose();
    decoder_.sent_unknown_ = lost_told_;
  }
  void hand_over(std::uint64_t address, isa::Isa isa, std::uint8_t /*it*/) {
    path_.go_to(static_cast<std::uint32_t>(address), isa);
    decoder_.sent_unknown_ = false;
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
  bool lost_told_ = false;  ///< As DecoderState::sent_unknown_, at an exit.
};

}  // namespace waymark::etmv3
