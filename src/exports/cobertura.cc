#include "waymark/exports/cobertura.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "waymark/base/escape.h"
#include "waymark/exports/coverage.h"

namespace waymark::exports {
namespace {

/// Text for XML, which has no form for control characters.
std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : escaped(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

/// Executed and existing lines, and outcomes of branches.
struct Rates {
  std::size_t lines = 0;
  std::size_t all_lines = 0;
  std::size_t outcomes = 0;
  std::size_t all_outcomes = 0;

  void add(const FileCoverage& file) {
    lines += file.lines_executed();
    all_lines += file.lines.size();
    outcomes += file.outcomes();
    all_outcomes += file.possible_outcomes();
  }
  [[nodiscard]] std::string attributes() const {
    return fmt::format(R"(line-rate="{:.4f}" branch-rate="{:.4f}" complexity="0")",
                       rate(lines, all_lines), rate(outcomes, all_outcomes));
  }
  static double rate(std::size_t part, std::size_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
}

/// The folder, with its slash, that has all files with an absolute path; empty: there is none.
std::string common_folder(const Coverage& coverage) {
  std::string common;
  bool first = true;
  for (const auto& [path, file] : coverage) {
    if (!path.starts_with('/')) continue;
    if (first) common = folder_of(path);
    first = false;
    while (!path.starts_with(common)) {
      common.pop_back();
      common = folder_of(common);
    }
  }
  return common;
}

void write_line(TextBuffer& out, std::uint32_t number, const LineCoverage& line) {
  out.put(fmt::format(R"(            <line number="{}" hits="{}" branch="{}")", number, line.times,
                      line.branches.empty() ? "false" : "true"));
  if (line.branches.empty()) {
    out.put("/>\n");
    return;
  }
  const std::size_t all = 2 * line.branches.size();
  out.put(fmt::format(" condition-coverage=\"{}% ({}/{})\">\n              <conditions>\n",
                      100 * line.outcomes() / all, line.outcomes(), all));
  std::size_t block = 0;
  for (const BranchCoverage& branch : line.branches) {
    const unsigned outcomes = (branch.taken != 0 ? 1U : 0U) + (branch.not_taken != 0 ? 1U : 0U);
    out.put(
        fmt::format("                <condition number=\"{}\" type=\"jump\" coverage=\"{}%\"/>\n",
                    block++, 50 * outcomes));
  }
  out.put("              </conditions>\n            </line>\n");
}

void write_class(TextBuffer& out, const std::string& name, const FileCoverage& file) {
  Rates rates;
  rates.add(file);
  out.put(fmt::format("        <class name=\"{}\" filename=\"{}\" {}>\n",
                      xml_text(name.substr(folder_of(name).size())), xml_text(name),
                      rates.attributes()));
  out.put("          <methods>\n");
  for (const auto& [function, covered] : file.functions) {
    out.put(fmt::format(
        "            <method name=\"{}\" signature=\"\" line-rate=\"{}\" branch-rate=\"1\" "
        "complexity=\"0\"><lines><line number=\"{}\" hits=\"{}\" "
        "branch=\"false\"/></lines></method>\n",
        xml_text(function), covered.calls == 0 ? 0 : 1, covered.line, covered.calls));
  }
  out.put("          </methods>\n          <lines>\n");
  for (const auto& [number, line] : file.lines) write_line(out, number, line);
  out.put("          </lines>\n        </class>\n");
}

}  // namespace

Result<void> write_cobertura(const profile::Profile& profile,
                             std::span<const profile::ProgramProfile* const> programs,
                             const Options& options, TextBuffer& out) {
  const auto coverage = coverage_of(profile, programs, options);
  if (!coverage) return std::unexpected(coverage.error());
  const std::string root = common_folder(*coverage);
  Rates all;
  bool relative = false;
  std::map<std::string, std::vector<std::pair<std::string, const FileCoverage*>>> packages;
  for (const auto& [path, file] : *coverage) {
    all.add(file);
    const bool absolute = path.starts_with('/');
    relative = relative || !absolute;
    const std::string name = absolute ? path.substr(root.size()) : path;
    packages[folder_of(name)].emplace_back(name, &file);
  }
  out.put(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n");
  out.put(fmt::format(
      "<coverage {} lines-covered=\"{}\" lines-valid=\"{}\" "
      "branches-covered=\"{}\" branches-valid=\"{}\" version=\"waymark\" "
      "timestamp=\"{}\">\n  <sources>\n",
      all.attributes(), all.lines, all.all_lines, all.outcomes, all.all_outcomes, options.seconds));
  if (relative) out.put("    <source>.</source>\n");
  if (!root.empty()) out.put(fmt::format("    <source>{}</source>\n", xml_text(root)));
  out.put("  </sources>\n  <packages>\n");
  for (const auto& [folder, classes] : packages) {
    Rates rates;
    for (const auto& [name, file] : classes) rates.add(*file);
    const std::string name = folder.empty() ? "." : folder.substr(0, folder.size() - 1);
    out.put(fmt::format("    <package name=\"{}\" {}>\n      <classes>\n", xml_text(name),
                        rates.attributes()));
    for (const auto& [file_name, file] : classes) write_class(out, file_name, *file);
    out.put("      </classes>\n    </package>\n");
  }
  out.put("  </packages>\n</coverage>\n");
  return {};
}

}  // namespace waymark::exports
