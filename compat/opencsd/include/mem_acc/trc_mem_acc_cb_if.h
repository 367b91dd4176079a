// Memory that a client reads itself, by a class.
#pragma once

#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcMemAccCBIF {
 public:
  TrcMemAccCBIF() {}
  virtual ~TrcMemAccCBIF() {}

  /// Reads up to `reqBytes` bytes and returns the number read; 0: none.
  virtual const uint32_t readBytes(const ocsd_vaddr_t s_address,
                                   const ocsd_mem_space_acc_t memSpace, const uint32_t reqBytes,
                                   uint8_t *byteBuffer) = 0;
};

#pragma GCC diagnostic pop
