#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "completion.h"

namespace waymark::cli {
namespace {

constexpr auto kFunctions = R"(
# The words of the command line so far that are not options, without the program.
function __waymark_words
    set -l words (commandline -opc | string match -v -- '-*')
    set -e words[1]
    printf '%s\n' $words
end

# Whether the command is the one that the arguments name.
function __waymark_in
    set -l words (__waymark_words)
    set -l last (count $argv)
    test (count $words) -ge $last
    and test "$words[1..$last]" = "$argv"
end

# Whether a command of the group that the arguments name comes next.
function __waymark_chooses
    set -l words (__waymark_words)
    test "$words" = "$argv"
end

)";

std::string in_quotes(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return "'" + result + "'";
}

void put_option(std::string& out, const std::string& condition, const OptionRow& option) {
  out += fmt::format("complete -c waymark -n {}", in_quotes(condition));
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    out += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
  }
  if (option.is_value_optional) {
    out += " -f";
  } else if (!option.words.empty()) {
    out += fmt::format(" -x -a {}", in_quotes(fmt::format("{}", fmt::join(option.words, " "))));
  } else if (option.kind == ValueKind::kFile) {
    out += " -r -F";
  } else if (option.kind == ValueKind::kFolder) {
    out += " -x -a '(__fish_complete_directories)'";
  } else if (option.kind == ValueKind::kWord) {
    out += " -x";
  }
  out += fmt::format(" -d {}\n", in_quotes(brief(option.help)));
}

void put_command(std::string& out, const CommandRow& command) {
  const std::size_t blank = command.name.find(' ');
  const std::string path = blank == std::string::npos ? "" : command.name.substr(blank);
  const std::string in = "__waymark_in" + path;
  const std::string chooses = "__waymark_chooses" + path;
  for (const CommandRow& sub : command.commands) {
    out += fmt::format("complete -c waymark -n {} -f -a {} -d {}\n", in_quotes(chooses),
                       in_quotes(sub.word()), in_quotes(brief(sub.summary)));
  }
  if (command.commands.empty() && command.arguments.empty()) {
    out += fmt::format("complete -c waymark -n {} -f\n", in_quotes(in));
  }
  for (const OptionRow& argument : command.arguments) {
    if (argument.words.empty()) continue;  // Files are offered by default.
    out += fmt::format("complete -c waymark -n {} -f -a {}\n", in_quotes(in),
                       in_quotes(fmt::format("{}", fmt::join(argument.words, " "))));
  }
  // Options of a group are its own, not those of its commands.
  const std::string condition = command.commands.empty() ? in : chooses;
  for (const OptionRow& option : command.options) put_option(out, condition, option);
  out += '\n';
  for (const CommandRow& sub : command.commands) put_command(out, sub);
}

}  // namespace

std::string fish_completion(const CommandRow& program) {
  std::string out =
      "# Completion of waymark in fish.  Generated from the options of the program.\n";
  out += kFunctions;
  put_command(out, program);
  return out;
}

}  // namespace waymark::cli
