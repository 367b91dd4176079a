#include "syst_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "exit_code.h"
#include "input_options.h"
#include "option_values.h"
#include "waymark/base/number.h"
#include "waymark/base/plural.h"

namespace waymark::cli {
namespace {

const std::vector<std::string> kSeverities = {"fatal", "error", "warning", "info",
                                              "user1", "user2", "debug"};
const std::vector<std::string> kTypes = {"build",   "short32", "short64", "string",
                                         "catalog", "raw",     "clock",   "sbd"};

Result<std::vector<std::uint64_t>> numbers(std::string_view option,
                                           const std::vector<std::string>& texts) {
  std::vector<std::uint64_t> result;
  for (const std::string& text : texts) {
    const auto value = parse_number(text);
    if (!value) return wrong(option, text, "a number, decimal, or hexadecimal after 0x");
    result.push_back(*value);
  }
  return result;
}

Result<std::optional<syst::Severity>> read_severity(const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (unsigned level = 0; level < 8; ++level) {
    const auto severity = static_cast<syst::Severity>(level);
    if (upper(text) == syst::severity_name(severity)) return severity;
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("--severity: {}.", refusal(text, kSeverities)));
}

Result<std::optional<std::uint64_t>> read_time(std::string_view option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto value = parse_time(text);
  if (!value) return wrong(option, text, "a time in ticks, such as 8123456, t:8123456 or 0x7bf440");
  return *value;
}

bool among(const std::vector<std::uint64_t>& values, std::uint64_t value) {
  return values.empty() || std::ranges::find(values, value) != values.end();
}

}  // namespace

void add_collateral_file_options(Command& command, MessageOptions& options) {
  command
      .add_option("-c,--collateral", options.collateral,
                  "XML with the names of senders and the texts of catalog messages; may be "
                  "repeated; if several describe a sender, the first one applies")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("--short-guid", options.short_guid, "the sender of short messages")
      ->type_name("GUID");
}

void add_collateral_options(Command& command, MessageOptions& options) {
  add_collateral_file_options(command, options);
  command
      .add_option("--frequency", options.frequency,
                  "the frequency of the transport's timestamps, such as 25MHz, if the trace does "
                  "not state it")
      ->type_name("HZ")
      ->transform(frequency());
}

void add_filter_options(Command& command, MessageOptions& options) {
  const auto* const group = "Select messages (a repeated option accepts any of its values)";
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* help,
                        const char* type) {
    command.add_option(name, values, help)->type_name(type)->allow_extra_args(false)->group(group);
  };
  command
      .add_option("--severity", options.severity,
                  "at least as severe as this; messages without a severity are always shown")
      ->type_name("LEVEL")
      ->check(such_as(kSeverities))
      ->group(group);
  list("--type", options.types,
       "of this type: build, short32, short64, string, catalog, raw, clock or sbd", "TYPE");
  command.get_option("--type")->check(such_as(kTypes));
  list("--origin", options.origins, "from this module number, in messages without a GUID", "N");
  list("--unit", options.units, "from this unit number", "N");
  list("--guid", options.guids, "from the sender with this GUID", "GUID");
  list("--client", options.clients, "from the sender with this name in the collateral", "NAME");
  list("--master", options.masters, "from this STP master", "N");
  list("--channel", options.channels, "from this STP channel or ITM port", "N");
  command.add_option("--from", options.from, "not before this time in ticks of the transport")
      ->type_name("TIME")
      ->group(group);
  command.add_option("--to", options.to, "not after this time")->type_name("TIME")->group(group);
  command.add_flag("--only-bad", options.only_bad, "only damaged messages")->group(group);
}

Result<MessageFilter> MessageFilter::make(const MessageOptions& options) {
  MessageFilter filter;
  auto severity = read_severity(options.severity);
  if (!severity) return std::unexpected(std::move(severity).error());
  filter.severity_ = *severity;
  for (const std::string& text : options.types) {
    const std::string name = upper(text);
    bool known = false;
    for (unsigned type = 0; type < 16; ++type)
      known |= name == syst::type_name(static_cast<syst::Type>(type));
    if (!known || name.empty()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("--type: {}.", refusal(text, kTypes)));
    }
    filter.types_.push_back(name);
  }
  for (const std::string& text : options.guids) {
    const auto guid = syst::parse_guid(text);
    if (!guid) return wrong("--guid", text, "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}");
    filter.guids_.push_back(*guid);
  }
  filter.clients_ = options.clients;
  const struct {
    const char* option;
    const std::vector<std::string>& texts;
    std::vector<std::uint64_t>& values;
  } lists[] = {{"--origin", options.origins, filter.origins_},
               {"--unit", options.units, filter.units_},
               {"--master", options.masters, filter.masters_},
               {"--channel", options.channels, filter.channels_}};
  for (const auto& list : lists) {
    auto values = numbers(list.option, list.texts);
    if (!values) return std::unexpected(std::move(values).error());
    list.values = *std::move(values);
  }
  auto from = read_time("--from", options.from);
  if (!from) return std::unexpected(std::move(from).error());
  auto to = read_time("--to", options.to);
  if (!to) return std::unexpected(std::move(to).error());
  filter.from_ = *from;
  filter.to_ = *to;
  filter.only_bad_ = options.only_bad;
  return filter;
}

Result<TransportOptions> transport_options(const MessageOptions& options) {
  TransportOptions result;
  if (!options.short_guid.empty()) {
    result.short_guid = syst::parse_guid(options.short_guid);
    if (!result.short_guid) {
      return wrong("--short-guid", options.short_guid, "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}");
    }
  }
  if (!options.frequency.empty()) {
    const auto value = parse_number(options.frequency);
    if (!value) return wrong("--frequency", options.frequency, "a frequency, such as 24M or 24MHz");
    result.frequency = *value;
  }
  return result;
}

bool MessageFilter::wants_source(const syst::Record& record) const {
  const syst::Message& message = record.message;
  const bool has_guid = message.has_guid();
  if (!guids_.empty() && (!has_guid || std::ranges::find(guids_, message.guid) == guids_.end())) {
    return false;
  }
  if (!clients_.empty() && (record.client == nullptr ||
                            std::ranges::find(clients_, record.client->name) == clients_.end())) {
    return false;
  }
  if (!origins_.empty() && (has_guid || message.is_short)) return false;
  return among(origins_, message.origin) && among(units_, message.unit);
}

bool MessageFilter::is_untimed(const syst::Record& record) const {
  return (from_ || to_) && (!record.time || record.time_is_partial());
}

bool MessageFilter::wants(const syst::Record& record) const {
  const syst::Frame& frame = record.frame;
  if (!masters_.empty() && !frame.has_master) return false;
  if (!among(masters_, frame.master) || !among(channels_, frame.channel)) return false;
  if (is_untimed(record)) return false;
  if ((from_ && *record.time < *from_) || (to_ && *record.time > *to_)) return false;
  // A message that cannot be read could be anything.
  if (!record.good()) return true;
  const bool is_guess = frame.end == syst::FrameEnd::kGuessed;
  if (only_bad_ && (frame.end == syst::FrameEnd::kWhole || is_guess)) return false;
  if (severity_ && record.message.severity > *severity_) return false;
  if (!types_.empty() &&
      std::ranges::find(types_, syst::type_name(record.message.type)) == types_.end()) {
    return false;
  }
  return wants_source(record);
}

std::expected<syst::Collateral, int> load_collateral(const std::vector<std::string>& files) {
  syst::Collateral collateral;
  for (const std::string& file : files) {
    if (const auto added = collateral.add_file(file); !added) {
      return std::unexpected(complain(added.error().sentence(), kInput));
    }
  }
  constexpr std::size_t kMaxShown = 20;
  const std::vector<syst::CollateralWarning>& warnings = collateral.warnings();
  for (std::size_t i = 0; i < std::min(warnings.size(), kMaxShown); ++i)
    complain("note: " + warnings[i].sentence(), kOk);
  if (warnings.size() > kMaxShown) {
    complain(fmt::format("note: not shown: {}.",
                         counted(warnings.size() - kMaxShown, "further problem")),
             kOk);
  }
  return collateral;
}

}  // namespace waymark::cli
