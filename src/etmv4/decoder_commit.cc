// Entries to elements: commit, cancel, mispredict, discard, the end.
#include <algorithm>
#include <ranges>

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
  if (holding_) settle_held();
  if (!run_open_) {
    run_open_ = true;
    last_looked_at_ = 0;
    staging_ = quirks_.error_loses_elements &&
               (atoms_can_fail_ || queue_.size() != 1 || queue_.front().kind != EntryKind::kAtom ||
                cancel_request_ != 0 || mispredict_request_);
  }
  if (commit_request_ != 0) {
    commit();
    if (commit_request_ != 0) {
      // The space is used up, or a context must be seen first; the latter ends the run.
      if (yield_ || staging_) return close_run();
      // What the last entry made beyond the space comes before everything that is still to be made.
      staged_ready_ = staged_.size();
      return;
    }
    // A record comes before the elements of a discard.
    if (!diagnostics_.empty()) return close_run();
  }
  if (cancel_request_ != 0) cancel();
  if (mispredict_request_) mispredict();
  if (!staging_) staged_ready_ = staged_.size();
  if (discard_request_ && !discard()) return;
  if (end_request_ && !finish_queue()) return;
  close_run();
}

void Decoder::close_run() {
  run_open_ = false;
  staging_ = false;
  if (commit_request_ == 0) settling_ = false;
  staged_ready_ = staged_.size();
}

void Decoder::commit() {
  while (commit_request_ != 0) {
    if (queue_.empty()) {
      if (settling_) {
        commit_request_ = 0;
        return;
      }
      fail_commit(Fault::kCommitOverrun, last_looked_at_, Finding::kCommitsTooMany,
                  UnsyncReason::kBadPacket);
      return;
    }
    if (!room()) return;
    Entry& entry = queue_.front();
    last_looked_at_ = entry.index;
    bool counts = false;
    if (entry.kind != EntryKind::kAtom) path_.settle();
    if (counter_ != nullptr && !stays_counted(entry)) counter_->leave();
    switch (entry.kind) {
      case EntryKind::kAtom:
        if (!commit_atoms(entry)) return;
        if (entry.count == 0) queue_.pop_front();
        continue;
      case EntryKind::kUnseen: {
        const std::uint32_t count = std::min(entry.count, commit_request_);
        entry.count -= count;
        commit_request_ -= count;
        depth_ -= count;
        if (entry.count == 0) queue_.pop_front();
        continue;
      }
      case EntryKind::kAddress:
        if (counter_ == nullptr || !counter_->go_to(entry.value, isa_of(is_64bit_, entry.is)))
          apply_address(entry.value, entry.is);
        break;
      case EntryKind::kContext: {
        const bool updated = entry.flag;
        if (updated) apply_context(entry, entry.index);
        queue_.pop_front();
        if (updated) {
          yield_ = callbacks_;
          if (staging_ || yield_) return;
        }
        continue;
      }
      case EntryKind::kTraceInfo:
        path_.calls_forgotten = true;
        path_.return_stack.clear();
        path_.pop_pending = false;
        break;
      case EntryKind::kTraceOn: {
        range_expected_ = false;
        path_.return_stack.clear();
        path_.pop_pending = false;
        const auto reason = previous_overflow_ ? TraceOnReason::kOverflow : TraceOnReason::kNormal;
        emit(ElementKind::kTraceOn, entry.index).reason = static_cast<std::uint8_t>(reason);
        previous_overflow_ = false;
        enter_place(entry.index);
        break;
      }
      case EntryKind::kEvent:
      case EntryKind::kCycleCount:
      case EntryKind::kTimestamp:
      case EntryKind::kTimestampCycleCount:
      case EntryKind::kMarker:
      case EntryKind::kDataMarker:
      case EntryKind::kInstrumentation:
        emit_survivor(entry);
        break;
      case EntryKind::kException:
        if (!commit_exception()) return;
        if (commit_request_ != 0 && (yield_ || !diagnostics_.empty())) return;
        continue;
      case EntryKind::kExceptionReturn:
        range_expected_ = false;
        emit(ElementKind::kExceptionReturn, entry.index);
        counts = exception_return_is_p0_;
        break;
      case EntryKind::kFunctionReturn:
        counts = true;
        break;
      case EntryKind::kSourceAddress:
        if (!commit_source_address(entry)) return;
        counts = true;
        break;
      case EntryKind::kQ:
        if (!commit_q()) return;
        continue;
      case EntryKind::kTransactionStart:
        emit(ElementKind::kMemTrans, entry.index).reason =
            static_cast<std::uint8_t>(MemTransType::kStart);
        counts = config_.transaction_start_is_p0();
        break;
      case EntryKind::kTransactionCommit:
      case EntryKind::kTransactionFail:
      case EntryKind::kTransactionInit:
        range_expected_ = false;
        emit_transaction(entry);
        break;
    }
    queue_.pop_front();
    if (counts) {
      --commit_request_;
      --depth_;
    }
  }
}

void Decoder::emit_transaction(const Entry& entry) {
  auto type = MemTransType::kInit;
  if (entry.kind == EntryKind::kTransactionCommit) type = MemTransType::kCommit;
  if (entry.kind == EntryKind::kTransactionFail) type = MemTransType::kFail;
  emit(ElementKind::kMemTrans, entry.index).reason = static_cast<std::uint8_t>(type);
}

// The entries after which a counter may still be live.
bool Decoder::stays_counted(const Entry& entry) const {
  switch (entry.kind) {
    case EntryKind::kAtom:
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

// The entries that survive a cancel, a discard and the end of the trace.
bool Decoder::is_survivor(EntryKind kind) {
  return kind == EntryKind::kEvent || kind == EntryKind::kTimestamp ||
         kind == EntryKind::kTimestampCycleCount || kind == EntryKind::kCycleCount ||
         kind == EntryKind::kMarker || kind == EntryKind::kDataMarker ||
         kind == EntryKind::kInstrumentation;
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
      if (config_.timestamp_markers() && !marker_seen_) break;
      if (counter_ != nullptr && counter_->count_timestamp()) break;
      Element& timestamp = emit(ElementKind::kTimestamp, entry.index);
      timestamp.timestamp = entry.value;
      timestamp.flags |= kElementHasTimestamp;
      if (entry.kind == EntryKind::kTimestampCycleCount) {
        timestamp.cycle_count = entry.count;
        timestamp.flags |= kElementHasCycleCount;
      }
      break;
    }
    case EntryKind::kMarker:
      marker_seen_ = true;
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
  is_64bit_ = entry.sf;
  path_.isa = isa_of(entry.sf, entry.is);
  context_.isa = path_.isa;
  need_context_ = false;
  emit(ElementKind::kPeContext, index);
  select_memory(index);
}

// A cancel or a mispredict skips the entries above the element that it concerns.  False: the trace
// has requested too much of that.
bool Decoder::look_through(std::size_t entries) {
  constexpr std::size_t kEntriesPerInstruction = 8;
  refill_credit();
  const std::size_t cost = entries / kEntriesPerInstruction;
  if (cost > credit_) {
    fail_commit(Fault::kCommitOverrun, packet_index_, Finding::kQueueFull,
                UnsyncReason::kBadPacket);
    return false;
  }
  credit_ -= static_cast<std::uint32_t>(cost);
  return true;
}

// From the newest end; etmv4-ete.md 4.4, "Cancel".
void Decoder::cancel() {
  std::uint32_t left = cancel_request_;
  cancel_request_ = 0;
  std::vector<Entry> kept;
  const std::size_t size = queue_.size();
  while (left != 0 && !queue_.empty()) {
    Entry& newest = queue_.back();
    switch (newest.kind) {
      case EntryKind::kAtom:
      case EntryKind::kUnseen: {
        const std::uint32_t count = std::min(newest.count, left);
        newest.count -= count;
        left -= count;
        depth_ -= count;
        if (newest.count == 0) queue_.pop_back();
        continue;
      }
      case EntryKind::kException:
      case EntryKind::kFunctionReturn:
      case EntryKind::kQ:
        --left;
        --depth_;
        break;
      case EntryKind::kExceptionReturn:
        if (exception_return_is_p0_) {
          --left;
          --depth_;
        }
        break;
      case EntryKind::kTransactionStart:
        if (config_.transaction_start_is_p0()) {
          --left;
          --depth_;
        }
        break;
      case EntryKind::kSourceAddress:
        if (!quirks_.source_address_not_cancelled) {
          --left;
          --depth_;
        }
        break;
      default:
        if (is_survivor(newest.kind)) kept.push_back(newest);
    }
    queue_.pop_back();
  }
  if (left != 0)
    fail_commit(Fault::kCommitOverrun, packet_index_, Finding::kCancelsTooMany,
                UnsyncReason::kBadPacket);
  const std::size_t passed = size - queue_.size();
  for (const Entry& entry : std::views::reverse(kept)) queue_.push() = entry;
  if (left == 0) (void)look_through(passed);
}

// From the newest end; etmv4-ete.md 4.4, "Mispredict".
void Decoder::mispredict() {
  mispredict_request_ = false;
  std::size_t i = queue_.size();
  while (i != 0 && queue_.at(i - 1).kind != EntryKind::kAtom &&
         queue_.at(i - 1).kind != EntryKind::kUnseen)
    --i;
  if (!look_through(queue_.size() - i)) return;
  queue_.erase_from(i, [](const Entry& entry) { return entry.kind == EntryKind::kAddress; });
  if (i != 0) {
    Entry& entry = queue_.at(i - 1);
    if (entry.kind == EntryKind::kAtom) entry.value ^= std::uint64_t{1} << (entry.count - 1);
    return;
  }
  fail_commit(Fault::kCommitOverrun, packet_index_, Finding::kNothingMispredicted,
              UnsyncReason::kBadPacket);
}

// See etmv4-ete.md 4.12.  False: out of space.
bool Decoder::discard() {
  leave_counter();
  while (!queue_.empty()) {
    if (!room()) return false;
    const Entry& entry = queue_.front();
    const bool lost =
        quirks_.discard_loses_instrumentation && entry.kind == EntryKind::kInstrumentation;
    if (is_survivor(entry.kind) && !lost) emit_survivor(entry);
    queue_.pop_front();
  }
  discard_request_ = false;
  depth_ = 0;
  path_.lost = need_context_ = true;
  address_pending_ = false;
  unsync_reason_ = previous_overflow_ ? UnsyncReason::kOverflow : UnsyncReason::kDiscard;
  state_ = State::kWaitSync;
  no_sync_pending_ = true;
  return true;
}

// See etmv4-ete.md 4.13.  False: out of space.
bool Decoder::finish_queue() {
  leave_counter();
  bool stop = false;
  while (!queue_.empty() && !stop) {
    if (!room()) return false;
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
        if (config_.max_speculation() == 0 || depth_ == 0) emit_transaction(entry);
        break;
      default:
        if (is_survivor(entry.kind)) emit_survivor(entry);
    }
    if (!stop) queue_.pop_front();
  }
  if (!room()) return false;
  queue_.clear();
  end_request_ = false;
  const auto reason = previous_overflow_ ? UnsyncReason::kOverflow : UnsyncReason::kEndOfTrace;
  emit(ElementKind::kEndOfTrace, packet_index_).reason = static_cast<std::uint8_t>(reason);
  return true;
}

}  // namespace waymark::etmv4
