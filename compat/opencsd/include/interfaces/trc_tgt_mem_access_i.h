// Gives decoders the memory of the traced program.
#pragma once

#include "opencsd/ocsd_if_types.h"

class ITargetMemAccess {
 public:
  ITargetMemAccess() {}
  virtual ~ITargetMemAccess() {}

  /// Reads up to `*num_bytes` bytes and sets it to the number read: 0 with OCSD_OK if the
  /// address is not accessible.
  virtual ocsd_err_t ReadTargetMemory(const ocsd_vaddr_t address, const uint8_t cs_trace_id,
                                      const ocsd_mem_space_acc_t mem_space, uint32_t *num_bytes,
                                      uint8_t *p_buffer) = 0;

  /// Forgets what was read for this trace ID: its context has changed.
  virtual void InvalidateMemAccCache(const uint8_t cs_trace_id) = 0;
};
