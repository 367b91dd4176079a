// Replaces database.cc in a library without SQLite.
#include "waymark/exports/database.h"

namespace waymark::exports {

bool databases_available() { return false; }

Result<std::unique_ptr<Database>> make_database(const std::string& /*path*/,
                                                const std::string& name) {
  return fail(ErrorCode::kUnsupported, name +
                                           " cannot be written: this program was built without "
                                           "SQLite (-DWAYMARK_SQLITE=OFF).");
}

}  // namespace waymark::exports
