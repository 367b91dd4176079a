// The sub-commands.  Each adds itself to the application and stores the exit code of its run.
#pragma once

#include <CLI/CLI.hpp>

namespace waymark::cli {

void add_info(CLI::App& app, int& exit_code);
void add_packets(CLI::App& app, int& exit_code);
void add_decode(CLI::App& app, int& exit_code);
void add_count(CLI::App& app, int& exit_code);
void add_syst(CLI::App& app, int& exit_code);
void add_collateral(CLI::App& app, int& exit_code);
void add_assemble(CLI::App& app, int& exit_code);
void add_synth(CLI::App& app, int& exit_code);
void add_etm4(CLI::App& app, int& exit_code);

}  // namespace waymark::cli
