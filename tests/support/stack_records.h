// An engine that plays what a recorder gave does what one does that sees the elements.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waymark/stacks/engine.h"
#include "waymark/stacks/recorder.h"

namespace waymark::support {

/// Both engines, side by side.
class RecordChecker {
 public:
  explicit RecordChecker(const stacks::Options& options)
      : places_(options.places),
        seen_(options),
        played_(std::make_unique<stacks::Engine>(options)) {}

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
    stacks::Recorder recorder(places_, [&](const stacks::Step& step) { steps.push_back(step); });
    for (const auto& [id, facts] : sources_) recorder.set_source(id, facts);
    recorder.observe(elements);
    recorder.finish();
    elements_ += elements.size();
    steps_ += steps.size();
    auto before = played_->copy();
    for (const stacks::Step& step : through(std::move(steps))) {
      if (played_->play(step)) continue;
      ++refused_;
      played_ = std::move(before);
      played_->observe(elements);
      break;
    }
  }
  void observe(std::span<const Element> elements) {
    observe(elements, [](std::vector<stacks::Step> steps) { return steps; });
  }

  /// Nothing more comes.  What is wrong, or an empty text.
  std::string finish() {
    seen_.finish();
    played_->finish();
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
    return {};
  }

  [[nodiscard]] std::size_t elements() const { return elements_; }
  [[nodiscard]] std::size_t steps() const { return steps_; }
  /// How many slices had a run that did not stay where it was.
  [[nodiscard]] std::size_t refused() const { return refused_; }

 private:
  program::PlaceLookup places_;
  stacks::Engine seen_;
  std::unique_ptr<stacks::Engine> played_;
  std::vector<std::pair<TraceId, stacks::SourceFacts>> sources_;
  std::size_t elements_ = 0;
  std::size_t steps_ = 0;
  std::size_t refused_ = 0;
};

}  // namespace waymark::support
