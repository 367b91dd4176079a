// Receives decoded elements.
#pragma once

#include "opencsd/trc_gen_elem_types.h"

class OcsdTraceElement;

class ITrcGenElemIn {
 public:
  ITrcGenElemIn() {}
  virtual ~ITrcGenElemIn() {}

  /// `elem` is valid only during the call.
  virtual ocsd_datapath_resp_t TraceElemIn(const ocsd_trc_index_t index_sop,
                                           const uint8_t trc_chan_id,
                                           const OcsdTraceElement &elem) = 0;
};
