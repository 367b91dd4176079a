// Packet processors: from bytes to packets.  The base of the library's own and of a client's.
#pragma once

#include <vector>

#include "common/comp_attach_pt_t.h"
#include "common/trc_component.h"
#include "interfaces/trc_data_raw_in_i.h"
#include "interfaces/trc_indexer_pkt_i.h"
#include "interfaces/trc_pkt_in_i.h"
#include "interfaces/trc_pkt_raw_in_i.h"
#include "opencsd/ocsd_if_version.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcPktProcI : public TraceComponent, public ITrcDataIn {
 public:
  TrcPktProcI(const char *component_name) : TraceComponent(component_name) {}
  TrcPktProcI(const char *component_name, int instIDNum)
      : TraceComponent(component_name, instIDNum) {}
  virtual ~TrcPktProcI() {}

  virtual ocsd_datapath_resp_t TraceDataIn(const ocsd_datapath_op_t op,
                                           const ocsd_trc_index_t index,
                                           const uint32_t dataBlockSize, const uint8_t *pDataBlock,
                                           uint32_t *numBytesProcessed) = 0;

  /// OCSD_ERR_NOT_INIT if the protocol has no counts.  The processor owns the block.
  virtual ocsd_err_t getStatsBlock(ocsd_decode_stats_t **pp_stats) = 0;
  virtual void resetStats() = 0;

 protected:
  /// Implemented by each protocol.  The block is not empty, and the counter is not NULL.
  virtual ocsd_datapath_resp_t processData(const ocsd_trc_index_t index,
                                           const uint32_t dataBlockSize, const uint8_t *pDataBlock,
                                           uint32_t *numBytesProcessed) = 0;
  virtual ocsd_datapath_resp_t onEOT() = 0;
  virtual ocsd_datapath_resp_t onReset() = 0;
  virtual ocsd_datapath_resp_t onFlush() = 0;
  virtual ocsd_err_t onProtocolConfig() = 0;
  /// The packet that is being output is bad.
  virtual const bool isBadPacket() const = 0;
};

/// `P` is the packet class, `Pt` the enumeration of packet types, `Pc` the configuration class.
template <class P, class Pt, class Pc>
class TrcPktProcBase : public TrcPktProcI {
 public:
  TrcPktProcBase(const char *component_name)
      : TrcPktProcI(component_name), m_config(0), m_b_is_init(false), m_stats_init(false) {
    statsClear();
  }
  TrcPktProcBase(const char *component_name, int instIDNum)
      : TrcPktProcI(component_name, instIDNum),
        m_config(0),
        m_b_is_init(false),
        m_stats_init(false) {
    statsClear();
  }
  virtual ~TrcPktProcBase() { ClearConfigObj(); }

  virtual ocsd_datapath_resp_t TraceDataIn(const ocsd_datapath_op_t op,
                                           const ocsd_trc_index_t index,
                                           const uint32_t dataBlockSize, const uint8_t *pDataBlock,
                                           uint32_t *numBytesProcessed);

  componentAttachPt<IPktDataIn<P> > *getPacketOutAttachPt() { return &m_pkt_out_i; }
  componentAttachPt<IPktRawDataMon<P> > *getRawPacketMonAttachPt() { return &m_pkt_raw_mon_i; }
  componentAttachPt<ITrcPktIndexer<Pt> > *getTraceIDIndexerAttachPt() { return &m_pkt_indexer_i; }

  /// Copies the configuration.
  virtual ocsd_err_t setProtocolConfig(const Pc *config);
  virtual const Pc *getProtocolConfig() const { return m_config; }

  virtual ocsd_err_t getStatsBlock(ocsd_decode_stats_t **pp_stats) {
    *pp_stats = &m_stats;
    return m_stats_init ? OCSD_OK : OCSD_ERR_NOT_INIT;
  }
  virtual void resetStats() { statsClear(); }

 protected:
  /// Passes a packet to the sink; a bad one only if bad packets are to be passed on.
  ocsd_datapath_resp_t outputDecodedPacket(const ocsd_trc_index_t index_sop, const P *pkt);
  /// Passes a packet to the monitor, unless it has no bytes.
  void outputRawPacketToMonitor(const ocsd_trc_index_t index_sop, const P *pkt, const uint32_t size,
                                const uint8_t *p_data);
  void indexPacket(const ocsd_trc_index_t index_sop, const Pt *packet_type);

  /// Passes a packet to the indexer, the monitor and the sink, in this order.
  ocsd_datapath_resp_t outputOnAllInterfaces(const ocsd_trc_index_t index_sop, const P *pkt,
                                             const Pt *pkt_type, std::vector<uint8_t> &pktdata);
  ocsd_datapath_resp_t outputOnAllInterfaces(const ocsd_trc_index_t index_sop, const P *pkt,
                                             const Pt *pkt_type, const uint8_t *pktdata,
                                             uint32_t pktlen);

  const bool hasRawMon() const { return m_pkt_raw_mon_i.hasAttachedAndEnabled(); }

  void ClearConfigObj() {
    delete m_config;
    m_config = 0;
  }

  /// There is a configuration, and a receiver of the packets.
  const bool checkInit() {
    if (!m_b_is_init)
      m_b_is_init = m_config != 0 && (m_pkt_out_i.hasAttached() || m_pkt_raw_mon_i.hasAttached());
    return m_b_is_init;
  }

  // For protocols with counts; statsInit() says that this is one.
  void statsAddTotalCount(const uint64_t count) { m_stats.channel_total += count; }
  void statsAddUnsyncCount(const uint64_t count) { m_stats.channel_unsynced += count; }
  void statsAddBadSeqCount(const uint32_t count) { m_stats.bad_sequence_errs += count; }
  void statsAddBadHdrCount(const uint32_t count) { m_stats.bad_header_errs += count; }
  void statsInit() { m_stats_init = true; }

  componentAttachPt<IPktDataIn<P> > m_pkt_out_i;
  componentAttachPt<IPktRawDataMon<P> > m_pkt_raw_mon_i;
  componentAttachPt<ITrcPktIndexer<Pt> > m_pkt_indexer_i;
  Pc *m_config;
  bool m_b_is_init;

 private:
  void statsClear() {
    m_stats.version = OCSD_VER_NUM;
    m_stats.revision = OCSD_STATS_REVISION;
    m_stats.channel_total = 0;
    m_stats.channel_unsynced = 0;
    m_stats.bad_header_errs = 0;
    m_stats.bad_sequence_errs = 0;
    m_stats.demux.valid_id_bytes = 0;
    m_stats.demux.no_id_bytes = 0;
    m_stats.demux.reserved_id_bytes = 0;
    m_stats.demux.unknown_id_bytes = 0;
    m_stats.demux.frame_bytes = 0;
  }

  ocsd_decode_stats_t m_stats;
  bool m_stats_init;
};

template <class P, class Pt, class Pc>
ocsd_datapath_resp_t TrcPktProcBase<P, Pt, Pc>::TraceDataIn(const ocsd_datapath_op_t op,
                                                            const ocsd_trc_index_t index,
                                                            const uint32_t dataBlockSize,
                                                            const uint8_t *pDataBlock,
                                                            uint32_t *numBytesProcessed) {
  IPktDataIn<P> *const sink = m_pkt_out_i.first();
  IPktRawDataMon<P> *const monitor = m_pkt_raw_mon_i.first();
  ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
  switch (op) {
    case OCSD_OP_DATA:
      if (dataBlockSize == 0 || pDataBlock == 0 || numBytesProcessed == 0) {
        if (numBytesProcessed != 0) *numBytesProcessed = 0;
        LogError(ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PARAM_VAL,
                           "Packet Processor: Zero length data block or NULL pointer error\n"));
        return OCSD_RESP_FATAL_INVALID_PARAM;
      }
      return processData(index, dataBlockSize, pDataBlock, numBytesProcessed);

    case OCSD_OP_EOT:
      resp = onEOT();
      if (sink != 0 && !OCSD_DATA_RESP_IS_FATAL(resp)) resp = sink->PacketDataIn(op, 0, 0);
      if (monitor != 0) monitor->RawPacketDataMon(op, 0, 0, 0, 0);
      return resp;

    case OCSD_OP_FLUSH:
      if (sink != 0) resp = sink->PacketDataIn(op, 0, 0);
      if (OCSD_DATA_RESP_IS_CONT(resp)) {
        const ocsd_datapath_resp_t own = onFlush();
        if (own > resp) resp = own;
      }
      return resp;

    case OCSD_OP_RESET:
      if (sink != 0) resp = sink->PacketDataIn(op, index, 0);
      if (!OCSD_DATA_RESP_IS_FATAL(resp)) resp = onReset();
      if (monitor != 0) monitor->RawPacketDataMon(op, index, 0, 0, 0);
      return resp;
  }
  LogError(ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PARAM_VAL,
                     "Packet Processor : Unknown Datapath operation"));
  return OCSD_RESP_FATAL_INVALID_OP;
}

template <class P, class Pt, class Pc>
ocsd_err_t TrcPktProcBase<P, Pt, Pc>::setProtocolConfig(const Pc *config) {
  if (config == 0) return OCSD_ERR_INVALID_PARAM_VAL;
  Pc *const copy = new Pc(*config);
  ClearConfigObj();
  m_config = copy;
  return onProtocolConfig();
}

template <class P, class Pt, class Pc>
ocsd_datapath_resp_t TrcPktProcBase<P, Pt, Pc>::outputDecodedPacket(
    const ocsd_trc_index_t index_sop, const P *pkt) {
  IPktDataIn<P> *const sink = m_pkt_out_i.first();
  if (sink == 0) return OCSD_RESP_CONT;
  if ((getComponentOpMode() & OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS) != 0 && isBadPacket())
    return OCSD_RESP_CONT;
  return sink->PacketDataIn(OCSD_OP_DATA, index_sop, pkt);
}

template <class P, class Pt, class Pc>
void TrcPktProcBase<P, Pt, Pc>::outputRawPacketToMonitor(const ocsd_trc_index_t index_sop,
                                                         const P *pkt, const uint32_t size,
                                                         const uint8_t *p_data) {
  IPktRawDataMon<P> *const monitor = m_pkt_raw_mon_i.first();
  if (monitor == 0 || size == 0) return;
  if ((getComponentOpMode() & OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS) != 0 && isBadPacket()) return;
  monitor->RawPacketDataMon(OCSD_OP_DATA, index_sop, pkt, size, p_data);
}

template <class P, class Pt, class Pc>
void TrcPktProcBase<P, Pt, Pc>::indexPacket(const ocsd_trc_index_t index_sop,
                                            const Pt *packet_type) {
  ITrcPktIndexer<Pt> *const indexer = m_pkt_indexer_i.first();
  if (indexer != 0) indexer->TracePktIndex(index_sop, packet_type);
}

template <class P, class Pt, class Pc>
ocsd_datapath_resp_t TrcPktProcBase<P, Pt, Pc>::outputOnAllInterfaces(
    const ocsd_trc_index_t index_sop, const P *pkt, const Pt *pkt_type,
    std::vector<uint8_t> &pktdata) {
  return outputOnAllInterfaces(index_sop, pkt, pkt_type, pktdata.empty() ? 0 : &pktdata[0],
                               static_cast<uint32_t>(pktdata.size()));
}

template <class P, class Pt, class Pc>
ocsd_datapath_resp_t TrcPktProcBase<P, Pt, Pc>::outputOnAllInterfaces(
    const ocsd_trc_index_t index_sop, const P *pkt, const Pt *pkt_type, const uint8_t *pktdata,
    uint32_t pktlen) {
  indexPacket(index_sop, pkt_type);
  outputRawPacketToMonitor(index_sop, pkt, pktlen, pktdata);
  return outputDecodedPacket(index_sop, pkt);
}

#pragma GCC diagnostic pop
