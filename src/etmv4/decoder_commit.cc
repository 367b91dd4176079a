// Entries to elements: commit, cancel, mispredict, discard, the end.
#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "decoder_inl.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {
namespace {

Security security_of(bool ns, bool nse) {
  if (nse) return ns ? Security::kRealm : Security::kRoot;
  return ns ? Security::kNonSecure : Security::kSecure;
}

}  // namespace

void Decoder::resolve() {
  if (queue_.holds()) queue_.settle_held();
  if (!run_.open) {
    run_ = {.open = true};
    output_.set_staging(quirks_.error_loses_elements &&
                        (traits_.atoms_can_fail || queue_.size() != 1 ||
                         queue_.front().kind != EntryKind::kAtom || requests_.cancel != 0 ||
                         requests_.mispredict));
  }
  if (requests_.commit != 0) {
    commit();
    if (requests_.commit != 0) {
      // The space is used up, or a context must be seen first; the latter ends the run.
      if (yield_ || output_.staging()) return close_run();
      // Elements of the last entry beyond the space come before everything that is still to be
      // made.
      output_.release();
      return;
    }
    // A record comes before the elements of a discard.
    if (!diagnostics_.empty()) return close_run();
  }
  if (requests_.cancel != 0) cancel();
  if (requests_.mispredict) mispredict();
  if (!output_.staging()) output_.release();
  if (requests_.discard && !discard()) return;
  if (requests_.unusable && !give_up()) return;
  if (requests_.end && !finish_queue()) return;
  close_run();
}

void Decoder::close_run() {
  run_.open = false;
  output_.set_staging(false);
  if (requests_.commit == 0) settling_ = false;
  output_.release();
}

// The entries that survive a cancel, a discard and the end of the trace.
inline bool Decoder::is_survivor(EntryKind kind) {
  constexpr auto kSurvivors = [] {
    using enum EntryKind;
    std::uint32_t kinds = 0;
    for (const EntryKind survivor : {kEvent, kTimestamp, kTimestampCycleCount, kCycleCount, kMarker,
                                     kDataMarker, kInstrumentation})
      kinds |= std::uint32_t{1} << std::to_underlying(survivor);
    return kinds;
  }();
  return (kSurvivors >> std::to_underlying(kind) & 1) != 0;
}

void Decoder::commit() {
  while (requests_.commit != 0) {
    if (queue_.empty()) {
      if (settling_) {
        requests_.commit = 0;
        return;
      }
      fail_commit(Fault::kCommitOverrun, run_.looked_at, Finding::kCommitsTooMany,
                  UnsyncReason::kBadPacket);
      return;
    }
    if (!output_.room()) return;
    Entry& entry = queue_.front();
    run_.looked_at = entry.index;
    if (entry.kind == EntryKind::kAtom) {
      if (!commit_atoms(entry)) return;
      continue;
    }
    path_.settle();
    if (counter_ != nullptr && !stays_counted(entry)) counter_->leave();
    if (is_survivor(entry.kind)) {
      emit_survivor(entry);
      queue_.pop_front();
    } else if (!commit_entry(entry)) {
      return;
    }
  }
}

// The oldest entry, which is not atoms and no survivor.  False: the run ends here.
bool Decoder::commit_entry(Entry& entry) {
  const EntryKind kind = entry.kind;
  switch (kind) {
    case EntryKind::kUnseen: {
      const std::uint32_t count = std::min(entry.count, requests_.commit);
      commit_p0(count);
      entry.count -= count;
      if (entry.count == 0) queue_.pop_front();
      return true;
    }
    case EntryKind::kContext:
      return commit_context();
    case EntryKind::kException:
      return commit_exception() && !yield_ && diagnostics_.empty();
    case EntryKind::kQ:
      return commit_q();
    case EntryKind::kSourceAddress:
      if (!commit_source_address(entry)) return false;
      break;
    case EntryKind::kAddress:
      if (counter_ == nullptr || !counter_->go_to(entry.value, isa_of(mode_.is_64bit, entry.is)))
        apply_address(entry.value, entry.is);
      break;
    case EntryKind::kTraceInfo:
      // Between valid elements it states nothing new: a trace unit may send it between a return
      // whose target is on the return stack and the next atom.
      if (!quirks_.trace_info_empties_stack) break;
      path_.calls_forgotten = true;
      path_.forget_calls();
      break;
    case EntryKind::kTraceOn: {
      expected_start_.reset();
      path_.forget_calls();
      const auto reason = earlier_.overflow ? TraceOnReason::kOverflow : TraceOnReason::kNormal;
      emit(ElementKind::kTraceOn, entry.index).reason = static_cast<std::uint8_t>(reason);
      earlier_.overflow = false;
      enter_place(entry.index);
      break;
    }
    case EntryKind::kExceptionReturn:
      expected_start_.reset();
      return_from_exception(entry.index);
      break;
    case EntryKind::kTransactionStart:
      emit_transaction(entry);
      break;
    case EntryKind::kTransactionCommit:
    case EntryKind::kTransactionFail:
    case EntryKind::kTransactionInit:
      expected_start_.reset();
      emit_transaction(entry);
      break;
    default:
      break;
  }
  queue_.pop_front();
  if (is_p0(kind)) commit_p0();
  return true;
}

bool Decoder::commit_context() {
  const Entry entry = queue_.front();
  queue_.pop_front();
  if (!entry.flag) return true;
  apply_context(entry, entry.index);
  yield_ = callbacks_;
  return !output_.staging() && !yield_;
}

// A P0 element, apart from atoms and unseen elements; an entry may have many of these.
bool Decoder::is_p0(EntryKind kind) const {
  switch (kind) {
    case EntryKind::kException:
    case EntryKind::kFunctionReturn:
    case EntryKind::kSourceAddress:
    case EntryKind::kQ:
      return true;
    case EntryKind::kExceptionReturn:
      return traits_.exception_return_is_p0;
    case EntryKind::kTransactionStart:
      return config_.transaction_start_is_p0();
    default:
      return false;
  }
}

void Decoder::emit_transaction(const Entry& entry) {
  auto type = MemTransType::kInit;
  if (entry.kind == EntryKind::kTransactionStart) type = MemTransType::kStart;
  if (entry.kind == EntryKind::kTransactionCommit) type = MemTransType::kCommit;
  if (entry.kind == EntryKind::kTransactionFail) type = MemTransType::kFail;
  emit(ElementKind::kMemTrans, entry.index).reason = static_cast<std::uint8_t>(type);
}

// The entries after which a counter may still be live.
bool Decoder::stays_counted(const Entry& entry) const {
  switch (entry.kind) {
    case EntryKind::kUnseen:
    case EntryKind::kAddress:
    case EntryKind::kCycleCount:
    case EntryKind::kFunctionReturn:
      return true;
    case EntryKind::kTimestamp:
    case EntryKind::kTimestampCycleCount:
      return follower().covers(entry.index + 1);
    default:
      return false;
  }
}

void Decoder::emit_survivor(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::kEvent: {
      Element& event = emit(ElementKind::kEvent, entry.index);
      event.reason = static_cast<std::uint8_t>(EventType::kNumbered);
      event.number = entry.number;
      break;
    }
    case EntryKind::kCycleCount: {
      if (counter_ != nullptr && counter_->count_cycles(entry.count)) break;
      Element& count = emit(ElementKind::kCycleCount, entry.index);
      count.cycle_count = entry.count;
      count.flags |= kElementHasCycleCount;
      break;
    }
    case EntryKind::kTimestamp:
    case EntryKind::kTimestampCycleCount: {
      enter_place(entry.index + 1);
      // If markers are in use, a timestamp without a marker has no position.
      if (traits_.timestamp_markers && !earlier_.marker) break;
      if (counter_ != nullptr && counter_->count_timestamp()) break;
      Element& timestamp = emit(ElementKind::kTimestamp, entry.index);
      timestamp.timestamp = entry.value;
      timestamp.flags |= kElementHasTimestamp;
      if (entry.kind == EntryKind::kTimestampCycleCount &&
          (entry.known || quirks_.missing_counts_are_zero)) {
        timestamp.cycle_count = entry.count;
        timestamp.flags |= kElementHasCycleCount;
      }
      break;
    }
    case EntryKind::kMarker:
      earlier_.marker = true;
      emit(ElementKind::kSyncMarker, entry.index).number = 0;
      break;
    case EntryKind::kDataMarker: {
      Element& marker = emit(ElementKind::kSyncMarker, entry.index);
      marker.reason = static_cast<std::uint8_t>(entry.flag ? MarkerType::kDataNumbered
                                                           : MarkerType::kDataUnnumbered);
      marker.number = entry.number;
      break;
    }
    case EntryKind::kInstrumentation: {
      Element& value = emit(ElementKind::kInstrumentation, entry.index);
      value.exception_level = static_cast<std::uint8_t>(entry.number);
      value.value = entry.value;
      break;
    }
    default:
      break;
  }
}

void Decoder::apply_context(const Entry& entry, TraceIndex index) {
  context_.security = security_of(entry.ns, entry.nse);
  context_.exception_level = entry.el;
  unsigned flags = context_.flags | kElementElValid;
  if (entry.known) {
    context_.context_id = entry.context_id;
    flags |= kElementContextIdValid;
  }
  if (entry.has_vmid) {
    context_.vmid = entry.vmid;
    flags |= kElementVmidValid;
  }
  flags = entry.sf ? flags | kElement64Bit : flags & ~unsigned{kElement64Bit};
  context_.flags = static_cast<std::uint16_t>(flags);
  mode_.is_64bit = entry.sf;
  path_.isa = isa_of(entry.sf, entry.is);
  context_.isa = path_.isa;
  mode_.unknown = false;
  emit(ElementKind::kPeContext, index);
  select_memory(index);
}

// A cancel or a mispredict skips the entries above the element that it concerns.  False: the trace
// has requested too much of that.
bool Decoder::look_through(std::size_t entries) {
  constexpr std::size_t kEntriesPerInstruction = 8;
  refill(credit_);
  if (credit_.take(entries / kEntriesPerInstruction)) return true;
  fail_commit(Fault::kCommitOverrun, packet_index_, Finding::kQueueFull, UnsyncReason::kBadPacket);
  return false;
}

// From the newest end; etmv4-ete.md 4.4, "Cancel".
void Decoder::cancel() {
  std::uint32_t left = std::exchange(requests_.cancel, 0);
  std::vector<Entry> kept;
  const std::size_t size = queue_.size();
  while (left != 0 && !queue_.empty()) {
    Entry& newest = queue_.back();
    if (newest.kind == EntryKind::kAtom || newest.kind == EntryKind::kUnseen) {
      const std::uint32_t count = std::min(newest.count, left);
      newest.count -= count;
      left -= count;
      queue_.depth -= count;
      if (newest.count == 0) queue_.pop_back();
      continue;
    }
    const bool uncounted =
        newest.kind == EntryKind::kSourceAddress && quirks_.source_address_not_cancelled;
    if (is_survivor(newest.kind)) {
      kept.push_back(newest);
    } else if (is_p0(newest.kind) && !uncounted) {
      --left;
      --queue_.depth;
    }
    queue_.pop_back();
  }
  if (left != 0)
    fail_commit(Fault::kCommitOverrun, packet_index_, Finding::kCancelsTooMany,
                UnsyncReason::kBadPacket);
  const std::size_t passed = size - queue_.size();
  for (const Entry& entry : std::views::reverse(kept)) queue_.push_back(entry);
  if (left == 0) (void)look_through(passed);
}

// From the newest end; etmv4-ete.md 4.4, "Mispredict".
void Decoder::mispredict() {
  requests_.mispredict = false;
  const std::size_t newer = queue_.newer_than_atoms();
  const std::size_t older = queue_.size() - newer;
  if (!look_through(newer)) return;
  queue_.drop_addresses(newer);
  if (older != 0) {
    Entry& entry = queue_.at(older - 1);
    if (entry.kind == EntryKind::kAtom) entry.value ^= std::uint64_t{1} << (entry.count - 1);
    return;
  }
  fail_commit(Fault::kCommitOverrun, packet_index_, Finding::kNothingMispredicted,
              UnsyncReason::kBadPacket);
}

// What does not depend on the execution that is discarded.  False: out of space.
bool Decoder::emit_survivors(bool loses_instrumentation) {
  leave_counter();
  while (!queue_.empty()) {
    if (!output_.room()) return false;
    Entry& entry = queue_.front();
    if (!is_survivor(entry.kind) && !quirks_.end_loses_settled) {
      if (is_speculative(entry.kind)) {
        drop_speculative();
      } else {
        (void)commit_entry(entry);
      }
      continue;
    }
    const bool lost = loses_instrumentation && entry.kind == EntryKind::kInstrumentation;
    if (is_survivor(entry.kind) && !lost) emit_survivor(entry);
    queue_.pop_front();
  }
  return true;
}

// A P0 element that was not committed.  What is before it is certain.
bool Decoder::is_speculative(EntryKind kind) const {
  return kind == EntryKind::kAtom || kind == EntryKind::kUnseen || is_p0(kind);
}

// Only survivors stay.
void Decoder::drop_speculative() {
  std::vector<Entry> kept;
  for (std::size_t i = 0; i != queue_.size(); ++i)
    if (is_survivor(queue_.at(i).kind)) kept.push_back(queue_.at(i));
  queue_.clear();
  for (const Entry& entry : kept) queue_.push_back(entry);
}

// A packet cannot be used.  What waits for the next P0 element was traced before it.  False: out of
// space.
bool Decoder::give_up() {
  if (!emit_survivors(false)) return false;
  const Unusable why = *std::exchange(requests_.unusable, std::nullopt);
  lose_sync(why.fault, why.severity, why.finding);
  return true;
}

// See etmv4-ete.md 4.12.  False: out of space.
bool Decoder::discard() {
  if (!emit_survivors(quirks_.discard_loses_instrumentation)) return false;
  requests_.discard = false;
  earlier_.overflow = earlier_.overflow || std::exchange(requests_.overflow, false);
  queue_.depth = 0;
  path_.lost = mode_.unknown = true;
  queue_.awaits_address = false;
  sync_.reason = earlier_.overflow ? UnsyncReason::kOverflow : UnsyncReason::kDiscard;
  sync_.state = State::kWaitSync;
  sync_.unreported = true;
  return true;
}

// See etmv4-ete.md 4.13.  False: out of space.
bool Decoder::finish_queue() {
  if (!quirks_.end_loses_settled && !emit_survivors(false)) return false;
  leave_counter();
  bool stop = false;
  while (!queue_.empty() && !stop) {
    if (!output_.room()) return false;
    const Entry& entry = queue_.front();
    switch (entry.kind) {
      case EntryKind::kAtom:
      case EntryKind::kTraceOn:
      case EntryKind::kException:
      case EntryKind::kExceptionReturn:
      case EntryKind::kQ:
      case EntryKind::kUnseen:
        stop = true;
        break;
      case EntryKind::kTransactionStart:
        stop = config_.transaction_start_is_p0();
        break;
      case EntryKind::kTransactionCommit:
      case EntryKind::kTransactionFail:
        if (config_.max_speculation() == 0 || queue_.depth == 0) emit_transaction(entry);
        break;
      default:
        if (is_survivor(entry.kind)) emit_survivor(entry);
    }
    if (!stop) queue_.pop_front();
  }
  if (!output_.room()) return false;
  queue_.clear();
  requests_.end = false;
  const auto reason = earlier_.overflow ? UnsyncReason::kOverflow : UnsyncReason::kEndOfTrace;
  emit(ElementKind::kEndOfTrace, packet_index_).reason = static_cast<std::uint8_t>(reason);
  return true;
}

}  // namespace waymark::etmv4
