#include "report_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "json_writer.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::view {
namespace {

constexpr std::size_t kMostFiles = 2000;
constexpr std::size_t kMostLineText = 2000;
constexpr std::size_t kMostFunctions = 50;

/// Executed, and all.
using Part = std::array<std::uint64_t, 2>;

struct FileSums {
  explicit FileSums(const exports::FileCoverage& file)
      : lines{file.lines_executed(), file.lines.size()},
        functions{file.functions_executed(), file.functions.size()},
        branches{file.outcomes(), file.possible_outcomes()} {}
  FileSums() = default;

  void add(const FileSums& other) {
    for (const auto part : {&FileSums::lines, &FileSums::functions, &FileSums::branches}) {
      (this->*part)[0] += (other.*part)[0];
      (this->*part)[1] += (other.*part)[1];
    }
  }

  Part lines{};
  Part functions{};
  Part branches{};
};

/// Lines with code that was not executed, such as "12-15, 20".  Lines without code between two of
/// them do not part them.
std::string lines_left(const exports::FileCoverage& file) {
  std::string text;
  for (auto line = file.lines.begin(); line != file.lines.end();) {
    if (line->second.times != 0) {
      ++line;
      continue;
    }
    const std::uint32_t first = line->first;
    std::uint32_t last = first;
    for (; line != file.lines.end() && line->second.times == 0; ++line) last = line->first;
    const std::string part =
        first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    if (text.size() + part.size() > kMostLineText) return text + ", ...";
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text;
}

void put_part(JsonWriter& to, std::string_view key, const Part& part) {
  to.key(key).begin_array();
  for (const std::uint64_t number : part) to.number(number);
  to.end_array();
}

void put_row(JsonWriter& to, std::string_view path, const exports::FileCoverage& file,
             const FileSums& sums) {
  to.begin_array();
  to.name(path);
  for (const Part* const part : {&sums.lines, &sums.functions, &sums.branches})
    for (const std::uint64_t number : *part) to.number(number);
  to.message(lines_left(file));
  to.begin_array();
  std::size_t left = kMostFunctions;
  for (const auto& [name, function] : file.functions) {
    if (function.calls != 0) continue;
    if (left-- == 0) break;
    to.name(outputs::readable_name(name));
  }
  to.end_array();
  to.end_array();
}

}  // namespace

void write_coverage(TextBuffer& out, const exports::Coverage& coverage) {
  struct Row {
    const exports::Coverage::value_type* file;
    FileSums sums;
    [[nodiscard]] std::uint64_t lines_left() const { return sums.lines[1] - sums.lines[0]; }
  };
  std::vector<Row> rows;
  FileSums all;
  for (const auto& file : coverage) {
    rows.push_back({.file = &file, .sums = FileSums(file.second)});
    all.add(rows.back().sums);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &Row::lines_left);
  std::string note;
  if (rows.size() > kMostFiles) {
    note = fmt::format("Only {} of {} source files are listed.", kMostFiles, rows.size());
    rows.resize(kMostFiles);
  }
  JsonWriter to(out);
  to.begin_object();
  put_part(to, "lines", all.lines);
  put_part(to, "functions", all.functions);
  put_part(to, "branches", all.branches);
  to.key("rows").begin_array();
  for (const Row& row : rows) put_row(to, row.file->first, row.file->second, row.sums);
  to.end_array();
  to.key("note").message(note);
  to.end_object();
}

}  // namespace waymark::view
