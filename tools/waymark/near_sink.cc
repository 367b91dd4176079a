#include "near_sink.h"

#include <utility>

namespace waymark::cli {

NearSink::NearSink(std::unique_ptr<Sink> next, std::uint64_t before, TraceIndex place,
                   std::uint64_t after)
    : next_(std::move(next)), wanted_before_(before), place_(place), wanted_after_(after) {}

const Element* NearSink::element_of(const Record& record) {
  if (const auto* const element = std::get_if<Element>(&record.what)) return element;
  const auto* const timed = std::get_if<merge::TimedRecord>(&record.what);
  return timed == nullptr || timed->is_damage ? nullptr : &timed->element;
}

std::uint64_t NearSink::instructions_of(const Record& record) {
  const Element* const element = element_of(record);
  const bool range = element != nullptr && (element->kind == ElementKind::kInstrRange ||
                                            element->kind == ElementKind::kInstrRangeNoPath);
  return range ? element->count : 0;
}

void NearSink::add(std::span<const Element> elements) {
  for (const Element& element : elements) keep({element, count_++}, element.index);
}

void NearSink::add(const Diagnostic& record) { keep({record, count_++}, record.index); }

void NearSink::add(const merge::TimedRecord& record) {
  keep({record, count_++}, record.is_damage ? record.damage.index : record.element.index);
}

void NearSink::keep(const Record& record, TraceIndex index) {
  const std::uint64_t instructions = instructions_of(record);
  if (place_ != kNoIndex && index != kNoIndex && index >= place_) {
    if (enough() || after_.size() > wanted_after_ + kMostOthers) {
      if (completing_.size() < kMostCompleting) completing_.push_back(record);
      return;
    }
    instructions_after_ += instructions;
    after_.push_back(record);
    return;
  }
  instructions_before_ += instructions;
  if (instructions != 0) ++blocks_before_;
  before_.push_back(record);
  while (instructions_before_ - instructions_of(before_.front()) >= wanted_before_ ||
         before_.size() - blocks_before_ > kMostOthers) {
    drop_first();
  }
}

void NearSink::drop_first() {
  const Record& first = before_.front();
  const std::uint64_t instructions = instructions_of(first);
  instructions_before_ -= instructions;
  if (instructions != 0) --blocks_before_;
  const Element* const element = element_of(first);
  if (element != nullptr && element->kind == ElementKind::kPeContext &&
      element->trace_id < kTraceIdCount) {
    contexts_[element->trace_id].emplace(first);
  }
  before_.pop_front();
}

void NearSink::pass(const Record& record) {
  if (const auto* const element = std::get_if<Element>(&record.what)) {
    next_->add(std::span(element, 1));
  } else if (const auto* const damage = std::get_if<Diagnostic>(&record.what)) {
    next_->add(*damage);
  } else {
    next_->add(std::get<merge::TimedRecord>(record.what));
  }
}

void NearSink::finish() {
  // Only sources of which something is shown, and only where a context does not come first.
  std::array<bool, kTraceIdCount> met{};
  const auto meet = [&](const Record& record) {
    const Element* const element = element_of(record);
    if (element == nullptr || element->trace_id >= kTraceIdCount ||
        std::exchange(met[element->trace_id], true)) {
      return;
    }
    const auto& context = contexts_[element->trace_id];
    if (context && element->kind != ElementKind::kPeContext) pass(*context);
  };
  for (const Record& record : before_) meet(record);
  for (const Record& record : after_) meet(record);
  auto before = before_.cbegin();
  for (const Record& record : after_) {
    for (; before != before_.cend() && before->number < record.number; ++before) pass(*before);
    pass(record);
  }
  for (; before != before_.cend(); ++before) pass(*before);
  next_->end_here();
  for (const Record& record : completing_) pass(record);
  next_->finish();
}

}  // namespace waymark::cli
