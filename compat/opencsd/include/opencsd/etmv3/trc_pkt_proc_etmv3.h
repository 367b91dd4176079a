// The packet processor of the ETMv3.
#pragma once

#include "common/trc_pkt_proc_base.h"
#include "opencsd/etmv3/trc_cmp_cfg_etmv3.h"
#include "opencsd/etmv3/trc_pkt_elem_etmv3.h"

class TrcPktProcEtmV3Impl;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcPktProcEtmV3 : public TrcPktProcBase<EtmV3TrcPacket, ocsd_etmv3_pkt_type, EtmV3Config> {
 public:
  OCSD_BEGINS TrcPktProcEtmV3();
  OCSD_BEGINS TrcPktProcEtmV3(int instIDNum);
  virtual ~TrcPktProcEtmV3();

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
  friend class TrcPktProcEtmV3Impl;
  TrcPktProcEtmV3Impl *m_pImpl;
};

#pragma GCC diagnostic pop
