// An engine that plays what a recorder gave does what one does that sees the elements.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waymark/stacks/engine.h"
#include "waymark/stacks/recorder.h"

namespace waymark::support {

/// The records that an engine gives its sink.
class SinkRecord final : public stacks::Sink {
 public:
  struct Event {
    char kind = 0;
    std::array<std::uint64_t, 4> numbers{};
    friend bool operator==(const Event&, const Event&) = default;
  };
  std::vector<Event> events;
  std::vector<stacks::CodeId> codes;  ///< The code that was entered.

  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override {
    events.push_back({'t', {track, source, thread}});
  }
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override {
    events.push_back({'s', {source, track, position}});
  }
  void on_enter(stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                stacks::Opening opening) override {
    events.push_back({'e', {track, position, static_cast<std::uint64_t>(opening)}});
    codes.push_back(code);
  }
  void on_leave(stacks::TrackId track, std::uint64_t position) override {
    events.push_back({'l', {track, position}});
  }
  void on_instant(stacks::TrackId track, std::uint64_t position, stacks::Instant what) override {
    events.push_back({'i', {track, position, static_cast<std::uint64_t>(what)}});
  }
  void on_gap(TraceId source, std::uint64_t position) override {
    events.push_back({'g', {source, position}});
  }
  void on_timestamp(TraceId source, std::uint64_t position, std::uint64_t time) override {
    events.push_back({'T', {source, position, time}});
  }
  void on_cycles(TraceId source, std::uint64_t position, std::uint64_t cycles) override {
    events.push_back({'c', {source, position, cycles}});
  }
};

/// Both engines, side by side.  With `times`, both have a sink.
class RecordChecker {
 public:
  explicit RecordChecker(const stacks::Options& options, bool times = false)
      : places_(options.places),
        owner_(options.owner),
        times_(times),
        seen_(with_sink(options, times ? &seen_events_ : nullptr)),
        played_(std::make_unique<stacks::Engine>(
            with_sink(options, times ? &played_events_ : nullptr))) {}

  void set_source(TraceId id, const stacks::SourceFacts& facts) {
    sources_.emplace_back(id, facts);
    seen_.set_source(id, facts);
    played_->set_source(id, facts);
  }

  /// The next elements, as a slice: the recorder knows nothing of those before.  `through`: what
  /// becomes of the steps on the way.
  template <class Through>
  void observe(std::span<const Element> elements, Through&& through) {
    seen_.observe(elements);
    std::vector<stacks::Step> steps;
    stacks::Recorder recorder(
        places_, [&](const stacks::Step& step) { steps.push_back(step); }, times_);
    for (const auto& [id, facts] : sources_) recorder.set_source(id, facts);
    if (owner_) recorder.set_owners([this](const Element& range) { return owner_(range).until; });
    recorder.observe(elements);
    recorder.finish();
    elements_ += elements.size();
    steps_ += steps.size();
    steps = through(std::move(steps));
    // Input of a sink cannot be taken back.
    auto trial = played_->copy();
    if (!plays(*trial, steps)) {
      ++refused_;
      played_->observe(elements);
    } else if (times_) {
      plays_twice_ = plays_twice_ && plays(*played_, steps);
    } else {
      played_ = std::move(trial);
    }
  }
  void observe(std::span<const Element> elements) {
    observe(elements, [](std::vector<stacks::Step> steps) { return steps; });
  }

  /// Nothing more comes.  What is wrong, or an empty text.
  std::string finish() {
    seen_.finish();
    played_->finish();
    if (!plays_twice_) return "a copy of the engine plays what the engine does not";
    const stacks::Tree& one = seen_.tree();
    const stacks::Tree& other = played_->tree();
    if (one.nodes().size() != other.nodes().size()) return "the trees have other nodes";
    for (stacks::NodeId id = 0; id < one.nodes().size(); ++id) {
      const stacks::Node& a = one.node(id);
      const stacks::Node& b = other.node(id);
      if (a.parent != b.parent || name_of(one.code(a.code)) != name_of(other.code(b.code)))
        return "a node is another one";
      if (a.instructions != b.instructions) return "a node has other instructions";
      if (a.cycles != b.cycles) return "a node has other cycles";
      if (a.calls != b.calls) return "a node has other calls";
    }
    for (unsigned id = 0; id < 256; ++id)
      if (seen_.quality(static_cast<TraceId>(id)) != played_->quality(static_cast<TraceId>(id)))
        return "something is counted otherwise";
    if (seen_.lacks_contexts() != played_->lacks_contexts()) return "contexts are lacking once";
    return compare_events();
  }

  [[nodiscard]] std::size_t elements() const { return elements_; }
  [[nodiscard]] std::size_t steps() const { return steps_; }
  /// How many events the sinks were given.
  [[nodiscard]] std::size_t events() const { return seen_events_.events.size(); }
  /// How many slices had a run that did not stay where it was.
  [[nodiscard]] std::size_t refused() const { return refused_; }

 private:
  static stacks::Options with_sink(stacks::Options options, stacks::Sink* sink) {
    options.sink = sink;
    return options;
  }

  static bool plays(stacks::Engine& engine, std::span<const stacks::Step> steps) {
    return std::ranges::all_of(steps, [&](const stacks::Step& step) { return engine.play(step); });
  }

  std::string compare_events() {
    if (seen_events_.events != played_events_.events) return "the sinks were given other events";
    for (std::size_t i = 0; i < seen_events_.codes.size(); ++i) {
      if (name_of(seen_.tree().code(seen_events_.codes[i])) !=
          name_of(played_->tree().code(played_events_.codes[i])))
        return "other code is entered";
    }
    return {};
  }

  program::PlaceLookup places_;
  std::function<stacks::Owner(const Element& element)> owner_;
  bool times_;
  SinkRecord seen_events_;
  SinkRecord played_events_;
  stacks::Engine seen_;
  std::unique_ptr<stacks::Engine> played_;
  std::vector<std::pair<TraceId, stacks::SourceFacts>> sources_;
  std::size_t elements_ = 0;
  std::size_t steps_ = 0;
  std::size_t refused_ = 0;
  bool plays_twice_ = true;
};

}  // namespace waymark::support
