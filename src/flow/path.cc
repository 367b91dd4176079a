#include "waymark/flow/path.h"

namespace waymark::flow {

Path::Path(const image::Image& image, const isa::Options& options, TraceId trace_id, bool returns)
    : follower_(image, options, trace_id), returns_(returns) {
  follower_.set_calls_turn(returns);
}

void Path::push(std::uint64_t return_address, isa::Isa in, const Block* caller) {
  if (!returns_ || calls_forgotten) return;
  const std::uint64_t flushes = follower_.statistics().flushes;
  if (flushes != flushes_) [[unlikely]] {
    return_stack.forget_callers();
    flushes_ = flushes;
  }
  return_stack.push(return_address, in, caller);
}

bool Path::pop() {
  pop_pending = false;
  const ReturnStack::Entry* const top = return_stack.pop();
  if (top == nullptr) return calls_missed;
  return_to(top->address, top->isa, caller_of(*top));
  return true;
}

// The block that pushed the entry; nullptr if it no longer exists or has become another one, or if
// the block after it is not its link.
const Block* Path::caller_of(const ReturnStack::Entry& entry) const {
  const Block* const caller = entry.caller;
  if (caller == nullptr || follower_.statistics().flushes != flushes_) return nullptr;
  const isa::Isa after = untaken_blx_changes_isa_ ? caller->next_isa : caller->isa;
  const bool leads = caller->end == entry.address && caller->isa == entry.isa &&
                     after == entry.isa && caller->it_out == 0 && caller->view == follower_.view();
  return leads ? caller : nullptr;
}

// With a caller, the block after the call is a link of its block, and no guess is needed.
void Path::return_to(std::uint64_t to, isa::Isa in, const Block* caller) {
  go_to(to, in);
  if (caller == nullptr) return;
  from_ = caller;
  from_taken_ = false;
}

// The block at the place; nullptr: stop_ says why there is none.
const Block* Path::arrive() {
  if (pop_pending) {
    // A path that is stuck stays as it is.
    if (return_stack.size() == 0 && !calls_missed) {
      stop_ = Stop::kStackEmpty;
      return nullptr;
    }
    pop();
  }
  if (lost) {
    stop_ = Stop::kLost;
    return nullptr;
  }
  return from_ != nullptr ? &follower_.successor(*from_, from_taken_, address, isa, it)
                          : &follower_.block(address, isa, it);
}

// The block after one that no link leaves, or after one that takes more than a link.  nullptr: it
// was not looked up.
const Block* Path::go_on(const Block& from, bool taken) {
  const bool branches = taken && from.is_branch();
  if (branches && from.link) push(from.end, from.isa, &from);
  from_ = &from;
  from_taken_ = taken;
  block_ = nullptr;
  const bool jumps = branches && from.is_direct_branch();
  address = jumps ? from.target : from.end;
  isa = taken || untaken_blx_changes_isa_ ? from.next_isa : from.isa;
  it = branches ? 0 : from.it_out;
  lost = branches && !jumps;
  return lost ? nullptr : follower_.far(from, taken);
}

}  // namespace waymark::flow
