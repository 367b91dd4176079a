// An index in a file: an SQLite database, whose tables are described in docs/index-format.md.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "waymark/index/index.h"

namespace waymark::index {

/// Whether this library was built with SQLite; if not, open_store() gives kUnsupported.
bool stores_available();

enum class StoreMode : std::uint8_t {
  kRead,   ///< Fails while another process builds it.
  kBuild,  ///< Made if it does not exist; no one else can open it until it is closed.
};

struct StoreOptions {
  StoreMode mode = StoreMode::kRead;
  bool rebuild =
      false;  ///< With kBuild: begin with an empty index, however damaged the old one is.
  /// Called every tenth of a second while another process uses the file.  True: continue to wait.
  /// Empty: do not wait.
  std::function<bool()> wait;
  /// With kRead: called during a long question.  True: the question fails with kLimit.
  std::function<bool()> stop{};
};

/// Opens the index at `path`.
///
/// kNotFound: the file does not exist (kRead).  kIo: the system refuses, for instance because the
/// folder is read-only.  kConflict: another process uses it.  kInvalidArgument: the file is not an
/// index, and is left unchanged.  kBadData: the index is damaged, or has another version.
/// kUnsupported: see stores_available().  `detail` names the remedy.
Result<std::unique_ptr<Index>> open_store(const std::string& path, const StoreOptions& options);

/// Whether `path` is a regular file that begins as an index does.
bool is_index_file(const std::string& path);

/// The path of the index for the trace file `trace`, next to the trace.
std::string store_path(const std::string& trace);

/// The path in the user's cache, for a trace whose folder is read-only: in $XDG_CACHE_HOME/waymark
/// or, if that variable is not set, in ~/.cache/waymark.  The name depends on the absolute path of
/// the trace.  Empty: no such folder is known.
std::string cached_store_path(const std::string& trace);

}  // namespace waymark::index
