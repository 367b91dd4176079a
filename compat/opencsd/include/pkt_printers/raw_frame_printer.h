// Prints frames as they are unpacked.
#pragma once

#include <stdint.h>

#include "interfaces/trc_data_rawframe_in_i.h"
#include "pkt_printers/item_printer.h"

class RawFramePrinter : public ITrcRawFrameIn, public ItemPrinter {
 public:
  RawFramePrinter() {}
  RawFramePrinter(ocsdMsgLogger *pMsgLogger) { setMessageLogger(pMsgLogger); }
  virtual ~RawFramePrinter() {}

  virtual ocsd_err_t TraceRawFrameIn(const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                                     const ocsd_rawframe_elem_t frame_element,
                                     const int dataBlockSize, const uint8_t *pDataBlock,
                                     const uint8_t traceID);
};
