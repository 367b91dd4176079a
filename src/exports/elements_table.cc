#include <algorithm>

#include "table_rows.h"
#include "waymark/exports/tables.h"
#include "waymark/outputs/names.h"

namespace waymark::exports {
namespace {

using enum ParquetType;

/// The columns before those of outputs::Column.
constexpr std::array kFirst = {
    TableColumn{.stored = {.name = "slice", .type = kUint32},
                .meaning = "the number of the slice of the input, from 0, with --slice-bytes; else "
                           "0; `part, slice, seq` is the order"},
    TableColumn{.stored = {.name = "record", .type = kText},
                .meaning = "`element`, `damage` or `note`"},
    nullable("index", kUint64, "the byte of the trace at which it begins"),
    nullable("id", kUint8, "the trace ID of its source"),
    nullable("time", kUint64,
             "the last whole timestamp of its source in this slice, up to and including this row"),
    TableColumn{.stored = {.name = "kind", .type = kText},
                .meaning = "the kind of element, or of damage"},
};
enum First : std::size_t { kSlice, kRecord, kIndex, kId, kTime, kKind };

/// In the order of outputs::Column, with the names of CSV.
constexpr std::array<TableColumn, outputs::kColumnCount> kFields = {
    nullable("start", kUint64, "where the range begins; the address that could not be read"),
    nullable("end", kUint64, "where the range ends, exclusive; the return address of an exception"),
    nullable("count", kUint32, "the instructions of a range, or the bytes of a value"),
    nullable("isa", kText, "the instruction set"),
    nullable("last", kText, "what the last instruction of a range is"),
    nullable("subtype", kText, "the same in more detail: call, return and the like"),
    nullable("taken", kFlag, "whether the last instruction was executed or taken"),
    nullable("conditional", kFlag, "whether it is conditional"),
    nullable("el", kUint8, "the exception level"),
    nullable("security", kText, "the security state"),
    nullable("bits", kUint8, "64 or 32, the state of execution"),
    nullable("context_id", kUint32, "the context ID"),
    nullable("vmid", kUint32, "the virtual context ID"),
    nullable("number", kUint32, "the number of an exception, event, marker or port"),
    nullable("reason", kText, "why trace begins or ends, what a packet is, how bad damage is"),
    nullable("value", kUint64, "the payload of software or data trace"),
    nullable("timestamp", kUint64, "the timestamp that this element carries"),
    nullable("cycles", kUint32, "the cycle count that this element carries"),
    nullable("master", kUint16, "the STP master"),
    nullable("channel", kUint16, "the STP channel"),
    nullable("message", kText, "a sentence about damage"),
};

constexpr bool has_names_of_csv() {
  for (std::size_t i = 0; i < kFields.size(); ++i)
    if (kFields[i].stored.name != outputs::kColumns[i].name) return false;
  return true;
}
static_assert(has_names_of_csv());

constexpr std::size_t kFieldsAt = kCommonColumns.size() + kFirst.size();

constexpr std::size_t at(First column) { return kCommonColumns.size() + column; }

/// Nothing: the element does not say the time of the system.
std::optional<std::uint64_t> time_of(const Element& element) {
  if ((element.flags & kElementHasTimestamp) == 0 || (element.flags & kElementTimeIsPartial) != 0)
    return std::nullopt;
  switch (element.kind) {
    case ElementKind::kTimestamp:
    case ElementKind::kSwTrace:
    case ElementKind::kCustom:
      return element.timestamp;
    case ElementKind::kItmTrace:
      if ((element.extra & kItmKindMask) == static_cast<unsigned>(ItmKind::kGlobalTimestamp))
        return element.timestamp;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::span<const TableColumn> elements_columns() {
  static const auto kAll = [] {
    std::array<TableColumn, kFieldsAt + kFields.size()> all{};
    TableColumn* next = std::ranges::copy(kCommonColumns, all.data()).out;
    next = std::ranges::copy(kFirst, next).out;
    std::ranges::copy(kFields, next);
    return all;
  }();
  return kAll;
}

ElementsPart::ElementsPart(const TableInput& input, TextBuffer& out)
    : TablePart("elements", input, out), slice_(input.slice.value_or(0)), times_(256) {}

void ElementsPart::begin(std::string_view record) {
  begin_row();
  writer_.number(at(kSlice), slice_);
  writer_.text(at(kRecord), record);
}

void ElementsPart::put(const outputs::ElementRow& row) {
  for (const outputs::ColumnValue& value : row.values()) {
    const auto column = static_cast<std::size_t>(value.column);
    if (kFields[column].stored.type == kText) {
      writer_.text(kFieldsAt + column, value.word);
    } else {
      writer_.number(kFieldsAt + column, value.number);
    }
  }
  writer_.end_row();
}

void ElementsPart::add(std::span<const Element> elements) {
  for (const Element& element : elements) {
    std::optional<std::uint64_t>& time = times_[element.trace_id];
    if (const auto now = time_of(element)) time = now;
    begin("element");
    writer_.number(at(kIndex), element.index);
    writer_.number(at(kId), element.trace_id);
    if (time) writer_.number(at(kTime), *time);
    writer_.text(at(kKind), outputs::kind_word(element.kind));
    row_.assign(element);
    put(row_);
  }
}

void ElementsPart::add(const Diagnostic& record) {
  begin(record.is_damage() ? "damage" : "note");
  if (record.index != kNoIndex) writer_.number(at(kIndex), record.index);
  if (record.trace_id != kNoTraceId) {
    writer_.number(at(kId), record.trace_id);
    if (const auto& time = times_[record.trace_id]) writer_.number(at(kTime), *time);
  }
  writer_.text(at(kKind), outputs::fault_word(record.fault));
  row_.assign(record);
  put(row_);
}

}  // namespace waymark::exports
