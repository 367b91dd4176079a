// The parts of a file accessor as memory, for readers that do not ask for single bytes.
#pragma once

#include <cstdint>
#include <functional>

#include "mem_acc/trc_mem_acc_file.h"
#include "waymark/base/types.h"

namespace waymark::compat {

using FilePartVisitor = std::function<void(std::uint64_t address, Bytes bytes)>;

/// Calls `visitor` for each part.  The bytes live as long as the accessor.
void visit_file_parts(const TrcMemAccessorFile& accessor, const FilePartVisitor& visitor);

}  // namespace waymark::compat
