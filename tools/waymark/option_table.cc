#include "option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "command.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kMostShown = 40;  ///< Characters of enumerated values in place of a name.
constexpr std::string_view kExamples = "Example";

std::string full_name(const Command& command) {
  const Command* const parent = command.get_parent();
  return parent == nullptr ? command.get_name()
                           : fmt::format("{} {}", full_name(*parent), command.get_name());
}

/// Without what CLI11 appends to describe its checks.
std::string type_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  return name == "UINT" || name == "INT" ? "N" : name;
}

ValueKind kind_of(std::string_view value) {
  if (value.empty()) return ValueKind::kNone;
  if (value == "DIR") return ValueKind::kFolder;
  for (const std::string_view name : {"FILE", "PLAN", "PROGRAM", "CASES", "INPUT", "ELF"}) {
    if (value.find(name) != std::string_view::npos) return ValueKind::kFile;
  }
  return ValueKind::kWord;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, " and "));
}

bool mentions_all(std::string_view text, const std::vector<std::string>& words) {
  return std::ranges::all_of(
      words, [&](const std::string& word) { return text.find(word) != std::string_view::npos; });
}

/// `help` with a capital letter, unless it begins with a value or a name.
std::string capitalised(std::string help, const KnownWords& known) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const std::string first = help.substr(0, help.find_first_of(" ,:;"));
  const bool is_word = !first.empty() && std::ranges::all_of(first, is_lower) &&
                       std::ranges::find(known.words, first) == known.words.end();
  if (is_word) help.front() = static_cast<char>(help.front() - 'a' + 'A');
  return help;
}

/// The help text of an option as the program gives it, and what its settings add to that.
std::string whole_help(const CLI::Option& option, const KnownWords& known, std::string_view value) {
  std::string help = capitalised(option.get_description(), known);
  const auto add = [&](const std::string& text) {
    if (!help.empty()) help += "; ";
    help += text;
  };
  const bool is_shown = value.find('|') != std::string_view::npos || known.words.size() == 1;
  if (known.others_are_refused && !is_shown && !mentions_all(help, known.words))
    add(fmt::format("one of {}", fmt::join(known.words, ", ")));
  const std::string default_value = option.get_default_str();
  if (!default_value.empty() && help.find("default") == std::string::npos)
    add(fmt::format("default: {}", default_value));
  if (!option.get_needs().empty()) add(fmt::format("needs {}", names_of(option.get_needs())));
  if (!option.get_excludes().empty())
    add(fmt::format("cannot be used with {}", names_of(option.get_excludes())));
  return help;
}

OptionRow row_of(const Option& from) {
  const CLI::Option& option = from.library();
  OptionRow row;
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  const bool is_flag = option.get_items_expected_max() == 0;
  const KnownWords& known = from.known_words();
  row.words = known.words;
  if (!option.nonpositional()) {
    row.value = option.get_name(true);
    row.kind = kind_of(row.value);
    if (row.kind == ValueKind::kNone) row.kind = ValueKind::kWord;
  } else if (!is_flag) {
    row.value = type_name(option);
    row.kind = kind_of(row.value);
    const std::string all = fmt::format("{}", fmt::join(known.words, "|"));
    if (known.others_are_refused && all.size() <= kMostShown) row.value = all;
  }
  row.help = whole_help(option, known, row.value);
  row.group = option.get_group();
  row.is_required = option.get_required();
  row.is_repeatable = !is_flag && option.get_expected_max() > 1;
  row.is_value_optional = !is_flag && option.get_expected_min() == 0;
  return row;
}

/// Rows of one group come together, in the order in which the groups begin; what is about the
/// program itself ends its group.
std::vector<OptionRow> in_groups(const std::vector<OptionRow>& rows) {
  std::vector<std::string> groups{kPlainGroup};
  for (const OptionRow& row : rows) {
    if (std::ranges::find(groups, row.group) == groups.end()) groups.push_back(row.group);
  }
  const auto is_general = [](const OptionRow& row) {
    return row.names.back() == "--help" || row.names.back() == "--version" ||
           row.names.back() == "--color";
  };
  std::vector<OptionRow> result;
  for (const std::string& group : groups) {
    for (const bool general : {false, true}) {
      for (const OptionRow& row : rows)
        if (row.group == group && is_general(row) == general) result.push_back(row);
    }
  }
  return result;
}

/// Divides a footer into notes and examples, which follow the line "Examples:".
void read_footer(std::string_view footer, CommandRow& command) {
  bool is_example = false;
  while (!footer.empty()) {
    const std::size_t end = std::min(footer.find('\n'), footer.size());
    const std::string_view line = footer.substr(0, end);
    footer.remove_prefix(std::min(end + 1, footer.size()));
    if (line.starts_with(kExamples)) {
      is_example = true;
    } else if (is_example) {
      if (!line.empty()) command.examples.emplace_back(line.substr(line.starts_with("  ") ? 2 : 0));
    } else {
      command.notes += line;
      command.notes += '\n';
    }
  }
  while (command.notes.ends_with('\n')) command.notes.pop_back();
}

}  // namespace

std::string CommandRow::word() const { return name.substr(name.rfind(' ') + 1); }

CommandRow describe(const Command& from) {
  CommandRow command;
  command.name = full_name(from);
  command.summary = from.library().get_description();
  std::vector<OptionRow> options;
  for (const auto& option : from.get_options()) {
    if (option->library().get_group().empty()) continue;
    const bool is_argument = !option->library().nonpositional();
    (is_argument ? command.arguments : options).push_back(row_of(*option));
  }
  command.options = in_groups(options);
  read_footer(from.library().get_footer(), command);
  for (const auto& sub : from.get_subcommands()) command.commands.push_back(describe(*sub));
  return command;
}

std::string brief(const std::string& help) { return help.substr(0, help.find("; ")); }

std::string synopsis(const CommandRow& command) {
  std::string text = command.name;
  if (!command.commands.empty()) text += " COMMAND";
  text += " [OPTION]...";
  for (const OptionRow& option : command.options) {
    if (option.is_required) text += fmt::format(" {} {}", option.names.front(), option.value);
  }
  for (const OptionRow& argument : command.arguments) {
    const std::string more = argument.is_repeatable ? "..." : "";
    text += argument.is_required ? fmt::format(" {}{}", argument.value, more)
                                 : fmt::format(" [{}]{}", argument.value, more);
  }
  return text;
}

}  // namespace waymark::cli
