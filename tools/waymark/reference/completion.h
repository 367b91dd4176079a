// Scripts that complete commands, options, values and files in shells.
#pragma once

#include <string>

#include "option_table.h"

namespace waymark::cli {

std::string bash_completion(const CommandRow& program);
std::string zsh_completion(const CommandRow& program);
std::string fish_completion(const CommandRow& program);

}  // namespace waymark::cli
