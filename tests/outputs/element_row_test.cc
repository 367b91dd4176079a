#include "waymark/outputs/element_row.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "outputs/sample_elements.h"
#include "waymark/outputs/csv.h"

namespace waymark::outputs {
namespace {

/// The cells after the kind, as CSV writes them.
std::vector<std::string> cells_of(const ElementRow& row) {
  std::vector<std::string> cells(kColumnCount);
  for (const ColumnValue& value : row.values()) {
    const auto column = static_cast<std::size_t>(value.column);
    TextBuffer out;
    switch (kColumns[column].form) {
      case FieldForm::kWord:
        write_csv_field(out, value.word);
        break;
      case FieldForm::kHex:
        out.put("0x");
        out.hex(value.number);
        break;
      default:
        out.dec(value.number);
        break;
    }
    cells[column] = std::string(out.view());
  }
  return cells;
}

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells{{}};
  for (const char c : line.substr(0, line.size() - 1)) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  cells.erase(cells.begin(), cells.begin() + 4);
  return cells;
}

TEST(ElementRow, it_has_the_cells_of_csv) {
  std::vector<Element> elements = {call_element(0x8000, 0x8008), stimulus_element(1, 'x')};
  for (std::size_t kind = 0; kind < kElementKindCount; ++kind) {
    elements.push_back(element_of(static_cast<ElementKind>(kind)));
    // Every field that depends on a flag is there, too.
    Element full = elements.back();
    full.flags = full.extra = 0xFF;
    full.flags = 0xFFFF & ~kElementTimeIsPartial;
    full.extra_value = 0x00200020;
    full.start = full.end = 0x1234;
    elements.push_back(full);
  }
  ElementRow row;
  for (const Element& element : elements) {
    TextBuffer out;
    write_csv(out, element);
    row.assign(element);
    EXPECT_EQ(cells_of(row), csv_cells(out.view())) << out.view();
  }
}

TEST(ElementRow, damage_has_the_cells_of_csv) {
  Diagnostic record;
  record.finding = Finding::kReservedHeader;
  ElementRow row;
  for (const std::uint64_t address : {kNoAddress, std::uint64_t{0x8000}}) {
    record.address = address;
    TextBuffer out;
    write_csv(out, record);
    row.assign(record);
    EXPECT_EQ(cells_of(row), csv_cells(out.view())) << out.view();
  }
}

}  // namespace
}  // namespace waymark::outputs
