#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table_rows.h"
#include "waymark/element/text.h"
#include "waymark/exports/tables.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::exports {
namespace {

using enum ParquetType;

/// A block, and what is known of where it begins.
struct BlockRow {
  const profile::ProgramProfile& program;
  const count::Row& counts;
  const program::Function* function = nullptr;
  program::Frame source{};
};

using BlockColumn = RowColumn<BlockRow>;

constexpr BlockColumn text(std::string_view name, bool nullable, std::string_view meaning,
                           void (*take)(const BlockRow&, CellWriter&)) {
  return {
      .column = {.stored = {.name = name, .type = kText, .nullable = nullable}, .meaning = meaning},
      .take = take};
}
constexpr BlockColumn number(std::string_view name, std::string_view meaning,
                             void (*take)(const BlockRow&, CellWriter&)) {
  return {.column = {.stored = {.name = name, .type = kUint64}, .meaning = meaning}, .take = take};
}

constexpr std::array kBlockColumns = {
    text("program", false,
         "the path of the program, as a recording names it; empty if it is not known",
         [](const BlockRow& row, CellWriter& cell) { cell.text(row.program.path); }),
    text("build_id", true, "its build ID, in hexadecimal digits",
         [](const BlockRow& row, CellWriter& cell) {
           cell.word(fmt::format("{:02x}", fmt::join(row.program.build_id, "")));
         }),
    text("function", true, "the function in which the block begins, as the linker names it",
         [](const BlockRow& row, CellWriter& cell) {
           if (row.function != nullptr) cell.word(row.function->name);
         }),
    text("demangled", true, "its name as in the source",
         [](const BlockRow& row, CellWriter& cell) {
           if (row.function != nullptr) cell.word(outputs::readable_name(row.function->name));
         }),
    text("file", true, "the source file of the first instruction",
         [](const BlockRow& row, CellWriter& cell) { cell.word(row.source.file); }),
    BlockColumn{.column = {.stored = {.name = "line", .type = kUint32, .nullable = true},
                           .meaning = "its source line"},
                .take =
                    [](const BlockRow& row, CellWriter& cell) {
                      if (row.source.line != 0) cell.number(row.source.line);
                    }},
    number("start", "where the block begins, as its program was linked",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.range.start); }),
    number("end", "where it ends, exclusive",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.range.end); }),
    text("isa", false, "its instruction set",
         [](const BlockRow& row, CellWriter& cell) { cell.text(isa_name(row.counts.range.isa)); }),
    number("instructions", "the instructions that were executed in it",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.instructions()); }),
    number("times", "how often it was executed",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.times()); }),
    number("executed", "how often its last instruction was executed",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.executed); }),
    number("not_executed", "how often its last instruction was not executed",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.not_executed); }),
    number("taken", "the branches that were taken at its end",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.taken()); }),
    number("calls", "those of them that are branches with link",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.calls()); }),
    number("cycles", "the cycles that were counted in it",
           [](const BlockRow& row, CellWriter& cell) { cell.number(row.counts.cycles); }),
};

constexpr auto kCountsColumns = with_common(kBlockColumns);

}  // namespace

std::span<const TableColumn> counts_columns() { return kCountsColumns; }

CountsPart::CountsPart(const TableInput& input, TextBuffer& out)
    : TablePart("counts", input, out) {}

void CountsPart::add(const profile::ProgramProfile& program) {
  std::vector<program::Frame> frames;
  for (const count::Row& counts : program.counts.rows) {
    BlockRow row{.program = program, .counts = counts};
    if (program.program != nullptr) {
      row.function = program.program->function(counts.range.start);
      program.program->frames(counts.range.start, frames);
      if (!frames.empty()) row.source = frames.front();
    }
    begin_row();
    put_row(writer_, kBlockColumns, row);
    writer_.end_row();
  }
}

}  // namespace waymark::exports
