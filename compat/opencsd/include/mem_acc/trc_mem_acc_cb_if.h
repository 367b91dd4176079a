// Memory that a client reads itself: as a class.
#pragma once

#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcMemAccCBIF {
 public:
  TrcMemAccCBIF() {}
  virtual ~TrcMemAccCBIF() {}

  /// Reads up to `reqBytes` bytes; answers how many: 0 where it has none.
  virtual const uint32_t readBytes(const ocsd_vaddr_t s_address,
                                   const ocsd_mem_space_acc_t memSpace, const uint32_t reqBytes,
                                   uint8_t *byteBuffer) = 0;
};

#pragma GCC diagnostic pop
