// Replaces store.cc in a library without SQLite.
#include "waymark/index/store.h"

namespace waymark::index {

bool stores_available() { return false; }

Result<std::unique_ptr<Index>> open_store(const std::string& path,
                                          const StoreOptions& /*options*/) {
  return fail(ErrorCode::kUnsupported, path +
                                           " cannot be used: this program was built without SQLite "
                                           "(-DWAYMARK_SQLITE=OFF).");
}

}  // namespace waymark::index
