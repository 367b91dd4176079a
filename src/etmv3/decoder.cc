#include "waymark/etmv3/decoder.h"

#include <algorithm>

#include "findings.h"
#include "waymark/etmv3/memory_space.h"

namespace waymark::etmv3 {
namespace {

isa::Options walk_options(const Config& config, const DecoderQuirks& quirks) {
  return {.arch = config.core.arch,
          .quirks = {.a32_eret_is_not_a_branch = quirks.a32_eret_is_not_a_branch,
                     .newer_branches_unconditional = quirks.newer_branches_unconditional,
                     .clrm_is_a_branch = quirks.clrm_is_a_branch,
                     .reads_four_bytes = quirks.reads_four_bytes}};
}

// This many data instructions without a data packet are not an effect of filters.
constexpr std::uint64_t kManyDataInstructions = 1000;

// The loop over rows supports either all of its quirks or none.
const Rows* rows_for(const Config& config, const DecoderQuirks& quirks) {
  const bool first = quirks.cancels_lone_range_only;
  const bool mixed = quirks.forgets_direct_interworking != first ||
                     quirks.stale_context_isa != first || quirks.stale_ranges != first ||
                     quirks.empty_p_headers_count != first;
  if (config.data_trace() || mixed) return nullptr;
  return &rows(config.cycle_accurate(), first);
}

// The element queue of the reference, with the stale elements in it, is one quirk, and has no data.
DecoderQuirks with_whole_queue(const Config& config, DecoderQuirks quirks) {
  if (config.data_trace()) quirks.cancels_lone_range_only = false;
  if (quirks.cancels_lone_range_only) return quirks;
  quirks.forgets_direct_interworking = false;
  quirks.stale_context_isa = quirks.stale_ranges = quirks.empty_p_headers_count = false;
  return quirks;
}

}  // namespace

Decoder::Decoder(const Config& config, const image::Image& image, const DecoderQuirks& quirks)
    : config_(config),
      quirks_(with_whole_queue(config, quirks)),
      path_(image, walk_options(config, quirks), config.trace_id()),
      rows_(rows_for(config, quirks_)),
      cycle_accurate_(config.cycle_accurate()),
      data_trace_(config.data_trace()),
      transfers_(config),
      registers_(config) {
  context_.trace_id = config.trace_id();
  queue_.reserve(64);
  select_memory();
  refresh_words();
}

void Decoder::reset() {
  sync_ = {.reason = UnsyncReason::kResetDecoder};
  time_bits_ = 0;
  if (!quirks_.index_survives_reset) packet_index_ = 0;
  path_.lose();
  sent_unknown_ = false;
  queue_.clear();
  reference_.reset();
  cancellable_ = false;
  transfers_ = Transfers(config_);
  failed_ = yield_ = false;
  diagnostics_.clear();
}

void Decoder::jump() {
  if (sync_.state == State::kNoSync) return;
  sync_.state = State::kWaitASync;
  sync_.async_seen = false;
  sync_.jumped = true;
  path_.lose();
  sent_unknown_ = false;
  queue_.clear();
  cancellable_ = false;
}

void Decoder::restore(const Decoder& other) {
  static_cast<DecoderState&>(*this) = other;
  path_.restore(other.path_);
  queue_.restore(other.queue_);
  registers_ = other.registers_;
  diagnostics_.clear();
  select_memory(memory_from_);
  refresh_words();
}

bool Decoder::same_state(const Decoder& other) const {
  return static_cast<const DecoderState&>(*this) == static_cast<const DecoderState&>(other) &&
         static_cast<const flow::StepPathState&>(path_) == other.path_ &&
         std::ranges::equal(queue_.waiting(), other.queue_.waiting()) &&
         registers_.same_state(other.registers_);
}

// ---- Packets; etmv3.md 9.1, 9.2 and 9.4 ---------------------------------------------------------

void Decoder::accept(const Packet& packet) {
  if (failed_) return;
  leave_span();
  packet_index_ = packet.index;
  if (sync_.state == State::kNoSync) {
    emit(ElementKind::kNoSync, packet.index).reason = static_cast<std::uint8_t>(sync_.reason);
    sync_.state = sync_.async_seen ? State::kWaitISync : State::kWaitASync;
    sync_.async_seen = false;
  }
  switch (sync_.state) {
    case State::kDecode:
      accept_in_decode(packet);
      break;
    case State::kWaitISync:
      accept_before_isync(packet);
      break;
    default:
      if (packet.type == PacketType::kASync) sync_.state = State::kWaitISync;
      break;
  }
  finish_packet();
}

Element* Decoder::put_straight(const Packet& packet, Element* out) {
  packet_index_ = packet.index;
  out += queue_.tail_count();
  reference_.slots.send(quirks_.cancels_lone_range_only ? queue_.tail_count() : 0);
  queue_.give_tail();
  straight_out_ = out;
  accept_in_decode(packet);
  Element* const end = straight_out_;
  straight_out_ = nullptr;
  if (quirks_.cancels_lone_range_only) reference_.slots.send(static_cast<std::size_t>(end - out));
  return end;
}

void Decoder::accept_before_isync(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      sync_.state = State::kDecode;
      isync(packet, !sync_.jumped);
      sync_.jumped = false;
      if (!quirks_.bad_packets_are_fatal) check(packet);
      break;
    case PacketType::kCycleCount:
    case PacketType::kPHeader:
      if (cycle_accurate_) accept_in_decode(packet);
      break;
    case PacketType::kTimestamp:
      accept_in_decode(packet);
      break;
    case PacketType::kBadSequence:
    case PacketType::kBadTraceMode:
    case PacketType::kReserved:
      if (quirks_.bad_packets_are_fatal) break;
      report(Fault::kBadPacket, Severity::kError, packet.index, finding_of(packet));
      check(packet);
      time_bits_ = 0;
      sync_.state = State::kWaitASync;
      break;
    case PacketType::kASync:
      if (!packet.in_packet) break;
      report(Fault::kBadPacketSequence, Severity::kWarning, packet.index, finding_of(packet));
      time_bits_ = 0;
      break;
    default:
      break;
  }
}

void Decoder::accept_in_decode(const Packet& packet) {
  if (packet.type != PacketType::kBranchAddress) reference_.pended = 0;
  switch (packet.type) {
    case PacketType::kPHeader: {
      PHeader header;
      header.atoms = packet.atoms;
      header.atom_count = packet.atom_count;
      header.format = packet.format;
      header.cycle_count = static_cast<std::uint8_t>(packet.cycle_count);
      header.first_cycles = packet.format == 3 ? header.cycle_count : 1;
      if (packet.format == 4) header.first_cycles = 0;
      header.other_cycles = packet.format == 1 ? 1 : 0;
      p_header(packet.index, header);
      break;
    }
    case PacketType::kBranchAddress:
      branch(packet);
      break;
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      isync(packet, false);
      break;
    case PacketType::kCycleCount: {
      Element& count = emit(ElementKind::kCycleCount, packet.index);
      count.flags |= kElementHasCycleCount;
      count.cycle_count = packet.cycle_count;
      break;
    }
    case PacketType::kTrigger:
      emit(ElementKind::kEvent, packet.index).reason =
          static_cast<std::uint8_t>(EventType::kTrigger);
      break;
    case PacketType::kTimestamp:
      timestamp(packet);
      break;
    case PacketType::kContextId:
      context_.context_id = packet.context.context_id;
      context_.flags |= kElementContextIdValid;
      emit_context(packet.index, false);
      break;
    case PacketType::kVmid:
      context_.vmid = packet.context.vmid;
      context_.flags |= kElementVmidValid;
      emit_context(packet.index, false);
      break;
    case PacketType::kExceptionExit:
      exception_exit(packet);
      break;
    case PacketType::kExceptionEntry:
      emit(ElementKind::kException, packet.index).flags |= kElementDataMarker;
      transfers_.begin(Owner::Kind::kStacking);
      break;
    case PacketType::kNotSync:
      settle();
      report(Fault::kBadPacketSequence, Severity::kError, packet.index, Finding::kSyncLost);
      lose_sync();
      break;
    case PacketType::kASync:
      if (packet.in_packet) async_in_packet(packet);
      break;
    case PacketType::kIgnore:
      break;
    case PacketType::kIncompleteEot:
      settle();
      report(Fault::kBadPacketSequence,
             quirks_.bad_packets_are_fatal ? Severity::kInfo : Severity::kWarning, packet.index,
             Finding::kEndsInPacket);
      break;
    default:
      if (is_data(packet.type) && !quirks_.bad_packets_are_fatal) {
        transfer(packet);
      } else {
        bad_packet(packet);
      }
      break;
  }
  if (!quirks_.bad_packets_are_fatal) check(packet);
}

// Upper bits that are not sent are those of the previous timestamp; etmv3.md 6.5.
void Decoder::timestamp(const Packet& packet) {
  Element& time = emit(ElementKind::kTimestamp, packet.index);
  const bool gray = config_.gray_timestamps() && !quirks_.timestamps_not_converted;
  time.timestamp = gray ? from_gray(packet.timestamp) : packet.timestamp;
  time_bits_ = std::max<unsigned>(time_bits_, packet.timestamp_bits);
  const bool partial = time_bits_ < config_.timestamp_bits() && !quirks_.timestamps_count_as_whole;
  // Without its upper bits, a number in Gray code has no meaning.
  if (!partial || !gray) time.flags |= kElementHasTimestamp;
  if (partial) time.flags |= kElementTimeIsPartial;
  if (packet.frequency_change && !quirks_.hides_frequency_change)
    time.flags |= kElementFrequencyChange;
  enter_place(packet.index + 1);
}

void Decoder::lose_sync() {
  time_bits_ = 0;
  sync_.state = State::kNoSync;
  sync_.reason = UnsyncReason::kBadPacket;
  path_.lose();
  sent_unknown_ = false;
  transfers_ = Transfers(config_);
}

void Decoder::bad_packet(const Packet& packet) {
  settle();
  const bool header = packet.type != PacketType::kBadSequence;
  report(header ? Fault::kInvalidHeader : Fault::kBadPacketSequence, Severity::kError, packet.index,
         finding_of(packet));
  if (quirks_.bad_packets_are_fatal) {
    diagnostics_.back().fatal = true;
    failed_ = true;
    queue_.drop_held();
    return;
  }
  lose_sync();
}

// The previous packet is wrong, because it took bytes that belong to another.
void Decoder::async_in_packet(const Packet& packet) {
  settle();
  report(Fault::kBadPacketSequence, Severity::kWarning, packet.index, finding_of(packet));
  lose_sync();
  sync_.async_seen = true;
}

void Decoder::report_once(ReportedOnce what, TraceIndex index, Finding finding) {
  if ((reported_once_ & what) != 0) return;
  reported_once_ = static_cast<std::uint8_t>(reported_once_ | what);
  report(Fault::kUnsupportedConfig, Severity::kWarning, index, finding);
}

// Contradictions of the registers that leave the packet readable.
void Decoder::check(const Packet& packet) {
  const Finding finding = registers_.check(packet);
  if (finding != Finding::kNone)
    report(Fault::kUnsupportedConfig, Severity::kWarning, packet.index, finding);
}

void Decoder::isync(const Packet& packet, bool first) {
  const bool periodic = packet.reason == SyncReason::kPeriodic;
  if (first || !periodic || reads_callbacks()) settle();
  if (first) {
    constexpr unsigned kKnown = kElementContextIdValid | kElementVmidValid | kElementElValid;
    context_.flags = static_cast<std::uint16_t>(context_.flags & ~kKnown);
    context_.context_id = context_.vmid = 0;
    context_.exception_level = 0;
  }
  if (first || !periodic) {
    constexpr TraceOnReason kReasons[] = {TraceOnReason::kNormal, TraceOnReason::kNormal,
                                          TraceOnReason::kOverflow, TraceOnReason::kDebugRestart};
    emit(ElementKind::kTraceOn, packet.index).reason =
        static_cast<std::uint8_t>(kReasons[static_cast<std::size_t>(packet.reason) & 3]);
    transfers_.begin(Owner::Kind::kUnknown);
    transfers_.forget_pending();
  }
  if (packet.error_type == PacketType::kIncompleteEot && !first) {  // Quirk unfinished_is_whole.
    emit_stale(packet.index);
    return;
  }
  if (packet.context.updated_context_id) {
    context_.context_id = packet.context.context_id;
    context_.flags |= kElementContextIdValid;
  }
  set_world(packet.context);
  if (!packet.no_address)
    path_.change_isa(packet_isa_ = packet.lsip ? packet.data_isa : packet.isa);
  Element& context = emit_context(packet.index, true);
  if (packet.has_cycle_count) {
    context.flags |= kElementHasCycleCount;
    context.cycle_count = packet.cycle_count;
  }
  if (packet.no_address) return;
  sent_unknown_ = false;
  if (packet.lsip) {
    // Like another E atom, of the instruction in progress.
    path_.go_to(packet.data_instruction, path_.isa);
    p_header(packet.index, {.atoms = 1, .atom_count = 1, .format = 4});
    if (data_trace_) transfers_.executed(packet.data_instruction, isa::DataAccess::kMemory);
    sent_unknown_ = false;
    packet_isa_ = packet.isa;
  }
  path_.go_to(packet.address.value, packet_isa_);
}

// Returns true if something has changed.
bool Decoder::set_world(const Context& context) {
  const Security security = context.ns ? Security::kNonSecure : Security::kSecure;
  const bool had_level = (context_.flags & kElementElValid) != 0;
  const bool changed = security != context_.security || context.hyp != had_level;
  context_.security = security;
  context_.exception_level = context.hyp ? 2 : 0;
  context_.flags = static_cast<std::uint16_t>((context_.flags & ~unsigned{kElementElValid}) |
                                              (context.hyp ? unsigned{kElementElValid} : 0U));
  return changed;
}

void Decoder::branch(const Packet& packet) {
  const Exception& exception = packet.exception;
  if (exception.present && exception.cancel) {
    cancel();
  } else if (quirks_.cancels_lone_range_only) {
    reference_.pended = 0;
  } else {
    settle();
  }
  packet_isa_ = packet.isa;
  path_.go_to(packet.address.value, packet.isa);
  sent_unknown_ = false;
  if (!exception.present) return;
  if (set_world(packet.context)) emit_context(packet.index, false);
  if (exception.number == 0) return;
  emit(ElementKind::kException, packet.index).number = exception.number;
  if (data_trace_) transfers_.begin(Owner::Kind::kUnknown);
}

void Decoder::exception_exit(const Packet& packet) {
  const bool m_profile = config_.core.profile == isa::Profile::kM;
  // There, the instruction is complete, and only the return itself can still be cancelled; 6.6.
  if (m_profile) settle();
  emit(ElementKind::kExceptionReturn, packet.index);
  if (m_profile) transfers_.begin(Owner::Kind::kUnstacking);
  if (!quirks_.cancels_lone_range_only) {
    cancellable_ = cancellable_ || m_profile;
    return;
  }
  const std::size_t unsent = queue_.held();
  const bool after_range =
      unsent >= 2 && queue_[queue_.size() - 2].kind == ElementKind::kInstrRange;
  const std::size_t wanted = after_range && !m_profile ? 2 : 1;
  if (unsent == wanted) reference_.pended = wanted;
}

// ---- Elements -----------------------------------------------------------------------------------

Element& Decoder::emit(ElementKind kind, TraceIndex index) {
  if (quirks_.cancels_lone_range_only) reference_.slots.push();
  Element& element = make();
  element.kind = kind;
  element.index = index;
  return element;
}

// The previous content of a slot of the reference's queue: the ring is full of the latest elements.
void Decoder::emit_stale(TraceIndex index) {
  const Element* const before =
      quirks_.cancels_lone_range_only ? reference_.stale(queue_.waiting()) : nullptr;
  if (before == nullptr) {
    emit(ElementKind::kUnknown, index);
    return;
  }
  Element stale = *before;
  stale.index = index;
  reference_.slots.push();
  queue_.add(stale);
}

Element& Decoder::emit_context(TraceIndex index, bool from_sync) {
  if (reads_callbacks()) {
    settle();
    yield_ = true;
  }
  context_.isa = path_.isa;
  select_memory();
  refresh_words();
  Element& element = make();
  element.kind = ElementKind::kPeContext;
  element.index = index;
  if (!quirks_.cancels_lone_range_only) return element;
  QueueSlot& slot = reference_.slots.push();
  if (from_sync || !quirks_.stale_context_isa) {
    slot.set_isa(path_.isa);
  } else {
    element.isa = slot.isa();
  }
  return element;
}

void Decoder::refresh() {
  path_.cache().flush();
  select_memory();
}

void Decoder::select_memory(TraceIndex index) {
  path_.select(space_of(context_), execution_context(context_), index);
  memory_from_ = path_.cache().covers_from();
}

// From now on, the existing elements cannot be cancelled.
void Decoder::settle() {
  if (quirks_.cancels_lone_range_only) return;
  cancellable_ = false;
  queue_.release();
}

void Decoder::cancel() {
  if (quirks_.cancels_lone_range_only) {
    const std::size_t count = std::min(reference_.pended, queue_.held());
    queue_.drop(count);
    reference_.slots.drop(count);
    return;
  }
  if (!cancellable_) return;
  cancellable_ = false;
  std::size_t rest = queue_.ready();
  Element& range = queue_[rest];
  if (range.kind == ElementKind::kExceptionReturn) {
    queue_.erase_held();
    return;
  }
  const std::uint64_t address = range.start;
  if ((range.flags & kElementHasCycleCount) != 0 && range.cycle_count != 0) {
    // The instruction did not happen, but its cycles did.
    Element count = context_;
    count.kind = ElementKind::kCycleCount;
    count.index = range.index;
    count.cycle_count = range.cycle_count;
    count.flags |= kElementHasCycleCount;
    range = count;
    ++rest;
  } else {
    queue_.erase_held();
  }
  // A cancelled exception return did not return.
  queue_.erase_held(ElementKind::kExceptionReturn, rest);
  for (std::size_t i = queue_.ready(); i < queue_.size(); ++i) {
    Element& element = queue_[i];
    const bool data = element.kind == ElementKind::kDataAddress ||
                      element.kind == ElementKind::kDataValue ||
                      element.kind == ElementKind::kDataEvent;
    if (data && (element.extra & kDataOwned) != 0 && element.end == address)
      element.extra |= kDataCancelled;
  }
}

// The elements of this packet can be taken, except for those held back.
void Decoder::finish_packet() {
  if (quirks_.cancels_lone_range_only) {
    const std::size_t held = std::min(reference_.pended, queue_.held());
    reference_.slots.send(queue_.held() - held);
    queue_.release(held);
    return;
  }
  if (!cancellable_ || queue_.held() > kMaxHeld) settle();
}

void Decoder::end_of_trace() {
  reference_.pended = 0;
  // After a failure, nothing but the end is left.
  if (!failed_) settle();
  emit(ElementKind::kEndOfTrace, packet_index_).reason =
      static_cast<std::uint8_t>(UnsyncReason::kEndOfTrace);
  if (data_trace_ && !data_.any && data_.instructions >= kManyDataInstructions)
    report_once(kDataMissing, packet_index_, Finding::kDataMissing);
  finish_packet();
}

void Decoder::report(Fault fault, Severity severity, TraceIndex index, Finding finding) {
  Diagnostic record;
  record.fault = fault;
  record.severity = severity;
  record.trace_id = config_.trace_id();
  record.index = index;
  record.finding = finding;
  diagnostics_.push_back(record);
}

}  // namespace waymark::etmv3
