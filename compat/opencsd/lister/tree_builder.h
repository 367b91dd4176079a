// From a snapshot to a decode tree, with the log lines of the reference's snapshot library; see
// snapshot-format.md and trc-pkt-lister.md 3.
#pragma once

#include <memory>

#include "dump_files.h"
#include "log.h"
#include "options.h"
#include "waymark/image/image.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::compat {

/// The image outlives the tree, whose sources read it.
struct BuiltTree {
  std::unique_ptr<image::Image> image;
  std::unique_ptr<DumpFiles> dumps;
  std::unique_ptr<DecodeTree> tree;
  /// The registers select a mode that cannot be decoded: the source only gives packets, and the
  /// reference fails at the first of them.
  std::array<bool, kTraceIdCount> refused{};
};

/// Nothing: no source of the buffer has a decoder; the log says why.
std::optional<BuiltTree> build_tree(const inputs::Snapshot& snapshot,
                                    const inputs::TraceBuffer& buffer, const ListerOptions& options,
                                    Log& log);

/// "Gen_Info : Mapped Memory Accessors" and the lines after it.
void log_accessors(const DumpFiles& dumps, Log& log);

/// The log lines for the problems that the snapshot reader found.
void log_problems(const std::vector<inputs::Problem>& problems, Log& log);

}  // namespace waymark::compat
