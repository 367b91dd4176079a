#include "waymark/etmv4data/decoder.h"

#include <algorithm>

namespace waymark::etmv4data {

Element& Decoder::queue(ElementKind kind, TraceIndex index) {
  Element& element = queue_[count_++];
  element = {};
  element.kind = kind;
  element.index = index;
  element.trace_id = config_.trace_id();
  return element;
}

void Decoder::lose(UnsyncReason reason, TraceIndex index) {
  queue(ElementKind::kNoSync, index).reason = static_cast<std::uint8_t>(reason);
}

std::size_t Decoder::drain(std::span<Element> out) {
  if (!diagnostics_.empty()) return 0;
  const std::size_t given = std::min<std::size_t>(count_, out.size());
  std::copy_n(queue_.begin(), given, out.begin());
  std::copy(queue_.begin() + given, queue_.begin() + count_, queue_.begin());
  count_ = static_cast<std::uint8_t>(count_ - given);
  return given;
}

void Decoder::reset() {
  unsync_reason_ = UnsyncReason::kResetDecoder;
  begun_ = false;
  time_bits_ = 0;
  gap_bytes_ = 0;
  gap_is_bad_ = false;
  count_ = 0;
  diagnostics_.clear();
}

// One record for all bytes that were skipped in one piece.
void Decoder::end_gap() {
  if (gap_bytes_ == 0) return;
  Diagnostic record;
  record.fault = gap_is_bad_ ? Fault::kBadPacket : Fault::kUnsupportedPacket;
  record.severity = gap_is_bad_ ? Severity::kError : Severity::kWarning;
  record.trace_id = config_.trace_id();
  record.index = gap_index_;
  record.lost = gap_bytes_;
  record.finding = gap_is_bad_ ? Finding::kDataTraceDamaged : Finding::kDataTraceLayout;
  diagnostics_.push_back(record);
  gap_bytes_ = 0;
  gap_is_bad_ = false;
}

void Decoder::accept(const Packet& packet) {
  last_index_ = packet.index;
  if (!begun_) lose(unsync_reason_, packet.index);
  begun_ = true;
  if (packet.type == PacketType::kUnknown || is_bad(packet.type)) {
    if (gap_bytes_ == 0) gap_index_ = packet.index;
    gap_bytes_ += packet.length;
    gap_is_bad_ = gap_is_bad_ || is_bad(packet.type);
    time_bits_ = 0;
    return;
  }
  end_gap();
  switch (packet.type) {
    case PacketType::kTimestamp: {
      Element& element = queue(ElementKind::kTimestamp, packet.index);
      element.timestamp = packet.timestamp;
      element.flags = kElementHasTimestamp;
      time_bits_ = std::max(time_bits_, packet.timestamp_bits);
      if (time_bits_ < 64) element.flags |= kElementTimeIsPartial;
      return;
    }
    case PacketType::kNumberedMarker:
    case PacketType::kUnnumberedMarker: {
      const bool numbered = packet.type == PacketType::kNumberedMarker;
      Element& element = queue(ElementKind::kSyncMarker, packet.index);
      element.number = packet.marker;
      element.reason = static_cast<std::uint8_t>(numbered ? MarkerType::kDataNumbered
                                                          : MarkerType::kDataUnnumbered);
      return;
    }
    case PacketType::kSuppression:
      queue(ElementKind::kDataEvent, packet.index).reason =
          static_cast<std::uint8_t>(DataEvent::kSuppressed);
      return;
    case PacketType::kOverflow:
      lose(UnsyncReason::kOverflow, packet.index);
      return;
    case PacketType::kDiscard:
      lose(UnsyncReason::kDiscard, packet.index);
      return;
    case PacketType::kIncompleteEot: {
      Diagnostic record;
      record.fault = Fault::kBadPacketSequence;
      record.severity = Severity::kWarning;
      record.trace_id = config_.trace_id();
      record.index = packet.index;
      record.finding = Finding::kEndsInPacket;
      diagnostics_.push_back(record);
      return;
    }
    default:
      return;
  }
}

void Decoder::end_of_trace() {
  end_gap();
  queue(ElementKind::kEndOfTrace, last_index_).reason =
      static_cast<std::uint8_t>(UnsyncReason::kEndOfTrace);
}

}  // namespace waymark::etmv4data
