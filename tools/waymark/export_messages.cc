#include "export_messages.h"

#include "command.h"
#include "complain.h"
#include "exit_code.h"

namespace waymark::cli {

void add_export_message_options(Command& command, ExportMessageOptions& options) {
  command.add_flag("--syst", options.syst,
                   "for timelines and sqlite: write SyS-T messages instead of the STM packets that "
                   "carry them, and after the writes to the port of an ITM; see `waymark syst`");
  add_collateral_file_options(command, options.messages);
}

std::expected<ExportMessages, int> ExportMessages::make(const ExportMessageOptions& options) {
  ExportMessages made;
  made.wanted_ = options.given();
  auto collateral = load_collateral(options.messages.collateral);
  if (!collateral) return std::unexpected(collateral.error());
  made.collateral_ = *std::move(collateral);
  const auto transport = transport_options(options.messages);
  if (!transport) return std::unexpected(complain(transport.error().detail, kUsage));
  made.transport_ = *transport;
  return made;
}

std::unique_ptr<MessageStage> ExportMessages::stage() const {
  if (!wanted_) return nullptr;
  auto stage = std::make_unique<MessageStage>(collateral_, transport_.frequency, false);
  if (transport_.short_guid) stage->set_short_client(*transport_.short_guid);
  return stage;
}

std::string take_text(MessageStage& stage, const Element& message) {
  TextBuffer text;
  stage.write(text, message);
  return std::string(text.view());
}

}  // namespace waymark::cli
