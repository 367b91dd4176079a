// Counts for people and programs.  Columns and fields: docs/output-formats.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/count/counts.h"
#include "waymark/count/functions.h"
#include "waymark/count/itm_counts.h"
#include "waymark/count/joint.h"
#include "waymark/count/ranking.h"
#include "waymark/image/symbols.h"

namespace waymark::outputs {

/// The programs of counts by joint addresses.
struct ProgramNames {
  const count::JointAddresses* addresses = nullptr;
  std::vector<std::string> paths{};  ///< By the numbers of the programs.

  [[nodiscard]] const std::string& path(std::uint32_t program) const;
};

/// Facts about all counts of a run.
struct CountFacts {
  bool cycles = true;    ///< Cycles were traced; otherwise they are shown as unknown.
  bool complete = true;  ///< False: the counts are those of a part of the trace.
  /// nullptr: addresses are those of target memory.
  const ProgramNames* programs = nullptr;
  /// Records of damage, as `waymark decode` shows them; nothing: not counted.
  std::optional<std::uint64_t> damage{};
  std::size_t inputs = 1;  ///< More: the counts are their sum, and have no trace ID.
};

/// Samples of the program counter to show, and the names for them.
struct SampleOptions {
  std::size_t most = 0;
  /// They are counted by function; nullptr: by address.
  const image::Symbols* symbols = nullptr;
};

/// Text: the totals, one per line; then tables, whose shares are of `totals`.
void write_text(TextBuffer& out, const count::Counts& counts, const CountFacts& facts);
void write_text(TextBuffer& out, std::span<const count::Row> rows, const count::Totals& totals,
                count::Order order, const CountFacts& facts);
void write_text(TextBuffer& out, std::span<const count::Branch> branches, const CountFacts& facts);
/// C++ names are shown as in the source.  `whole`: the weight of all functions.
void write_text(TextBuffer& out, std::span<const count::FunctionRow> rows, std::uint64_t whole,
                count::Order order, const CountFacts& facts);
void write_text(TextBuffer& out, const count::ItmCounts& counts, const SampleOptions& options);

/// JSON: one object per line.
void write_json(TextBuffer& out, const count::Counts& counts, TraceId id, const CountFacts& facts);
void write_json(TextBuffer& out, std::span<const count::Row> rows, const CountFacts& facts);
void write_json(TextBuffer& out, std::span<const count::Branch> branches, const CountFacts& facts);
void write_json(TextBuffer& out, std::span<const count::FunctionRow> rows, const CountFacts& facts);
void write_json(TextBuffer& out, const count::ItmCounts& counts, TraceId id,
                const SampleOptions& options);

/// CSV with a header.
void write_csv(TextBuffer& out, std::span<const count::Row> rows, const CountFacts& facts);
void write_csv(TextBuffer& out, std::span<const count::Branch> branches, const CountFacts& facts);
void write_csv(TextBuffer& out, std::span<const count::FunctionRow> rows, const CountFacts& facts);
/// Rows without a header, so that several sources can share one table.
void write_csv(TextBuffer& out, const count::ItmCounts& counts, TraceId id,
               const SampleOptions& options, const CountFacts& facts);
void write_itm_csv_header(TextBuffer& out);

}  // namespace waymark::outputs
