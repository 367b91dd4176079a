#include "waymark/exports/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "waymark/outputs/messages.h"

namespace waymark::exports {
namespace {

TEST(Tables, names_of_columns_are_distinct) {
  for (const Table& table : tables()) {
    std::set<std::string_view> names;
    for (const TableColumn& column : table.columns) {
      EXPECT_TRUE(names.insert(column.stored.name).second) << table.name << column.stored.name;
      EXPECT_FALSE(column.meaning.empty()) << column.stored.name;
      EXPECT_FALSE(column.meaning.ends_with('.')) << column.meaning;
    }
    EXPECT_EQ(find_table(table.name), &table);
  }
  EXPECT_EQ(find_table("nothing"), nullptr);
}

TEST(Tables, columns_of_messages_are_those_of_csv) {
  const auto columns = outputs::message_columns();
  const auto all = find_table("messages")->columns;
  ASSERT_GT(all.size(), columns.size());
  const auto ours = all.last(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    EXPECT_EQ(ours[i].stored.name, columns[i].name);
    EXPECT_EQ(ours[i].stored.type == ParquetType::kText, columns[i].text != nullptr);
  }
}

TEST(Tables, a_part_without_rows_is_a_file) {
  TextBuffer out;
  ElementsPart part({.path = "capture"}, out);
  EXPECT_TRUE(part.finish().has_value());
  EXPECT_EQ(part.rows(), 0U);
  EXPECT_TRUE(out.view().starts_with("PAR1"));
  EXPECT_TRUE(out.view().ends_with("PAR1"));
}

TEST(Tables, a_call_is_a_row_when_it_is_left) {
  TextBuffer out;
  CallsPart part({.path = "capture"}, out);
  stacks::Tree tree;
  const auto code = tree.code({.kind = stacks::CodeKind::kFunction, .name = "main"});
  part.begin(tree, {});
  part.on_unit(stacks::TimeUnit::kCycles);
  part.on_track(0, 0x10, 0);
  part.on_enter(0, 5, code, stacks::Opening::kCall);
  part.on_enter(0, 6, code, stacks::Opening::kCall);
  EXPECT_EQ(part.rows(), 0U);
  part.on_leave(0, 7);
  EXPECT_EQ(part.rows(), 1U);
  part.on_leave(0, 9);
  part.on_leave(0, 9);  // Nothing is open.
  EXPECT_EQ(part.rows(), 2U);
  EXPECT_TRUE(part.finish().has_value());
}

}  // namespace
}  // namespace waymark::exports
