// Names of PLT entries, which call functions of other programs.
#pragma once

#include <string>
#include <vector>

#include "elf.h"
#include "waymark/program/program.h"

namespace waymark::program {

/// The entries of .plt, .plt.got, .plt.sec and .iplt, as "name@plt", in ascending order.  They are
/// found by their instructions, because their size is not constant.  `functions` names what an
/// entry with a function that is chosen at run time calls.
std::vector<Function> plt_entries(const Elf& elf, const std::vector<Function>& functions);

}  // namespace waymark::program
