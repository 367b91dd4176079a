// The packet processor of the STM.
#pragma once

#include "common/trc_pkt_proc_base.h"
#include "opencsd/stm/trc_cmp_cfg_stm.h"
#include "opencsd/stm/trc_pkt_elem_stm.h"

class TrcPktProcStmImpl;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcPktProcStm : public TrcPktProcBase<StmTrcPacket, ocsd_stm_pkt_type, STMConfig> {
 public:
  OCSD_BEGINS TrcPktProcStm();
  OCSD_BEGINS TrcPktProcStm(int instIDNum);
  virtual ~TrcPktProcStm();

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
  friend class TrcPktProcStmImpl;
  TrcPktProcStmImpl *m_pImpl;
};

#pragma GCC diagnostic pop
