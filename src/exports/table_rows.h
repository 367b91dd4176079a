// The schema of a table: its columns, and how each is taken from what a row is made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "waymark/exports/tables.h"

namespace waymark::exports {

/// The cell of one column in the present row.  Nothing may be put.
class CellWriter {
 public:
  CellWriter(ParquetWriter& writer, std::size_t column) : writer_(writer), column_(column) {}
  void number(std::uint64_t value) { writer_.number(column_, value); }
  void number(std::optional<std::uint64_t> value) {
    if (value) number(*value);
  }
  void text(std::string_view value) { writer_.text(column_, value); }
  /// Nothing, if it is empty.
  void word(std::string_view value) {
    if (!value.empty()) text(value);
  }

 private:
  ParquetWriter& writer_;
  std::size_t column_;
};

template <class Row>
struct RowColumn {
  TableColumn column{};
  void (*take)(const Row& row, CellWriter& cell) = nullptr;
};

/// A column without a value in some rows.
constexpr TableColumn nullable(std::string_view name, ParquetType type, std::string_view meaning) {
  return {.stored = {.name = name, .type = type, .nullable = true}, .meaning = meaning};
}

/// The columns that every table begins with; begin_row() writes them.
inline constexpr std::array kCommonColumns = {
    TableColumn{.stored = {.name = "part", .type = ParquetType::kUint32},
                .meaning = "the number of the input, from 0 in the order of the command line"},
    TableColumn{.stored = {.name = "input", .type = ParquetType::kText},
                .meaning = "the path of the input, as it was given"},
    TableColumn{
        .stored = {.name = "seq", .type = ParquetType::kUint64},
        .meaning = "the number of the row in its file, from 0, which is the order of the rows"},
};

/// All columns of a table.
template <class Row, std::size_t kSize>
constexpr auto with_common(const std::array<RowColumn<Row>, kSize>& rows) {
  std::array<TableColumn, kCommonColumns.size() + kSize> all{};
  for (std::size_t i = 0; i < kCommonColumns.size(); ++i) all[i] = kCommonColumns[i];
  for (std::size_t i = 0; i < kSize; ++i) all[kCommonColumns.size() + i] = rows[i].column;
  return all;
}

/// Writes the columns after the common ones.
template <class Row, std::size_t kSize>
void put_row(ParquetWriter& writer, const std::array<RowColumn<Row>, kSize>& columns,
             const Row& row) {
  for (std::size_t i = 0; i < kSize; ++i) {
    CellWriter cell(writer, kCommonColumns.size() + i);
    columns[i].take(row, cell);
  }
}

std::span<const TableColumn> elements_columns();
std::span<const TableColumn> messages_columns();
std::span<const TableColumn> counts_columns();
std::span<const TableColumn> calls_columns();

}  // namespace waymark::exports
