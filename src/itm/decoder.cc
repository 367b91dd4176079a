#include "waymark/itm/decoder.h"

#include <algorithm>

#include "findings.h"
#include "waymark/element/dwt.h"
#include "waymark/itm/text.h"

namespace waymark::itm {
namespace {

constexpr unsigned kPortBits = 5;

}  // namespace

Decoder::Decoder(const Config& config) : config_(config) {
  reset_global_time();
  if (config.starts_in_sync) state_ = State::kDecode;
}

void Decoder::clear_state() {
  overflow_ = false;
  page_ = 0;
  lose_times();
  if (config_.quirks.global_time_is_whole) reset_global_time();
  accesses_ = {};
}

void Decoder::reset_global_time() {
  global_time_ = GlobalTime(config_.quirks.global_time_is_whole, config_.quirks.upper_half_alone);
}

// Packets were lost, and perhaps timestamps among them, also the first ones.  The clocks went on.
// What precedes the first synchronisation point is not a loss.
void Decoder::lose_times() {
  global_time_.lose();
  if (config_.quirks.loss_restarts_time) {
    local_time_ = 0;
    local_time_is_least_ = false;
  } else if (local_time_ != 0 || state_ == State::kDecode) {
    local_time_is_least_ = true;
  }
}

void Decoder::reset() {
  unsync_reason_ = UnsyncReason::kResetDecoder;
  count_ = 0;
  diagnostics_.clear();
  failed_ = false;
  if (config_.quirks.late_reset) return;
  state_ = config_.starts_in_sync ? State::kDecode : State::kNoSync;
  clear_state();
  reset_global_time();
  local_time_ = 0;
  local_time_is_least_ = false;
}

Element& Decoder::begin(Element& element, ElementKind kind, TraceIndex index) const {
  element = {};
  element.index = index;
  element.kind = kind;
  element.trace_id = config_.trace_id();
  return element;
}

Element& Decoder::queue(ElementKind kind, TraceIndex index) {
  return begin(queue_[count_++], kind, index);
}

void Decoder::end_of_trace() {
  queue(ElementKind::kEndOfTrace, last_index_).reason =
      static_cast<std::uint8_t>(UnsyncReason::kEndOfTrace);
}

std::size_t Decoder::drain(std::span<Element> out) {
  if (!diagnostics_.empty()) return 0;
  const std::size_t given = std::min<std::size_t>(count_, out.size());
  std::copy_n(queue_.begin(), given, out.begin());
  std::copy(queue_.begin() + given, queue_.begin() + count_, queue_.begin());
  count_ = static_cast<std::uint8_t>(count_ - given);
  return given;
}

void Decoder::accept(const Packet& packet) {
  last_index_ = packet.index;
  if (failed_ || !synchronise(packet)) return;
  if (make(packet, queue_[count_])) ++count_;
}

Element* Decoder::put(const Packet& packet, Element* out, Element* end) {
  if (state_ != State::kDecode || failed_ || out == end) [[unlikely]] {
    accept(packet);
    return out;
  }
  last_index_ = packet.index;
  if (!make(packet, *out)) return out;
  if (diagnostics_.empty()) [[likely]]
    return out + 1;
  queue_[count_++] = *out;
  return out;
}

bool Decoder::synchronise(const Packet& packet) {
  if (state_ == State::kNoSync) {
    queue(ElementKind::kNoSync, packet.index).reason = static_cast<std::uint8_t>(unsync_reason_);
    state_ = State::kWaitSync;
  }
  if (state_ == State::kDecode) return true;
  if (packet.type == PacketType::kAsync) state_ = State::kDecode;
  return false;
}

bool Decoder::make(const Packet& packet, Element& element) {
  if (config_.itm_tcr.given() && !registers_checked_) [[unlikely]]
    check_registers(packet);
  switch (packet.type) {
    case PacketType::kSoftware:
    case PacketType::kHardware:
      make_data(packet, element);
      return true;
    case PacketType::kLocalTimestamp:
      accesses_.forget();
      local_time_ += packet.value * config_.prescale();
      begin(element, ElementKind::kItmTrace, packet.index);
      element.extra = static_cast<std::uint8_t>(static_cast<std::uint8_t>(ItmKind::kTimestampSync) +
                                                (packet.source & 3));
      element.start = packet.value;
      element.extra_value = std::max<std::uint32_t>(packet.size, 1);
      element.timestamp = local_time_;
      if (!config_.quirks.element_flags_lost) element.flags = kElementHasTimestamp;
      if (local_time_is_least_) element.flags |= kElementTimeIsPartial;
      break;
    case PacketType::kGlobalTimestamp1:
    case PacketType::kGlobalTimestamp2:
      if (!make_global(packet, element)) return false;
      break;
    case PacketType::kExtension:
      if (is_page(packet)) page_ = static_cast<std::uint8_t>(packet.value);
      return false;
    case PacketType::kOverflow:
      overflow_ = true;
      lose_times();
      accesses_.forget();
      return false;
    case PacketType::kNotSync:
      clear_state();
      state_ = State::kNoSync;
      return false;
    case PacketType::kBadSequence:
    case PacketType::kReserved:
      bad_packet(packet);
      return false;
    case PacketType::kAsync:
      if (packet.in_packet) {
        accesses_.forget();
        report(Fault::kBadPacketSequence, Severity::kWarning, packet.index, finding_of(packet));
      }
      return false;
    case PacketType::kIncompleteEot:
      if (!config_.quirks.contradictions_unreported)
        report(Fault::kBadPacketSequence, Severity::kWarning, packet.index, Finding::kEndsInPacket);
      return false;
    case PacketType::kNoErrorType:
      return false;
  }
  if (overflow_) element.extra |= kItmOverflow;
  overflow_ = false;
  return true;
}

void Decoder::make_data(const Packet& packet, Element& element) {
  begin(element, ElementKind::kItmTrace, packet.index);
  element.start = packet.value;
  element.extra_value = packet.size;
  if (packet.type == PacketType::kSoftware) {
    element.extra = static_cast<std::uint8_t>(ItmKind::kSoftware);
    element.number = static_cast<std::uint32_t>(page_) << kPortBits | packet.source;
  } else {
    element.extra = static_cast<std::uint8_t>(ItmKind::kHardware);
    element.number = packet.source;
    if (packet.source >= 8 && packet.source < 24) pair(packet, element);
  }
  if (overflow_) element.extra |= kItmOverflow;
  overflow_ = false;
}

void Decoder::pair(const Packet& packet, Element& element) {
  const DwtEvent event =
      dwt_event(packet.source, packet.size, static_cast<std::uint32_t>(packet.value));
  Access& access = accesses_.by[event.comparator];
  bool ends = false;
  switch (event.kind) {
    case DwtKind::kDataPc:
      // A second one of the same kind belongs to the next access.
      if (access.pc_bytes != 0) access = {};
      access.pc = event.value;
      access.pc_bytes = packet.size;
      complete(event.comparator, access.pc, access.pc_bytes);
      break;
    case DwtKind::kDataAddress:
      if (access.address_bytes != 0) access = {};
      access.address = event.value;
      access.address_bytes = packet.size;
      complete(event.comparator, access.address, access.address_bytes);
      break;
    case DwtKind::kDataRead:
    case DwtKind::kDataWrite:
      ends = true;
      break;
    default:
      return;
  }
  element.reason = itm_known_bytes(access.pc_bytes, access.address_bytes);
  element.end = access.pc | std::uint64_t{access.address} << 32;
  if (ends) access = {};
  accesses_.any = true;
}

void Decoder::complete(unsigned comparator, std::uint32_t& value, std::uint8_t& bytes) const {
  const auto& known = config_.comparators[comparator];
  if (!known || bytes >= 4) return;
  const auto mask = static_cast<std::uint32_t>(low_mask(8U * bytes));
  value = (*known & ~mask) | value;
  bytes = 4;
}

bool Decoder::make_global(const Packet& packet, Element& element) {
  accesses_.forget();
  if (!global_time_.add(packet)) return false;
  begin(element, ElementKind::kItmTrace, packet.index);
  element.extra = static_cast<std::uint8_t>(ItmKind::kGlobalTimestamp);
  element.timestamp = global_time_.value();
  const bool clock_change = global_time_.take_clock_change();
  if (config_.quirks.element_flags_lost) return true;
  element.flags = kElementHasTimestamp;
  if (global_time_.is_whole()) {
    local_time_is_least_ = false;
  } else {
    element.flags |= kElementTimeIsPartial;
  }
  if (clock_change) element.flags |= kElementFrequencyChange;
  return true;
}

void Decoder::bad_packet(const Packet& packet) {
  if (config_.quirks.bad_packet_is_fatal) {
    failed_ = true;
    clear_state();
    state_ = State::kNoSync;
    unsync_reason_ = UnsyncReason::kBadPacket;
    return;
  }
  const bool reserved = packet.type == PacketType::kReserved;
  report(reserved ? Fault::kInvalidHeader : Fault::kBadPacketSequence, Severity::kError,
         packet.index, finding_of(packet));
  // If no packet says where the stream is complete, numbers and times continue from what was known.
  if (config_.starts_in_sync) {
    accesses_.forget();
    lose_times();
    return;
  }
  clear_state();
  state_ = State::kWaitSync;
  queue(ElementKind::kNoSync, packet.index).reason =
      static_cast<std::uint8_t>(UnsyncReason::kBadPacket);
}

// Reported once: the first contradiction is enough to doubt the register.
void Decoder::check_registers(const Packet& packet) {
  if (config_.quirks.contradictions_unreported) {
    registers_checked_ = true;
    return;
  }
  const Finding found = contradiction(config_, packet);
  if (found == Finding::kNone) return;
  registers_checked_ = true;
  report(Fault::kUnsupportedConfig, Severity::kWarning, packet.index, found);
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

}  // namespace waymark::itm
