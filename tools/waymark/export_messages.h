// SyS-T messages in what `waymark export` writes.
#pragma once

#include <memory>

#include "message_stage.h"
#include "syst_options.h"
#include "waymark/exports/event_writer.h"

namespace waymark::cli {

class Command;

struct ExportMessageOptions {
  bool syst = false;
  MessageOptions messages;

  [[nodiscard]] bool given() const { return syst || !messages.collateral.empty(); }
};

void add_export_message_options(Command& command, ExportMessageOptions& options);

/// The settings from the options; made once.
class ExportMessages {
 public:
  /// On failure prints the sentence and returns the exit code.
  static std::expected<ExportMessages, int> make(const ExportMessageOptions& options);

  /// For one pass over a trace; nullptr: messages are not wanted.
  [[nodiscard]] std::unique_ptr<MessageStage> stage() const;

  [[nodiscard]] const syst::Collateral& collateral() const { return collateral_; }
  [[nodiscard]] const TransportOptions& transport() const { return transport_; }

 private:
  bool wanted_ = false;
  syst::Collateral collateral_;
  TransportOptions transport_;
};

/// The text of a message, which `stage` gives once.
std::string take_text(MessageStage& stage, const Element& message);

}  // namespace waymark::cli
