#include "waymark/count/activity.h"

#include <algorithm>
#include <utility>

#include "waymark/element/dwt.h"

namespace waymark::count {
namespace {

/// Adds to the count of a number, unless there are too many numbers.
void bump(std::map<std::uint32_t, std::uint64_t>& counts, std::uint32_t number,
          std::uint64_t more) {
  if (counts.size() < ActivityCounts::kMostNumbers || counts.contains(number))
    counts[number] += more;
}

bool is_overflow(const Element& element) {
  return (element.kind == ElementKind::kTraceOn &&
          element.reason == static_cast<std::uint8_t>(TraceOnReason::kOverflow)) ||
         (element.kind == ElementKind::kNoSync &&
          element.reason == static_cast<std::uint8_t>(UnsyncReason::kOverflow));
}

}  // namespace

void ActivityCounts::add_place(const ActivityPlace& place, std::uint64_t weight) {
  if (const auto known = places.find(place); known != places.end()) {
    known->second += weight;
  } else if (places.size() < kMostPlaces) {
    places.emplace(place, weight);
  } else {
    unlisted += weight;
  }
}

void ActivityCounts::add(const ActivityCounts& more) {
  for (const auto& [place, weight] : more.places) add_place(place, weight);
  for (const auto& [number, times] : more.exceptions) bump(exceptions, number, times);
  for (const auto& [port, bytes] : more.ports) bump(ports, port, bytes);
  unlisted += more.unlisted;
  samples += more.samples;
  sleeping += more.sleeping;
  instructions += more.instructions;
  software += more.software;
  overflows += more.overflows;
}

void Activity::observe(std::span<const Element> elements) {
  for (const Element& element : elements) {
    counts_.overflows += is_overflow(element) ? 1 : 0;
    switch (element.kind) {
      case ElementKind::kInstrRange:
      case ElementKind::kInstrRangeNoPath:
        counts_.instructions += element.count;
        add_place(element, element.start, element.count);
        break;
      case ElementKind::kException:
        bump(counts_.exceptions, element.number, 1);
        break;
      case ElementKind::kNoSync:
        end_lines();
        break;
      case ElementKind::kItmTrace:
        observe_itm(element);
        break;
      case ElementKind::kSwTrace:
        ++counts_.software;
        break;
      default:
        break;
    }
  }
}

void Activity::add_place(const Element& element, std::uint64_t address, std::uint64_t weight) {
  counts_.add_place(locate_ ? locate_(element, address) : ActivityPlace{.address = address},
                    weight);
}

void Activity::observe_itm(const Element& element) {
  if ((element.extra & kItmOverflow) != 0) {
    ++counts_.overflows;
    end_lines();
  }
  const auto kind = static_cast<ItmKind>(element.extra & kItmKindMask);
  if (kind == ItmKind::kSoftware) {
    bump(counts_.ports, element.number, element.extra_value);
    add_text(element.number, element);
    return;
  }
  if (kind != ItmKind::kHardware) return;
  const DwtEvent event =
      dwt_event(element.number, element.extra_value, static_cast<std::uint32_t>(element.start));
  switch (event.kind) {
    case DwtKind::kException:
      if (event.action == DwtExceptionAction::kEntered)
        bump(counts_.exceptions, event.exception, 1);
      break;
    case DwtKind::kPcSample:
      ++counts_.samples;
      add_place(element, event.value, 1);
      break;
    case DwtKind::kSleeping:
      ++counts_.sleeping;
      break;
    default:
      break;
  }
}

/// Bytes that are no text end the line, so that a port with binary data shows nothing.
void Activity::add_text(std::uint32_t port, const Element& element) {
  if (open_.size() >= ActivityCounts::kMostNumbers && !open_.contains(port)) return;
  std::string& line = open_[port];
  const std::uint32_t size = std::min<std::uint32_t>(element.extra_value, 4);
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(element.start >> (8 * i));
    const bool is_text = byte >= 0x20 || byte == '\t';
    if (is_text) line += static_cast<char>(byte);
    if (byte == '\n' || line.size() >= kLongestLine) {
      end_line(port, line);
    } else if (!is_text && byte != '\r' && byte != 0) {
      line.clear();
    }
  }
}

/// Text does not continue after a loss.
void Activity::end_lines() {
  for (auto& [port, line] : open_)
    if (!line.empty()) end_line(port, line);
}

void Activity::end_line(std::uint32_t port, std::string& line) {
  if (lines_.size() == kMostLines) lines_.pop_front();
  lines_.push_back({port, std::exchange(line, {})});
}

ActivityCounts Activity::take() { return std::exchange(counts_, {}); }

}  // namespace waymark::count
