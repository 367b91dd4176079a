// The managers of the library's own decoders.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/ocsd_dcd_mngr_i.h"

namespace waymark::compat {

/// One for each protocol, with its name.
std::vector<std::pair<std::string, std::unique_ptr<IDecoderMngr>>> make_builtin_managers();

}  // namespace waymark::compat
