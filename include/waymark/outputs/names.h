// The words that JSON, CSV and the text for people use for elements and damage; documented in
// docs/output-formats.md.
#pragma once

#include <string>
#include <string_view>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"

namespace waymark::outputs {

/// "range", "context", "no_sync" ...
std::string_view kind_word(ElementKind kind);

/// The reason of a kNoSync, kTraceOn, kEndOfTrace, kEvent, kSyncMarker, kMemTrans or kDataEvent
/// element, and what a kSwTrace or kItmTrace element is; otherwise empty.
std::string_view reason_word(const Element& element);

/// "branch", "indirect", "isb", "barrier", "wait", "transaction"; empty for other instructions.
std::string_view instruction_word(isa::InstrType type);

/// "call", "return", "exception_return"; empty for none.
std::string_view subtype_word(isa::InstrSubtype subtype);

/// "secure", "non_secure", "root", "realm".
std::string_view security_word(Security security);

/// The words after a time of which only the low bits are known; otherwise empty.
/// "trigger", "event 0", "events 0, 2": a packet of an ETMv4 states all events of its moment.
std::string event_words(const Element& element);
std::string_view partial_time_words(const Element& element);

/// "bad_packet", "bad_image" ...
std::string_view fault_word(Fault fault);

std::string_view severity_word(Severity severity);
std::string_view stage_word(Stage stage);

}  // namespace waymark::outputs
