// The packet processor of the PTM.
#pragma once

#include "common/trc_pkt_proc_base.h"
#include "opencsd/ptm/trc_cmp_cfg_ptm.h"
#include "opencsd/ptm/trc_pkt_elem_ptm.h"

class TrcPktProcPtmImpl;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcPktProcPtm : public TrcPktProcBase<PtmTrcPacket, ocsd_ptm_pkt_type, PtmConfig> {
 public:
  OCSD_BEGINS TrcPktProcPtm();
  OCSD_BEGINS TrcPktProcPtm(int instIDNum);
  virtual ~TrcPktProcPtm();

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
  friend class TrcPktProcPtmImpl;
  TrcPktProcPtmImpl *m_pImpl;
};

#pragma GCC diagnostic pop
