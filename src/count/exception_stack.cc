#include "waymark/count/exception_stack.h"

namespace waymark::count {

void ExceptionStack::add(std::uint32_t number, const Moment& now, bool whole) {
  if (stack_.size() == kMostDepth) {
    ++dropped_;
    return;
  }
  stack_.push_back({.number = number,
                    .begin = now,
                    .depth = static_cast<unsigned>(stack_.size()),
                    .whole = whole});
}

void ExceptionStack::leave(const Moment& now, const Left& left) {
  const Handled handled = stack_.back();
  stack_.pop_back();
  if (!stack_.empty() && handled.whole && now.time >= handled.begin.time)
    stack_.back().preempted += now.time - handled.begin.time;
  left(handled, now);
}

bool ExceptionStack::leave_down_to(std::uint32_t number, bool with_it, const Moment& now,
                                   const Left& left) {
  std::size_t at = stack_.size();
  while (at != 0 && stack_[at - 1].number != number) --at;
  if (at == 0) return false;
  dropped_ = 0;
  while (stack_.size() > at) leave(now, left);
  if (with_it) leave(now, left);
  return true;
}

void ExceptionStack::exit(const Moment& now, const Left& left) {
  if (dropped_ != 0) {
    --dropped_;
  } else if (!stack_.empty()) {
    leave(now, left);
  }
}

void ExceptionStack::exit(std::uint32_t number, const Moment& now, const Left& left) {
  if (leave_down_to(number, true, now, left)) return;
  // It was entered before the trace.
  left({.number = number, .begin = now, .whole = false}, now);
}

void ExceptionStack::return_to(std::uint32_t number, const Moment& now, const Left& left) {
  if (number != 0 && leave_down_to(number, false, now, left)) return;
  dropped_ = 0;
  while (!stack_.empty()) leave(now, left);
  if (number != 0) add(number, now, false);
}

void ExceptionStack::lose(const Moment& now, const Left& left) {
  dropped_ = 0;
  while (!stack_.empty()) {
    stack_.back().whole = false;
    leave(now, left);
  }
}

}  // namespace waymark::count
