#include "commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "command.h"
#include "complain.h"
#include "exit_code.h"
#include "help_text.h"
#include "job_commands.h"
#include "option_table.h"
#include "option_values.h"
#include "run.h"
#include "terminal.h"
#include "usage_error.h"
#include "version.h"

namespace waymark::cli {
namespace {

constexpr auto kFooter =
    "INPUT is a snapshot folder, a perf recording, raw trace or a live source; its kind\nis "
    "detected automatically.\n"
    "\n"
    "Examples:\n"
    "  waymark info board/              what it contains, and what looks wrong\n"
    "  waymark decode board/ | less     what the cores executed\n"
    "  waymark help decode              the options of a command";

struct Entry {
  std::string_view name;
  void (*add)(Command& app, int& exit_code);
  std::string_view group;
};

constexpr std::string_view kLook = "Look at a capture";
constexpr std::string_view kFind = "Find places";
constexpr std::string_view kMeasure = "Measure";
constexpr std::string_view kExport = "Export";
constexpr std::string_view kCompare = "Compare";
constexpr std::string_view kLive = "Watch live trace";
constexpr std::string_view kSyst = "Read SyS-T messages";
constexpr std::string_view kUnit = "Program a trace unit";
constexpr std::string_view kFleet = "Process many captures on many machines";
constexpr std::string_view kMake = "Make captures for tests";
constexpr std::string_view kHelp = "Get help";

/// In the order of `waymark --help`.
constexpr Entry kCommands[] = {
    {"info", add_info, kLook},
    {"doctor", add_doctor, kLook},
    {"decode", add_decode, kLook},
    {"packets", add_packets, kLook},
    {"view", add_view, kLook},
    {"report", add_report, kLook},
    {"find", add_find, kFind},
    {"index", add_index, kFind},
    {"count", add_count, kMeasure},
    {"annotate", add_annotate, kMeasure},
    {"interval", add_interval, kMeasure},
    {"export", add_export, kExport},
    {"diff", add_diff, kCompare},
    {"top", add_top, kLive},
    {"syst", add_syst, kSyst},
    {"collateral", add_collateral, kSyst},
    {"etm4", add_etm4, kUnit},
    {"plan", add_plan, kFleet},
    {"shard", add_shard, kFleet},
    {"merge", add_merge, kFleet},
    {"status", add_status, kFleet},
    {"synth", add_synth, kMake},
    {"assemble", add_assemble, kMake},
};

void add_help(Command& app, int& exit_code) {
  Command* command = app.add_subcommand("help", "Show the help of a command");
  auto words = std::make_shared<std::vector<std::string>>();
  std::vector<std::string> names;
  for (const auto& sub : app.get_subcommands()) names.push_back(sub->get_name());
  command->add_option("COMMAND", *words, "The command, such as decode or etm4 plan")
      ->check(such_as(names));
  command->footer(
      "Examples:\n"
      "  waymark help decode\n"
      "  waymark help etm4 plan");
  command->callback([&app, words, &exit_code] {
    std::string sentence;
    const Command* const found = find_command(app, *words, sentence);
    exit_code = found == nullptr ? complain(sentence, kUsage) : print_help(*found);
  });
}

/// Commands that print nothing, or only what other programs read.
bool prints_for_people(const Command& command) {
  const std::string& name = command.get_name();
  return name != "help" && name != "assemble" && name != "collateral";
}

/// The common part of all commands.
void complete_command(Command& app) {
  const bool is_leaf = app.get_subcommands().empty();
  if (is_leaf && prints_for_people(app) && app.get_option_no_throw("--color") == nullptr) {
    app.add_option_function(
           "--color", [](const std::string& word) { set_colour_mode(*colour_mode(word)); },
           "when to colour text; auto: on a terminal")
        ->type_name("WHEN")
        ->check(one_of({"auto", "always", "never"}));
  }
  for (const auto& sub : app.get_subcommands()) complete_command(*sub);
}

/// The groups of the commands of the program.
void group_commands(CommandRow& program) {
  for (CommandRow& command : program.commands) {
    const auto* const entry = std::ranges::find(kCommands, command.word(), &Entry::name);
    command.group = entry == std::end(kCommands) ? kHelp : entry->group;
  }
}

}  // namespace

std::unique_ptr<Command> make_commands(int& exit_code, std::string_view only) {
  auto app = std::make_unique<Command>("Decode Arm CoreSight trace: see what the cores executed.",
                                       "waymark");
  app->set_help_flag("-h,--help", "show this help and exit");
  app->set_version_flag("-V,--version", "waymark " WAYMARK_VERSION, "show the version and exit");
  app->require_subcommand();
  const auto* const named = std::ranges::find(kCommands, only, &Entry::name);
  if (named != std::end(kCommands)) {
    named->add(*app, exit_code);
  } else {
    for (const Entry& entry : kCommands) entry.add(*app, exit_code);
    add_help(*app, exit_code);
  }
  // Commands inherit the footer that is there when they are added.
  app->footer(kFooter);
  complete_command(*app);
  return app;
}

int print_text(std::string_view text) {
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  output->text().put(text);
  return finish_output(*output, kOk);
}

CommandRow describe_program(const Command& app) {
  CommandRow row = describe(app);
  group_commands(row);
  return row;
}

int print_help(const Command& command) {
  if (command.get_parent() == nullptr)
    return print_text(program_help_text(describe_program(command)));
  return print_text(help_text(describe(command)));
}

}  // namespace waymark::cli
