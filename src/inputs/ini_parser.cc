#include "ini_parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace waymark::inputs {
namespace {

constexpr std::size_t kMaxQuoted = 240;

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
}

bool has_parent_component(std::string_view name) {
  for (;;) {
    const std::size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "`";
  for (const char c : text.substr(0, kMaxQuoted)) out += is_control(c) || c == '\n' ? '?' : c;
  if (text.size() > kMaxQuoted) out += "...";
  return out + '`';
}

bool CaseIgnored::operator()(std::string_view left, std::string_view right) const {
  return std::ranges::lexicographical_compare(left, right, [](char a, char b) {
    return static_cast<unsigned char>(lower(a)) < static_cast<unsigned char>(lower(b));
  });
}

IniParser::IniParser(const std::string& file, std::string_view text, std::vector<Problem>& problems)
    : file_(file), problems_(problems), reader_(text) {
  if (std::ranges::any_of(text, is_control)) {
    problem(ProblemKind::kBinaryText, Severity::kWarning, 0,
            "The file holds control characters; check that it is an ini file and not a dump.");
  }
}

Result<bool> IniParser::next() {
  const std::optional<IniLine> line = reader_.next();
  if (!line) return false;
  line_ = *line;
  if (line_.text.size() > kMaxIniLineSize) {
    return fail(ErrorCode::kLimit,
                fmt::format("{}: The line has more than {} characters, which no snapshot needs; "
                            "check that this is an ini file.",
                            ini_place(file_, line_.number), kMaxIniLineSize));
  }
  if (line_.header_hides_entry()) {
    problem(ProblemKind::kHeaderInsideLine, Severity::kWarning, line_.number,
            fmt::format("{} is read as the header of section {}; a value cannot contain brackets.",
                        in_quotes(line_.text), in_quotes(line_.key)),
            {std::string(line_.text)});
  } else if (line_.kind == IniLineKind::kSection && line_.key.empty()) {
    problem(ProblemKind::kSectionWithoutName, Severity::kWarning, line_.number,
            "This section has no name and is ignored; write the name between the brackets.");
  }
  return true;
}

Result<void> IniParser::need_entry() const {
  if (line_.kind == IniLineKind::kEntry) return {};
  return error(
      fmt::format("{} is neither `[section]` nor `key=value`; add what is missing, or make "
                  "it a comment with `;`.",
                  in_quotes(ini_trim(line_.text))));
}

Result<void> IniParser::set_once(std::optional<std::string>& slot) const {
  if (slot)
    return error(fmt::format("{} is given twice; remove one of the two.", in_quotes(line_.key)));
  slot = line_.value;
  return {};
}

Result<std::uint64_t> IniParser::number(std::string_view text) const {
  const std::optional<std::uint64_t> value = ini_number(text);
  if (value) return *value;
  return error(
      fmt::format("{} is not a number; write decimal digits, or hexadecimal ones after "
                  "`0x`.",
                  in_quotes(text)));
}

std::unexpected<Error> IniParser::error(std::uint32_t line, std::string sentence) const {
  return fail(ErrorCode::kParse, fmt::format("{}: {}", ini_place(file_, line), sentence));
}

std::unexpected<Error> IniParser::error(std::string sentence) const {
  return error(line_.number, std::move(sentence));
}

std::unexpected<Error> IniParser::limit(std::string_view what, std::size_t most) const {
  return fail(
      ErrorCode::kLimit,
      fmt::format("{}: There are more than {} {}, which no snapshot needs; check that this is "
                  "an ini file.",
                  ini_place(file_, line_.number), most, what));
}

void IniParser::problem(ProblemKind kind, Severity severity, std::uint32_t line,
                        std::string sentence, std::vector<std::string> values) {
  add_problem(problems_, {.kind = kind,
                          .severity = severity,
                          .file = file_,
                          .line = line,
                          .sentence = std::move(sentence),
                          .values = std::move(values)});
}

void IniParser::check_path(std::string_view name, std::uint32_t line) {
  if (name.starts_with('/')) {
    problem(
        ProblemKind::kPathAbsolute, Severity::kInfo, line,
        fmt::format("{} looks like an absolute path, but is read relative to the snapshot folder.",
                    in_quotes(name)),
        {std::string(name)});
  }
  if (has_parent_component(name)) {
    problem(
        ProblemKind::kPathLeavesFolder, Severity::kInfo, line,
        fmt::format(
            "{} points outside the snapshot folder; a copy of the folder alone is not complete.",
            in_quotes(name)),
        {std::string(name)});
  }
}

}  // namespace waymark::inputs
