// The version of the interface that the library has.
#pragma once

#include "opencsd/ocsd_if_types.h"
#include "opencsd/ocsd_if_version.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class ocsdVersion {
 public:
  /// Major, minor and patch: 0x00MMmmpp.
  static const uint32_t vers_num();
  static const char *vers_str();
};

#pragma GCC diagnostic pop
