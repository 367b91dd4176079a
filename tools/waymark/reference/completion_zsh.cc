#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "completion.h"

namespace waymark::cli {
namespace {

std::string function_name(const CommandRow& command) {
  std::string name = command.name;
  std::ranges::replace(name, ' ', '-');
  return "_" + name;
}

/// Text in single quotes, with a backslash before each of `special`.
std::string in_quotes(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// The completion of a value: ":MESSAGE:ACTION".
std::string action(const OptionRow& option) {
  std::string values = " ";
  if (!option.words.empty()) {
    const bool goes_on = std::ranges::any_of(
        option.words, [](const std::string& word) { return word.ends_with('='); });
    const std::string words = in_quotes(fmt::format("{}", fmt::join(option.words, " ")), ":");
    values = goes_on ? fmt::format("{{compadd -S \"\" - {}}}", words) : fmt::format("({})", words);
  } else if (option.kind == ValueKind::kFolder) {
    values = "_files -/";
  } else if (option.kind == ValueKind::kFile) {
    // Of ADDRESS=FILE, the part after the equals sign is a file.
    values = option.value.find('=') == std::string::npos ? "_files" : "{compset -P \"*=\"; _files}";
  }
  return fmt::format(":{}:{}", in_quotes(option.value, ":"), values);
}

std::string specification(const OptionRow& option) {
  const std::string help = fmt::format("[{}]", in_quotes(brief(option.help), "[]:\\"));
  const bool has_value = !option.value.empty();
  // "*": may be repeated; else the other name of the option is not offered after it.
  const std::string others =
      option.is_repeatable ? "*" : fmt::format("({})", fmt::join(option.names, " "));
  const std::string value =
      !has_value ? "" : (option.is_value_optional ? ":" : "") + action(option);
  std::string out;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    const std::string joined = !has_value ? "" : is_long ? "=" : "+";
    out += fmt::format("    '{}{}{}{}{}' \\\n", others, name, joined, help, value);
  }
  return out;
}

void put_function(std::string& out, const CommandRow& command) {
  for (const CommandRow& sub : command.commands) put_function(out, sub);
  out += fmt::format("{}() {{\n", function_name(command));
  const bool is_group = !command.commands.empty();
  if (is_group) {
    out += "  local curcontext=\"$curcontext\" state line\n  typeset -A opt_args\n";
    out += "  _arguments -C \\\n";
  } else {
    out += "  _arguments -s -S \\\n";
  }
  for (const OptionRow& option : command.options) out += specification(option);
  if (!is_group) {
    for (const OptionRow& argument : command.arguments)
      out += fmt::format("    '{}{}' \\\n", argument.is_repeatable ? "*" : "", action(argument));
    out += "    && return\n}\n\n";
    return;
  }
  out +=
      "    '1:command:->command' \\\n    '*::argument:->argument' && return\n"
      "  case $state in\n    command)\n      local -a commands=(\n";
  for (const CommandRow& sub : command.commands)
    out += fmt::format("        '{}:{}'\n", sub.word(), in_quotes(sub.summary, ":\\"));
  out +=
      "      )\n      _describe -t commands command commands\n      ;;\n"
      "    argument)\n      case $line[1] in\n";
  for (const CommandRow& sub : command.commands)
    out += fmt::format("        {}) {} ;;\n", sub.word(), function_name(sub));
  out += "      esac\n      ;;\n  esac\n}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandRow& program) {
  std::string out =
      "#compdef waymark\n"
      "# Completion of waymark in Zsh.  Generated from the options of the program.\n\n";
  put_function(out, program);
  return out + "_waymark \"$@\"\n";
}

}  // namespace waymark::cli
