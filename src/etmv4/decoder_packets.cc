// Packets to entries of the queue, and the actions that packets request.
#include <limits>
#include <utility>

#include "decoder_inl.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {
namespace {

/// Why a packet is of no use.
Finding finding_of(PacketType type) {
  if (is_conditional(type)) return Finding::kNotDecodable;
  switch (type) {
    case PacketType::kNumberedDataSync:
    case PacketType::kUnnumberedDataSync:
      return Finding::kNotDecodable;
    case PacketType::kBadSequence:
      return Finding::kMalformedPacket;
    case PacketType::kBadTraceMode:
      return Finding::kNotInThisMode;
    case PacketType::kReserved:
      return Finding::kReservedHeader;
    case PacketType::kReservedConfig:
      return Finding::kReservedInConfig;
    case PacketType::kIncompleteEot:
      return Finding::kEndsInPacket;
    default:
      return Finding::kUnknownPacket;
  }
}

/// False for the most common packets that Decoder::request() does not know.
constexpr bool may_request(PacketType type) {
  return (type >= PacketType::kCycleCountF2 && type <= PacketType::kCancelF3) ||
         type >= PacketType::kAsync;
}
static_assert(PacketType::kCancelF3 < PacketType::kEvent);

}  // namespace

void Decoder::accept(const Packet& packet) {
  if (failed_) return;
  if (packet.type == PacketType::kAsync && packet.in_packet && !requests_.any())
    queue_.drop_newest(packet_index_);
  packet_index_ = packet.index;
  if (sync_.state == State::kDecode) [[likely]] {
    accept_in_decode(packet);
    return;
  }
  if (sync_.state == State::kNoSync) {
    sync_.unreported = busy_ = true;
    sync_.state = State::kWaitSync;
  }
  if (sync_.state == State::kWaitSync) {
    if (packet.type == PacketType::kAsync) sync_.state = State::kWaitTraceInfo;
    return;
  }
  path_.lost = mode_.unknown = true;
  if (std::exchange(earlier_.event_overdue, false)) {
    requests_.commit = 1;
    busy_ = true;
    return;
  }
  if (packet.type == PacketType::kTraceInfo) {
    begin_at_trace_info(packet);
  } else if (packet.type == PacketType::kEvent &&
             (config_.major_version() >= 5 || !quirks_.early_events_lost)) {
    queue_.add(EntryKind::kEvent, packet.index).number = packet.value;
    if (quirks_.missing_address_leaves_element) {
      earlier_.event_overdue = queue_.depth > traits_.max_depth;
    } else {
      request_excess();
    }
  }
}

void Decoder::accept_atoms(TraceIndex index, const AtomPacket& atoms) {
  if (sync_.state == State::kDecode && !failed_) [[likely]] {
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
  sync_.state = State::kDecode;
  queue_.depth = quirks_.max_speculation_is_signed
                     ? static_cast<std::int32_t>(packet.trace_info.spec_depth)
                     : std::int64_t{packet.trace_info.spec_depth};
  if (queue_.depth != 0 && !quirks_.unseen_elements_missing)
    queue_.add(EntryKind::kUnseen, packet.index).count = packet.trace_info.spec_depth;
  if (!quirks_.trace_info_is_not_queued) queue_.add(EntryKind::kTraceInfo, packet.index);
  if (bit<6>(packet.trace_info.info)) queue_.add(EntryKind::kTransactionInit, packet.index);
  path_.forget_calls();
  select_memory();  // In a recording, another process may run since the reset.
  if (!quirks_.trace_info_commits_nothing) request_excess();
}

// More elements are outstanding than the unit can speculate: the oldest must have been committed.
void Decoder::request_excess() {
  if (queue_.depth > traits_.max_depth) {
    requests_.commit = static_cast<std::uint32_t>(queue_.depth - traits_.max_depth);
    busy_ = true;
  }
}

void Decoder::queue_atoms(TraceIndex index, std::uint32_t atoms, std::uint32_t count) {
  Entry& entry = queue_.add(EntryKind::kAtom, index);
  entry.value = atoms;
  entry.count = count;
  queue_.depth += count;
}

void Decoder::add_atoms(const Packet& packet) {
  if (packet.atom_count != 0) queue_atoms(packet.index, packet.atoms, packet.atom_count);
}

void Decoder::add_context(const Packet& packet, std::uint8_t is) {
  const Context& context = packet.context;
  Entry& entry = queue_.add(EntryKind::kContext, packet.index);
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
  mode_.is = packet.address.is;
  if (traits_.straight && !queue_.holds() && !queue_.awaits_address && queue_.empty()) {
    queue_.hold(packet.index, packet.address.value, packet.address.is);
    return;
  }
  Entry& entry = queue_.add(EntryKind::kAddress, packet.index);
  entry.value = packet.address.value;
  entry.is = packet.address.is;
  if (std::exchange(queue_.awaits_address, false)) ++queue_.depth;
}

void Decoder::accept_in_decode(const Packet& packet) {
  if (is_atoms(packet.type)) {
    add_atoms(packet);
  } else if (is_target_address(packet.type)) {
    add_address(packet);
  } else if (is_address_context(packet.type)) {
    add_context(packet, packet.address.is);
    add_address(packet);
  } else if (is_source_address(packet.type)) {
    queue_.add(EntryKind::kSourceAddress, packet.index).value = packet.address.value;
    ++queue_.depth;
  } else if (!(may_request(packet.type) && request(packet)) && !add_other(packet)) {
    refuse(packet);
    return;
  }
  request_excess();
  if (requests_.commit != 0 || requests_.cancel != 0 || requests_.mispredict || requests_.discard)
    busy_ = true;
  if (queue_.size() > kMaxEntries) [[unlikely]]
    unusable_packet(Fault::kCommitOverrun, Severity::kError, Finding::kQueueFull);
}

// Packets that settle entries of the queue.  False: it is another one.
bool Decoder::request(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kCycleCountF1:
    case PacketType::kCycleCountF2:
    case PacketType::kCycleCountF3:
      queue_.add(EntryKind::kCycleCount, packet.index).count = packet.cycle_count;
      requests_.commit =
          packet.has_commit && !quirks_.cycle_counts_do_not_commit ? packet.commit : 0;
      return true;
    case PacketType::kCommit:
      requests_.commit = packet.commit;
      return true;
    case PacketType::kMispredict:
    case PacketType::kCancelF1Mispredict:
    case PacketType::kCancelF2:
    case PacketType::kCancelF3:
      add_atoms(packet);
      requests_.mispredict = true;
      request_cancel(packet.type == PacketType::kMispredict ? 0 : packet.cancel);
      return true;
    case PacketType::kCancelF1:
      request_cancel(packet.cancel);
      return true;
    case PacketType::kOverflow:
    case PacketType::kDiscard:
      requests_.overflow = packet.type == PacketType::kOverflow;
      requests_.discard = true;
      queue_.depth = 0;
      return true;
    default:
      return false;
  }
}

void Decoder::request_cancel(std::uint32_t count) {
  constexpr auto kMost = std::uint32_t{std::numeric_limits<std::int32_t>::max()};
  requests_.cancel = quirks_.cancel_is_signed && count > kMost ? 0 : count;
}

void Decoder::add_trace_info(TraceIndex index) {
  if (!quirks_.trace_info_is_not_queued) {
    queue_.add(EntryKind::kTraceInfo, index);
  } else if (quirks_.trace_info_empties_stack) {
    leave_counter();
    path_.settle();
    path_.forget_calls();
  }
}

// False: the decoder does not know it.
bool Decoder::add_other(const Packet& packet) {
  const TraceIndex index = packet.index;
  switch (packet.type) {
    case PacketType::kAsync:
      if (packet.in_packet) async_in_packet();
      return true;
    case PacketType::kIgnore:
      return true;
    case PacketType::kTraceInfo:
      add_trace_info(index);
      return true;
    case PacketType::kTraceOn:
      queue_.add(EntryKind::kTraceOn, index);
      return true;
    case PacketType::kContext:
      add_context(packet, mode_.is);
      return true;
    case PacketType::kException:
      add_exception(packet);
      return true;
    case PacketType::kPeReset:
      if (quirks_.pe_reset_is_bad) return false;
      // Nothing returns from a reset: it has no address.
      queue_.add(EntryKind::kException, index).number = 0;
      ++queue_.depth;
      return true;
    case PacketType::kExceptionReturn:
      return add_single(EntryKind::kExceptionReturn, index);
    case PacketType::kFunctionReturn:
      if (!m_profile() || config_.core.arch < isa::Arch::kV8) return true;
      return add_single(EntryKind::kFunctionReturn, index);
    case PacketType::kEvent:
      queue_.add(EntryKind::kEvent, index).number = packet.value;
      return true;
    case PacketType::kTimestamp:
      add_timestamp(packet);
      return true;
    case PacketType::kTimestampMarker:
      return add_single(EntryKind::kMarker, index);
    case PacketType::kQ:
      add_q(packet);
      return true;
    case PacketType::kTransactionStart:
      return add_single(EntryKind::kTransactionStart, index);
    case PacketType::kTransactionCommit:
      return add_single(EntryKind::kTransactionCommit, index);
    case PacketType::kTransactionFail:
      return add_single(EntryKind::kTransactionFail, index);
    case PacketType::kInstrumentation: {
      Entry& entry = queue_.add(EntryKind::kInstrumentation, index);
      entry.number = packet.instrumentation.el;
      entry.value = packet.instrumentation.payload;
      return true;
    }
    case PacketType::kNumberedDataSync:
    case PacketType::kUnnumberedDataSync: {
      if (quirks_.data_trace_is_unsupported) return false;
      Entry& entry = queue_.add(EntryKind::kDataMarker, index);
      entry.number = packet.value;
      entry.flag = packet.type == PacketType::kNumberedDataSync;
      return true;
    }
    default:
      return false;
  }
}

bool Decoder::add_single(EntryKind kind, TraceIndex index) {
  queue_.add(kind, index);
  if (is_p0(kind)) ++queue_.depth;
  return true;
}

void Decoder::add_timestamp(const Packet& packet) {
  Entry& entry = queue_.add(
      config_.cycle_count_enabled() ? EntryKind::kTimestampCycleCount : EntryKind::kTimestamp,
      packet.index);
  entry.value = packet.timestamp;
  entry.count = packet.has_count ? packet.cycle_count : 0;
  entry.known = packet.has_count;
}

void Decoder::add_exception(const Packet& packet) {
  Entry& entry = queue_.add(EntryKind::kException, packet.index);
  entry.number = packet.exception;
  entry.flag = packet.exception_address == ExceptionAddress::kReturnIsTarget;
  if (m_profile() && packet.exception_address == ExceptionAddress::kNone &&
      !quirks_.exception_without_address_takes_one) {
    ++queue_.depth;
    return;
  }
  entry.known = true;
  queue_.awaits_address = true;
}

void Decoder::add_q(const Packet& packet) {
  Entry& entry = queue_.add(EntryKind::kQ, packet.index);
  entry.count = packet.q.count;
  entry.known = packet.q.has_count;
  entry.flag = packet.q.has_address();
  if (!entry.flag) {
    queue_.awaits_address = true;
    return;
  }
  entry.value = packet.address.value;
  entry.is = packet.address.is;
  ++queue_.depth;
}

void Decoder::refuse(const Packet& packet) {
  const bool as_error = (flags_ & kErrorOnBadPackets) != 0;
  const Finding finding = finding_of(packet.type);
  if (finding == Finding::kNotDecodable) {
    unusable_packet(Fault::kUnsupportedPacket, Severity::kError, finding);
  } else {
    unusable_packet(Fault::kBadPacket, as_error ? Severity::kError : Severity::kWarning, finding);
  }
}

// The previous packet is wrong, because it took bytes that belong to another.
void Decoder::async_in_packet() {
  const bool as_error = (flags_ & kErrorOnBadPackets) != 0;
  unusable_packet(Fault::kBadPacketSequence, as_error ? Severity::kError : Severity::kWarning,
                  Finding::kAsyncInPacket);
}

void Decoder::unusable_packet(Fault fault, Severity severity, Finding finding) {
  if (!quirks_.bad_packet_loses_queue && !queue_.empty()) {
    requests_.unusable = {fault, severity, finding};
    busy_ = true;
    return;
  }
  lose_sync(fault, severity, finding);
}

void Decoder::lose_sync(Fault fault, Severity severity, Finding finding) {
  report(fault, severity, packet_index_, finding);
  if (failed_) return;
  clear_state();
  sync_.reason = UnsyncReason::kBadPacket;
  if (quirks_.no_search_after_bad_packet || finding == Finding::kEndsInPacket) {
    sync_.state = State::kNoSync;
    return;
  }
  sync_.state = finding == Finding::kAsyncInPacket ? State::kWaitTraceInfo : State::kWaitSync;
  sync_.unreported = busy_ = true;
}

void Decoder::end_of_trace() {
  if (failed_) return;
  requests_.end = busy_ = true;
}

}  // namespace waymark::etmv4
