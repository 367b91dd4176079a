// Sees packets of one protocol with their bytes; cannot stop them.
#pragma once

#include "interfaces/trc_abs_typed_base_i.h"
#include "opencsd/ocsd_if_types.h"

template <class P>
class IPktRawDataMon : public ITrcTypedBase {
 public:
  IPktRawDataMon() {}
  virtual ~IPktRawDataMon() {}

  /// For operations other than OCSD_OP_DATA there is no packet.
  virtual void RawPacketDataMon(const ocsd_datapath_op_t op, const ocsd_trc_index_t index_sop,
                                const P *pkt, const uint32_t size, const uint8_t *p_data) = 0;
};
