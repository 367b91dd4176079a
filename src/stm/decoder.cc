#include "waymark/stm/decoder.h"

#include <algorithm>

#include "findings.h"

namespace waymark::stm {
namespace {

/// The meaning of a packet type for an element.
struct Meaning {
  bool element = false;
  std::uint8_t flags = 0;  ///< SwTraceFlag bits.
  SwTraceKind kind = SwTraceKind::kData;
};

constexpr Meaning meaning_of(PacketType type) {
  switch (type) {
    case PacketType::kD4:
    case PacketType::kD8:
    case PacketType::kD16:
    case PacketType::kD32:
    case PacketType::kD64:
      return {true};
    case PacketType::kFlag:
      return {true, kSwMarker};
    case PacketType::kTrig:
      return {true, kSwTrigger};
    case PacketType::kFreq:
    case PacketType::kFreq40:
      return {true, kSwFrequency};
    case PacketType::kMerr:
      return {true, kSwMasterError};
    case PacketType::kGerr:
      return {true, kSwGlobalError};
    case PacketType::kUser:
      return {true, 0, SwTraceKind::kUser};
    case PacketType::kXsync:
      return {true, 0, SwTraceKind::kCrossSync};
    case PacketType::kCerr:
      return {true, 0, SwTraceKind::kChannelError};
    default:
      return {};
  }
}

constexpr auto kMeanings = [] {
  std::array<Meaning, kPacketTypeCount> meanings{};
  for (std::size_t i = 0; i < kPacketTypeCount; ++i)
    meanings[i] = meaning_of(static_cast<PacketType>(i));
  return meanings;
}();

}  // namespace

Decoder::Decoder(const Config& config, const Quirks& quirks)
    : config_(config), quirks_(quirks), checks_(!quirks.contradictions_unreported) {
  reported_timestamp_ = !checks_ || !config.stmtcsr.given() || config.timestamps_enabled();
}

void Decoder::clear_state() {
  master_ = channel_ = 0;
  id_valid_ = false;
}

// The reference takes the known bits for the whole time.
void Decoder::lose_time() {
  if (checks_) time_bits_ = 0;
}

void Decoder::reset() {
  unsync_reason_ = UnsyncReason::kResetDecoder;
  state_ = State::kNoSync;
  count_ = 0;
  time_known_ = false;
  time_bits_ = kAllBits;
  whole_time_bits_ = 64;
  partial_time_ = kPartialTime;
  diagnostics_.clear();
  clear_state();
}

Element& Decoder::queue(ElementKind kind, TraceIndex index, UnsyncReason reason) {
  Element& element = queue_[count_++];
  element = {};
  element.index = index;
  element.kind = kind;
  element.trace_id = config_.trace_id();
  element.reason = static_cast<std::uint8_t>(reason);
  return element;
}

void Decoder::end_of_trace() {
  queue(ElementKind::kEndOfTrace, last_index_, UnsyncReason::kEndOfTrace);
}

std::size_t Decoder::drain(std::span<Element> out) {
  if (!diagnostics_.empty()) return 0;
  const std::size_t given = std::min<std::size_t>(count_, out.size());
  std::copy_n(queue_.begin(), given, out.begin());
  std::copy(queue_.begin() + given, queue_.begin() + count_, queue_.begin());
  count_ = static_cast<std::uint8_t>(count_ - given);
  return given;
}

void Decoder::report(Fault fault, Severity severity, TraceIndex index, Finding finding) {
  Diagnostic record;
  record.fault = fault;
  record.severity = severity;
  record.stage = Stage::kElements;
  record.trace_id = config_.trace_id();
  record.index = index;
  record.finding = finding;
  diagnostics_.push_back(record);
}

void Decoder::accept(const Packet& packet) {
  if (state_ == State::kFailed) return;
  last_index_ = packet.index;
  if (state_ != State::kDecode && packet.type == PacketType::kNotSync) lose_time();
  if (state_ == State::kNoSync) {
    queue(ElementKind::kNoSync, packet.index, unsync_reason_);
    state_ = State::kWaitSync;
  }
  if (state_ == State::kWaitSync) {
    if (packet.type == PacketType::kAsync) state_ = State::kDecode;
    return;
  }
  if (make(packet, queue_[count_])) ++count_;
}

void Decoder::bad_packet(const Packet& packet) {
  clear_state();
  lose_time();
  unsync_reason_ = UnsyncReason::kBadPacket;
  if (quirks_.bad_packet_is_fatal) {
    state_ = State::kFailed;
    return;
  }
  state_ = State::kNoSync;
  const protocol::PacketFault found = fault_of(packet.defect);
  const bool bad = is_bad(packet.type);
  report(found.fault, bad ? Severity::kError : Severity::kWarning, packet.index, found.finding);
}

/// Each contradiction is reported once.
void Decoder::check_registers(const Packet& packet) {
  const Finding found = contradiction(config_, packet);
  bool* reported = nullptr;
  switch (found) {
    case Finding::kStmTimestampsOff:
      reported = &reported_timestamp_;
      break;
    case Finding::kMasterTooHigh:
      reported = &reported_master_;
      break;
    case Finding::kChannelTooHigh:
      reported = &reported_channel_;
      break;
    default:
      return;
  }
  if (*reported) return;
  *reported = true;
  report(Fault::kUnsupportedConfig, Severity::kWarning, packet.index, found);
}

void Decoder::take_version(const Packet& packet) {
  const bool extended = packet.payload_bits > 4;
  const auto encoding =
      static_cast<TimestampEncoding>((extended ? packet.payload >> 8 : packet.payload) & 7);
  whole_time_bits_ = encoding == TimestampEncoding::kNaturalDelta ? kAllBits : 64;
  // Without its upper bits, a number in Gray code has no meaning.
  partial_time_ = kPartialTime;
  if (encoding == TimestampEncoding::kGray) partial_time_ = kElementTimeIsPartial;
}

/// The timestamp of a packet before any VERSION packet: its element keeps all but the time.  False:
/// nothing is left.
bool Decoder::take_off_time(const Packet& packet, Element& element) {
  element.flags = 0;
  element.timestamp = 0;
  element.extra &= static_cast<std::uint8_t>(~kSwTimestamp);
  // Bits that no later timestamp needs to repeat.
  lose_time();
  if (!reported_encoding_) {
    reported_encoding_ = true;
    const protocol::PacketFault found = fault_of(packet.defect);
    report(found.fault, Severity::kWarning, packet.index, found.finding);
  }
  return packet.type != PacketType::kNull;
}

bool Decoder::make(const Packet& packet, Element& element) {
  if (packet.defect == Defect::kOrderFound) [[unlikely]] {
    master_ = id_valid_ ? packet.master : master_;
    channel_ = packet.channel;
    const protocol::PacketFault found = fault_of(packet.defect);
    report(found.fault, Severity::kWarning, packet.index, found.finding);
  }
  switch (packet.type) {
    case PacketType::kM8:
    case PacketType::kM16:
      master_ = packet.master;
      channel_ = 0;
      id_valid_ = true;
      if (checks_) check_registers(packet);
      return false;
    case PacketType::kC8:
    case PacketType::kC16:
      channel_ = packet.channel;
      if (checks_) check_registers(packet);
      return false;
    case PacketType::kVersion:
      if (!quirks_.version_keeps_ids) master_ = channel_ = 0;
      if (!quirks_.version_leaves_ids_unknown) id_valid_ = true;
      take_version(packet);
      return false;
    case PacketType::kGerr:
      // The error is of no master.
      clear_state();
      fill(packet, kSwGlobalError, SwTraceKind::kData, element);
      id_valid_ = !quirks_.gerr_leaves_ids_unknown;
      return true;
    case PacketType::kMerr:
      channel_ = 0;
      break;
    case PacketType::kNull:
      if (!packet.has_timestamp) return false;
      break;
    case PacketType::kAsync:
      if (packet.defect == Defect::kNone) return false;
      id_valid_ = false;
      lose_time();
      report(fault_of(packet.defect).fault, Severity::kWarning, packet.index,
             fault_of(packet.defect).finding);
      return false;
    case PacketType::kNotSync:
      clear_state();
      lose_time();
      state_ = State::kNoSync;
      return false;
    case PacketType::kIncompleteEot:
      if (checks_)
        report(Fault::kBadPacketSequence, Severity::kWarning, packet.index, Finding::kEndsInPacket);
      return false;
    case PacketType::kTime:
    case PacketType::kPdid:
    case PacketType::kBadSequence:
    case PacketType::kReserved:
      bad_packet(packet);
      return false;
    default:
      if (!kMeanings[static_cast<std::size_t>(packet.type)].element) return false;
      break;
  }
  const Meaning& meaning = kMeanings[static_cast<std::size_t>(packet.type)];
  fill(packet, meaning.flags, meaning.kind, element);
  if (lacks_time(packet)) [[unlikely]]
    return take_off_time(packet, element);
  if (packet.has_timestamp && packet.timestamp_bits != 0 && !reported_timestamp_) [[unlikely]]
    check_registers(packet);
  return true;
}

}  // namespace waymark::stm
