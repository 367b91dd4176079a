// JSON Lines: one object per line.  Fields: docs/output-formats.md.
#pragma once

#include <string_view>

#include "waymark/base/diagnostic.h"
#include "waymark/base/text_buffer.h"
#include "waymark/element/element.h"
#include "waymark/merge/timeline.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/instructions.h"
#include "waymark/protocol/source.h"

namespace waymark::outputs {

/// Each writes one line with its newline.  Pure; safe from any thread.
/// `functions`: names the function of each range.  `instructions`: lists its instructions.
void write_json(TextBuffer& out, const Element& element, FunctionNames* functions = nullptr,
                Instructions* instructions = nullptr);
void write_json(TextBuffer& out, const Diagnostic& record);
void write_json(TextBuffer& out, const merge::TimedRecord& record,
                FunctionNames* functions = nullptr, Instructions* instructions = nullptr);
/// `source` is the source of the packet.
void write_json(TextBuffer& out, const PacketRef& packet, const Source& source);

/// `text` as a JSON string with its quotes.  What is_terminal_control() names becomes `\uNNNN`, and
/// a byte NN that is not UTF-8 becomes `\u00NN`.
void write_json_string(TextBuffer& out, std::string_view text);

}  // namespace waymark::outputs
