#include "waymark/ptm/decoder.h"

#include <algorithm>

#include "findings.h"
#include "waymark/base/bits.h"
#include "waymark/protocol/source.h"

namespace waymark::ptm {
namespace {

using isa::Isa;

isa::Options walk_options(const Config& config, const Quirks& quirks) {
  return {.arch = config.core.arch,
          .dsb_dmb_waypoints = config.barrier_waypoints(),
          .wfi_wfe_waypoints = false,
          .track_it_block = false,
          .a64_opcode_check = false,
          .quirks = {.a32_eret_is_not_a_branch = quirks.a32_eret_is_not_a_branch,
                     .newer_branches_unconditional = quirks.newer_branches_unconditional,
                     .clrm_is_a_branch = quirks.clrm_is_a_branch,
                     .reads_four_bytes = quirks.reads_four_bytes}};
}

TraceOnReason trace_on_reason(IsyncReason reason) {
  switch (reason) {
    case IsyncReason::kRestartOverflow:
      return TraceOnReason::kOverflow;
    case IsyncReason::kDebugExit:
      return TraceOnReason::kDebugRestart;
    default:
      return TraceOnReason::kNormal;
  }
}

}  // namespace

Decoder::Decoder(const Config& config, const image::Image& image, std::uint32_t flags,
                 const Quirks& quirks)
    : config_(config),
      quirks_(quirks),
      flags_(flags),
      path_(image, walk_options(config, quirks), config.trace_id(), config.return_stack()),
      callbacks_(image.has_callbacks()) {
  context_.trace_id = config.trace_id();
  context_.isa = Isa::kUnknown;
  path_.isa = Isa::kUnknown;
  path_.set_untaken_blx_changes_isa(quirks.untaken_blx_changes_isa);
  path_.follower().set_walks_unlimited(quirks.walks_unlimited);
  select_memory();
}

void Decoder::set_range_limit(std::uint32_t instructions) {
  path_.follower().set_range_limit(instructions);
  path_.cut();
}

void Decoder::reset() {
  state_ = State::kNoSync;
  unsync_reason_ = UnsyncReason::kResetDecoder;
  need_isync_ = true;
  no_sync_pending_ = busy_ = failed_ = yield_ = false;
  if (!quirks_.index_survives_reset) packet_index_ = 0;
  time_bits_ = 0;
  staged_count_ = staged_taken_ = 0;
  diagnostics_.clear();
  path_.lose();
}

void Decoder::jump() {
  if (state_ == State::kNoSync) return;
  state_ = State::kWaitSync;
  need_isync_ = true;
  path_.lose();
}

void Decoder::restore(const Decoder& other) {
  static_cast<DecoderState&>(*this) = other;
  path_.restore(other.settled_path());
  staged_count_ = staged_taken_ = 0;
  diagnostics_.clear();
  select_memory(memory_from_);
}

// The path without leftovers that no longer have a meaning.
flow::PathState Decoder::settled_path() const {
  flow::PathState path = path_.settled();
  if (path.lost) path.address = 0;
  return path;
}

bool Decoder::same_state(const Decoder& other) const {
  return static_cast<const DecoderState&>(*this) == other && settled_path() == other.settled_path();
}

// ---- Output ---------------------------------------------------------------------------------

void Decoder::begin_output(Element* out, Element* end) {
  client_ = out;
  client_end_ = end;
  const bool fits = static_cast<std::size_t>(end - out) >= kMostElements;
  out_ = fits ? out : staged_.data();
}

Element* Decoder::end_output() {
  if (static_cast<std::size_t>(client_end_ - client_) >= kMostElements) return out_;
  const auto made = static_cast<std::size_t>(out_ - staged_.data());
  const std::size_t fit = std::min(made, static_cast<std::size_t>(client_end_ - client_));
  std::copy_n(staged_.data(), fit, client_);
  staged_taken_ = fit;
  staged_count_ = made;
  if (fit != made) busy_ = true;
  return client_ + fit;
}

std::size_t Decoder::drain(std::span<Element> out) {
  const std::size_t count = std::min(staged_count_ - staged_taken_, out.size());
  std::copy_n(staged_.data() + staged_taken_, count, out.data());
  staged_taken_ += count;
  if (staged_taken_ != staged_count_ || !diagnostics_.empty()) return count;
  staged_taken_ = staged_count_ = 0;
  if (no_sync_pending_) {
    if (count == out.size()) return count;
    no_sync_pending_ = false;
    Element& element = out[count];
    element = context_;
    element.kind = ElementKind::kNoSync;
    element.index = packet_index_;
    element.reason = static_cast<std::uint8_t>(unsync_reason_);
    busy_ = false;
    return count + 1;
  }
  if (yield_) {
    yield_ = false;
    if (count != 0) return count;
  }
  busy_ = false;
  return count;
}

Element& Decoder::emit(ElementKind kind, TraceIndex index) {
  Element& element = *out_++;
  element = context_;
  element.kind = kind;
  element.index = index;
  return element;
}

void Decoder::emit_cycles(Element& element, Cycles cycles) const {
  if (!cycles.present) return;
  element.cycle_count = cycles.count;
  element.flags |= kElementHasCycleCount;
}

void Decoder::emit_not_accessible(TraceIndex index, std::uint64_t address) {
  Element& nacc = emit(ElementKind::kAddrNacc, index);
  nacc.start = address;
  nacc.number = path_.follower().space();
}

Diagnostic& Decoder::report(Fault fault, Severity severity, TraceIndex index, Finding finding) {
  Diagnostic& record = diagnostics_.emplace_back();
  record.fault = fault;
  record.severity = severity;
  record.trace_id = config_.trace_id();
  record.index = index;
  record.finding = finding;
  busy_ = true;
  return record;
}

void Decoder::lose_sync(UnsyncReason reason) {
  state_ = State::kWaitSync;
  need_isync_ = true;
  unsync_reason_ = reason;
  no_sync_pending_ = busy_ = true;
  path_.lose();
}

// ---- Packets --------------------------------------------------------------------------------

// See ptm.md 8.
Element* Decoder::put(const Packet& packet, Element* out, Element* end) {
  if (failed_) return out;
  packet_index_ = packet.index;
  // Nearly all packets except atoms.
  if (packet.type == PacketType::kBranchAddress && packet.info_bytes == 0 &&
      packet.conflict == RegisterConflict::kNone && state_ == State::kDecode &&
      static_cast<std::size_t>(end - out) >= kMostElements) [[likely]] {
    out_ = out;
    follow_branch(packet.index, {packet.has_cycle_count, packet.cycle_count});
    path_.go_to(packet.address.value, packet.isa);
    return out_;
  }
  // A context must be drained, not written past, before memory is read under it.
  if (callbacks_) end = out;
  begin_output(out, end);
  if (packet.type == PacketType::kTimestamp) {
    time_bits_ = std::max(time_bits_, packet.timestamp_bits);
  } else if (is_bad(packet.type) || (packet.type == PacketType::kAsync && packet.in_packet)) {
    time_bits_ = 0;
  }
  switch (state_) {
    case State::kDecode:
      accept_in_decode(packet);
      break;
    case State::kNoSync:
      no_sync_pending_ = busy_ = true;
      state_ = packet.type == PacketType::kAsync ? State::kWaitIsync : State::kWaitSync;
      break;
    case State::kWaitSync:
      if (packet.type == PacketType::kAsync) state_ = State::kWaitIsync;
      break;
    case State::kWaitIsync:
      if (packet.type == PacketType::kIsync) {
        state_ = State::kDecode;
        synchronise(packet);
      }
      break;
  }
  if (packet.conflict != RegisterConflict::kNone) [[unlikely]]
    conflict(packet);
  return end_output();
}

void Decoder::accept_in_decode(const Packet& packet) {
  const Cycles cycles{packet.has_cycle_count, packet.cycle_count};
  switch (packet.type) {
    case PacketType::kBranchAddress:
      branch(packet);
      break;
    case PacketType::kAtom:
      follow(packet.index, packet.atoms, packet.atom_count, cycles);
      break;
    case PacketType::kIsync:
      synchronise(packet);
      break;
    case PacketType::kWaypointUpdate:
      waypoint_update(packet);
      break;
    case PacketType::kContextId:
      if ((context_.flags & kElementContextIdValid) != 0 &&
          context_.context_id == packet.context.context_id) {
        enter_place(packet.index);
        break;
      }
      context_.context_id = packet.context.context_id;
      context_.flags |= kElementContextIdValid;
      context_changed();
      break;
    case PacketType::kVmid:
      if ((context_.flags & kElementVmidValid) != 0 && context_.vmid == packet.context.vmid) {
        enter_place(packet.index);
        break;
      }
      context_.vmid = packet.context.vmid;
      context_.flags |= kElementVmidValid;
      context_changed();
      break;
    case PacketType::kTimestamp:
      timestamp(packet);
      break;
    case PacketType::kTrigger:
      emit(ElementKind::kEvent, packet.index).reason =
          static_cast<std::uint8_t>(EventType::kTrigger);
      break;
    case PacketType::kExceptionReturn:
      emit(ElementKind::kExceptionReturn, packet.index);
      break;
    case PacketType::kBadSequence:
    case PacketType::kReserved:
      bad_packet(packet);
      break;
    case PacketType::kAsync:
      if (packet.in_packet) async_in_packet(packet);
      break;
    case PacketType::kIncompleteEot:
      if (!quirks_.bad_packet_unreported)
        report(Fault::kBadPacketSequence, Severity::kWarning, packet.index, Finding::kEndsInPacket);
      break;
    default:  // Ignore, not synchronised.
      break;
  }
}

void Decoder::timestamp(const Packet& packet) {
  Element& element = emit(ElementKind::kTimestamp, packet.index);
  const bool gray = config_.gray_timestamps() && !quirks_.timestamps_not_converted;
  element.timestamp = gray ? from_gray(packet.timestamp) : packet.timestamp;
  if (!quirks_.timestamps_not_flagged) {
    const bool partial = time_bits_ < config_.timestamp_bits();
    // Without its upper bits, a number in Gray code has no meaning.
    if (!partial || !gray) element.flags |= kElementHasTimestamp;
    if (partial) element.flags |= kElementTimeIsPartial;
    if (packet.clock_changed) element.flags |= kElementFrequencyChange;
  }
  emit_cycles(element, {packet.has_cycle_count, packet.cycle_count});
  enter_place(packet.index + 1);
}

void Decoder::bad_packet(const Packet& packet) {
  if (quirks_.bad_packet_unreported) {
    state_ = State::kWaitSync;
    need_isync_ = true;
    emit(ElementKind::kNoSync, packet.index).reason =
        static_cast<std::uint8_t>(UnsyncReason::kUndefined);
    return;
  }
  const bool as_error = (flags_ & kErrorOnBadPackets) != 0;
  const bool reserved = packet.type == PacketType::kReserved;
  Diagnostic& record = report(reserved ? Fault::kInvalidHeader : Fault::kBadPacketSequence,
                              as_error ? Severity::kError : Severity::kWarning, packet.index,
                              reserved ? Finding::kReservedHeader : Finding::kAsyncTooShort);
  if ((flags_ & kHaltOnBadPackets) != 0) {
    record.fatal = failed_ = true;
    return;
  }
  lose_sync(UnsyncReason::kBadPacket);
}

// The previous packet is wrong, because it took bytes that belong to another.
void Decoder::async_in_packet(const Packet& packet) {
  const bool as_error = (flags_ & kErrorOnBadPackets) != 0;
  Diagnostic& record =
      report(Fault::kBadPacketSequence, as_error ? Severity::kError : Severity::kWarning,
             packet.index, Finding::kAsyncInPacket);
  if ((flags_ & kHaltOnBadPackets) != 0) {
    record.fatal = failed_ = true;
    return;
  }
  lose_sync(UnsyncReason::kBadPacket);
  state_ = State::kWaitIsync;
}

void Decoder::conflict(const Packet& packet) {
  if (quirks_.bad_packet_unreported) return;
  report(Fault::kUnsupportedConfig, Severity::kWarning, packet.index, finding_of(packet.conflict));
}

// Takes the security state and Hyp of a packet; returns true if they have changed.
bool Decoder::take_security(const Context& context) {
  const Security before = context_.security;
  const unsigned flags_before = context_.flags;
  context_.security = context.ns ? Security::kNonSecure : Security::kSecure;
  if (!quirks_.security_state_lost) {
    // Hyp mode is EL2; PTM reports nothing about the other modes.
    const unsigned others = flags_before & ~unsigned{kElementElValid};
    context_.flags = static_cast<std::uint16_t>(context.hyp ? others | kElementElValid : others);
    context_.exception_level = context.hyp ? 2 : 0;
  }
  return before != context_.security || flags_before != context_.flags;
}

void Decoder::context_changed() {
  select_memory();
  if (!quirks_.context_isa_stale) context_.isa = path_.isa;
  emit(ElementKind::kPeContext, packet_index_);
  yield_ = callbacks_;
  busy_ = busy_ || yield_;
}

// See ptm.md 9.1.
void Decoder::synchronise(const Packet& packet) {
  const bool periodic = packet.reason == IsyncReason::kPeriodic;
  const bool first = need_isync_;
  need_isync_ = false;
  path_.lose();
  path_.go_to(packet.address.value, packet.isa);
  path_.forget_calls();
  bool has_news = packet.isa_changed;
  bool changed = false;
  if (packet.context.updated_context_id) {
    const bool known = (context_.flags & kElementContextIdValid) != 0;
    changed = !known || context_.context_id != packet.context.context_id;
    context_.context_id = packet.context.context_id;
    context_.flags |= kElementContextIdValid;
    has_news = true;
  }
  changed = take_security(packet.context) || changed;
  if (!quirks_.security_state_lost) has_news = has_news || changed || first;
  // In a recording, another process may run since a reset.
  if (changed || first || !path_.follower().covers(packet.index)) select_memory();
  if (first || !periodic) {
    Element& on = emit(ElementKind::kTraceOn, packet.index);
    on.reason = static_cast<std::uint8_t>(trace_on_reason(packet.reason));
    emit_cycles(on, {packet.has_cycle_count, packet.cycle_count});
  } else {
    has_news = changed && !quirks_.security_state_lost;
  }
  if (!has_news) return;
  context_.isa = path_.isa;
  context_changed();
}

// See ptm.md 9.4.
void Decoder::branch(const Packet& packet) {
  const Cycles cycles{packet.has_cycle_count, packet.cycle_count};
  const bool exception =
      packet.info_bytes != 0 && (packet.exception != 0 || quirks_.exception_zero_is_exception);
  if (exception) {
    Element& element = emit(ElementKind::kException, packet.index);
    element.number = packet.exception;
    if (!path_.lost) {
      element.end = path_.address;
      element.flags |= kElementReturnAddress;
    }
    emit_cycles(element, cycles);
    path_.lose();
  } else {
    follow_branch(packet.index, cycles);
  }
  path_.go_to(packet.address.value, packet.isa);
  if (packet.info_bytes != 0 && !quirks_.security_state_lost && take_security(packet.context))
    context_changed();
}

void Decoder::end_of_trace() {
  if (failed_) return;
  begin_output(nullptr, nullptr);
  emit(ElementKind::kEndOfTrace, packet_index_).reason =
      static_cast<std::uint8_t>(UnsyncReason::kEndOfTrace);
  end_output();
}

}  // namespace waymark::ptm
