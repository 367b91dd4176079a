// Prints generic elements.
#pragma once

#include <stdint.h>

#include <string>

#include "common/trc_gen_elem.h"
#include "interfaces/trc_gen_elem_in_i.h"
#include "pkt_printers/item_printer.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcGenericElementPrinter : public ItemPrinter, public ITrcGenElemIn {
 public:
  TrcGenericElementPrinter();
  virtual ~TrcGenericElementPrinter() {}

  virtual ocsd_datapath_resp_t TraceElemIn(const ocsd_trc_index_t index_sop,
                                           const uint8_t trc_chan_id, const OcsdTraceElement &elem);

  /// Acknowledges a WAIT that was requested for a test, or says whether this is still needed.
  void ackWait() { m_needWaitAck = false; }
  const bool needAckWait() const { return m_needWaitAck; }

  /// Counts elements by type, for printStats().
  void set_collect_stats() { m_collect_stats = true; }
  void printStats();

 private:
  bool m_needWaitAck;
  bool m_collect_stats;
  uint64_t m_packet_counts[OCSD_GEN_TRC_ELEM_CUSTOM + 1];
  std::string m_line;
};

#pragma GCC diagnostic pop
