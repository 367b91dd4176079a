// The input of raw trace bytes: the frame decoder, a packet processor or a decode tree.
#pragma once

#include "opencsd/ocsd_if_types.h"

class ITrcDataIn {
 public:
  ITrcDataIn() {}
  virtual ~ITrcDataIn() {}

  /// OCSD_OP_DATA needs a block and a counter, which gets the number of used bytes.  The other
  /// operations ignore everything but `op`.  After a WAIT response: OCSD_OP_FLUSH until it is not
  /// WAIT, then the bytes that were not used.
  virtual ocsd_datapath_resp_t TraceDataIn(const ocsd_datapath_op_t op,
                                           const ocsd_trc_index_t index,
                                           const uint32_t dataBlockSize, const uint8_t *pDataBlock,
                                           uint32_t *numBytesProcessed) = 0;
};
