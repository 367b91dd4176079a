// The text of an element in listings; see trc-pkt-lister.md 5.
#pragma once

#include "waymark/base/text_buffer.h"
#include "waymark/element/element.h"

namespace waymark {

/// "OCSD_GEN_TRC_ELEM_..." with its body, without index, ID and newline.
void write_element(TextBuffer& out, const Element& element);

/// "Idx:<dec>; ID:<hex>; " + write_element + newline: one line of a listing.
void write_element_line(TextBuffer& out, const Element& element);

/// The name of a kind in listings ("OCSD_GEN_TRC_ELEM_INSTR_RANGE").
std::string_view element_name(ElementKind kind);

/// "A64", "T32", ...
std::string_view isa_name(isa::Isa isa);

}  // namespace waymark
