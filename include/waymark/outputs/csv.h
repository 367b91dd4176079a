// Comma-separated values (RFC 4180, lines end in a newline).  Columns: docs/output-formats.md.
#pragma once

#include "waymark/base/diagnostic.h"
#include "waymark/base/text_buffer.h"
#include "waymark/element/element.h"
#include "waymark/merge/timeline.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/instructions.h"
#include "waymark/protocol/source.h"

namespace waymark::outputs {

/// Which columns there are besides those that are always there.
struct CsvColumns {
  bool functions = false;     ///< function, demangled, offset: the function of each range.
  bool lines = false;         ///< file, line: where the source of each range begins.
  bool inlines = false;       ///< inlines: the functions that were inlined there.
  bool instructions = false;  ///< opcode, text: each instruction has a row after that of its range.
};

/// The header line of elements and damage records, which share their columns.
void write_csv_element_header(TextBuffer& out, const CsvColumns& columns = {});
/// `functions`, with its details, and `instructions` write their columns.
void write_csv(TextBuffer& out, const Element& element, FunctionNames* functions = nullptr,
               Instructions* instructions = nullptr);
void write_csv(TextBuffer& out, const Diagnostic& record, const CsvColumns& columns = {});

/// The same with two columns for the time before the others.
void write_csv_timed_header(TextBuffer& out, const CsvColumns& columns = {});
void write_csv(TextBuffer& out, const merge::TimedRecord& record,
               FunctionNames* functions = nullptr, Instructions* instructions = nullptr);

/// The header line of packets, which have their own columns.
void write_csv_packet_header(TextBuffer& out);
void write_csv(TextBuffer& out, const PacketRef& packet, const Source& source);

/// `text` as a field: escaped as put_escaped() does, so that a record is one line, and quoted if it
/// needs to be.  An apostrophe goes before a text that begins with '=', '+', '-' or '@', which a
/// spreadsheet would take for a formula.
void write_csv_field(TextBuffer& out, std::string_view text);

}  // namespace waymark::outputs
