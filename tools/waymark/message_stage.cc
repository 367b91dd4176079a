#include "message_stage.h"

#include <algorithm>

#include "waymark/outputs/messages.h"

namespace waymark::cli {

MessageStage::MessageStage(const syst::Collateral& collateral, std::uint64_t frequency,
                           bool as_json)
    : interpreter_(collateral), reader_(interpreter_, *this), as_json_(as_json) {
  interpreter_.set_transport_frequency(frequency);
}

void MessageStage::on_frame(const syst::Frame& frame) {
  const syst::Record record = interpreter_.interpret(frame);
  TextBuffer text;
  outputs::MessageWriter writer(text);
  if (as_json_) {
    writer.json(record);
  } else {
    if (frame.has_master) {
      text.dec(frame.master);
      text.put(':');
      text.dec(frame.channel);
      text.put("  ");
    } else {
      text.put("port ");
      text.dec(frame.channel);
      text.put("  ");
    }
    writer.sentence(record);
  }
  Element element;
  element.kind = ElementKind::kCustom;
  element.index = frame.index;
  element.trace_id = frame.trace_id;
  element.start = count_;
  if (record.time && frame.has_master) {
    element.timestamp = *record.time;
    element.flags = kElementHasTimestamp;
    if (record.time_is_partial()) element.flags |= kElementTimeIsPartial;
    keep_order(element);
  }
  texts_.emplace(count_++, text.view());
  out_.push_back(element);
}

void MessageStage::keep_order(Element& element) {
  if ((element.flags & kElementTimeIsPartial) != 0) return;
  Times& times = times_[element.trace_id];
  // Nothing was written after the packets with this time.  If the transport's time goes back, the
  // later times were wrong, and must not delay what follows.
  times.latest = std::max(times.latest, element.timestamp);
  if (times.now) times.latest = std::min(times.latest, *times.now);
  element.timestamp = times.latest;
}

std::span<const Element> MessageStage::replace(std::span<const Element> elements) {
  out_.clear();
  for (const Element& element : elements) {
    if (element.kind == ElementKind::kNoSync) times_.erase(element.trace_id);
    if ((element.flags & kElementHasTimestamp) != 0 &&
        (element.flags & kElementTimeIsPartial) == 0 && element.kind == ElementKind::kSwTrace) {
      times_[element.trace_id].now = element.timestamp;
    }
    if (element.kind == ElementKind::kItmTrace) {
      out_.push_back(element);
      reader_.add(element);
      continue;
    }
    const std::uint64_t noise = reader_.statistics().noise;
    reader_.add(element);
    constexpr unsigned kOther = kSwMasterError | kSwGlobalError | kSwTrigger | kSwFrequency;
    const bool is_part = element.kind == ElementKind::kSwTrace &&
                         element.reason == static_cast<std::uint8_t>(SwTraceKind::kData) &&
                         (element.extra & kOther) == 0 &&
                         (element.extra_value != 0 || (element.extra & kSwMarker) != 0) &&
                         reader_.statistics().noise == noise;
    if (is_part) continue;
    // Messages around it are not earlier either.
    if ((element.flags & kElementHasTimestamp) != 0 && element.kind == ElementKind::kSwTrace &&
        (element.flags & kElementTimeIsPartial) == 0) {
      Times& times = times_[element.trace_id];
      times.latest = element.timestamp;
    }
    out_.push_back(element);
  }
  return out_;
}

std::span<const Element> MessageStage::finish() {
  out_.clear();
  reader_.finish();
  return out_;
}

void MessageStage::write(TextBuffer& out, const Element& element) {
  const auto text = texts_.find(element.start);
  if (text == texts_.end()) return;
  out.put(text->second);
  texts_.erase(text);
}

}  // namespace waymark::cli
