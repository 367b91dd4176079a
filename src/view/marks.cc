#include "marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace waymark::view {
namespace {

/// Text without a line end becomes a mark of its own from this length on.
constexpr std::size_t kLongText = 160;
constexpr std::size_t kMostLines = 4096;

/// The characters of a write to a port; nothing: it is not text.
std::optional<std::string> text_of_write(const exports::Event& event) {
  std::string text;
  for (unsigned bit = 0; bit < event.bits; bit += 8) text += static_cast<char>(event.value >> bit);
  while (text.size() > 1 && text.back() == '\0') text.pop_back();
  const bool plain = std::ranges::all_of(
      text, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; });
  return plain ? std::optional(text) : std::nullopt;
}

FoundMark line_of(std::uint32_t port, std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return {.is_message = true, .kind = fmt::format("port {}", port), .text = std::move(text)};
}

}  // namespace

void MarkFinder::add_port(const exports::Event& event, std::vector<FoundMark>& out) {
  const auto text = text_of_write(event);
  std::string* line = nullptr;
  if (text) {
    const std::pair key(event.source, event.number);
    if (lines_.size() < kMostLines || lines_.contains(key)) line = &lines_[key];
  }
  if (line == nullptr) {
    out.push_back(line_of(event.number, fmt::format("0x{:x}", event.value)));
    return;
  }
  *line += *text;
  if (text->back() != '\n' && line->size() < kLongText) return;
  out.push_back(line_of(event.number, std::exchange(*line, {})));
}

void MarkFinder::find(const Element& element, std::vector<FoundMark>& out) {
  const bool may_carry = element.kind == ElementKind::kSwTrace ||
                         element.kind == ElementKind::kItmTrace ||
                         element.kind == ElementKind::kNoSync;
  if (messages_ == nullptr || !may_carry) return find_plain(element, out);
  for (const Element& each : messages_->replace({&element, 1})) {
    if (each.kind == ElementKind::kCustom) {
      out.push_back({.is_message = true, .kind = "SyS-T", .text = messages_->text(each)});
    } else {
      find_plain(each, out);
    }
  }
}

void MarkFinder::finish(std::vector<std::pair<TraceId, FoundMark>>& out) {
  if (messages_ != nullptr) {
    for (const Element& each : messages_->finish()) {
      FoundMark mark{.is_message = true, .kind = "SyS-T", .text = messages_->text(each)};
      out.emplace_back(each.trace_id, std::move(mark));
    }
  }
  for (auto& [port, line] : lines_)
    if (!line.empty()) out.emplace_back(port.first, line_of(port.second, std::exchange(line, {})));
}

void MarkFinder::find_plain(const Element& element, std::vector<FoundMark>& out) {
  switch (element.kind) {
    case ElementKind::kEvent:
    case ElementKind::kSwTrace:
    case ElementKind::kItmTrace:
    case ElementKind::kNoSync:
    case ElementKind::kTraceOn:
      break;
    default:
      return;
  }
  using exports::EventKind;
  if (element.kind == ElementKind::kNoSync || element.kind == ElementKind::kTraceOn) {
    const bool overflow =
        element.kind == ElementKind::kNoSync
            ? static_cast<UnsyncReason>(element.reason) == UnsyncReason::kOverflow
            : static_cast<TraceOnReason>(element.reason) == TraceOnReason::kOverflow;
    if (overflow) out.push_back({.kind = "overflow", .text = "overflow: trace was lost"});
    return;
  }
  events_.clear();
  exports::events_of(element, events_);
  for (const exports::Event& event : events_) {
    switch (event.kind) {
      case EventKind::kGap:
        out.push_back({.kind = "overflow", .text = "overflow: packets were lost"});
        break;
      case EventKind::kPort:
        add_port(event, out);
        break;
      case EventKind::kSoftware:
      case EventKind::kFlag:
        out.push_back({.is_message = true,
                       .kind = fmt::format("{}:{}", event.number, event.channel),
                       .text = event.kind == EventKind::kFlag
                                   ? std::string("flag")
                                   : fmt::format("0x{:x}", event.value)});
        break;
      case EventKind::kPcSample:
        out.push_back({.kind = "pc_sample", .text = fmt::format("0x{:x}", event.value)});
        break;
      case EventKind::kSleeping:
        out.push_back({.kind = "pc_sample", .text = "asleep"});
        break;
      case EventKind::kDataValue:
        out.push_back({.kind = "data_value",
                       .text = fmt::format("data {}: 0x{:x}", event.number, event.value)});
        break;
      case EventKind::kExceptionEntered:
      case EventKind::kExceptionExited:
      case EventKind::kExceptionReturned:
        out.push_back({.kind = std::string(exports::event_word(event.kind)),
                       .text = event.number == exports::kAnyException
                                   ? std::string("exception")
                                   : fmt::format("exception {}", event.number)});
        break;
      case EventKind::kTraceOn:
      case EventKind::kContext:
        break;
      default:
        out.push_back(
            {.kind = std::string(exports::event_word(event.kind)),
             .text = fmt::format("{} {}", exports::event_word(event.kind), event.number)});
        break;
    }
  }
}

}  // namespace waymark::view
