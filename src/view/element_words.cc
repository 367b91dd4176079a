#include "element_words.h"

#include <fmt/format.h>

#include "waymark/base/plural.h"
#include "waymark/outputs/names.h"

namespace waymark::view {
namespace {

std::string with_reason(std::string_view what, const Element& element) {
  std::string reason(outputs::reason_word(element));
  for (char& c : reason)
    if (c == '_') c = ' ';
  return reason.empty() ? std::string(what) : fmt::format("{}: {}", what, reason);
}

}  // namespace

std::string event_words(const Element& element, const Knowledge& knowledge) {
  switch (element.kind) {
    case ElementKind::kNoSync:
      return with_reason("trace was lost", element);
    case ElementKind::kTraceOn:
      if (static_cast<TraceOnReason>(element.reason) == TraceOnReason::kNormal)
        return "tracing was switched on";
      return with_reason("trace was lost", element);
    case ElementKind::kInstrRangeNoPath:
      return fmt::format("{} on an unknown path", counted(element.count, "instruction"));
    case ElementKind::kAddrNacc:
      return fmt::format("the code at 0x{:x} could not be read", element.start);
    case ElementKind::kAddrUnknown:
      return "execution went to an unknown address";
    case ElementKind::kException: {
      std::string name;
      if (knowledge.exception_name)
        name = knowledge.exception_name(element.trace_id, element.number);
      return name.empty() ? fmt::format("exception {}", element.number)
                          : fmt::format("exception {}", name);
    }
    case ElementKind::kExceptionReturn:
      return "return from an exception";
    case ElementKind::kEvent:
      return outputs::event_words(element);
    case ElementKind::kMemTrans:
      return with_reason("transaction", element);
    default:
      return {};
  }
}

std::string context_words(const Element& element) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if ((element.flags & kElementElValid) != 0) {
    add(fmt::format("EL{}", element.exception_level));
    std::string security(outputs::security_word(element.security));
    for (char& c : security)
      if (c == '_') c = '-';
    add(std::move(security));
  }
  if ((element.flags & kElementContextIdValid) != 0)
    add(fmt::format("context ID 0x{:x}", element.context_id));
  if ((element.flags & kElementVmidValid) != 0) add(fmt::format("VMID 0x{:x}", element.vmid));
  return text;
}

std::string isa_words(isa::Isa isa) {
  switch (isa) {
    case isa::Isa::kA64:
      return "A64";
    case isa::Isa::kA32:
      return "A32";
    case isa::Isa::kT32:
      return "T32";
    case isa::Isa::kThumbEE:
      return "ThumbEE";
    default:
      return {};
  }
}

}  // namespace waymark::view
