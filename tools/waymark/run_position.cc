#include "run_position.h"

#include <algorithm>

#include "waymark/outputs/readable_name.h"

namespace waymark::cli {
namespace {

outputs::DifferenceFrame frame_at(const program::Place& place, std::uint64_t address) {
  outputs::DifferenceFrame frame{.address = address};
  const program::Function* const function =
      place.program == nullptr ? nullptr : place.program->function(place.address);
  if (function == nullptr) return frame;
  frame.function = outputs::readable_name(function->name);
  frame.offset = place.address - function->start;
  std::vector<program::Frame> frames;
  place.program->frames(place.address, frames);
  if (!frames.empty() && frames.front().line != 0) {
    frame.file = frames.front().file;
    frame.line = frames.front().line;
  }
  return frame;
}

}  // namespace

void RunPositions::add(const diff::Comparison& comparison, const diff::Divergence& divergence,
                       diff::Side side, diff::ThreadNumber thread,
                       outputs::DifferencePlace& place) {
  const diff::Position& at = divergence.at[side];
  const bool in_step =
      divergence.left && at.block != diff::kNoBlock && divergence.cause != diff::Cause::kEnd;
  if (!in_step) {
    // The step before decided it.
    if (at.step == 0) return;
    const std::uint64_t size =
        at.before == diff::kNoBlock ? 0 : comparison.blocks()[at.before].places[side].size;
    wanted_.emplace(Key{thread, at.step - 1}, Wanted{.size = size, .place = &place});
    return;
  }
  const diff::Block& block = comparison.blocks()[at.block];
  Wanted wanted{.size = block.places[side].size, .place = &place};
  const diff::BlockNumber other = divergence.at[1 - side].block;
  if (other != diff::kNoBlock) {
    const diff::Block& shorter = comparison.blocks()[other];
    if (shorter.start == block.start)
      wanted.size = std::min(wanted.size, shorter.places[1 - side].size);
  }
  if (block.leave == diff::Leave::kException) {
    wanted.exception = block.exception;
    wanted.takes_exception = true;
  }
  wanted_.emplace(Key{thread, at.step}, wanted);
}

void RunPositions::begin(diff::Threads& threads, stacks::Engine& engine,
                         const outputs::PlaceLookup& places, ExceptionName exception_name) {
  threads_ = &threads;
  engine_ = &engine;
  places_ = &places;
  exception_name_ = std::move(exception_name);
}

void RunPositions::observe(std::span<const Element> elements) {
  for (const Element& element : elements) {
    completed_ = false;
    const bool is_range = element.kind == ElementKind::kInstrRange;
    if (is_range) engine_->observe({&element, 1});
    threads_->observe({&element, 1}, *this);
    if (!is_range) engine_->observe({&element, 1});
    if (wanted_.empty()) return;
  }
}

void RunPositions::finish() { threads_->finish(*this); }

void RunPositions::on_thread(diff::ThreadNumber thread, const Element& /*element*/) {
  if (steps_.size() <= thread) steps_.resize(std::size_t{thread} + 1);
}

void RunPositions::on_step(diff::ThreadNumber thread, const diff::Step& step, TaskId /*space*/,
                           const Element& at) {
  completed_ = true;
  take(thread, step, at);
  ++steps_[thread];
}

void RunPositions::on_range(diff::ThreadNumber thread, const Element& element) {
  if (!completed_) take(thread, threads_->now(thread), element);
}

/// The wanted result of the step, as far as it is executed.
void RunPositions::take(diff::ThreadNumber thread, const diff::Step& step, const Element& at) {
  const auto [first, last] = wanted_.equal_range(Key{thread, steps_[thread]});
  for (auto each = first; each != last;) {
    const bool reached = completed_ || step.end - step.start >= each->second.size;
    if (reached) fill(each->second, step, at);
    each = reached ? wanted_.erase(each) : std::next(each);
  }
}

void RunPositions::fill(const Wanted& wanted, const diff::Step& step, const Element& at) {
  outputs::DifferencePlace& place = *wanted.place;
  place.found = true;
  place.index = at.index;
  if (wanted.takes_exception) place.exception = exception_name_(at.trace_id, wanted.exception);
  std::uint64_t address = step.end - (step.end == step.start ? 0 : step.last_size);
  const auto frames = engine_->stack(at.trace_id);
  constexpr std::size_t kMostFrames = 100;
  const auto named = [&](std::uint64_t where) {
    return frame_at(where != 0 && *places_ ? (*places_)(at, where) : program::Place(), where);
  };
  place.stack.push_back(named(address));
  for (std::size_t i = frames.size(); i-- > 1 && place.stack.size() < kMostFrames;) {
    const stacks::Code& code = engine_->tree().code(frames[i].code);
    if (code.kind == stacks::CodeKind::kException)
      place.stack.push_back({.function = stacks::name_of(code)});
    address = frames[i].call_address;
    outputs::DifferenceFrame caller = named(address);
    if (caller.function.empty()) {
      const stacks::Code& below = engine_->tree().code(frames[i - 1].code);
      if (below.kind == stacks::CodeKind::kException) continue;
      if (below.kind == stacks::CodeKind::kFunction)
        caller.function = outputs::readable_name(below.name);
    }
    place.stack.push_back(std::move(caller));
  }
}

}  // namespace waymark::cli
