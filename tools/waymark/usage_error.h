// What is wrong with a command line, as a sentence.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace waymark::cli {

/// The command that was chosen last: `app` itself if none was.
CLI::App& chosen_command(CLI::App& app);

/// Names what was not understood, in the order in which it was typed, what may have been meant, and
/// the help to read.
std::string usage_sentence(CLI::App& app, const CLI::ParseError& error);

/// The command that `words` name below `app`; nullptr: there is none, and `sentence` says so.
CLI::App* find_command(CLI::App& app, std::span<const std::string> words, std::string& sentence);

}  // namespace waymark::cli
