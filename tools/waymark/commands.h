// The sub-commands.  Each adds itself to the application and stores the exit code of its run.
#pragma once

#include <memory>
#include <string_view>

namespace waymark::cli {

class Command;

/// The command line with every command, or with the command named `only` if there is one.  To make
/// the options of all commands takes longer than many runs do.  A command that was parsed stores
/// its exit code.
std::unique_ptr<Command> make_commands(int& exit_code, std::string_view only = {});

/// Prints to standard output; returns the exit code.
int print_text(std::string_view text);
int print_help(const Command& command);

void add_info(Command& app, int& exit_code);
void add_doctor(Command& app, int& exit_code);
void add_interval(Command& app, int& exit_code);
void add_diff(Command& app, int& exit_code);
void add_packets(Command& app, int& exit_code);
void add_decode(Command& app, int& exit_code);
void add_count(Command& app, int& exit_code);
void add_annotate(Command& app, int& exit_code);
void add_export(Command& app, int& exit_code);
void add_syst(Command& app, int& exit_code);
void add_collateral(Command& app, int& exit_code);
void add_top(Command& app, int& exit_code);
void add_view(Command& app, int& exit_code);
void add_report(Command& app, int& exit_code);
void add_index(Command& app, int& exit_code);
void add_find(Command& app, int& exit_code);
void add_assemble(Command& app, int& exit_code);
void add_synth(Command& app, int& exit_code);
void add_etm4(Command& app, int& exit_code);

}  // namespace waymark::cli
