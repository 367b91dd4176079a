#include "help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "exit_status.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kTextColumn = 26;

/// Appends `text` from the column on where the line is, with the next lines from `indent`.
void put_wrapped(std::string& out, std::string_view text, std::size_t column, std::size_t indent) {
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!is_first && column + 1 + word.size() > kColumns) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    is_first = false;
  }
  out += '\n';
}

void put_row(std::string& out, const std::string& left, const std::string& text) {
  out += left;
  std::size_t column = left.size();
  if (column + 2 > kTextColumn) {
    out += '\n';
    column = 0;
  }
  out.append(kTextColumn - column, ' ');
  put_wrapped(out, text, kTextColumn, kTextColumn);
}

std::string left_of(const OptionRow& option) {
  if (option.names.empty()) return "  " + option.value;
  // Long names are below each other, whether or not there is a short one.
  std::string left = option.names.front().starts_with("--") ? "      " : "  ";
  left += fmt::format("{}", fmt::join(option.names, ", "));
  if (option.value.empty()) return left;
  return left +
         (option.is_value_optional ? fmt::format(" [{}]", option.value) : " " + option.value);
}

/// Paragraphs, which blank lines separate.  Indented lines stay as they are.
void put_paragraphs(std::string& out, std::string_view text) {
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) put_wrapped(out, paragraph, 0, 0);
    paragraph.clear();
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with(' ')) {
      end_paragraph();
      out += line;
      out += '\n';
    } else {
      if (!paragraph.empty()) paragraph += ' ';
      paragraph += line;
    }
  }
  end_paragraph();
}

/// `text` as a sentence: with a full stop.
std::string sentence(const std::string& text) {
  return text.ends_with('.') || text.ends_with('?') ? text : text + '.';
}

}  // namespace

std::string help_text(const CommandRow& command) {
  std::string out = fmt::format("Usage: {}\n\n", synopsis(command));
  put_wrapped(out, sentence(command.summary), 0, 0);
  if (!command.commands.empty()) {
    std::string_view group = "?";
    for (const CommandRow& sub : command.commands) {
      if (sub.group != group)
        out += fmt::format("\n{}:\n", sub.group.empty() ? "Commands" : sub.group);
      group = sub.group;
      put_row(out, "  " + sub.word(), sub.summary);
    }
  }
  if (!command.arguments.empty()) out += '\n';
  for (const OptionRow& argument : command.arguments)
    put_row(out, left_of(argument), argument.help);
  std::string_view group;
  for (const OptionRow& option : command.options) {
    if (option.group != group) out += fmt::format("\n{}:\n", option.group);
    group = option.group;
    put_row(out, left_of(option), option.help);
  }
  if (!command.notes.empty()) {
    out += '\n';
    put_paragraphs(out, command.notes);
  }
  if (!command.examples.empty()) {
    out += "\nExamples:\n";
    for (const std::string& example : command.examples) out += fmt::format("  {}\n", example);
  }
  return out;
}

std::string program_help_text(const CommandRow& program) {
  std::string out = help_text(program);
  out += "\nExit status:\n";
  for (const ExitStatus& status : kExitStatus) {
    out += fmt::format("  {:>4}  ", status.code);
    put_wrapped(out, status.meaning, 8, 8);
  }
  return out;
}

}  // namespace waymark::cli
