#include "waymark/parallel/counting.h"

#include <algorithm>
#include <utility>

namespace waymark::parallel {

class CountingConsumer::Counted final : public Piece {
 public:
  explicit Counted(CountingConsumer& consumer) : consumer_(consumer) {}

  void on_elements(std::span<const Element> /*elements*/) override {}

  void drain(DecodeTree& tree, TraceIndex end, std::span<Element> /*batch*/) override {
    if (tree_ == nullptr) {
      tree_ = &tree;
      counters_ = &consumer_.counters_of(tree);
      for (auto& [source, counter] : *counters_) counter.begin_part();
    }
    tree.work([this](Source& source) { source.count(counters_->at(&source)); });
    end_at = end;
  }

  void end() override {
    if (tree_ == nullptr) return;
    for (const Source* source : tree_->sources())
      parts.push_back(counters_->at(source).take_part());
  }

  std::vector<count::Part> parts;  ///< In the order of the sources.
  TraceIndex end_at = 0;

 private:
  CountingConsumer& consumer_;
  const DecodeTree* tree_ = nullptr;
  Counters* counters_ = nullptr;
};

CountingConsumer::CountingConsumer(DecodeTree& tree, std::function<bool(TraceIndex)> taken)
    : taken_(std::move(taken)) {
  for (const Source* source : tree.sources()) sources_.push_back(source);
  stitchers_.resize(sources_.size());
}

void CountingConsumer::set_tasks(const image::ImageSelector* selector,
                                 count::Counter::TaskFilter filter) {
  selector_ = selector;
  filter_ = std::move(filter);
}

std::unique_ptr<Piece> CountingConsumer::begin() { return std::make_unique<Counted>(*this); }

bool CountingConsumer::take(std::unique_ptr<Piece> piece) {
  auto& counted = static_cast<Counted&>(*piece);
  for (std::size_t i = 0; i < counted.parts.size(); ++i)
    stitchers_[i].add(std::move(counted.parts[i]));
  return !taken_ || taken_(counted.end_at);
}

std::vector<count::Part> CountingConsumer::take_parts(Piece& piece) {
  return std::move(static_cast<Counted&>(piece).parts);
}

count::Counts CountingConsumer::take_counts(const Source& source) {
  const auto at = std::ranges::find(sources_, &source);
  if (at == sources_.end()) return {};
  count::Counts counts = stitchers_[static_cast<std::size_t>(at - sources_.begin())].take();
  if (filter_) counts.keep(filter_);
  return counts;
}

CountingConsumer::Counters& CountingConsumer::counters_of(const DecodeTree& tree) {
  const std::lock_guard lock(mutex_);
  Counters& counters = counters_[&tree];
  for (const Source* source : tree.sources()) {
    const auto [at, inserted] = counters.try_emplace(source);
    if (!inserted) continue;
    at->second.set_tasks(selector_, filter_);
    at->second.set_targets(find_target_);
  }
  return counters;
}

}  // namespace waymark::parallel
