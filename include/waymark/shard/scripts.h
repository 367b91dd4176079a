// Scripts with which schedulers do the shards of a job, and merge them.
#pragma once

#include <string>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/shard/folder.h"

namespace waymark::shard {

struct ScriptOptions {
  std::string program{};  ///< The path of waymark.
  std::string result{};   ///< What the merge writes.
  unsigned tasks = 1000;  ///< At most; each does several shards.
};

/// Writes the files of an engine into DIR/scripts, for the shards that have no part: slurm,
/// parallel, kubernetes, make or ninja.  The result is how to use them, as one line.  kIo.
Result<std::string> write_scripts(const Folder& folder, std::string_view engine,
                                  const ScriptOptions& options);

}  // namespace waymark::shard
