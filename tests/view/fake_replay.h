// A replay of elements in memory, for tests of answers.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "waymark/stacks/engine.h"
#include "waymark/view/replay.h"

namespace waymark::view {

/// Passes what happens on stacks on from some place on, and first what is open there.
class LateSink final : public stacks::Sink {
 public:
  void start(stacks::Sink* sink) {
    sink_ = sink;
    if (sink_ == nullptr) return;
    for (std::size_t id = 0; id < tracks_.size(); ++id)
      sink_->on_track(static_cast<stacks::TrackId>(id), tracks_[id].source, tracks_[id].thread);
    for (const auto& [source, track] : running_)
      sink_->on_switch(source, track, positions_[source]);
    for (std::size_t id = 0; id < tracks_.size(); ++id)
      for (const auto& [code, opening] : tracks_[id].open)
        sink_->on_enter(static_cast<stacks::TrackId>(id), positions_[tracks_[id].source], code,
                        opening);
  }
  void reach(TraceId source, std::uint64_t position) { positions_[source] = position; }

  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override {
    tracks_.resize(track + std::size_t{1});
    tracks_[track].source = source;
    tracks_[track].thread = thread;
    if (sink_ != nullptr) sink_->on_track(track, source, thread);
  }
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override {
    running_[source] = track;
    if (sink_ != nullptr) sink_->on_switch(source, track, position);
  }
  void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override {
    tracks_[track].open.emplace_back(code, opening);
    if (sink_ != nullptr) sink_->on_enter(track, position, code, opening);
  }
  void on_leave(stacks::TrackId track, std::uint64_t position) override {
    tracks_[track].open.pop_back();
    if (sink_ != nullptr) sink_->on_leave(track, position);
  }
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override {
    if (sink_ != nullptr) sink_->on_instant(track, position, what);
  }
  void on_gap(TraceId source, std::uint64_t position) override {
    if (sink_ != nullptr) sink_->on_gap(source, position);
  }
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override {
    if (sink_ != nullptr) sink_->on_timestamp(source, position, time);
  }
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override {
    if (sink_ != nullptr) sink_->on_cycles(source, position, cycles);
  }

 private:
  struct Track {
    TraceId source = 0;
    std::uint64_t thread = 0;
    std::vector<std::pair<stacks::CodeId, stacks::Opening>> open{};
  };
  stacks::Sink* sink_ = nullptr;
  std::vector<Track> tracks_;
  std::map<TraceId, stacks::TrackId> running_;
  std::map<TraceId, std::uint64_t> positions_;
};

/// The axis has kScale for each instruction of a source; keyframes are this many elements apart.
class FakeReplay final : public Replay {
 public:
  static constexpr double kScale = 2.5;

  FakeReplay(std::vector<Element> elements, stacks::Options options,
             std::function<void(stacks::Engine&)> prepare = {}, std::size_t keyframes = 100)
      : elements_(std::move(elements)),
        options_(std::move(options)),
        prepare_(std::move(prepare)),
        keyframes_(keyframes) {
    std::map<TraceId, std::uint64_t> counts;
    for (const Element& element : elements_) {
      numbers_.push_back(counts[element.trace_id]);
      counts[element.trace_id] += instructions(element);
    }
    totals_ = counts;
  }

  [[nodiscard]] std::uint64_t total(TraceId source) const {
    const auto at = totals_.find(source);
    return at == totals_.end() ? 0 : at->second;
  }
  [[nodiscard]] double length() const {
    std::uint64_t most = 0;
    for (const auto& [source, total] : totals_) most = std::max(most, total);
    return static_cast<double>(most) * kScale;
  }
  [[nodiscard]] const std::vector<Element>& elements() const { return elements_; }
  [[nodiscard]] std::uint64_t number(std::size_t element) const { return numbers_[element]; }
  std::size_t runs = 0;

  Result<void> run(const ReplayRange& range, const Take& take, const Stop& stop) override {
    ++runs;
    LateSink late;
    stacks::Options options = options_;
    options.sink = &late;
    engine_ = std::make_unique<stacks::Engine>(std::move(options));
    if (prepare_) prepare_(*engine_);
    passed_.clear();
    const std::size_t begin = first_element(range) / keyframes_ * keyframes_;
    const std::size_t end = range.to ? end_element(*range.to) : elements_.size();
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      const Element& element = elements_[i];
      if (i == begin) late.start(range.sink);
      if (i >= begin) {
        if (stop && stop()) return fail(ErrorCode::kLimit, "Stopped.");
        if (i >= end) break;
        passed_[element.trace_id] = numbers_[i] + instructions(element);
        if (!take(element, numbers_[i])) break;
      }
      engine_->observe({&element, 1});
      late.reach(element.trace_id, numbers_[i] + instructions(element));
    }
    return {};
  }
  [[nodiscard]] const stacks::Engine& engine() const override { return *engine_; }
  [[nodiscard]] double axis(TraceId /*source*/, std::uint64_t n) const override {
    return static_cast<double>(n) * kScale;
  }
  [[nodiscard]] std::optional<std::uint64_t> last_at(TraceId source, double at) const override {
    const auto passed = passed_.find(source);
    if (passed == passed_.end() || passed->second == 0 || at < 0) return std::nullopt;
    return std::min(static_cast<std::uint64_t>(at / kScale), passed->second - 1);
  }

 private:
  static std::uint64_t instructions(const Element& element) {
    return element.kind == ElementKind::kInstrRange ? element.count : 0;
  }
  [[nodiscard]] std::size_t first_element(const ReplayRange& range) const {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      const std::uint64_t after = numbers_[i] + instructions(elements_[i]);
      if (range.from_instant) {
        if (elements_[i].trace_id == range.from_instant->source && after > range.from_instant->n)
          return i;
      } else if (instructions(elements_[i]) != 0 && axis(0, after) >= range.from) {
        return i;
      }
    }
    return elements_.empty() ? 0 : elements_.size() - 1;
  }
  /// After the first element of each source that is after a place.
  [[nodiscard]] std::size_t end_element(double to) const {
    std::map<TraceId, bool> after;
    std::size_t open = 0;
    for (const auto& [source, total] : totals_) open += total != 0 ? 1 : 0;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      if (instructions(elements_[i]) == 0 || axis(0, numbers_[i]) <= to) continue;
      if (!std::exchange(after[elements_[i].trace_id], true) && --open == 0) return i + 1;
    }
    return elements_.size();
  }

  std::vector<Element> elements_;
  stacks::Options options_;
  std::function<void(stacks::Engine&)> prepare_;
  std::size_t keyframes_;
  std::vector<std::uint64_t> numbers_;  ///< By element: the instructions before it.
  std::map<TraceId, std::uint64_t> totals_;
  std::map<TraceId, std::uint64_t> passed_;
  std::unique_ptr<stacks::Engine> engine_;
};

}  // namespace waymark::view
