// The commands and options of the command line.  Only command.cc, option_table.cc and
// usage_error.cc see the option library, whose templates take longer to compile than most files
// that declare options.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace waymark::cli {

class Command;

/// The words that an option takes, for help and completion; none: it takes other values.
struct KnownWords {
  std::vector<std::string> words;
  bool others_are_refused = false;
};

/// Examines the text of a value; in a transform it may rewrite it.
struct ValueCheck {
  /// A sentence without a full stop if the value is refused, else nothing.
  std::function<std::string(std::string& text)> examine;
  KnownWords known{};
};

/// The numbers that an option takes.
struct NumberLimits {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// An option or an argument; its command owns it.  Names are as "-o,--output", and "INPUT" for an
/// argument.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option* type_name(std::string_view name);
  Option* description(std::string_view text);
  Option* group(std::string_view name);
  Option* required();
  /// How many values each occurrence takes.
  Option* expected(int least, int most);
  /// Whether values may follow that do not repeat the name.
  Option* allow_extra_args(bool allowed);
  /// Also divides a value where this character is.
  Option* delimiter(char separator);
  /// The default that --help shows: this text, or the present value of the variable.
  Option* default_str(std::string_view text);
  Option* capture_default_str();
  /// Checks come in the order of their calls, transforms before them and in reverse.
  Option* check(ValueCheck check);
  Option* transform(ValueCheck check);
  /// For an option that takes a number: those that it takes.
  Option* range(std::uint64_t least, std::uint64_t most);
  Option* at_least(std::uint64_t least);
  Option* needs(Option* other);
  Option* needs(std::string_view other);
  Option* excludes(Option* other);
  Option* excludes(std::string_view other);
  void remove_needs(Option* other);

  [[nodiscard]] std::string get_name() const;
  [[nodiscard]] std::string get_description() const;

  /// Those of its last check or transform that has words.
  [[nodiscard]] const KnownWords& known_words() const { return known_; }

  [[nodiscard]] const NumberLimits& limits() const { return limits_; }

  [[nodiscard]] CLI::Option& library() const { return *option_; }

 private:
  CLI::Option* option_;
  NumberLimits limits_;
  KnownWords known_;
};

/// A command, which owns its options and the commands below it.  Variables must live until the
/// command line was parsed.
class Command {
 public:
  /// A command that is not below another one.
  Command(std::string_view summary, std::string_view name);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(std::string_view name, std::string_view summary);
  /// One of the commands below must be given.
  void require_subcommand();

  Option* add_option(std::string_view names, std::string& value, std::string_view help);
  Option* add_option(std::string_view names, std::vector<std::string>& values,
                     std::string_view help);
  Option* add_option(std::string_view names, std::uint16_t& value, std::string_view help);
  Option* add_option(std::string_view names, std::uint32_t& value, std::string_view help);
  Option* add_option(std::string_view names, std::uint64_t& value, std::string_view help);
  Option* add_option(std::string_view names, std::optional<std::uint64_t>& value,
                     std::string_view help);
  Option* add_option_function(std::string_view names, std::function<void(const std::string&)> take,
                              std::string_view help);
  Option* add_flag(std::string_view names, bool& value, std::string_view help);
  Option* add_flag_callback(std::string_view names, std::function<void()> take,
                            std::string_view help);
  void set_help_flag(std::string_view names, std::string_view help);
  void set_version_flag(std::string_view names, std::string_view version, std::string_view help);
  void remove_option(Option* option);

  /// The text after the options; commands that are added later inherit it.
  void footer(std::string_view text);
  /// The function that runs once the command line was understood.
  void callback(std::function<void()> run);
  /// The function that runs once the options of the command were understood; it may call
  /// refuse_without().
  void parse_complete_callback(std::function<void()> check);

  /// The option with this name, which must exist.
  [[nodiscard]] Option* get_option(std::string_view name) const;
  [[nodiscard]] Option* get_option_no_throw(std::string_view name) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Option>>& get_options() const { return options_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Command>>& get_subcommands() const {
    return commands_;
  }
  [[nodiscard]] const Command* get_parent() const { return parent_; }
  [[nodiscard]] const std::string& get_name() const;

  [[nodiscard]] CLI::App& library() const { return *app_; }

 private:
  Command(CLI::App& app, const Command& parent);
  Option* own(CLI::Option* option);
  Option* own_number(CLI::Option* option, std::uint64_t most);

  std::unique_ptr<CLI::App> root_;
  CLI::App* app_;
  const Command* parent_ = nullptr;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<Command>> commands_;
};

/// Ends the parsing: `option` is of no use without `needed`.
[[noreturn]] void refuse_without(const Option& option, std::string_view needed);

}  // namespace waymark::cli
