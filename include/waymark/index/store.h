// An index in a file: an SQLite database, whose tables docs/index-format.md describes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "waymark/index/index.h"

namespace waymark::index {

/// Whether this library was built with SQLite; without, open_store() gives kUnsupported.
bool stores_available();

enum class StoreMode : std::uint8_t {
  kRead,   ///< Nobody may be building it.
  kBuild,  ///< Made if need be; nobody else may open it until it is closed.
};

struct StoreOptions {
  StoreMode mode = StoreMode::kRead;
  bool anew = false;  ///< With kBuild: the index that is there is thrown away, however damaged.
  /// Asked every tenth of a second while another process has the file.  True: wait on; empty: do
  /// not wait.
  std::function<bool()> wait;
};

/// Opens the index at `path`.
///
/// kNotFound: there is none (kRead).  kIo: the system refuses, a folder that is read-only for
/// instance.  kConflict: another process has it.  kBadData: it is no index, is damaged, or is of
/// another version.  kUnsupported: see stores_available().  `detail` names the remedy.
Result<std::unique_ptr<Index>> open_store(const std::string& path, const StoreOptions& options);

/// The usual place of the index of a capture whose trace lies in the file `trace`.
std::string store_path(const std::string& trace);

}  // namespace waymark::index
