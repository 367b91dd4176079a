// Counts for people and programs.  Columns and fields: docs/output-formats.md.
#pragma once

#include <span>

#include "waymark/base/text_buffer.h"
#include "waymark/count/counts.h"
#include "waymark/count/functions.h"
#include "waymark/count/ranking.h"

namespace waymark::outputs {

/// Text: the totals, one a line; then tables, whose shares are of `totals`.
void write_text(TextBuffer& out, const count::Counts& counts);
void write_text(TextBuffer& out, std::span<const count::Row> rows, const count::Totals& totals,
                count::Order order);
void write_text(TextBuffer& out, std::span<const count::Branch> branches);
/// Names of C++ as they are written there.  `whole`: the weight of all functions.
void write_text(TextBuffer& out, std::span<const count::FunctionRow> rows, std::uint64_t whole,
                count::Order order);

/// JSON: an object a line.
void write_json(TextBuffer& out, const count::Counts& counts, TraceId id);
void write_json(TextBuffer& out, std::span<const count::Row> rows);
void write_json(TextBuffer& out, std::span<const count::Branch> branches);
void write_json(TextBuffer& out, std::span<const count::FunctionRow> rows);

/// CSV with header.
void write_csv(TextBuffer& out, std::span<const count::Row> rows);
void write_csv(TextBuffer& out, std::span<const count::Branch> branches);
void write_csv(TextBuffer& out, std::span<const count::FunctionRow> rows);

}  // namespace waymark::outputs
