// Call trees in the formats of other programs.  See analysis-outputs.md 3.1, 3.2 and 3.5.
#pragma once

#include <cstddef>
#include <string>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"
#include "waymark/stacks/tree.h"

namespace waymark::exports {

/// Trees are written up to this depth (stacks::Tree::limit_depth()), so that a deep recursion gives
/// files that their readers can use.
inline constexpr std::size_t kMostDepth = 1024;

struct TreeOptions {
  std::string command{};   ///< What was executed, for formats that name it.
  bool addresses = false;  ///< For callgrind: costs by instruction, not only by line.
  bool cycles = false;     ///< The trace has cycle counts.
};

/// One line for each stack, as flamegraph.pl reads it.
Result<void> write_folded(const stacks::Tree& tree, const TreeOptions& options, TextBuffer& out);

/// The format of KCachegrind and callgrind_annotate.  The tree should have ranges and sites.
Result<void> write_callgrind(const stacks::Tree& tree, const TreeOptions& options, TextBuffer& out);

/// The format of `go tool pprof`.  The tree should have ranges and sites.  kUnsupported: this build
/// has no zlib.
Result<void> write_pprof(const stacks::Tree& tree, const TreeOptions& options, TextBuffer& out);

}  // namespace waymark::exports
