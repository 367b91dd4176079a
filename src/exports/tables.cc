#include "waymark/exports/tables.h"

#include <algorithm>

#include "table_rows.h"

namespace waymark::exports {
namespace {

/// A change of what a column means gives it another name, so readers need no number of the schema
/// to be right; it says whether all columns are known.
constexpr std::string_view kTableSchema = "1";

const std::array<Table, 4>& all_tables() {
  static const std::array kAllTables = {
      Table{"elements",
            "each element and record of damage, as `waymark decode --format csv` has them",
            elements_columns()},
      Table{"calls", "each call of a function, and each exception, from its entry to its end",
            calls_columns()},
      Table{"counts", "each block of a program, with how often it was executed", counts_columns()},
      Table{"messages", "each SyS-T message that an STM or ITM carried", messages_columns()},
  };
  return kAllTables;
}

std::vector<ParquetColumn> stored_columns(std::string_view table) {
  std::vector<ParquetColumn> columns;
  for (const TableColumn& column : find_table(table)->columns) columns.push_back(column.stored);
  return columns;
}

ParquetOptions options_of(std::string_view table, const TableInput& input,
                          std::vector<std::pair<std::string, std::string>> more) {
  ParquetOptions options{.created_by = input.created_by,
                         .metadata = {{"waymark.table", std::string(table)},
                                      {"waymark.schema", std::string(kTableSchema)}}};
  for (auto& pair : more) options.metadata.push_back(std::move(pair));
  return options;
}

}  // namespace

std::span<const Table> tables() { return all_tables(); }

const Table* find_table(std::string_view name) {
  const auto all = tables();
  const auto found = std::ranges::find(all, name, &Table::name);
  return found == all.end() ? nullptr : &*found;
}

TablePart::TablePart(std::string_view table, const TableInput& input, TextBuffer& out,
                     std::vector<std::pair<std::string, std::string>> more)
    : writer_(stored_columns(table), options_of(table, input, std::move(more)), out),
      part_(input.part),
      path_(input.path) {}

void TablePart::begin_row() {
  writer_.number(0, part_);
  writer_.text(1, path_);
  writer_.number(2, writer_.rows());
}

}  // namespace waymark::exports
