// The commands for jobs over many captures; see commands.h.
#pragma once

#include <CLI/CLI.hpp>

namespace waymark::cli {

void add_plan(CLI::App& app, int& exit_code);
void add_shard(CLI::App& app, int& exit_code);
void add_merge(CLI::App& app, int& exit_code);
void add_status(CLI::App& app, int& exit_code);

}  // namespace waymark::cli
