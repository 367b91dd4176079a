#include "command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <utility>

#include "option_values.h"

namespace waymark::cli {
namespace {

CLI::Validator validator_of(ValueCheck check) { return {std::move(check.examine), ""}; }

}  // namespace

Option* Option::type_name(std::string_view name) {
  option_->type_name(std::string(name));
  return this;
}

Option* Option::description(std::string_view text) {
  option_->description(std::string(text));
  return this;
}

Option* Option::group(std::string_view name) {
  option_->group(std::string(name));
  return this;
}

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::expected(int least, int most) {
  option_->expected(least, most);
  return this;
}

Option* Option::allow_extra_args(bool allowed) {
  option_->allow_extra_args(allowed);
  return this;
}

Option* Option::delimiter(char separator) {
  option_->delimiter(separator);
  return this;
}

Option* Option::default_str(std::string_view text) {
  option_->default_str(std::string(text));
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Option* Option::check(ValueCheck check) {
  if (!check.known.words.empty()) known_ = std::move(check.known);
  option_->check(validator_of(std::move(check)));
  return this;
}

Option* Option::transform(ValueCheck check) {
  option_->transform(validator_of(std::move(check)));
  return this;
}

Option* Option::range(std::uint64_t least, std::uint64_t most) {
  limits_ = {.least = least, .most = most};
  return this;
}

Option* Option::at_least(std::uint64_t least) {
  limits_.least = least;
  return this;
}

Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::needs(std::string_view other) {
  option_->needs(std::string(other));
  return this;
}

Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::excludes(std::string_view other) {
  option_->excludes(std::string(other));
  return this;
}

void Option::remove_needs(Option* other) { option_->remove_needs(other->option_); }

std::string Option::get_name() const { return option_->get_name(); }

std::string Option::get_description() const { return option_->get_description(); }

Command::Command(std::string_view summary, std::string_view name)
    : root_(std::make_unique<CLI::App>(std::string(summary), std::string(name))),
      app_(root_.get()) {
  app_->set_help_flag();
}

Command::Command(CLI::App& app, const Command& parent) : app_(&app), parent_(&parent) {
  for (CLI::Option* const inherited : app.get_options()) own(inherited);
}

Command::~Command() = default;

Option* Command::own(CLI::Option* option) {
  // Otherwise `--flag=VALUE` is accepted.
  if (option->get_items_expected_max() == 0) option->disable_flag_override();
  return options_.emplace_back(std::make_unique<Option>(*option)).get();
}

Option* Command::own_number(CLI::Option* option, std::uint64_t most) {
  Option* const owned = own(option)->range(0, most);
  return owned->transform(
      {.examine = [owned](std::string& text) { return read_number(text, owned->limits()); }});
}

Command* Command::add_subcommand(std::string_view name, std::string_view summary) {
  CLI::App* const app = app_->add_subcommand(std::string(name), std::string(summary));
  // The constructor is private.
  return commands_.emplace_back(std::unique_ptr<Command>(new Command(*app, *this))).get();
}

void Command::require_subcommand() { app_->require_subcommand(1); }

Option* Command::add_option(std::string_view names, std::string& value, std::string_view help) {
  return own(app_->add_option(std::string(names), value, std::string(help)));
}

Option* Command::add_option(std::string_view names, std::vector<std::string>& values,
                            std::string_view help) {
  return own(app_->add_option(std::string(names), values, std::string(help)));
}

Option* Command::add_option(std::string_view names, std::uint16_t& value, std::string_view help) {
  return own_number(app_->add_option(std::string(names), value, std::string(help)),
                    std::numeric_limits<std::uint16_t>::max());
}

Option* Command::add_option(std::string_view names, std::uint32_t& value, std::string_view help) {
  return own_number(app_->add_option(std::string(names), value, std::string(help)),
                    std::numeric_limits<std::uint32_t>::max());
}

Option* Command::add_option(std::string_view names, std::uint64_t& value, std::string_view help) {
  return own_number(app_->add_option(std::string(names), value, std::string(help)),
                    std::numeric_limits<std::uint64_t>::max());
}

Option* Command::add_option(std::string_view names, std::optional<std::uint64_t>& value,
                            std::string_view help) {
  return own_number(app_->add_option_function<std::uint64_t>(
                        std::string(names), [&value](std::uint64_t number) { value = number; },
                        std::string(help)),
                    std::numeric_limits<std::uint64_t>::max());
}

Option* Command::add_option_function(std::string_view names,
                                     std::function<void(const std::string&)> take,
                                     std::string_view help) {
  return own(app_->add_option_function(std::string(names), take, std::string(help)));
}

Option* Command::add_flag(std::string_view names, bool& value, std::string_view help) {
  return own(app_->add_flag(std::string(names), value, std::string(help)));
}

Option* Command::add_flag_callback(std::string_view names, std::function<void()> take,
                                   std::string_view help) {
  return own(app_->add_flag_callback(std::string(names), std::move(take), std::string(help)));
}

void Command::set_help_flag(std::string_view names, std::string_view help) {
  own(app_->set_help_flag(std::string(names), std::string(help)));
}

void Command::set_version_flag(std::string_view names, std::string_view version,
                               std::string_view help) {
  own(app_->set_version_flag(std::string(names), std::string(version), std::string(help)));
}

void Command::remove_option(Option* option) {
  app_->remove_option(&option->library());
  std::erase_if(options_, [&](const auto& own) { return own.get() == option; });
}

void Command::footer(std::string_view text) { app_->footer(std::string(text)); }

void Command::callback(std::function<void()> run) { app_->callback(std::move(run)); }

void Command::parse_complete_callback(std::function<void()> check) {
  app_->parse_complete_callback(std::move(check));
}

Option* Command::get_option(std::string_view name) const {
  CLI::Option* const wanted = app_->get_option(std::string(name));
  return std::ranges::find(options_, wanted, [](const auto& own) { return &own->library(); })
      ->get();
}

Option* Command::get_option_no_throw(std::string_view name) const {
  return app_->get_option_no_throw(std::string(name)) == nullptr ? nullptr : get_option(name);
}

const std::string& Command::get_name() const { return app_->get_name(); }

void refuse_without(const Option& option, std::string_view needed) {
  throw CLI::RequiresError(option.get_name(), std::string(needed));
}

}  // namespace waymark::cli
