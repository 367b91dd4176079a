// Sees frames as they are unpacked.
#pragma once

#include "opencsd/ocsd_if_types.h"

class ITrcRawFrameIn {
 public:
  ITrcRawFrameIn() {}
  virtual ~ITrcRawFrameIn() {}

  /// `traceID` is used only for OCSD_FRM_ID_DATA.  For operations other than OCSD_OP_DATA all other
  /// arguments are 0.
  virtual ocsd_err_t TraceRawFrameIn(const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                                     const ocsd_rawframe_elem_t frame_element,
                                     const int dataBlockSize, const uint8_t *pDataBlock,
                                     const uint8_t traceID) = 0;
};
