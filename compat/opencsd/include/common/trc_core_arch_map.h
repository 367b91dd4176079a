// Architecture and profile of a core by its name.
#pragma once

#include <string>

#include "opencsd/ocsd_if_types.h"

class CoreArchProfileMap {
 public:
  CoreArchProfileMap();
  ~CoreArchProfileMap() {}

  /// ARCH_UNKNOWN and profile_Unknown for a name that is not known.
  ocsd_arch_profile_t getArchProfile(const std::string &coreName);
};
