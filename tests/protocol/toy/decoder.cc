#include "decoder.h"

#include <algorithm>

namespace waymark::toy {

void Decoder::accept(const Packet& packet) {
  last_index_ = packet.index;
  if (!begun_) lose(unsync_reason_, packet.index);
  begun_ = true;
  switch (packet.type) {
    case PacketType::kTime: {
      Element& element = queue(ElementKind::kTimestamp, packet.index);
      element.timestamp = packet.value;
      element.flags = kElementHasTimestamp;
      return;
    }
    case PacketType::kEvent: {
      Element& element = queue(ElementKind::kEvent, packet.index);
      element.reason = static_cast<std::uint8_t>(EventType::kNumbered);
      element.number = packet.number;
      return;
    }
    case PacketType::kValue: {
      Element& element = queue(ElementKind::kSwTrace, packet.index);
      element.sw_id = {.master = 0, .channel = packet.number};
      element.start = packet.value;
      element.extra = kSwIdValid;
      element.extra_value = 14;
      return;
    }
    case PacketType::kReserved:
      return report(Fault::kInvalidHeader, Finding::kReservedHeader, packet.index);
    case PacketType::kBadSequence:
      return report(Fault::kBadPacketSequence, Finding::kMalformedPacket, packet.index);
    default:
      return;
  }
}

std::size_t Decoder::drain(std::span<Element> out) {
  const std::size_t given = std::min(count_, out.size());
  std::copy_n(queue_.begin(), given, out.begin());
  std::copy(queue_.begin() + static_cast<std::ptrdiff_t>(given),
            queue_.begin() + static_cast<std::ptrdiff_t>(count_), queue_.begin());
  count_ -= given;
  return given;
}

void Decoder::end_of_trace() {
  queue(ElementKind::kEndOfTrace, last_index_).reason =
      static_cast<std::uint8_t>(UnsyncReason::kEndOfTrace);
}

void Decoder::reset() {
  begun_ = false;
  unsync_reason_ = UnsyncReason::kResetDecoder;
  count_ = 0;
  diagnostics_.clear();
}

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

void Decoder::report(Fault fault, Finding finding, TraceIndex index) {
  Diagnostic record;
  record.fault = fault;
  record.finding = finding;
  record.trace_id = config_.trace_id();
  record.index = index;
  diagnostics_.push_back(record);
}

}  // namespace waymark::toy
