// The register values that every trace source has.
#pragma once

#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class CSConfig {
 public:
  CSConfig() {}
  virtual ~CSConfig() {}

  virtual const uint8_t getTraceID() const = 0;
};

#pragma GCC diagnostic pop
