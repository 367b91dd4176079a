// The level, for clients in C.
#include "level.h"
#include "opencsd/waymark_level.h"

ocsd_err_t waymark_opencsd_set_level(const char* version) {
  const auto set = waymark::compat::set_level(version == nullptr ? "" : version);
  return set ? OCSD_OK : OCSD_ERR_INVALID_PARAM_VAL;
}

const char* waymark_opencsd_level(void) { return waymark::compat::level_in_use().version.data(); }
