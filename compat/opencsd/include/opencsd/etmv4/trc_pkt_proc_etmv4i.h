// The packet processor of the ETMv4, and of the ETE.
#pragma once

#include "common/trc_pkt_proc_base.h"
#include "opencsd/etmv4/trc_cmp_cfg_etmv4.h"
#include "opencsd/etmv4/trc_pkt_elem_etmv4i.h"

class TrcPktProcEtmV4IImpl;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcPktProcEtmV4I
    : public TrcPktProcBase<EtmV4ITrcPacket, ocsd_etmv4_i_pkt_type, EtmV4Config> {
 public:
  OCSD_BEGINS TrcPktProcEtmV4I();
  OCSD_BEGINS TrcPktProcEtmV4I(int instIDNum);
  virtual ~TrcPktProcEtmV4I();

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
  friend class TrcPktProcEtmV4IImpl;
  TrcPktProcEtmV4IImpl *m_pImpl;
};

#pragma GCC diagnostic pop
