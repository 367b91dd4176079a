// Call trees as the content of parts.  Without ranges and the files of programs, which the formats
// of wants() do not need.
#pragma once

#include <string>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/stacks/tree.h"

namespace waymark::shard {

/// The same tree always gives the same bytes.
std::string encode(const stacks::Tree& tree);

/// kBadData: it is not a tree; then nothing is added.
Result<void> add_tree(Bytes content, stacks::Tree& sum);

}  // namespace waymark::shard
