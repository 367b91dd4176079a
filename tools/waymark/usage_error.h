// Parses a command line, and says what is wrong with it as a sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace waymark::cli {

class Command;

enum class Outcome : std::uint8_t {
  kRun,      ///< The command was run.
  kHelp,     ///< The help of a command is wanted.
  kVersion,  ///< The version is wanted.
  kWrong,    ///< The command line is wrong.
};

struct Parsed {
  Outcome outcome = Outcome::kRun;
  const Command* command = nullptr;  ///< With kHelp.
  std::string sentence{};  ///< With kWrong: what was not understood, what may have been meant, and
                           ///< the help to read.
};

/// Parses a command line, and runs the command that it names.
Parsed parse(const Command& app, int argc, char** argv);

/// Parses words as options of a command without commands below it.  The sentence that says what is
/// wrong with them, or nothing.
std::optional<std::string> parse_options(const Command& command,
                                         const std::vector<std::string>& words);

/// The command that `words` name below `app`; nullptr: there is none, and `sentence` says so.
const Command* find_command(const Command& app, std::span<const std::string> words,
                            std::string& sentence);

}  // namespace waymark::cli
