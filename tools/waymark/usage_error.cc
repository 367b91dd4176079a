#include "usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "option_table.h"
#include "waymark/base/nearest.h"

namespace waymark::cli {
namespace {

std::string path_of(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : path_of(*parent) + ' ' + app.get_name();
}

/// `what`, and where to read on.
std::string with_remedy(std::string what, const CLI::App& app) {
  while (what.ends_with('\n') || what.ends_with('.')) what.pop_back();
  std::ranges::replace(what, '\n', ' ');
  return fmt::format("{}{} {} --help.", what, what.ends_with('?') ? " See" : "; see", path_of(app));
}

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const auto found = nearest(word, views);
  return found ? fmt::format("did you mean `{}`?", *found) : std::string();
}

std::string unknown_command(CLI::App& app, std::string_view word) {
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) known.push_back(sub->get_name());
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

std::string unknown_options(CLI::App& app, const std::vector<std::string>& words) {
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

std::string unexpected_arguments(CLI::App& app, const std::vector<std::string>& words) {
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

/// What is required and was not given; empty: nothing.
std::string missing(CLI::App& app) {
  const auto subs = app.get_subcommands(nullptr);
  if (!subs.empty() && app.get_subcommands().empty()) {
    return with_remedy(fmt::format("{} needs a command, such as {} or {}", path_of(app),
                                   subs[0]->get_name(), subs[1]->get_name()),
                       app);
  }
  const CommandRow row = describe(app);
  for (const OptionRow& argument : row.arguments) {
    if (argument.is_required && app.count(argument.value) == 0)
      return with_remedy(argument.value + " is missing", app);
  }
  for (const OptionRow& option : row.options) {
    if (option.is_required && app.count(option.names.back()) == 0)
      return with_remedy(fmt::format("{} {} is missing", option.names.front(), option.value), app);
  }
  return {};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos)
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

CLI::App& chosen_command(CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

std::string usage_sentence(CLI::App& app, const CLI::ParseError& error) {
  CLI::App& command = chosen_command(app);
  std::vector<std::string> options;
  std::vector<std::string> words;
  for (const std::string& word : app.remaining(true)) {
    if (word.size() > 1 && word.starts_with('-') && word != "--") {
      options.push_back(word.substr(0, word.find('=')));
    } else {
      words.push_back(word);
    }
  }
  if (!options.empty()) return unknown_options(command, options);
  if (!words.empty()) {
    return command.get_subcommands(nullptr).empty() ? unexpected_arguments(command, words)
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
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = text.substr(0, text.find(':'));
    for (const OptionRow& row : describe(command).options) {
      if (std::ranges::find(row.names, name) != row.names.end())
        return with_remedy(fmt::format("{} needs a value: {}", name, row.value), command);
    }
  }
  return with_remedy(text, command);
}

CLI::App* find_command(CLI::App& app, std::span<const std::string> words, std::string& sentence) {
  CLI::App* found = &app;
  for (const std::string& word : words) {
    const auto subs = found->get_subcommands(nullptr);
    const auto next =
        std::ranges::find_if(subs, [&](const CLI::App* sub) { return sub->get_name() == word; });
    if (next == subs.end()) {
      sentence =
          subs.empty() ? unexpected_arguments(*found, {word}) : unknown_command(*found, word);
      return nullptr;
    }
    found = *next;
  }
  return found;
}

}  // namespace waymark::cli
