#include "usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "command.h"
#include "option_table.h"
#include "waymark/base/nearest.h"
#include "waymark/base/shell_word.h"

namespace waymark::cli {
namespace {

std::string path_of(const Command& app) {
  const Command* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : path_of(*parent) + ' ' + app.get_name();
}

/// `what`, and where to read on.
std::string with_remedy(std::string what, const Command& app) {
  while (what.ends_with('\n') || what.ends_with('.')) what.pop_back();
  std::ranges::replace(what, '\n', ' ');
  return fmt::format("{}{} {} --help.", what, what.ends_with('?') ? " See" : "; see", path_of(app));
}

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const auto found = nearest(word, views);
  return found ? fmt::format("did you mean `{}`?", *found) : std::string();
}

std::string unknown_command(const Command& app, std::string_view word) {
  std::vector<std::string> known;
  for (const auto& sub : app.get_subcommands()) known.push_back(sub->get_name());
  std::error_code error;
  if (app.get_parent() == nullptr && std::filesystem::exists(word, error))
    return with_remedy(fmt::format("'{}' is a file, not a command of {}; to see what is in it, run "
                                   "`waymark info {}`",
                                   word, path_of(app), shell_word(word)),
                       app);
  const std::string advice = meant(word, known);
  return with_remedy(fmt::format("'{}' is not a command of {}{}{}", word, path_of(app),
                                 advice.empty() ? "" : "; ", advice),
                     app);
}

/// "a", "a and b", "a, b and c".
std::string enumeration(const std::vector<std::string>& words) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string unknown_options(const Command& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const OptionRow& row : describe(app).options)
    known.insert(known.end(), row.names.begin(), row.names.end());
  if (words.size() == 1) {
    const std::string advice = meant(words.front(), known);
    return with_remedy(fmt::format("'{}' is not an option of {}{}{}", words.front(), path_of(app),
                                   advice.empty() ? "" : "; ", advice),
                       app);
  }
  std::vector<std::string> parts;
  for (const std::string& word : words) {
    const std::string advice = meant(word, known);
    parts.push_back(advice.empty() ? fmt::format("'{}'", word)
                                   : fmt::format("'{}' ({})", word, advice));
  }
  return with_remedy(fmt::format("{} are not options of {}", enumeration(parts), path_of(app)),
                     app);
}

std::string unexpected_arguments(const Command& app, const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words) quoted.push_back(fmt::format("'{}'", word));
  std::vector<std::string> taken;
  for (const OptionRow& row : describe(app).arguments) taken.push_back(row.value);
  const std::string takes =
      taken.empty() ? "no arguments" : fmt::format("only one {}", enumeration(taken));
  return with_remedy(fmt::format("{} {} not expected; {} takes {}", enumeration(quoted),
                                 words.size() == 1 ? "was" : "were", path_of(app), takes),
                     app);
}

/// A required argument that was not given; empty: none.
std::string missing(const Command& app) {
  const auto& subs = app.get_subcommands();
  if (!subs.empty() && app.library().get_subcommands().empty()) {
    return with_remedy(fmt::format("{} needs a command, such as {} or {}", path_of(app),
                                   subs[0]->get_name(), subs[1]->get_name()),
                       app);
  }
  const CommandRow row = describe(app);
  for (const OptionRow& argument : row.arguments) {
    if (argument.is_required && app.library().count(argument.value) == 0)
      return with_remedy(argument.value == "INPUT"
                             ? "INPUT is missing; name a snapshot folder, a perf recording or "
                               "raw trace"
                             : argument.value + " is missing",
                         app);
  }
  for (const OptionRow& option : row.options) {
    if (option.is_required && app.library().count(option.names.back()) == 0)
      return with_remedy(fmt::format("{} {} is missing", option.names.front(), option.value), app);
  }
  return {};
}

/// The command that was chosen last: `app` itself if none was.
const Command& chosen_command(const Command& app) {
  const auto chosen = app.library().get_subcommands();
  if (chosen.empty()) return app;
  const auto& subs = app.get_subcommands();
  const auto found =
      std::ranges::find(subs, chosen.front(), [](const auto& sub) { return &sub->library(); });
  return chosen_command(**found);
}

/// The value that the option with this name takes, as --help shows it; empty: none.
std::string value_of(const Command& command, std::string_view name) {
  for (const OptionRow& row : describe(command).options) {
    if (std::ranges::find(row.names, name) != row.names.end()) return row.value;
  }
  return {};
}

/// The option that a word names, with or without a value after "=".
CLI::Option* option_named(const Command& command, std::string_view word) {
  if (word.size() < 2 || !word.starts_with('-') || word == "--") return nullptr;
  return command.library().get_option_no_throw(std::string(word.substr(0, word.find('='))));
}

/// Where an option would have the name of another one as its value, as in `-o --format json`: the
/// sentence for it, else nothing.
std::string option_as_value(const Command& app, std::span<const std::string> words) {
  const Command* command = &app;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto& subs = command->get_subcommands();
    const auto sub =
        std::ranges::find(subs, words[i], [](const auto& own) { return own->get_name(); });
    if (sub != subs.end()) {
      command = sub->get();
      continue;
    }
    const CLI::Option* const option = option_named(*command, words[i]);
    if (option == nullptr || words[i].contains('=') || option->get_items_expected_min() == 0)
      continue;
    ++i;
    if (i < words.size() && option_named(*command, words[i]) != nullptr) {
      return with_remedy(fmt::format("{} needs a value: {}; '{}' is an option", option->get_name(),
                                     value_of(*command, option->get_name()), words[i]),
                         *command);
    }
  }
  return {};
}

/// For an option that has too few or too many values.
std::string wrong_count(const Command& command, std::string_view text,
                        std::span<const std::string> words) {
  const std::string name(text.substr(0, text.find(':')));
  const CLI::Option* const option = command.library().get_option_no_throw(name);
  if (option == nullptr) {
    // The library names a flag without its hyphens.
    const std::string flag = "--" + name.substr(0, name.find(' '));
    const auto word = std::ranges::find_if(
        words, [&](const std::string& each) { return each.starts_with(flag + '='); });
    const std::string value = word == words.end() ? "" : word->substr(flag.size() + 1);
    return fmt::format("{} takes no value; '{}' was given", flag, value);
  }
  const auto& given = option->results();
  if (given.size() < 2) return fmt::format("{} needs a value: {}", name, value_of(command, name));
  return fmt::format("{} takes one value; {} were given: '{}'", name, given.size(),
                     fmt::join(given, "' and '"));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos)
    text.replace(at, from.size(), to);
  return text;
}

/// Names what was not understood, in the order in which it was typed, what may have been meant, and
/// the help to read.
std::string usage_sentence(const Command& app, const CLI::ParseError& error,
                           std::span<const std::string> all_words) {
  const Command& command = chosen_command(app);
  std::vector<std::string> options;
  std::vector<std::string> words;
  for (const std::string& word : app.library().remaining(true)) {
    if (word == "--") continue;
    if (word.size() > 1 && word.starts_with('-')) {
      options.push_back(word.substr(0, word.find('=')));
    } else {
      words.push_back(word);
    }
  }
  if (!options.empty()) return unknown_options(command, options);
  if (!words.empty()) {
    return command.get_subcommands().empty() ? unexpected_arguments(command, words)
                                             : unknown_command(command, words.front());
  }
  const std::string text = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (const std::string sentence = missing(command); !sentence.empty()) return sentence;
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    return with_remedy(replaced(text, " requires ", " needs "), command);
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return with_remedy(replaced(text, " excludes ", " cannot be used with "), command);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return with_remedy(wrong_count(command, text, all_words), command);
  return with_remedy(text, command);
}

}  // namespace

Parsed parse(const Command& app, int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (std::string sentence = option_as_value(app, words); !sentence.empty())
    return {.outcome = Outcome::kWrong, .sentence = std::move(sentence)};
  try {
    app.library().parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {.outcome = Outcome::kHelp, .command = &chosen_command(app)};
  } catch (const CLI::CallForVersion&) {
    return {.outcome = Outcome::kVersion};
  } catch (const CLI::ParseError& error) {
    return {.outcome = Outcome::kWrong, .sentence = usage_sentence(app, error, words)};
  }
  return {};
}

std::optional<std::string> parse_options(const Command& command,
                                         const std::vector<std::string>& words) {
  try {
    // The library takes the last one first.
    command.library().parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return usage_sentence(command, error, words);
  }
  return std::nullopt;
}

const Command* find_command(const Command& app, std::span<const std::string> words,
                            std::string& sentence) {
  const Command* found = &app;
  for (const std::string& word : words) {
    const auto& subs = found->get_subcommands();
    const auto next =
        std::ranges::find_if(subs, [&](const auto& sub) { return sub->get_name() == word; });
    if (next == subs.end()) {
      sentence =
          subs.empty() ? unexpected_arguments(*found, {word}) : unknown_command(*found, word);
      return nullptr;
    }
    found = next->get();
  }
  return found;
}

}  // namespace waymark::cli
