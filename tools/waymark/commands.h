// The sub-commands.  Each adds itself to the application and stores the exit code of its run.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>

namespace waymark::cli {

/// The command line with every command, or with the command named `only` if there is one.  To make
/// the options of all commands takes longer than many runs do.  A command that was parsed stores
/// its exit code.
std::unique_ptr<CLI::App> make_commands(int& exit_code, std::string_view only = {});

/// Prints to standard output; returns the exit code.
int print_text(std::string_view text);
int print_help(CLI::App& command);

void add_info(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_interval(CLI::App& app, int& exit_code);
void add_diff(CLI::App& app, int& exit_code);
void add_packets(CLI::App& app, int& exit_code);
void add_decode(CLI::App& app, int& exit_code);
void add_count(CLI::App& app, int& exit_code);
void add_annotate(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_syst(CLI::App& app, int& exit_code);
void add_collateral(CLI::App& app, int& exit_code);
void add_top(CLI::App& app, int& exit_code);
void add_view(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_index(CLI::App& app, int& exit_code);
void add_find(CLI::App& app, int& exit_code);
void add_assemble(CLI::App& app, int& exit_code);
void add_synth(CLI::App& app, int& exit_code);
void add_etm4(CLI::App& app, int& exit_code);

}  // namespace waymark::cli
