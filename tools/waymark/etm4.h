// The sub-commands of `waymark etm4`.
#pragma once

#include <CLI/CLI.hpp>

#include "waymark/etm4x/capabilities.h"

namespace waymark::cli {

void add_etm4_simulate(CLI::App& etm4, int& exit_code);

}  // namespace waymark::cli
