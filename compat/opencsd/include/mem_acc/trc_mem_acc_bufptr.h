// Memory in a buffer of the client.
#pragma once

#include "mem_acc/trc_mem_acc_base.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// The buffer is borrowed.
class TrcMemAccBufPtr : public TrcMemAccessorBase {
 public:
  TrcMemAccBufPtr(const ocsd_vaddr_t s_address, const uint8_t *p_buffer, const uint32_t size);
  TrcMemAccBufPtr();
  void initAccessor(const ocsd_vaddr_t s_address, const uint8_t *p_buffer, const uint32_t size);
  virtual ~TrcMemAccBufPtr() {}

  virtual const uint32_t readBytes(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t memSpace,
                                   const uint8_t trcID, const uint32_t reqBytes,
                                   uint8_t *byteBuffer);

  /// The buffer, which is as long as the range.
  const uint8_t *getBuffer() const { return m_p_buffer; }

 private:
  const uint8_t *m_p_buffer;
  uint32_t m_size;
};

#pragma GCC diagnostic pop
