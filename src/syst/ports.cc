#include "waymark/syst/ports.h"

#include <algorithm>
#include <array>

namespace waymark::syst {

void PortReader::forget(Port& port, std::uint64_t offset) {
  while (port.origins.size() > 1 && port.origins[1].offset <= offset) port.origins.pop_front();
}

void PortReader::give(std::uint16_t key, Port& port, Frame& frame) {
  forget(port, frame.index);
  if (!port.origins.empty()) {
    frame.index = port.origins.front().index;
    frame.time = port.origins.front().time;
    frame.has_time = port.origins.front().has_time;
    frame.time_is_partial = port.origins.front().is_partial;
  }
  frame.trace_id = static_cast<TraceId>(key >> 8);
  frame.channel = key & 0xFFU;
  sink_.on_frame(frame);
}

void PortReader::add(const Element& element) {
  if (element.kind != ElementKind::kItmTrace) return;
  const auto kind = static_cast<ItmKind>(element.extra & kItmKindMask);
  if (kind == ItmKind::kGlobalTimestamp && (element.flags & kElementHasTimestamp) != 0) {
    times_[element.trace_id] = {.time = element.timestamp,
                                .is_partial = (element.flags & kElementTimeIsPartial) != 0};
    return;
  }
  if (kind != ItmKind::kSoftware) return;
  const auto key =
      static_cast<std::uint16_t>(unsigned{element.trace_id} << 8U | (element.number & 0xFFU));
  Port& port = ports_[key];
  const auto time = times_.find(element.trace_id);
  const bool has_time = time != times_.end();
  // Limits the memory for a long message: after kAll origins, only some packets are remembered, and
  // after kMost origins, the oldest ones after the message's beginning are dropped.
  constexpr std::size_t kAll = 4096;
  constexpr std::size_t kMost = 8192;
  constexpr std::uint64_t kApart = 64;
  if (port.origins.size() < kAll || port.size - port.origins.back().offset >= kApart) {
    if (port.origins.size() >= kMost) port.origins.erase(port.origins.begin() + 1);
    port.origins.push_back({port.size, element.index, has_time ? time->second.time : 0, has_time,
                            has_time && time->second.is_partial});
  }
  std::array<std::uint8_t, 8> bytes;
  const std::size_t size = std::min<std::size_t>(element.extra_value, bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(element.start >> (8 * i) & 0xFF);
  port.size += size;
  port.reader.feed(Bytes(bytes).first(size));
  Frame frame;
  while (port.reader.next(frame)) give(key, port, frame);
  forget(port, port.reader.begins_at());
}

void PortReader::finish() {
  for (auto& [key, port] : ports_) {
    Frame frame;
    while (port.reader.finish(frame)) give(key, port, frame);
  }
}

}  // namespace waymark::syst
