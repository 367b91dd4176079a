// The packet processor of the ITM.
#pragma once

#include "common/trc_pkt_proc_base.h"
#include "opencsd/itm/trc_cmp_cfg_itm.h"
#include "opencsd/itm/trc_pkt_elem_itm.h"

class TrcPktProcItmImpl;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcPktProcItm : public TrcPktProcBase<ItmTrcPacket, ocsd_itm_pkt_type, ITMConfig> {
 public:
  OCSD_BEGINS TrcPktProcItm();
  OCSD_BEGINS TrcPktProcItm(int instIDNum);
  virtual ~TrcPktProcItm();

  virtual ocsd_err_t getStatsBlock(ocsd_decode_stats_t **pp_stats);
  virtual void resetStats();

 protected:
  virtual ocsd_datapath_resp_t processData(const ocsd_trc_index_t index,
                                           const uint32_t dataBlockSize, const uint8_t *pDataBlock,
                                           uint32_t *numBytesProcessed);
  virtual ocsd_datapath_resp_t onEOT();
  virtual ocsd_datapath_resp_t onReset();
  virtual ocsd_datapath_resp_t onFlush();
  virtual ocsd_err_t onProtocolConfig();
  virtual const bool isBadPacket() const;

 private:
  friend class TrcPktProcItmImpl;
  TrcPktProcItmImpl *m_pImpl;
};

#pragma GCC diagnostic pop
