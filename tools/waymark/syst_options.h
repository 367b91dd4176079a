// The options of `waymark syst`, and those of other commands that choose among messages and name
// collateral.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "record_options.h"
#include "waymark/syst/interpreter.h"

namespace waymark::cli {

class Command;

/// Texts as given; MessageFilter reads them.
struct MessageOptions {
  std::vector<std::string> collateral;
  std::string short_guid;
  std::string frequency;
  std::string severity;
  std::vector<std::string> types;
  std::vector<std::string> origins;
  std::vector<std::string> units;
  std::vector<std::string> guids;
  std::vector<std::string> clients;
  std::vector<std::string> masters;
  std::vector<std::string> channels;
  std::string from;
  std::string to;
  bool only_bad = false;
};

void add_collateral_options(Command& command, MessageOptions& options);
/// The same without --frequency, for commands that have one of their own.
void add_collateral_file_options(Command& command, MessageOptions& options);
void add_filter_options(Command& command, MessageOptions& options);

/// Which records are shown.
class MessageFilter {
 public:
  /// kInvalidArgument: a value that is not of its form, with the option in `detail`.
  static Result<MessageFilter> make(const MessageOptions& options);
  [[nodiscard]] bool wants(const syst::Record& record) const;
  /// Times are asked for, and it has none that can be compared.
  [[nodiscard]] bool is_untimed(const syst::Record& record) const;

 private:
  [[nodiscard]] bool wants_source(const syst::Record& record) const;

  std::optional<syst::Severity> severity_;
  std::vector<std::string> types_;
  std::vector<std::uint64_t> origins_;
  std::vector<std::uint64_t> units_;
  std::vector<syst::Guid> guids_;
  std::vector<std::string> clients_;
  std::vector<std::uint64_t> masters_;
  std::vector<std::uint64_t> channels_;
  std::optional<std::uint64_t> from_;
  std::optional<std::uint64_t> to_;
  bool only_bad_ = false;
};

/// All options of the command.
struct SystOptions : RecordOptions {
  MessageOptions messages;
  std::string as;
  bool sort = false;
};

/// Loads the files and prints what is doubtful in them; on failure prints the sentence and returns
/// the exit code.
std::expected<syst::Collateral, int> load_collateral(const std::vector<std::string>& files);

/// The settings from --short-guid and --frequency.
struct TransportOptions {
  std::optional<syst::Guid> short_guid;
  std::uint64_t frequency = 0;
};
/// kInvalidArgument: a value that is not of its form.
Result<TransportOptions> transport_options(const MessageOptions& options);

}  // namespace waymark::cli
