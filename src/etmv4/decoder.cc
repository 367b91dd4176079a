#include "waymark/etmv4/decoder.h"

#include <algorithm>

#include "waymark/tree/source.h"

namespace waymark::etmv4 {
namespace {

using flow::Block;
using flow::BlockEnd;
using isa::InstrType;
using isa::Isa;

// The address that an M-profile tail chain gives in place of a return address.
constexpr std::uint64_t kTailChain = 0xFFFFFFFE;
// Longest stretch that is stepped through without the block cache: for exceptions, Q elements and
// source addresses.  Memory behind a callback need have no end.
constexpr std::uint32_t kMaxSteps = std::uint32_t{1} << 24;
// Most notes about one range over its limit: a bound on memory.
constexpr std::uint32_t kMaxNotes = std::uint32_t{1} << 20;

isa::Options walk_options(const Config& config, std::uint32_t flags) {
  return {.arch = config.core.arch,
          .dsb_dmb_waypoints = false,
          .wfi_wfe_waypoints = config.wfx_waypoints(),
          .track_it_block = true,
          .a64_opcode_check = (flags & kA64OpcodeCheck) != 0};
}

Isa isa_of(bool sf, unsigned is) { return sf ? Isa::kA64 : is != 0 ? Isa::kT32 : Isa::kA32; }

Fault fault_of(BlockEnd ended) {
  switch (ended) {
    case BlockEnd::kInvalidOpcode:
      return Fault::kInvalidOpcode;
    case BlockEnd::kRangeLimit:
      return Fault::kRangeLimit;
    case BlockEnd::kNotAccessible:
      return Fault::kMemoryAccess;
    default:
      return Fault::kUnsupportedConfig;
  }
}

Security security_of(bool ns, bool nse) {
  if (nse) return ns ? Security::kRealm : Security::kRoot;
  return ns ? Security::kNonSecure : Security::kSecure;
}

image::SpaceMask space_of(const Element& context) {
  const bool secure = context.security == Security::kSecure;
  if ((context.flags & kElementElValid) == 0)
    return secure ? image::kSpaceSecure : image::kSpaceNonSecure;
  using namespace image;
  static constexpr SpaceMask kSpaces[4][4] = {{kSpaceEl1S, kSpaceEl1S, kSpaceEl2S, kSpaceEl3},
                                              {kSpaceEl1N, kSpaceEl1N, kSpaceEl2, kSpaceEl3},
                                              {kSpaceRoot, kSpaceRoot, kSpaceRoot, kSpaceRoot},
                                              {kSpaceEl1R, kSpaceEl1R, kSpaceEl2R, kSpaceRoot}};
  return kSpaces[static_cast<unsigned>(context.security)][context.exception_level & 3];
}

}  // namespace

// The entries that outlive a cancel, a discard and the end of the trace.
bool Decoder::is_survivor(EntryKind kind) {
  return kind == EntryKind::kEvent || kind == EntryKind::kTimestamp ||
         kind == EntryKind::kTimestampCycleCount || kind == EntryKind::kCycleCount ||
         kind == EntryKind::kMarker || kind == EntryKind::kInstrumentation;
}

Decoder::Decoder(const Config& config, const image::Image& image, std::uint32_t flags,
                 const Quirks& quirks)
    : config_(config),
      quirks_(quirks),
      flags_(flags),
      follower_(image, walk_options(config, flags), config.trace_id()),
      return_stack_on_(config.return_stack_enabled()),
      exception_return_is_p0_(config.core.arch == isa::Arch::kV7 && m_profile()),
      checks_((flags & (kCheckDirectBranchN | kCheckStrictBranchN | kCheckRangeContinuity)) != 0),
      atoms_can_fail_(checks_ || return_stack_on_ || (flags & kA64OpcodeCheck) != 0),
      callbacks_(image.has_callbacks()) {
  straight_ = config.max_speculation() == 0 && !checks_ && (flags & kA64OpcodeCheck) == 0 &&
              !(return_stack_on_ && quirks.error_loses_elements);
  context_.trace_id = config.trace_id();
  context_.isa = isa_;
  select_memory();
}

void Decoder::set_range_limit(std::uint32_t instructions) {
  follower_.set_range_limit(instructions);
  if (instructions != 0) {
    atoms_can_fail_ = true;
    straight_ = false;
  }
  block_ = from_ = nullptr;
}

void Decoder::reset() {
  clear_state();
  state_ = State::kNoSync;
  unsync_reason_ = UnsyncReason::kResetDecoder;
  no_sync_pending_ = end_request_ = false;
  staged_.clear();
  staged_taken_ = staged_ready_ = 0;
  diagnostics_.clear();
  busy_ = failed_ = yield_ = run_open_ = false;
  packet_index_ = 0;
}

// What every loss of synchronisation forgets; sheet section 5.1, columns "error resync" and
// "RESET".
void Decoder::clear_state() {
  run_left_ = 0;
  queue_.clear();
  holding_ = false;
  depth_ = 0;
  commit_request_ = cancel_request_ = 0;
  mispredict_request_ = discard_request_ = false;
  need_address_ = need_context_ = true;
  address_pending_ = false;
  last_is_ = 0;
  is_64bit_ = false;
  previous_overflow_ = false;
  marker_seen_ = false;
  range_expected_ = false;
  block_ = from_ = nullptr;
}

// ---- Packets to entries ---------------------------------------------------------------------

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
  need_address_ = need_context_ = true;
  if (packet.type == PacketType::kTraceInfo) {
    begin_at_trace_info(packet);
  } else if (packet.type == PacketType::kEvent && config_.major_version() >= 5) {
    add(EntryKind::kEvent, packet.index).number = packet.value;
    request_excess();
  }
}

void Decoder::begin_at_trace_info(const Packet& packet) {
  state_ = State::kDecode;
  depth_ = packet.spec_depth;
  if (depth_ != 0) add(EntryKind::kUnseen, packet.index).count = packet.spec_depth;
  add(EntryKind::kTraceInfo, packet.index);
  if (bit<6>(packet.info)) add(EntryKind::kTransactionInit, packet.index);
  return_stack_.clear();
  pop_pending_ = false;
  request_excess();
}

// More elements outstanding than the unit can speculate: the oldest must have been committed.
void Decoder::request_excess() {
  if (depth_ > static_cast<std::int64_t>(config_.max_speculation())) {
    commit_request_ = static_cast<std::uint32_t>(depth_ - config_.max_speculation());
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

// The held address becomes what it stands for: the only entry of the queue.
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
        bad_packet(packet, "Unknown packet type.");
        return;
      }
      // Nothing returns from a reset: no address belongs to it.
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
      commit_request_ = packet.has_commit ? packet.commit : 0;
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
    case PacketType::kCondInstrF1:
    case PacketType::kCondInstrF2:
    case PacketType::kCondInstrF3:
    case PacketType::kCondFlush:
    case PacketType::kCondResultF1:
    case PacketType::kCondResultF2:
    case PacketType::kCondResultF3:
    case PacketType::kCondResultF4:
    case PacketType::kNumberedDataSync:
    case PacketType::kUnnumberedDataSync:
      unusable_packet(Fault::kUnsupportedPacket, Severity::kError,
                      "Data trace related, unsupported packet type.");
      return;
    case PacketType::kBadSequence:
      bad_packet(packet, "Bad byte sequence in packet.");
      return;
    case PacketType::kBadTraceMode:
      bad_packet(packet, "Invalid packet type for trace mode.");
      return;
    case PacketType::kReserved:
      bad_packet(packet, "Reserved packet header");
      return;
    default:
      bad_packet(packet, "Unknown packet type.");
      return;
  }
  request_excess();
  if (commit_request_ != 0 || cancel_request_ != 0 || mispredict_request_ || discard_request_)
    busy_ = true;
  if (queue_.size() > kMaxEntries) [[unlikely]]
    unusable_packet(Fault::kCommitOverrun, Severity::kError,
                    "Too many elements wait for a commit.");
}

void Decoder::bad_packet(const Packet& /*packet*/, std::string_view message) {
  const bool as_error = (flags_ & kErrorOnBadPackets) != 0;
  unusable_packet(Fault::kBadPacket, as_error ? Severity::kError : Severity::kWarning, message);
}

void Decoder::unusable_packet(Fault fault, Severity severity, std::string_view message) {
  report(fault, severity, packet_index_, message);
  if (failed_) return;
  clear_state();
  state_ = State::kNoSync;
  unsync_reason_ = UnsyncReason::kBadPacket;
}

void Decoder::end_of_trace() {
  if (failed_) return;
  end_request_ = busy_ = true;
}

// ---- Output ---------------------------------------------------------------------------------

Element& Decoder::emit(ElementKind kind, TraceIndex index) {
  Element* slot = out_;
  if (staging_ || out_ == out_end_) [[unlikely]] {
    slot = &staged_.emplace_back();
  } else {
    ++out_;
  }
  *slot = context_;
  slot->kind = kind;
  slot->index = index;
  return *slot;
}

void Decoder::emit_range(const Block& block, TraceIndex index, bool executed) {
  Element& range = emit(ElementKind::kInstrRange, index);
  range.start = block.start;
  range.end = block.end;
  range.count = block.count;
  range.isa = block.isa;
  range.last_type = block.type;
  range.last_subtype = block.subtype;
  range.last_size = block.last_size;
  range.flags = static_cast<std::uint16_t>(range.flags | (executed ? kElementExecuted : 0) |
                                           (block.conditional ? kElementConditional : 0));
}

void Decoder::emit_walk(TraceIndex index, std::uint64_t start, std::uint64_t end,
                        std::uint32_t count, const isa::Instruction& last, Isa isa, bool executed) {
  Block block;
  block.start = start;
  block.end = end;
  block.count = count;
  block.isa = isa;
  block.type = last.type;
  block.subtype = last.subtype;
  block.last_size = last.size;
  block.conditional = last.conditional;
  emit_range(block, index, executed);
}

void Decoder::emit_not_accessible(TraceIndex index, std::uint64_t address) {
  Element& nacc = emit(ElementKind::kAddrNacc, index);
  nacc.start = address;
  nacc.number = follower_.space();
}

std::size_t Decoder::drain(std::span<Element> out) {
  out_begin_ = out_ = out.data();
  out_end_ = out_begin_ + out.size();
  while (true) {
    if (staged_ready_ != 0) [[unlikely]] {
      const std::size_t count =
          std::min(staged_ready_ - staged_taken_, static_cast<std::size_t>(out_end_ - out_));
      std::copy_n(staged_.begin() + static_cast<std::ptrdiff_t>(staged_taken_), count, out_);
      out_ += count;
      staged_taken_ += count;
      if (staged_taken_ != staged_ready_) return given();
      staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(staged_ready_));
      staged_taken_ = staged_ready_ = 0;
    }
    if (!diagnostics_.empty()) [[unlikely]]
      return given();
    if (no_sync_pending_) [[unlikely]] {
      if (!room()) return given();
      emit(ElementKind::kNoSync, packet_index_).reason = static_cast<std::uint8_t>(unsync_reason_);
      no_sync_pending_ = false;
    }
    if (yield_) [[unlikely]] {
      yield_ = false;
      if (given() != 0) return given();
    }
    if (failed_ || (commit_request_ == 0 && cancel_request_ == 0 && !mispredict_request_ &&
                    !discard_request_ && !end_request_)) {
      busy_ = false;
      return given();
    }
    if (!room()) return given();
    resolve();
  }
}

// ---- Resolving ------------------------------------------------------------------------------

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
      // Out of room, or a context must be seen first; the latter ends the run.
      if (yield_ || staging_) return close_run();
      // What the last entry made beyond the room comes before all that is still to be made.
      staged_ready_ = staged_.size();
      return;
    }
    // A record comes before what a discard makes.
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
  staged_ready_ = staged_.size();
}

void Decoder::commit() {
  while (commit_request_ != 0) {
    if (queue_.empty()) {
      fail_commit(Fault::kCommitOverrun, last_looked_at_, "Not enough elements to commit",
                  UnsyncReason::kBadPacket);
      return;
    }
    if (!room()) return;
    Entry& entry = queue_.front();
    last_looked_at_ = entry.index;
    bool counts = false;
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
        wait_for_address_ = true;
        return_stack_.clear();
        pop_pending_ = false;
        break;
      case EntryKind::kTraceOn: {
        range_expected_ = false;
        return_stack_.clear();
        pop_pending_ = false;
        const auto reason = previous_overflow_ ? TraceOnReason::kOverflow : TraceOnReason::kNormal;
        emit(ElementKind::kTraceOn, entry.index).reason = static_cast<std::uint8_t>(reason);
        previous_overflow_ = false;
        break;
      }
      case EntryKind::kEvent:
      case EntryKind::kCycleCount:
      case EntryKind::kTimestamp:
      case EntryKind::kTimestampCycleCount:
      case EntryKind::kMarker:
      case EntryKind::kInstrumentation:
        emit_survivor(entry);
        break;
      case EntryKind::kException:
        if (!commit_exception()) return;
        if (commit_request_ != 0 && (staging_ || yield_ || !diagnostics_.empty())) return;
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
  const auto type = entry.kind == EntryKind::kTransactionCommit ? MemTransType::kCommit
                    : entry.kind == EntryKind::kTransactionFail ? MemTransType::kFail
                                                                : MemTransType::kInit;
  emit(ElementKind::kMemTrans, entry.index).reason = static_cast<std::uint8_t>(type);
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
      Element& count = emit(ElementKind::kCycleCount, entry.index);
      count.cycle_count = entry.count;
      count.flags |= kElementHasCycleCount;
      break;
    }
    case EntryKind::kTimestamp:
    case EntryKind::kTimestampCycleCount: {
      // Where markers are in use, a timestamp without one names no place.
      if (config_.timestamp_markers() && !marker_seen_) break;
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

void Decoder::apply_address(std::uint64_t address, std::uint8_t is) {
  pop_pending_ = false;
  wait_for_address_ = false;
  address_ = address;
  isa_ = isa_of(is_64bit_, is);
  need_address_ = false;
  leave_flow();
}

// The address comes from elsewhere than the last block.  Only what an indirect branch guesses may
// be linked to it: every other link is followed without a look at the address.
void Decoder::leave_flow() {
  block_ = nullptr;
  if (from_ != nullptr && !(from_taken_ && from_->is_indirect_branch())) from_ = nullptr;
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
  isa_ = isa_of(entry.sf, entry.is);
  context_.isa = isa_;
  need_context_ = false;
  emit(ElementKind::kPeContext, index);
  select_memory();
}

void Decoder::select_memory() {
  follower_.select(space_of(context_), std::uint64_t{context_.vmid} << 32 | context_.context_id);
  block_ = from_ = nullptr;
}

bool Decoder::pop_return_stack() {
  flow::ReturnStack::Entry top;
  pop_pending_ = false;
  if (!return_stack_.pop(top)) {
    fail_commit(Fault::kReturnStackUnderrun, kNoIndex, "Trace Return Stack Overflow.",
                UnsyncReason::kBadPacket);
    return false;
  }
  address_ = top.address;
  isa_ = top.isa;
  need_address_ = false;
  leave_flow();
  return true;
}

// False: an error ended the run.  Out of room is no error: the entry keeps the rest.
bool Decoder::commit_atoms(Entry& entry) {
  const TraceIndex index = entry.index;
  std::uint64_t atoms = entry.value;
  const std::uint32_t wanted = std::min(entry.count, commit_request_);
  std::uint32_t left = wanted;
  const auto settle = [&] {
    entry.value = atoms;
    entry.count -= wanted - left;
    commit_request_ -= wanted - left;
    depth_ -= wanted - left;
  };
  while (left != 0) {
    if (pop_pending_) {
      if (!pop_return_stack()) return false;
    }
    if (need_address_ || need_context_) {
      // Swallowed: nothing says where these were.
      atoms >>= left;
      left = 0;
      break;
    }
    if (!room()) break;
    if (block_ == nullptr)
      block_ = from_ != nullptr ? &follower_.successor(*from_, from_taken_, address_, isa_, it_)
                                : &follower_.block(address_, isa_, it_);
    const Block* block = block_;
    if (block->ended != BlockEnd::kWaypoint) [[unlikely]] {
      --left;
      atoms >>= 1;
      if (block->ended != BlockEnd::kNotAccessible) {
        settle();
        walk_error(*block, index);
        return false;
      }
      if (block->count != 0) emit_range(*block, index, true);
      emit_not_accessible(index, block->end);
      address_ = block->end;
      it_ = block->it_out;
      need_address_ = true;
      range_expected_ = false;
      block_ = from_ = nullptr;
      continue;
    }
    const bool executed = (atoms & 1) != 0;
    atoms >>= 1;
    --left;
    block_ = block->next[executed ? 1 : 0];
    from_ = block;
    from_taken_ = executed;
    address_ = block->end;
    it_ = block->it_out;
    if (executed) {
      if (block->is_direct_branch()) {
        if (block->link) push_return(block->end, block->isa);
        address_ = block->target;
        it_ = 0;
      } else if (block->is_indirect_branch()) {
        if (block->link) push_return(block->end, block->isa);
        need_address_ = true;
        pop_pending_ = return_stack_on_;
        it_ = 0;
        block_ = nullptr;
      }
      isa_ = block->next_isa;
      if (block->link && return_stack_on_ && !block->is_indirect_branch()) pop_pending_ = false;
    }
    // The entry is gone when a check fails: nothing is left to settle.
    if (checks_ && !check_image(*block, executed, index)) return false;
    emit_range(*block, index, executed);
    if (executed && block->subtype == isa::InstrSubtype::kV8ExceptionReturn &&
        config_.major_version() >= 5)
      emit(ElementKind::kExceptionReturn, index);
  }
  settle();
  return true;
}

// The loop that decoding is about.  Everything that is not a waypoint in readable memory at a known
// place goes the long way, through the queue.
Element* Decoder::resume(Element* out, Element* end) {
  const TraceIndex index = packet_index_;
  std::uint32_t atoms = run_atoms_;
  std::uint32_t left = run_left_;
  run_left_ = 0;
  if (holding_) {
    holding_ = false;
    apply_address(held_address_, held_is_);
  }
  const Block* block = block_;
  const Block* from = from_;
  bool taken = from_taken_;
  while (left != 0) {
    if (pop_pending_) {
      if (return_stack_.size() == 0) break;
      pop_return_stack();
      block = block_;
      from = from_;
    }
    if (need_address_ || need_context_) [[unlikely]] {
      // Swallowed: nothing says where these were.
      left = 0;
      break;
    }
    if (out == end) break;
    if (block == nullptr) {
      block = from != nullptr ? &follower_.successor(*from, taken, address_, isa_, it_)
                              : &follower_.block(address_, isa_, it_);
    }
    if (block->ended != BlockEnd::kWaypoint) [[unlikely]]
      break;
    taken = (atoms & 1) != 0;
    atoms >>= 1;
    --left;
    out->index = index;
    out->start = block->start;
    out->end = block->end;
    out->value = 0;
    out->count = block->count;
    out->cycle_count = 0;
    out->context_id = context_.context_id;
    out->vmid = context_.vmid;
    out->kind = ElementKind::kInstrRange;
    out->trace_id = context_.trace_id;
    out->flags = static_cast<std::uint16_t>(context_.flags | (taken ? kElementExecuted : 0) |
                                            (block->conditional ? kElementConditional : 0));
    out->isa = block->isa;
    out->last_type = block->type;
    out->last_subtype = block->subtype;
    out->last_size = block->last_size;
    out->exception_level = context_.exception_level;
    out->security = context_.security;
    out->reason = 0;
    out->extra = 0;
    out->extra_value = 0;
    ++out;
    from = block;
    const Block* next = block->next[taken ? 1 : 0];
    if (taken && block->is_indirect_branch()) {
      if (block->link) push_return(block->end, block->isa);
      address_ = block->end;
      isa_ = block->next_isa;
      it_ = 0;
      need_address_ = true;
      pop_pending_ = return_stack_on_;
      block = nullptr;
      if (from->subtype == isa::InstrSubtype::kV8ExceptionReturn && config_.major_version() >= 5) {
        block_ = nullptr;
        from_ = from;
        from_taken_ = true;
        out_ = out;
        out_end_ = end;
        staging_ = false;
        emit(ElementKind::kExceptionReturn, index);
        out = out_;
        if (!staged_.empty()) {
          staged_ready_ = staged_.size();
          busy_ = true;
        }
      }
      continue;
    }
    if (taken && block->link && return_stack_on_) {
      push_return(block->end, block->isa);
      pop_pending_ = false;
    }
    if (next == nullptr) {
      address_ = taken && block->is_direct_branch() ? block->target : block->end;
      it_ = taken && block->is_direct_branch() ? 0 : block->it_out;
      isa_ = taken ? block->next_isa : block->isa;
    }
    block = next;
  }
  if (block != nullptr) {
    // The place is known by its block alone while links are followed.
    address_ = block->start;
    isa_ = block->isa;
    it_ = block->it_in;
  }
  block_ = block;
  from_ = from;
  from_taken_ = taken;
  if (left != 0 && out == end) {
    run_atoms_ = atoms;
    run_left_ = left;
  } else if (left != 0) {
    queue_atoms(index, atoms, left);
    request_excess();
  }
  return out;
}

// Sheet section 4.9.
bool Decoder::check_image(const Block& block, bool executed, TraceIndex index) {
  const bool skipped = (flags_ & kCheckBranchNotThumb) != 0 && block.isa == Isa::kT32;
  const bool strict = (flags_ & kCheckStrictBranchN) != 0;
  if (!executed && !block.conditional && !skipped) {
    if (block.is_direct_branch() &&
        (strict || ((flags_ & kCheckDirectBranchN) != 0 && block.target != block.end))) {
      fail_commit(Fault::kBadImage, index,
                  "Bad program image - N Atom on unconditional direct BR.\n",
                  UnsyncReason::kBadImage);
      blame(block.end - block.last_size);
      return false;
    }
    if (block.is_indirect_branch() && strict) {
      fail_commit(Fault::kBadImage, index,
                  "Bad program image - N Atom on unconditional indirect BR.\n",
                  UnsyncReason::kBadImage);
      blame(block.end - block.last_size);
      return false;
    }
  }
  if ((flags_ & kCheckRangeContinuity) != 0) {
    if (range_expected_ && range_expectation_ != block.start) {
      fail_commit(Fault::kBadImage, index,
                  "Discontinuous ranges - Inconsistent program image for decode\n",
                  UnsyncReason::kBadImage);
      blame(block.start);
      return false;
    }
    range_expected_ = !executed;
    range_expectation_ = block.end;
  }
  return true;
}

void Decoder::walk_error(const Block& block, TraceIndex index) {
  note_range_limit(block.count, block.ended);
  const Fault fault = fault_of(block.ended);
  address_ = block.end;
  it_ = block.it_out;
  fail_commit(fault, index, "Error processing atom packet.", UnsyncReason::kBadPacket);
  blame(block.end);
}

void Decoder::note_range_limit(std::uint32_t count, BlockEnd ended) {
  const std::uint32_t limit = follower_.range_limit();
  if (ended != BlockEnd::kRangeLimit || limit == 0 || count <= limit) return;
  const std::uint32_t notes = quirks_.range_limit_repeats ? std::min(count - limit, kMaxNotes) : 1;
  for (std::uint32_t i = 0; i < notes; ++i) {
    Diagnostic& note = diagnostics_.emplace_back();
    note.fault = Fault::kRangeLimit;
    note.message = "Decode Instruction Range Limit Overrun";
  }
}

// Sheet section 4.6b.  The entry is the oldest of the queue.
bool Decoder::commit_exception() {
  if (pop_pending_ && !pop_return_stack()) return false;
  range_expected_ = false;
  const Entry entry = queue_.front();
  if (!entry.known) {
    // A PE reset: no address belongs to it.
    emit(ElementKind::kException, entry.index).number = entry.number;
    need_address_ = true;
    it_ = 0;
    queue_.pop_front();
    --commit_request_;
    --depth_;
    return true;
  }
  const bool has_context = queue_.size() > 1 && queue_.at(1).kind == EntryKind::kContext;
  const std::size_t at = has_context ? 2 : 1;
  if (queue_.size() <= at || queue_.at(at).kind != EntryKind::kAddress) {
    fail_commit(Fault::kBadPacketSequence, packet_index_, "Address missing in exception packet.",
                UnsyncReason::kBadPacket);
    if (quirks_.second_error_after_missing_address && !failed_)
      report(Fault::kCommitOverrun, Severity::kError, 0, "Not enough elements to commit");
    return false;
  }
  const Entry context = has_context ? queue_.at(1) : Entry{};
  const Entry target = queue_.at(at);
  for (std::size_t i = 0; i <= at; ++i) queue_.pop_front();
  const std::uint64_t return_address = target.value;
  const TraceIndex index = entry.index;
  if (entry.flag) {
    const bool sf = has_context ? context.sf : isa_ == Isa::kA64;
    address_ = return_address;
    isa_ = isa_of(sf, target.is);
    need_address_ = false;
    block_ = from_ = nullptr;
  }
  const bool tail_chain = m_profile() && return_address == kTailChain;
  // The instructions before the exception ran in the old context: read them there.
  Stretch stretch;
  const Isa walked_isa = isa_;
  const bool reads = !tail_chain && address_ < return_address &&
                     (quirks_.exception_walk_unchecked || (!need_address_ && !need_context_));
  if (reads && !quirks_.exception_walk_unchecked) stretch = walk_to(return_address);
  if (has_context) {
    const Isa before = isa_;
    apply_context(context, index);
    isa_ = before;
    yield_ = callbacks_;
  }
  if (reads && quirks_.exception_walk_unchecked) stretch = walk_to(return_address);
  if (stretch.ended != BlockEnd::kWaypoint && stretch.ended != BlockEnd::kNotAccessible) {
    note_range_limit(stretch.count, stretch.ended);
    return fail_walk(stretch.ended, index, "Error processing exception packet.");
  }
  if (stretch.count != 0) {
    emit_walk(index, stretch.start, stretch.end, stretch.count, stretch.last, walked_isa, true);
    isa_ = stretch.last.next_isa;
  }
  if (stretch.ended == BlockEnd::kNotAccessible) {
    emit_not_accessible(index, stretch.end);
    need_address_ = true;
  }
  Element& exception = emit(ElementKind::kException, index);
  exception.number = entry.number;
  exception.end = return_address;
  unsigned flags = exception.flags;
  if (tail_chain) {
    flags |= kElementTailChain;
  } else {
    flags |= kElementReturnAddress;
    if (entry.flag) flags |= kElementReturnIsTarget;
  }
  exception.flags = static_cast<std::uint16_t>(flags);
  it_ = 0;
  block_ = from_ = nullptr;
  --commit_request_;
  --depth_;
  return true;
}

// From the present address to `end`, past any waypoint.
Decoder::Stretch Decoder::walk_to(std::uint64_t end) {
  Stretch stretch;
  stretch.start = address_;
  const std::uint32_t limit = follower_.range_limit();
  while (address_ != end) {
    if (address_ > end && !quirks_.exception_walk_unchecked) {
      // The return address lies within an instruction: image and trace disagree.
      report(Fault::kBadImage, Severity::kWarning, packet_index_,
             "The return address of an exception lies inside an instruction of the image.");
      blame(end);
      break;
    }
    const flow::Follower::Fetched fetched = follower_.fetch(address_, isa_, it_);
    stretch.ended = fetched.outcome;
    if (fetched.outcome != BlockEnd::kWaypoint) break;
    stretch.last = fetched.instruction;
    address_ += fetched.instruction.size;
    if (++stretch.count > (limit != 0 ? limit : kMaxSteps)) {
      stretch.ended = BlockEnd::kRangeLimit;
      break;
    }
  }
  stretch.end = address_;
  return stretch;
}

// Sheet section 4.7.
bool Decoder::commit_source_address(const Entry& entry) {
  range_expected_ = false;
  const std::uint64_t source = entry.value;
  const TraceIndex index = entry.index;
  static constexpr std::string_view kReadError =
      "Mem access error processing source address packet.";
  static constexpr std::string_view kDecodeError =
      "Instruction decode error processing source address packet.";
  const auto failed = [&](BlockEnd ended) {
    return fail_walk(ended, index,
                     ended == BlockEnd::kInvalidOpcode || ended == BlockEnd::kUnsupported
                         ? kDecodeError
                         : kReadError);
  };
  const flow::Follower::Fetched at = follower_.fetch(source, isa_, it_);
  if (at.outcome == BlockEnd::kNotAccessible) {
    emit_not_accessible(index, source);
    return true;
  }
  if (at.outcome != BlockEnd::kWaypoint) return failed(at.outcome);
  const isa::Instruction& last = at.instruction;
  const std::uint64_t end = source + last.size;
  std::uint64_t start = address_;
  if (need_address_ || address_ > source) {
    start = source;
    need_address_ = false;
  }
  const bool split = (flags_ & kSourceAddressNRanges) != 0;
  std::uint32_t count = 1;
  if (start != source && isa_ != Isa::kT32 && !split) {
    count = static_cast<std::uint32_t>((end - start) / 4);
  } else if (start != source) {
    count = 0;
    std::uint8_t it = 0;
    std::uint32_t steps = 0;
    for (std::uint64_t address = start; address < end;) {
      const flow::Follower::Fetched step = follower_.fetch(address, isa_, it);
      if (step.outcome == BlockEnd::kNotAccessible || ++steps > kMaxSteps) {
        emit_not_accessible(index, source);
        start = source;
        count = 1;
        break;
      }
      if (step.outcome != BlockEnd::kWaypoint) return failed(step.outcome);
      address += step.instruction.size;
      ++count;
      if (split && address < end && step.instruction.type != InstrType::kOther) {
        emit_walk(index, start, address, count, step.instruction, isa_, false);
        start = address;
        count = 0;
      }
    }
  }
  const Isa executed_in = isa_;
  address_ = end;
  if (last.type == InstrType::kBranch || last.type == InstrType::kIndirectBranch) {
    if (last.link) push_return(end, executed_in);
    if (last.type == InstrType::kBranch) {
      address_ = last.target;
      if (last.link && return_stack_on_) pop_pending_ = false;
    } else {
      need_address_ = true;
      pop_pending_ = return_stack_on_;
    }
    if (!quirks_.source_address_after_state) it_ = 0;
  }
  isa_ = last.next_isa;
  block_ = from_ = nullptr;
  emit_walk(index, start, end, count, last, quirks_.source_address_after_state ? isa_ : executed_in,
            true);
  if (!quirks_.source_address_after_state && last.subtype == isa::InstrSubtype::kV8ExceptionReturn)
    emit(ElementKind::kExceptionReturn, index);
  return true;
}

// Sheet section 4.7b.  The entry is the oldest of the queue.
bool Decoder::commit_q() {
  range_expected_ = false;
  const Entry entry = queue_.front();
  const TraceIndex index = entry.index;
  Entry target = entry;
  Entry context;
  bool has_context = false;
  queue_.pop_front();
  if (!entry.flag) {
    has_context = !queue_.empty() && queue_.front().kind == EntryKind::kContext;
    const std::size_t at = has_context ? 1 : 0;
    if (queue_.size() <= at || queue_.at(at).kind != EntryKind::kAddress) {
      return fail_walk(BlockEnd::kUnsupported, index, "Address missing in Q packet.");
    }
    if (has_context) context = queue_.front();
    target = queue_.at(at);
    for (std::size_t i = 0; i <= at; ++i) queue_.pop_front();
    last_looked_at_ = index;
  }
  const std::uint32_t wanted = entry.known ? entry.count : 0;
  const std::uint64_t start = address_;
  const Isa executed_in = isa_;
  isa::Instruction last;
  std::uint32_t walked = 0;
  while (walked < std::min(wanted, kMaxSteps)) {
    const flow::Follower::Fetched fetched = follower_.fetch(address_, isa_, it_);
    if (fetched.outcome == BlockEnd::kNotAccessible) break;
    if (fetched.outcome != BlockEnd::kWaypoint)
      return fail_walk(fetched.outcome, index, "Error processing Q packet");
    last = fetched.instruction;
    address_ += last.size;
    ++walked;
    if (last.type == InstrType::kBranch || last.type == InstrType::kIndirectBranch) break;
  }
  const bool at_branch = last.type == InstrType::kBranch || last.type == InstrType::kIndirectBranch;
  const Isa target_isa = isa_of(has_context ? context.sf : is_64bit_, target.is);
  if (wanted != 0 && walked == wanted && (address_ == target.value || at_branch)) {
    emit_walk(index, start, address_, walked, last, executed_in, true);
  } else {
    Element& range = emit(ElementKind::kInstrRangeNoPath, index);
    range.start = start;
    range.end = target.value;
    range.count = wanted;
    range.isa = target_isa;
  }
  address_ = target.value;
  isa_ = target_isa;
  need_address_ = false;
  block_ = from_ = nullptr;
  --commit_request_;
  --depth_;
  if (has_context && context.flag) {
    apply_context(context, context.index);
    isa_ = target_isa;
    yield_ = callbacks_;
  }
  if (quirks_.q_deletes_next_entry && !queue_.empty()) queue_.pop_front();
  return true;
}

// From the newest end; sheet section 4.4, "Cancel".
void Decoder::cancel() {
  std::uint32_t left = cancel_request_;
  cancel_request_ = 0;
  std::vector<Entry> kept;
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
    fail_commit(Fault::kCommitOverrun, packet_index_, "Not enough elements to cancel",
                UnsyncReason::kBadPacket);
  for (auto entry = kept.rbegin(); entry != kept.rend(); ++entry) queue_.push() = *entry;
}

// From the newest end; sheet section 4.4, "Mispredict".
void Decoder::mispredict() {
  mispredict_request_ = false;
  for (std::size_t i = queue_.size(); i-- != 0;) {
    Entry& entry = queue_.at(i);
    if (entry.kind == EntryKind::kUnseen) return;
    if (entry.kind == EntryKind::kAtom) {
      entry.value ^= std::uint64_t{1} << (entry.count - 1);
      return;
    }
    if (entry.kind == EntryKind::kAddress) queue_.erase(i);
  }
  fail_commit(Fault::kCommitOverrun, packet_index_, "Not found mispredict atom",
              UnsyncReason::kBadPacket);
}

// Sheet section 4.12.  False: out of room.
bool Decoder::discard() {
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
  need_address_ = need_context_ = true;
  address_pending_ = false;
  unsync_reason_ = previous_overflow_ ? UnsyncReason::kOverflow : UnsyncReason::kDiscard;
  state_ = State::kWaitSync;
  no_sync_pending_ = true;
  return true;
}

// Sheet section 4.13.  False: out of room.
bool Decoder::finish_queue() {
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

// ---- Errors ---------------------------------------------------------------------------------

void Decoder::report(Fault fault, Severity severity, TraceIndex index, std::string_view message) {
  Diagnostic& record = diagnostics_.emplace_back();
  record.fault = fault;
  record.severity = severity;
  record.trace_id = config_.trace_id();
  record.index = index;
  record.message = message;
  busy_ = true;
  if ((flags_ & kHaltOnBadPackets) != 0 && severity != Severity::kInfo) {
    record.fatal = true;
    failed_ = true;
  }
}

void Decoder::blame(std::uint64_t address) { diagnostics_.back().address = address; }

void Decoder::fail_commit(Fault fault, TraceIndex index, std::string_view message,
                          UnsyncReason reason) {
  if (staging_) staged_.resize(staged_ready_);
  report(fault, Severity::kError, index, message);
  clear_state();
  if (failed_) return;
  unsync_reason_ = reason;
  state_ = State::kWaitSync;
  no_sync_pending_ = true;
}

bool Decoder::fail_walk(BlockEnd ended, TraceIndex index, std::string_view message) {
  const Fault fault = ended == BlockEnd::kUnsupported ? Fault::kBadPacketSequence : fault_of(ended);
  fail_commit(fault, index, message, UnsyncReason::kBadPacket);
  blame(address_);
  if (quirks_.fatal_walk_errors) {
    diagnostics_.back().fatal = true;
    failed_ = true;
    no_sync_pending_ = false;
  }
  return false;
}

}  // namespace waymark::etmv4
