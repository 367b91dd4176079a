#include "waymark/outputs/names.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <span>
#include <utility>

#include "itm_words.h"
#include "software_words.h"

namespace waymark::outputs {
namespace {

using Words = std::span<const std::string_view>;

std::string_view word(Words words, std::size_t at) {
  return at < words.size() ? words[at] : std::string_view{};
}

constexpr std::array<std::string_view, kElementKindCount> kKinds = {"unknown",
                                                                    "no_sync",
                                                                    "trace_on",
                                                                    "end_of_trace",
                                                                    "context",
                                                                    "range",
                                                                    "range_no_path",
                                                                    "no_access",
                                                                    "address_unknown",
                                                                    "exception",
                                                                    "exception_return",
                                                                    "timestamp",
                                                                    "cycle_count",
                                                                    "event",
                                                                    "software_trace",
                                                                    "sync_marker",
                                                                    "transaction",
                                                                    "instrumentation",
                                                                    "itm",
                                                                    "custom",
                                                                    "data_address",
                                                                    "data_value",
                                                                    "data_event"};

constexpr std::string_view kUnsyncReasons[] = {"undefined", "start",      "reset",     "overflow",
                                               "discard",   "bad_packet", "bad_image", "end"};
constexpr std::string_view kTraceOnReasons[] = {"start", "overflow", "debug_restart"};
constexpr std::string_view kEvents[] = {"unknown", "trigger", "numbered"};
constexpr std::string_view kMarkers[] = {"", "data_numbered", "data_unnumbered"};
constexpr std::string_view kTransactions[] = {"init", "start", "commit", "fail"};
constexpr std::string_view kDataEvents[] = {"pending", "not_traced", "suppressed", "store_failed"};
constexpr std::string_view kInstructions[] = {"",        "branch", "indirect",   "isb",
                                              "barrier", "wait",   "transaction"};
constexpr std::string_view kSubtypes[] = {"", "call", "return", "exception_return", "return"};
constexpr std::string_view kSecurities[] = {"secure", "non_secure", "root", "realm"};
constexpr std::array<std::string_view, kFaultCount> kFaults = {"none",
                                                               "bad_frame_sync",
                                                               "invalid_block",
                                                               "invalid_header",
                                                               "bad_sequence",
                                                               "bad_packet",
                                                               "unsupported_packet",
                                                               "unsupported_configuration",
                                                               "commit_overrun",
                                                               "return_stack_underrun",
                                                               "bad_image",
                                                               "invalid_opcode",
                                                               "range_limit",
                                                               "memory_access",
                                                               "unsupported_isa",
                                                               "not_synchronised"};
constexpr std::string_view kSeverities[] = {"", "error", "warning", "info"};
constexpr std::string_view kStages[] = {"frames", "packets", "elements"};

}  // namespace

std::string_view kind_word(ElementKind kind) {
  return word(kKinds, static_cast<std::size_t>(kind));
}

std::string_view reason_word(const Element& element) {
  switch (element.kind) {
    case ElementKind::kNoSync:
    case ElementKind::kEndOfTrace:
      return word(kUnsyncReasons, element.reason);
    case ElementKind::kTraceOn:
      return word(kTraceOnReasons, element.reason);
    case ElementKind::kEvent:
      return word(kEvents, element.reason);
    case ElementKind::kMemTrans:
      return word(kTransactions, element.reason);
    case ElementKind::kSyncMarker:
      return word(kMarkers, element.reason);
    case ElementKind::kItmTrace:
      return itm_word(element);
    case ElementKind::kSwTrace:
      return software_word(element);
    case ElementKind::kDataEvent:
      return word(kDataEvents, element.reason);
    default:
      return {};
  }
}

std::string_view instruction_word(isa::InstrType type) {
  return word(kInstructions, static_cast<std::size_t>(type));
}

std::string_view subtype_word(isa::InstrSubtype subtype) {
  return word(kSubtypes, static_cast<std::size_t>(subtype));
}

std::string_view security_word(Security security) {
  return word(kSecurities, static_cast<std::size_t>(security));
}

std::string event_words(const Element& element) {
  if (static_cast<EventType>(element.reason) == EventType::kTrigger) return "trigger";
  std::string text = std::has_single_bit(element.number) ? "event" : "events";
  std::string_view comma;
  for (unsigned number = 0; number < 32; ++number) {
    if ((element.number >> number & 1) == 0) continue;
    text += fmt::format("{} {}", std::exchange(comma, ","), number);
  }
  return text;
}

std::string_view partial_time_words(const Element& element) {
  return (element.flags & kElementTimeIsPartial) != 0 ? " (upper bits unknown)" : "";
}

std::string_view fault_word(Fault fault) { return word(kFaults, static_cast<std::size_t>(fault)); }

std::string_view severity_word(Severity severity) {
  return word(kSeverities, static_cast<std::size_t>(severity));
}

std::string_view stage_word(Stage stage) { return word(kStages, static_cast<std::size_t>(stage)); }

}  // namespace waymark::outputs
