#include "report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "json_writer.h"

namespace waymark::view {
namespace {

/// A browser requests nothing from elsewhere, whatever is in the file.
constexpr std::string_view kPolicy =
    R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; )"
    R"(script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; )"
    R"(form-action 'none'">)";
constexpr std::string_view kDataStart = R"(<script type="application/json" id="waymark-data">)";
constexpr std::string_view kScriptEnd = "</script>";
constexpr std::size_t kMostComparedRows = 2000;

/// The end of a script can only be in one of its strings, where a backslash changes nothing.
std::string safe_script(std::string_view script) {
  constexpr std::string_view kEnd = "</script";
  const auto ends_here = [&](std::size_t at) {
    const std::string_view part = script.substr(at, kEnd.size());
    return std::ranges::equal(part, kEnd, {}, [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
  };
  std::string result;
  for (std::size_t i = 0; i < script.size(); ++i) {
    result += script[i];
    if (script[i] == '<' && ends_here(i)) result += '\\';
  }
  return result;
}

std::string_view content_of(const std::vector<PageFile>& files, std::string_view name) {
  const auto file = std::ranges::find(files, name, &PageFile::name);
  return file == files.end() ? std::string_view() : file->content;
}

/// The tag in which `attribute` is, from its `<` to its `>`, is replaced.
bool replace_tag(std::string& html, std::string_view attribute, std::string_view replacement) {
  const auto at = html.find(attribute);
  if (at == std::string::npos) return false;
  const auto start = html.rfind('<', at);
  const auto end = html.find('>', at);
  if (start == std::string::npos || end == std::string::npos) return false;
  html.replace(start, end + 1 - start, replacement);
  return true;
}

using ComparedKey = std::pair<std::string, std::string>;

struct ComparedRow {
  std::array<FunctionRow, 2> rows{};
  [[nodiscard]] std::uint64_t weight() const { return std::max(rows[0].self, rows[1].self); }
};

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

std::map<ComparedKey, ComparedRow> joined(const std::array<Functions, 2>& functions) {
  std::map<ComparedKey, ComparedRow> result;
  for (std::size_t i = 0; i < 2; ++i) {
    std::map<FunctionNumber, ComparedKey> names;
    for (const FunctionName& name : functions[i].functions)
      names[name.number] = {name.name, base_name(name.program)};
    for (const FunctionRow& row : functions[i].rows) {
      FunctionRow& sum = result[names[row.function]].rows[i];
      sum.self += row.self;
      sum.total += row.total;
      sum.calls += row.calls;
    }
  }
  return result;
}

}  // namespace

ReportPage::ReportPage(const std::vector<PageFile>& files) {
  std::string html(content_of(files, ""));
  replace_tag(html, R"(href="app.css")",
              fmt::format("{}\n<style>{}</style>", kPolicy, content_of(files, "app.css")));
  // The script finds the data before it, and the page around both.
  constexpr std::string_view kMark = "\x01";
  const bool module = html.find(R"(type="module")") != std::string::npos;
  replace_tag(html, R"(src="app.js")", kMark);
  const auto mark = html.find(kMark);
  if (mark != std::string::npos) {
    html.erase(mark, kMark.size());
    if (html.compare(mark, kScriptEnd.size(), kScriptEnd) == 0) html.erase(mark, kScriptEnd.size());
  }
  const auto end = std::min(html.rfind("</body>"), html.size());
  before_ = html.substr(0, end);
  before_ += kDataStart;
  after_ = fmt::format("{}\n<script{}>{}{}\n", kScriptEnd, module ? R"( type="module")" : "",
                       safe_script(content_of(files, "app.js")), kScriptEnd);
  after_ += html.substr(end);
}

std::string ReportPage::with(std::string_view data) const {
  std::string result;
  result.reserve(size() + data.size());
  result += before_;
  result += data;
  result += after_;
  return result;
}

void write_comparison(TextBuffer& out, const std::array<CaptureFacts, 2>& facts,
                      const std::array<Functions, 2>& functions, const ReportOptions& options) {
  const auto all = joined(functions);
  std::vector<std::map<ComparedKey, ComparedRow>::const_iterator> rows;
  for (auto row = all.begin(); row != all.end(); ++row) rows.push_back(row);
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const auto& row) { return row->second.weight(); });
  std::string note;
  if (rows.size() > kMostComparedRows) {
    note = fmt::format("Only the {} functions with the most instructions are shown, of {}.",
                       kMostComparedRows, rows.size());
    rows.resize(kMostComparedRows);
  }
  JsonWriter to(out);
  to.begin_object();
  to.key("names").begin_array();
  for (const CaptureFacts& each : facts) to.name(each.name);
  to.end_array();
  to.key("instructions").begin_array();
  for (const Functions& each : functions) to.number(each.instructions);
  to.end_array();
  to.key("cycles").begin_array();
  for (const Functions& each : functions) {
    if (each.has_cycles) {
      to.number(each.cycles);
    } else {
      to.null();
    }
  }
  to.end_array();
  to.key("rows").begin_array();
  for (const auto& row : rows) {
    to.begin_array();
    to.name(row->first.first);
    to.name(row->first.second);
    for (const FunctionRow& each : row->second.rows) {
      to.number(each.self);
      to.number(each.total);
      to.number(each.calls);
    }
    to.end_array();
  }
  to.end_array();
  to.key("divergences").begin_array();
  for (const ComparedPlace& place : options.divergences) {
    to.begin_array();
    to.name(place.thread);
    to.message(place.text);
    to.message(place.where);
    to.number(place.times);
    to.end_array();
  }
  to.end_array();
  to.key("divergence_count").number(options.divergence_count);
  to.key("note").message(note);
  to.end_object();
}

}  // namespace waymark::view
