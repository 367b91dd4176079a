#include "waymark/diff/step.h"

#include <algorithm>

namespace waymark::diff {
namespace {

bool is_call(const Element& element) {
  return element.last_subtype == isa::InstrSubtype::kBranchLink;
}

}  // namespace

/// A branch was taken, and functions may be ignored.
void Stepper::note_branch(const Element& element) {
  held_ = leave_of(element);
  held_call_ = is_call(element);
  careful_ = true;
  if (held_call_) {
    if (calls_.size() == kMostDepth) calls_.erase(calls_.begin(), calls_.begin() + kMostDepth / 2);
    calls_.push_back(element.end);
  }
}

/// The held branch goes to an ignored function: it returns to where its caller, or the caller of
/// the function that jumped to it, goes on.
void Stepper::ignore_call() {
  held_.reset();
  // Without a known caller, everything up to the next gap is its work.
  const std::uint64_t back = calls_.empty() ? kNoAddress : calls_.back();
  careful_ = true;
  ignored_.push_back({.back = back});
  arrives_ = false;
}

void Stepper::interrupt(const Element& element) {
  if (ignored_.size() == kMostDepth) ignored_.erase(ignored_.begin() + 1);
  const bool stated = (element.flags & kElementReturnAddress) != 0;
  ignored_.push_back({.back = stated ? element.end : active_ ? now_.end : kNoAddress});
  careful_ = true;
  arrives_ = false;
}

/// A range that is left out.
void Stepper::pass(const Element& element) {
  arrives_ = takes_branch(element) && element.last_type == isa::InstrType::kIndirectBranch;
  if (takes_branch(element) && is_call(element) && element.end == ignored_.back().back)
    ++ignored_.back().calls;
}

/// Whether execution is back from something that is left out.
bool Stepper::returns_to(std::uint64_t address) {
  if (!std::exchange(arrives_, false)) return false;
  const auto found = std::ranges::find(ignored_.rbegin(), ignored_.rend(), address, &Ignored::back);
  if (found == ignored_.rend()) return false;
  if (found == ignored_.rbegin() && found->calls != 0) {
    --found->calls;
    return false;
  }
  ignored_.erase(std::next(found).base(), ignored_.end());
  close_calls(address);
  return true;
}

/// Execution went to `address` by an indirect branch, which may be a return.
void Stepper::close_calls(std::uint64_t address) {
  constexpr std::size_t kMostUnwound = 64;
  const std::size_t most = std::min(calls_.size(), kMostUnwound);
  const auto end = calls_.rbegin() + static_cast<std::ptrdiff_t>(most);
  const auto call = std::find(calls_.rbegin(), end, address);
  if (call != end) calls_.erase(std::next(call).base(), calls_.end());
}

}  // namespace waymark::diff
