// Receives the places where packets begin.
#pragma once

#include "interfaces/trc_abs_typed_base_i.h"
#include "opencsd/ocsd_if_types.h"

template <class Pt>
class ITrcPktIndexer : public ITrcTypedBase {
 public:
  ITrcPktIndexer() {}
  virtual ~ITrcPktIndexer() {}

  /// `Pt` is the enumeration of the protocol's packet types.
  virtual void TracePktIndex(const ocsd_trc_index_t index_sop, const Pt *packet_type) = 0;
};
