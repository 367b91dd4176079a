// The commands and their options as data: --help, man pages and completions are made from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace waymark::cli {

class Command;

/// The kind of a value, for completion.
enum class ValueKind : std::uint8_t {
  kNone,  ///< The option is a flag.
  kWord,
  kFile,
  kFolder,
};

struct OptionRow {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument: none.
  std::string value;               ///< As it is shown: "FILE", "text|json|csv"; empty: a flag.
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> words;  ///< Values that completion offers.
  std::string help;                ///< With its default and the options that it needs.
  std::string conflicts;           ///< "cannot be used with ..."; only man pages have this.
  std::string group;
  bool is_required = false;
  bool is_repeatable = false;
  bool is_value_optional = false;
};

struct CommandRow {
  std::string name;  ///< With the commands that it belongs to: "waymark etm4 plan".
  std::string summary;
  std::string group;  ///< Its heading in `waymark --help`, for commands of the program.
  std::vector<OptionRow> arguments;
  std::vector<OptionRow> options;  ///< Those of a group are next to each other.
  std::string notes;               ///< What the footer says before its examples.
  std::vector<std::string> examples;
  std::vector<CommandRow> commands;

  /// The last word of the name.
  [[nodiscard]] std::string word() const;
};

/// The name of a group without a name of its own.
inline constexpr auto kPlainGroup = "Options";
/// Groups of options for one kind of input begin so.  They come last, because most users need none.
inline constexpr std::string_view kSpecialGroup = "For ";

/// The command, and its commands in turn.
CommandRow describe(const Command& command);

/// The part of a help text before its first semicolon.
std::string brief(const std::string& help);

/// "waymark etm4 plan [OPTION]... PLAN".
std::string synopsis(const CommandRow& command);

}  // namespace waymark::cli
