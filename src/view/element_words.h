// The meaning of an element for the instructions around it, in words.
#pragma once

#include <string>

#include "knowledge.h"
#include "waymark/element/element.h"

namespace waymark::view {

/// The event: "exception IRQ", "trace was lost: overflow"; empty: nothing that people look for.
std::string event_words(const Element& element, const Knowledge& knowledge);

/// "EL1, non-secure, context ID 0x1f, VMID 0x2", as far as it is known.
std::string context_words(const Element& element);

/// "A64", "A32", "T32"; empty: another one.
std::string isa_words(isa::Isa isa);

}  // namespace waymark::view
