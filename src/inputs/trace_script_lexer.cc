#include "trace_script_lexer.h"

#include <fmt/format.h>

#include <algorithm>

namespace waymark::inputs {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Statement>> run() {
    while (!text_.empty()) WAYMARK_TRY(read_line(take_line()));
    return std::move(statements_);
  }

 private:
  std::string_view take_line() {
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++line_;
    return line;
  }

  Result<void> read_line(std::string_view line) {
    line = trim(line.substr(0, line.find('#')));
    if (line.starts_with("description ")) {
      statements_.push_back({line_, false, {line.substr(0, 11), trim(line.substr(11))}, {}});
      return {};
    }
    Statement statement{line_, false, {}, {}};
    const auto close = [&] {
      if (!statement.words.empty() || statement.opens) statements_.push_back(statement);
      statement = {line_, false, {}, {}};
    };
    while (!line.empty()) {
      const char c = line.front();
      if (c == ';' || c == '{' || c == '}') {
        statement.opens = c == '{';
        close();
        if (c == '}') statements_.push_back({line_, false, {}, {}});
        line.remove_prefix(1);
      } else if (kBlanks.find(c) != std::string_view::npos) {
        line.remove_prefix(1);
      } else {
        const std::size_t end = std::min(line.find_first_of(" \t\r;{}"), line.size());
        statement.words.push_back(line.substr(0, end));
        line.remove_prefix(end);
      }
    }
    close();
    if (!statements_.empty() && statements_.back().line == line_ &&
        !statements_.back().words.empty() && statements_.back().words[0] == "expect")
      return read_expected();
    return {};
  }

  /// Reads the lines up to "end", unchanged.
  Result<void> read_expected() {
    const std::uint32_t from = line_;
    std::string& body = statements_.back().body;
    while (!text_.empty()) {
      std::string_view line = take_line();
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line == "end") return {};
      body += line;
      body += '\n';
    }
    return fail_at(from, "The listing after 'expect' needs a line 'end' after it.");
  }

  std::string_view text_;
  std::uint32_t line_ = 0;
  std::vector<Statement> statements_;
};

}  // namespace

std::unexpected<Error> fail_at(std::uint32_t line, std::string_view reason, ErrorCode code) {
  return fail(code, fmt::format("line {}: {}", line, reason));
}

Result<std::vector<Statement>> read_statements(std::string_view text) { return Lexer(text).run(); }

}  // namespace waymark::inputs
