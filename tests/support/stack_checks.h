// Rules that must hold for call stacks, whatever the elements are.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waymark/stacks/engine.h"
#include "waymark/stacks/timeline.h"

namespace waymark::support {

/// The first thing that is wrong.
class Fault {
 public:
  void set(const char* what) {
    if (text_.empty()) text_ = what;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Times of a track never go back, and its slices nest.
class SliceChecker final : public stacks::TimedSink {
 public:
  explicit SliceChecker(Fault& fault) : fault_(fault) {}
  void on_unit(stacks::TimeUnit /*unit*/) override {
    if (has_unit_) fault_.set("a timeline has two units");
    has_unit_ = true;
  }
  void on_track(stacks::TrackId /*track*/, TraceId /*source*/, std::uint64_t /*thread*/) override {}
  void on_enter(stacks::TrackId track, std::uint64_t time, stacks::CodeId /*code*/,
                stacks::Opening /*opening*/) override {
    at(track, time);
    ++depth_[track];
  }
  void on_leave(stacks::TrackId track, std::uint64_t time) override {
    at(track, time);
    if (--depth_[track] < 0) fault_.set("a slice ends that never began");
  }
  void on_instant(stacks::TrackId track, std::uint64_t time, stacks::Instant /*what*/) override {
    at(track, time);
  }
  void finish() {
    for (const auto& [track, depth] : depth_)
      if (depth != 0) fault_.set("a slice is open at the end");
  }

 private:
  void at(stacks::TrackId track, std::uint64_t time) {
    if (!has_unit_) fault_.set("an event comes before the unit");
    if (time < time_[track]) fault_.set("times go back");
    time_[track] = time;
  }

  Fault& fault_;
  bool has_unit_ = false;
  std::map<stacks::TrackId, std::int64_t> depth_;
  std::map<stacks::TrackId, std::uint64_t> time_;
};

/// Follows elements, and finds what is wrong.
class StackChecker final : private stacks::Sink {
 public:
  /// The sink of `options` is set here.  `choice` is the unit of the timeline.
  StackChecker(stacks::Options options, stacks::Timeline::Choice choice)
      : most_frames_(options.most_frames),
        most_nodes_(options.most_nodes),
        slices_(fault_),
        timeline_(slices_, {.unit = choice}) {
    options.sink = this;
    engine_ = std::make_unique<stacks::Engine>(std::move(options));
  }

  void observe(std::span<const Element> elements) {
    for (const Element& element : elements)
      if (element.kind == ElementKind::kInstrRange) instructions_ += element.count;
    engine_->observe(elements);
  }

  stacks::Engine& engine() { return *engine_; }

  /// Nothing more comes.  What is wrong, or an empty text.
  std::string finish() {
    engine_->finish();
    timeline_.finish();
    slices_.finish();
    const stacks::Tree& tree = engine_->tree();
    if (tree.whole().instructions != instructions_) fault_.set("the tree has other instructions");
    if (engine_->quality().instructions != instructions_)
      fault_.set("other instructions are counted");
    if (tree.nodes().size() > most_nodes_) fault_.set("the tree has too many nodes");
    if (tree.inclusive().front().instructions != instructions_) fault_.set("sums differ");
    for (stacks::NodeId id = 1; id < tree.nodes().size(); ++id)
      if (tree.node(id).parent >= id) fault_.set("a node comes before its parent");
    for (const auto& [track, depth] : depth_)
      if (depth != 0) fault_.set("a frame is open at the end");
    return fault_.text();
  }

 private:
  void at(TraceId source, std::uint64_t position) {
    if (position < position_[source]) fault_.set("positions go back");
    position_[source] = position;
  }

  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override {
    source_[track] = source;
    timeline_.on_track(track, source, thread);
  }
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override {
    at(source, position);
    timeline_.on_switch(source, track, position);
  }
  void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override {
    at(source_[track], position);
    if (++depth_[track] > static_cast<std::int64_t>(most_frames_))
      fault_.set("a stack is too deep");
    timeline_.on_enter(track, position, code, opening);
  }
  void on_leave(stacks::TrackId track, std::uint64_t position) override {
    at(source_[track], position);
    if (--depth_[track] < 0) fault_.set("a frame ends that never began");
    timeline_.on_leave(track, position);
  }
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override {
    at(source_[track], position);
    timeline_.on_instant(track, position, what);
  }
  void on_gap(TraceId source, std::uint64_t position) override {
    at(source, position);
    timeline_.on_gap(source, position);
  }
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override {
    at(source, position);
    timeline_.on_timestamp(source, position, time);
  }
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override {
    at(source, position);
    timeline_.on_cycles(source, position, cycles);
  }

  std::size_t most_frames_;
  std::size_t most_nodes_;
  Fault fault_;
  SliceChecker slices_;
  stacks::Timeline timeline_;
  std::unique_ptr<stacks::Engine> engine_;
  std::uint64_t instructions_ = 0;
  std::map<stacks::TrackId, TraceId> source_;
  std::map<stacks::TrackId, std::int64_t> depth_;
  std::array<std::uint64_t, 256> position_{};
};

/// Reads elements from any bytes, 8 for each.  They are about few addresses, so that calls and
/// returns often meet.
inline std::vector<Element> elements_of(Bytes bytes) {
  constexpr ElementKind kKinds[] = {
      ElementKind::kInstrRange, ElementKind::kInstrRange,       ElementKind::kInstrRange,
      ElementKind::kInstrRange, ElementKind::kInstrRange,       ElementKind::kException,
      ElementKind::kTraceOn,    ElementKind::kExceptionReturn,  ElementKind::kPeContext,
      ElementKind::kTimestamp,  ElementKind::kCycleCount,       ElementKind::kAddrNacc,
      ElementKind::kNoSync,     ElementKind::kInstrRangeNoPath, ElementKind::kEndOfTrace,
      ElementKind::kEvent};
  std::vector<Element> elements;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    Element element;
    element.kind = kKinds[bytes[0] & 15];
    element.trace_id = bytes[0] >> 6;
    element.start = 0x1000 + 4 * (bytes[1] + 256 * std::uint64_t{bytes[2] & 3U});
    element.count = bytes[3] & 15;
    element.end = element.start + 4 * std::uint64_t{element.count};
    element.last_size = 4;
    element.last_type = static_cast<isa::InstrType>(bytes[4] & 7);
    element.last_subtype = static_cast<isa::InstrSubtype>(bytes[4] >> 3 & 7);
    element.isa = (bytes[4] & 64) != 0 ? isa::Isa::kT32 : isa::Isa::kA64;
    element.flags = static_cast<std::uint16_t>(bytes[5] | (bytes[6] & 15) << 8);
    element.reason = bytes[6] >> 4 & 3;
    element.exception_level = bytes[6] >> 6;
    element.context_id = bytes[7] & 3;
    if (element.kind == ElementKind::kException) {
      element.number = bytes[3] & 15;
      element.end = element.start;
    } else if (element.kind == ElementKind::kTimestamp) {
      element.timestamp = bytes[1] + 256 * std::uint64_t{bytes[7]};
    }
    element.cycle_count = bytes[3];
    elements.push_back(element);
  }
  return elements;
}

/// Functions of 0x40 bytes from 0x1000 on, some without a name.
inline std::shared_ptr<const program::Program> few_functions() {
  std::vector<program::Function> functions;
  constexpr const char* kNames[] = {"_start", "f",         "f.cold",     "g",
                                    "h@plt",  "h",         "vector",     "cpu_switch_to",
                                    nullptr,  "schedule",  "__h_veneer", "longjmp",
                                    nullptr,  "on_signal", "tail",       "last"};
  for (std::size_t i = 0; i < 64; ++i) {
    const char* const name = kNames[i % std::size(kNames)];
    if (name == nullptr) continue;
    const std::uint64_t start = 0x1000 + 0x40 * i;
    functions.push_back({start, start + 0x3F, name + std::to_string(i / std::size(kNames))});
    if (i < std::size(kNames)) functions.back().name = name;
  }
  return program::Program::of(std::move(functions), "/bin/test");
}

}  // namespace waymark::support
