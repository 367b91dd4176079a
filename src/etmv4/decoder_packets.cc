// Packets to entries of the queue, and the actions that packets request.
#include <utility>

#include "decoder_inl.h"
#include "waymark/etmv4/parser.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {

void Decoder::accept(const Packet& packet) {
  if (failed_) return;
  packet_index_ = packet.index;
  if (state_ == State::kDecode) [[likely]] {
    accept_in_decode(packet);
    return;
  }
  if (state_ == State::kNoSync) {
    no_sync_pending_ = busy_ = true;
    state_ = State::kWaitSync;
  }
  if (state_ == State::kWaitSync) {
    if (packet.type == PacketType::kAsync) state_ = State::kWaitTraceInfo;
    return;
  }
  path_.lost = need_context_ = true;
  if (std::exchange(event_overdue_, false)) {
    commit_request_ = 1;
    busy_ = true;
    return;
  }
  if (packet.type == PacketType::kTraceInfo) {
    begin_at_trace_info(packet);
  } else if (packet.type == PacketType::kEvent && config_.major_version() >= 5) {
    add(EntryKind::kEvent, packet.index).number = packet.value;
    if (quirks_.missing_address_leaves_element) {
      event_overdue_ = depth_ > max_depth();
    } else {
      request_excess();
    }
  }
}

void Decoder::accept_atoms(TraceIndex index, const AtomPacket& atoms) {
  if (state_ == State::kDecode && !failed_) [[likely]] {
    packet_index_ = index;
    queue_atoms(index, atoms.atoms, atoms.atom_count);
    request_excess();
    if (queue_.size() <= kMaxEntries) return;
    unusable_packet(Fault::kCommitOverrun, Severity::kError, Finding::kQueueFull);
    return;
  }
  Packet packet;
  copy_atoms(atoms, packet);
  packet.index = index;
  accept(packet);
}

void Decoder::begin_at_trace_info(const Packet& packet) {
  leave_counter();
  state_ = State::kDecode;
  depth_ = quirks_.max_speculation_is_signed ? static_cast<std::int32_t>(packet.spec_depth)
                                             : std::int64_t{packet.spec_depth};
  if (depth_ != 0 && !quirks_.unseen_elements_missing)
    add(EntryKind::kUnseen, packet.index).count = packet.spec_depth;
  add(EntryKind::kTraceInfo, packet.index);
  if (bit<6>(packet.info)) add(EntryKind::kTransactionInit, packet.index);
  path_.return_stack.clear();
  path_.pop_pending = false;
  select_memory();  // In a recording, another process may run since the reset.
  if (!quirks_.trace_info_commits_nothing) request_excess();
}

std::int64_t Decoder::max_depth() const {
  const std::uint32_t most = config_.max_speculation();
  return quirks_.max_speculation_is_signed ? static_cast<std::int32_t>(most) : std::int64_t{most};
}

// More elements are outstanding than the unit can speculate: the oldest must have been committed.
void Decoder::request_excess() {
  if (depth_ > max_depth()) {
    commit_request_ = static_cast<std::uint32_t>(depth_ - max_depth());
    busy_ = true;
  }
}

Decoder::Entry& Decoder::add(EntryKind kind, TraceIndex index) {
  if (holding_) settle_held();
  Entry& entry = queue_.push();
  entry.kind = kind;
  entry.index = index;
  return entry;
}

// The held address becomes the entry that it represents: the only one of the queue.
void Decoder::settle_held() {
  holding_ = false;
  Entry& entry = queue_.push();
  entry.kind = EntryKind::kAddress;
  entry.index = held_index_;
  entry.value = held_address_;
  entry.is = held_is_;
}

void Decoder::queue_atoms(TraceIndex index, std::uint32_t atoms, std::uint32_t count) {
  Entry& entry = add(EntryKind::kAtom, index);
  entry.value = atoms;
  entry.count = count;
  depth_ += count;
}

void Decoder::add_atoms(const Packet& packet) {
  if (packet.atom_count != 0) queue_atoms(packet.index, packet.atoms, packet.atom_count);
}

void Decoder::add_context(const Packet& packet, std::uint8_t is) {
  const Context& context = packet.context;
  Entry& entry = add(EntryKind::kContext, packet.index);
  entry.context_id = context.context_id;
  entry.vmid = context.vmid;
  entry.is = is;
  entry.el = context.el;
  entry.flag = context.updated;
  entry.known = context.updated_context_id;
  entry.has_vmid = context.updated_vmid;
  entry.sf = context.sf;
  entry.ns = context.ns;
  entry.nse = context.nse;
}

void Decoder::add_address(const Packet& packet) {
  if (straight_ && !holding_ && !address_pending_ && queue_.empty()) {
    holding_ = true;
    held_index_ = packet.index;
    held_address_ = packet.address.value;
    last_is_ = held_is_ = packet.address.is;
    return;
  }
  Entry& entry = add(EntryKind::kAddress, packet.index);
  entry.value = packet.address.value;
  entry.is = packet.address.is;
  last_is_ = packet.address.is;
  if (address_pending_) {
    ++depth_;
    address_pending_ = false;
  }
}

void Decoder::accept_in_decode(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kAtomF1:
    case PacketType::kAtomF2:
    case PacketType::kAtomF3:
    case PacketType::kAtomF4:
    case PacketType::kAtomF5:
    case PacketType::kAtomF6:
      add_atoms(packet);
      break;
    case PacketType::kAsync:
    case PacketType::kIgnore:
      break;
    case PacketType::kTraceInfo:
      add(EntryKind::kTraceInfo, packet.index);
      break;
    case PacketType::kTraceOn:
      add(EntryKind::kTraceOn, packet.index);
      break;
    case PacketType::kContext:
      add_context(packet, last_is_);
      break;
    case PacketType::kAddressContext32Is0:
    case PacketType::kAddressContext32Is1:
    case PacketType::kAddressContext64Is0:
    case PacketType::kAddressContext64Is1:
      add_context(packet, packet.address.is);
      add_address(packet);
      break;
    case PacketType::kAddressMatch:
    case PacketType::kAddressShortIs0:
    case PacketType::kAddressShortIs1:
    case PacketType::kAddress32Is0:
    case PacketType::kAddress32Is1:
    case PacketType::kAddress64Is0:
    case PacketType::kAddress64Is1:
      add_address(packet);
      break;
    case PacketType::kSourceMatch:
    case PacketType::kSourceShortIs0:
    case PacketType::kSourceShortIs1:
    case PacketType::kSource32Is0:
    case PacketType::kSource32Is1:
    case PacketType::kSource64Is0:
    case PacketType::kSource64Is1:
      add(EntryKind::kSourceAddress, packet.index).value = packet.address.value;
      ++depth_;
      break;
    case PacketType::kException: {
      Entry& entry = add(EntryKind::kException, packet.index);
      entry.number = packet.exception;
      entry.flag = packet.exception_address == ExceptionAddress::kReturnIsTarget;
      entry.known = true;
      address_pending_ = true;
      break;
    }
    case PacketType::kPeReset:
      if (quirks_.pe_reset_is_bad) {
        bad_packet(Finding::kUnknownPacket);
        return;
      }
      // Nothing returns from a reset: it has no address.
      add(EntryKind::kException, packet.index).number = 0;
      ++depth_;
      break;
    case PacketType::kExceptionReturn:
      add(EntryKind::kExceptionReturn, packet.index);
      if (exception_return_is_p0_) ++depth_;
      break;
    case PacketType::kFunctionReturn:
      if (m_profile() && config_.core.arch >= isa::Arch::kV8) {
        add(EntryKind::kFunctionReturn, packet.index);
        ++depth_;
      }
      break;
    case PacketType::kEvent:
      add(EntryKind::kEvent, packet.index).number = packet.value;
      break;
    case PacketType::kCycleCountF1:
    case PacketType::kCycleCountF2:
    case PacketType::kCycleCountF3:
      add(EntryKind::kCycleCount, packet.index).count = packet.cycle_count;
      commit_request_ =
          packet.has_commit && !quirks_.cycle_counts_do_not_commit ? packet.commit : 0;
      break;
    case PacketType::kTimestamp: {
      Entry& entry = add(
          config_.cycle_count_enabled() ? EntryKind::kTimestampCycleCount : EntryKind::kTimestamp,
          packet.index);
      entry.value = packet.timestamp;
      entry.count = packet.has_count ? packet.cycle_count : 0;
      break;
    }
    case PacketType::kTimestampMarker:
      add(EntryKind::kMarker, packet.index);
      break;
    case PacketType::kMispredict:
    case PacketType::kCancelF1Mispredict:
    case PacketType::kCancelF2:
    case PacketType::kCancelF3:
      add_atoms(packet);
      mispredict_request_ = true;
      cancel_request_ = packet.type == PacketType::kMispredict ? 0 : packet.cancel;
      break;
    case PacketType::kCancelF1:
      cancel_request_ = packet.cancel;
      break;
    case PacketType::kCommit:
      commit_request_ = packet.commit;
      break;
    case PacketType::kOverflow:
      previous_overflow_ = true;
      [[fallthrough]];
    case PacketType::kDiscard:
      discard_request_ = true;
      depth_ = 0;
      break;
    case PacketType::kQ: {
      Entry& entry = add(EntryKind::kQ, packet.index);
      entry.count = packet.cycle_count;
      entry.known = packet.has_count;
      entry.flag = packet.q_type != 0xC && packet.q_type != 0xF;
      if (entry.flag) {
        entry.value = packet.address.value;
        entry.is = packet.address.is;
        ++depth_;
      } else {
        address_pending_ = true;
      }
      break;
    }
    case PacketType::kTransactionStart:
      add(EntryKind::kTransactionStart, packet.index);
      if (config_.transaction_start_is_p0()) ++depth_;
      break;
    case PacketType::kTransactionCommit:
      add(EntryKind::kTransactionCommit, packet.index);
      break;
    case PacketType::kTransactionFail:
      add(EntryKind::kTransactionFail, packet.index);
      break;
    case PacketType::kInstrumentation: {
      Entry& entry = add(EntryKind::kInstrumentation, packet.index);
      entry.number = packet.value;
      entry.value = packet.timestamp;
      break;
    }
    case PacketType::kNumberedDataSync:
    case PacketType::kUnnumberedDataSync: {
      if (quirks_.data_trace_is_unsupported) {
        unusable_packet(Fault::kUnsupportedPacket, Severity::kError, Finding::kNotDecodable);
        return;
      }
      Entry& entry = add(EntryKind::kDataMarker, packet.index);
      entry.number = packet.value;
      entry.flag = packet.type == PacketType::kNumberedDataSync;
      break;
    }
    case PacketType::kCondInstrF1:
    case PacketType::kCondInstrF2:
    case PacketType::kCondInstrF3:
    case PacketType::kCondFlush:
    case PacketType::kCondResultF1:
    case PacketType::kCondResultF2:
    case PacketType::kCondResultF3:
    case PacketType::kCondResultF4:
      unusable_packet(Fault::kUnsupportedPacket, Severity::kError, Finding::kNotDecodable);
      return;
    case PacketType::kBadSequence:
      bad_packet(Finding::kMalformedPacket);
      return;
    case PacketType::kBadTraceMode:
      bad_packet(Finding::kNotInThisMode);
      return;
    case PacketType::kReserved:
      bad_packet(Finding::kReservedHeader);
      return;
    case PacketType::kReservedConfig:
      bad_packet(Finding::kReservedInConfig);
      return;
    case PacketType::kIncompleteEot:
      bad_packet(Finding::kEndsInPacket);
      return;
    default:
      bad_packet(Finding::kUnknownPacket);
      return;
  }
  request_excess();
  if (commit_request_ != 0 || cancel_request_ != 0 || mispredict_request_ || discard_request_)
    busy_ = true;
  if (queue_.size() > kMaxEntries) [[unlikely]]
    unusable_packet(Fault::kCommitOverrun, Severity::kError, Finding::kQueueFull);
}

void Decoder::bad_packet(Finding finding) {
  const bool as_error = (flags_ & kErrorOnBadPackets) != 0;
  unusable_packet(Fault::kBadPacket, as_error ? Severity::kError : Severity::kWarning, finding);
}

void Decoder::unusable_packet(Fault fault, Severity severity, Finding finding) {
  report(fault, severity, packet_index_, finding);
  if (failed_) return;
  clear_state();
  state_ = State::kNoSync;
  unsync_reason_ = UnsyncReason::kBadPacket;
}

void Decoder::end_of_trace() {
  if (failed_) return;
  end_request_ = busy_ = true;
}

}  // namespace waymark::etmv4
