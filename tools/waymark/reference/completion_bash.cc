#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "completion.h"

namespace waymark::cli {
namespace {

/// The text after the table of commands.
constexpr auto kCode = R"(
# Completes the word in $word from the words in $*.
_waymark_words() {
  local candidate
  for candidate in "$@"; do
    [[ $candidate == "$word"* ]] || continue
    COMPREPLY+=("$candidate")
    # A value follows the equals sign.
    [[ $candidate == *= ]] && compopt -o nospace
  done
}

_waymark_files() {
  compopt -o filenames
  local line
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$1" -- "$word")
}

_waymark() {
  COMPREPLY=()
  local commands options argument values word option='' command='' i
  # Bash divides words at equals signs; here they are put together again.
  local words=()
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    local part=${COMP_WORDS[i]}
    if ((${#words[@]})) && [[ $part == = || ${words[-1]} == *= ]]; then
      words[-1]+=$part
    else
      words+=("$part")
    fi
  done
  word=${words[-1]}
  unset 'words[-1]'

  _waymark_table ''
  for i in "${words[@]}"; do
    [[ $i == -* ]] && continue
    [[ " $commands " == *" $i "* ]] || break
    command="${command:+$command }$i"
    _waymark_table "$command"
  done

  if ((${#words[@]})) && [[ ${words[-1]} == -* ]]; then option=${words[-1]}; fi
  if [[ $word == --*=* ]]; then
    option=${word%%=*}
    word=${word#*=}
  elif [[ $word == -* ]]; then
    # shellcheck disable=SC2086  # Words without blanks.
    _waymark_words $options
    return
  fi
  _waymark_values "$command" "$option"
  # Of ADDRESS=FILE, Bash completes what follows the equals sign.
  [[ $values == @file && $word == *=* ]] && word=${word##*=}
  case $values in
    @file) _waymark_files -f ;;
    @folder) _waymark_files -d ;;
    @word) ;;
    @none)
      if [[ $commands ]]; then
        # shellcheck disable=SC2086
        _waymark_words $commands
      elif [[ $argument == @file ]]; then
        _waymark_files -f
      else
        # shellcheck disable=SC2086
        _waymark_words $argument
      fi
      ;;
    *)
      # shellcheck disable=SC2086
      _waymark_words $values
      ;;
  esac
}

complete -F _waymark waymark
)";

/// The name without that of the program.
std::string path_of(const CommandRow& command) {
  const std::size_t blank = command.name.find(' ');
  return blank == std::string::npos ? std::string() : command.name.substr(blank + 1);
}

std::string values_of(const OptionRow& option) {
  if (!option.words.empty()) return fmt::format("{}", fmt::join(option.words, " "));
  switch (option.kind) {
    case ValueKind::kNone:
      return "@none";
    case ValueKind::kFile:
      return "@file";
    case ValueKind::kFolder:
      return "@folder";
    case ValueKind::kWord:
      break;
  }
  return "@word";
}

void for_each_command(const CommandRow& command,
                      const std::function<void(const CommandRow&)>& take) {
  take(command);
  for (const CommandRow& sub : command.commands) for_each_command(sub, take);
}

}  // namespace

std::string bash_completion(const CommandRow& program) {
  std::string out =
      "# Completion of waymark in Bash.  Generated from the options of the program.\n"
      "# shellcheck shell=bash\n\n"
      "# Sets what the command $1 has.\n"
      "_waymark_table() {\n"
      "  commands='' options='' argument=''\n"
      "  case $1 in\n";
  for_each_command(program, [&](const CommandRow& command) {
    out += fmt::format("    '{}')\n", path_of(command));
    std::vector<std::string> words;
    words.reserve(command.commands.size());
    for (const CommandRow& sub : command.commands) words.push_back(sub.word());
    if (!words.empty()) out += fmt::format("      commands='{}'\n", fmt::join(words, " "));
    words.clear();
    for (const OptionRow& option : command.options)
      words.insert(words.end(), option.names.begin(), option.names.end());
    out += fmt::format("      options='{}'\n", fmt::join(words, " "));
    if (!command.arguments.empty())
      out += fmt::format("      argument='{}'\n", values_of(command.arguments.front()));
    out += "      ;;\n";
  });
  out +=
      "  esac\n}\n\n"
      "# Sets the values that the option $2 of the command $1 takes; @none: it takes none.\n"
      "_waymark_values() {\n"
      "  values=@none\n"
      "  case \"$1:$2\" in\n";
  for_each_command(program, [&](const CommandRow& command) {
    for (const OptionRow& option : command.options) {
      if (option.value.empty() || option.is_value_optional) continue;
      std::vector<std::string> names;
      names.reserve(option.names.size());
      for (const std::string& name : option.names)
        names.push_back(fmt::format("'{}:{}'", path_of(command), name));
      out += fmt::format("    {}) values='{}' ;;\n", fmt::join(names, " | "), values_of(option));
    }
  });
  return out + "  esac\n}\n" + kCode;
}

}  // namespace waymark::cli
