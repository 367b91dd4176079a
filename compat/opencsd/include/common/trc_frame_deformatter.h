// Unpacks CoreSight frames: one stream of bytes per trace ID.
#pragma once

#include <vector>

#include "common/comp_attach_pt_t.h"
#include "interfaces/trc_data_raw_in_i.h"
#include "interfaces/trc_data_rawframe_in_i.h"
#include "interfaces/trc_error_log_i.h"
#include "interfaces/trc_indexer_src_i.h"
#include "opencsd/ocsd_if_types.h"

class TraceFmtDcdImpl;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// Can be used on its own: Init(), Configure(), attach, then data.
class TraceFormatterFrameDecoder : public ITrcDataIn {
 public:
  OCSD_BEGINS TraceFormatterFrameDecoder();
  OCSD_BEGINS TraceFormatterFrameDecoder(int instNum);
  virtual ~TraceFormatterFrameDecoder();

  virtual ocsd_datapath_resp_t TraceDataIn(const ocsd_datapath_op_t op,
                                           const ocsd_trc_index_t index,
                                           const uint32_t dataBlockSize, const uint8_t *pDataBlock,
                                           uint32_t *numBytesProcessed);

  /// The attach point for the bytes of `ID`; NULL from 128 on.
  componentAttachPt<ITrcDataIn> *getIDStreamAttachPt(uint8_t ID);
  componentAttachPt<ITrcRawFrameIn> *getTrcRawFrameAttachPt();
  componentAttachPt<ITrcSrcIndexCreator> *getTrcSrcIndexAttachPt();
  componentAttachPt<ITraceErrorLog> *getErrLogAttachPt();

  ocsd_err_t Init();

  /// OCSD_DFRMTR_ flags.  OCSD_ERR_INVALID_PARAM_VAL: unknown flags, no flags, or flags that
  /// exclude each other; the old ones stay.
  ocsd_err_t Configure(uint32_t cfg_flags);
  const uint32_t getConfigFlags() const;

  /// Selects the IDs that are passed on.  OCSD_ERR_INVALID_ID from 128 on.
  ocsd_err_t OutputFilterIDs(std::vector<uint8_t> &id_list, bool bEnable);
  ocsd_err_t OutputFilterAllIDs(bool bEnable);

  ocsd_datapath_resp_t Reset();
  ocsd_datapath_resp_t Flush();

  /// The block is borrowed; NULL: none.
  void SetDemuxStatsBlock(ocsd_demux_stats_t *pStatsBlock);

 private:
  TraceFormatterFrameDecoder(const TraceFormatterFrameDecoder &);
  TraceFormatterFrameDecoder &operator=(const TraceFormatterFrameDecoder &);

  TraceFmtDcdImpl *m_pDecoder;
  int m_instNum;
};

#pragma GCC diagnostic pop
