// Receives packets of one protocol.
#pragma once

#include "interfaces/trc_abs_typed_base_i.h"
#include "opencsd/ocsd_if_types.h"

template <class P>
class IPktDataIn : public ITrcTypedBase {
 public:
  IPktDataIn() {}
  virtual ~IPktDataIn() {}

  /// `p_packet_in` is NULL for operations other than OCSD_OP_DATA, and valid only during the call.
  virtual ocsd_datapath_resp_t PacketDataIn(const ocsd_datapath_op_t op,
                                            const ocsd_trc_index_t index_sop,
                                            const P *p_packet_in) = 0;
};
