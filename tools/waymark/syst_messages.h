// The messages that `waymark syst` shows: from frames to lines of output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "output.h"
#include "syst_options.h"
#include "waymark/outputs/messages.h"
#include "waymark/syst/interpreter.h"
#include "waymark/syst/message_sorter.h"
#include "waymark/syst/ports.h"

namespace waymark::cli {

/// Counts of the shown messages, and facts that are worth a note.
struct MessageCounts {
  std::uint64_t all = 0;
  std::uint64_t bad = 0;
  std::uint64_t guessed = 0;   ///< Plain messages whose end is a guess.
  std::uint64_t missing = 0;   ///< Catalog messages whose sender has no collateral.
  std::uint64_t unlisted = 0;  ///< Catalog messages whose sender's collateral has no such ID.
  /// Messages that are not shown because they have no time to compare with --from and --to.
  std::uint64_t untimed = 0;
  std::uint64_t shown = 0;
  std::optional<TraceIndex> first_bad{};
};

/// Converts frames to lines of output.
class Messages final : public syst::FrameSink {
 public:
  Messages(const syst::Collateral& collateral, const MessageFilter& filter, Output& output,
           const SystOptions& options, const outputs::MessageWriter::Columns& columns);

  syst::Interpreter& interpreter() { return interpreter_; }

  void on_frame(const syst::Frame& frame) override;

  /// With --sort: writes the messages, which were kept until now.  Returns the exit code: `code`,
  /// unless that fails.
  int finish(int code);

  /// Nothing more is read: --strict met a bad message, the user interrupted, or sorting failed.
  [[nodiscard]] bool is_stopped() const;
  [[nodiscard]] const MessageCounts& counts() const { return counts_; }
  /// Bytes of the input that were read.
  void pass(std::size_t bytes) { place_ += bytes; }
  [[nodiscard]] TraceIndex place() const { return place_; }
  /// The order of the messages that are shown.
  [[nodiscard]] const syst::MessageOrder& order() const { return order_; }

 private:
  /// The line that was written, until all are sorted.
  void keep(std::uint64_t time);

  syst::Interpreter interpreter_;
  const MessageFilter& filter_;
  Output& output_;
  Format format_;
  bool is_strict_;
  bool is_sorted_;
  TextBuffer line_;  ///< With --sort, where a message is written.
  outputs::MessageWriter writer_;
  syst::MessageOrder order_;
  syst::MessageSorter sorter_;
  std::string error_;  ///< An error of the sorter.
  MessageCounts counts_;
  TraceIndex place_ = 0;
};

/// The first line of CSV.
std::string message_csv_header();

/// Prints the closing sentences to standard error; returns the exit code.
int judge_messages(const SystOptions& options, const Messages& messages, int code);

}  // namespace waymark::cli
