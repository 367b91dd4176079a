#include "step_stops.h"

namespace waymark::view {

using Seen = StackWatch::Seen;

void StepStops::begin(const Element& element) {
  if (kind_ != StepKind::kSameLine) return;
  // A frame that has called another one is where it called.
  for (StackWatch::Stack& stack : watch_.stacks()) {
    if (stack.source != origin_.instant.source) continue;
    for (std::size_t i = 0; i + 1 < stack.frames.size(); ++i) {
      const std::uint64_t address = stack.frames[i + 1].call_address;
      if (address == 0) continue;
      const bool there = origin_.line == kNoLine ? address == origin_.address
                                                 : lines_.line_of(element, address) == origin_.line;
      if (there) stack.frames[i].mark = Seen::kThere;
    }
  }
}

void StepStops::enter(TraceId source, std::uint64_t position, bool is_call) {
  if (kind_ == StepKind::kInto && is_call && source == origin_.instant.source)
    calls_.push_back(position);
}

StackWatch::Frame& StepStops::frame() {
  StackWatch::Stack* const stack = watch_.running(origin_.instant.source);
  if (stack == nullptr) return no_frame_;
  return stack->frames.empty() ? stack->below : stack->frames.back();
}

void StepStops::pass(const Element& element, std::uint64_t n, const Found& found) {
  if (element.kind == ElementKind::kException) after_exception_ = true;
  if (is_range(element)) pass_range(element, n, found);
}

void StepStops::pass_range(const Element& range, std::uint64_t n, const Found& found) {
  switch (kind_) {
    case StepKind::kInstruction:
      for (std::uint32_t i = 0; i < range.count; ++i) found(n + i);
      break;
    case StepKind::kLine:
      pass_lines(range, n, found);
      break;
    case StepKind::kOver:
    case StepKind::kOut:
      pass_depth(range, n, found);
      break;
    case StepKind::kInto:
      // Several frames may be entered at once, by an exception for instance.
      if (!calls_.empty()) found(n);
      break;
    case StepKind::kSameLine:
      if (origin_.line == kNoLine) {
        pass_same_address(range, n, found);
      } else {
        pass_same_line(range, n, found);
      }
      break;
    case StepKind::kException:
      if (after_exception_) found(n);
      break;
    case StepKind::kMessage:
      break;
  }
  calls_.clear();
  after_exception_ = false;
}

void StepStops::pass_depth(const Element& range, std::uint64_t n, const Found& found) {
  const StackWatch::Stack* const stack = watch_.running(range.trace_id);
  if (stack == nullptr || watch_.running_track(range.trace_id) != origin_.track) return;
  const std::size_t depth = stack->frames.size();
  if (kind_ == StepKind::kOut ? depth >= origin_.depth : depth > origin_.depth) return;
  for (std::uint32_t i = 0; i < range.count; ++i) found(n + i);
}

void StepStops::pass_lines(const Element& range, std::uint64_t n, const Found& found) {
  for (const LineRun& run : lines_.of(range)) {
    if (run.line == kNoLine || run.line == last_line_) continue;
    last_line_ = run.line;
    found(n + run.first);
  }
}

void StepStops::pass_same_line(const Element& range, std::uint64_t n, const Found& found) {
  StackWatch::Frame& top = frame();
  for (const LineRun& run : lines_.of(range)) {
    if (run.line != origin_.line) {
      if (run.line != kNoLine && top.mark == Seen::kThere) top.mark = Seen::kLeft;
      continue;
    }
    if (top.mark != Seen::kThere) found(n + run.first);
    top.mark = Seen::kThere;
  }
}

void StepStops::pass_same_address(const Element& range, std::uint64_t n, const Found& found) {
  StackWatch::Frame& top = frame();
  const auto number = walk_.number(range, origin_.address);
  if (!number || walk_.address(range, *number) != origin_.address) {
    if (top.mark == Seen::kThere) top.mark = Seen::kLeft;
    return;
  }
  if (*number != 0 && top.mark == Seen::kThere) top.mark = Seen::kLeft;
  if (top.mark != Seen::kThere) found(n + *number);
  top.mark = *number + 1 == range.count ? Seen::kThere : Seen::kLeft;
}

}  // namespace waymark::view
