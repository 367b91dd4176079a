// Prints the packets of one protocol: as their sink, or as their monitor with bytes.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <cinttypes>
#include <string>

#include "interfaces/trc_pkt_in_i.h"
#include "interfaces/trc_pkt_raw_in_i.h"
#include "opencsd/ocsd_if_types.h"
#include "pkt_printers/item_printer.h"

template <class P>
class PacketPrinter : public IPktDataIn<P>, public IPktRawDataMon<P>, public ItemPrinter {
 public:
  PacketPrinter(const uint8_t trcID)
      : m_trcID(trcID), m_bRawPrint(false), m_last_resp(OCSD_RESP_CONT) {}
  PacketPrinter(const uint8_t trcID, ocsdMsgLogger *pMsgLogger)
      : m_trcID(trcID), m_bRawPrint(false), m_last_resp(OCSD_RESP_CONT) {
    setMessageLogger(pMsgLogger);
  }
  virtual ~PacketPrinter() {}

  virtual ocsd_datapath_resp_t PacketDataIn(const ocsd_datapath_op_t op,
                                            const ocsd_trc_index_t index_sop, const P *p_packet_in);
  virtual void RawPacketDataMon(const ocsd_datapath_op_t op, const ocsd_trc_index_t index_sop,
                                const P *pkt, const uint32_t size, const uint8_t *p_data);

 private:
  void printIdx_ID(const ocsd_trc_index_t index_sop);

  uint8_t m_trcID;
  bool m_bRawPrint;
  ocsd_datapath_resp_t m_last_resp;
  std::string m_line;
};

template <class P>
void PacketPrinter<P>::printIdx_ID(const ocsd_trc_index_t index_sop) {
  if (id_print_muted()) return;
  char place[64];
  snprintf(place, sizeof place, "Idx:%" OCSD_TRC_IDX_STR "; ID:%x;", index_sop,
           static_cast<unsigned>(m_trcID));
  m_line += place;
}

template <class P>
ocsd_datapath_resp_t PacketPrinter<P>::PacketDataIn(const ocsd_datapath_op_t op,
                                                    const ocsd_trc_index_t index_sop,
                                                    const P *p_packet_in) {
  ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
  m_line.clear();
  // After WAIT only a flush may come.
  if (OCSD_DATA_RESP_IS_WAIT(m_last_resp) && op != OCSD_OP_FLUSH && op != OCSD_OP_RESET &&
      !m_bRawPrint)
    resp = OCSD_RESP_FATAL_INVALID_OP;

  char id[16];
  snprintf(id, sizeof id, "ID:%x\t", static_cast<unsigned>(m_trcID));
  if (resp == OCSD_RESP_FATAL_INVALID_OP) {
    m_line += id;
    m_line += "ERROR: FLUSH operation expected after wait on trace decode path\n";
  } else {
    switch (op) {
      case OCSD_OP_DATA: {
        if (!is_muted() && p_packet_in != 0) {
          if (!m_bRawPrint) printIdx_ID(index_sop);
          std::string text;
          p_packet_in->toString(text);
          m_line += '\t';
          m_line += text;
          m_line += '\n';
        }
        if (getTestWaits() > 0) {
          resp = OCSD_RESP_WAIT;
          decTestWaits();
        }
        break;
      }
      case OCSD_OP_EOT:
        m_line += id;
        m_line += "END OF TRACE DATA\n";
        break;
      case OCSD_OP_FLUSH:
        m_line += id;
        m_line += "FLUSH operation on trace decode path\n";
        break;
      case OCSD_OP_RESET:
        m_line += id;
        m_line += "RESET operation on trace decode path\n";
        break;
    }
  }
  m_last_resp = resp;
  if (!is_muted() && !m_line.empty()) itemPrintLine(m_line);
  return resp;
}

template <class P>
void PacketPrinter<P>::RawPacketDataMon(const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index_sop, const P *pkt,
                                        const uint32_t size, const uint8_t *p_data) {
  if (is_muted()) return;
  m_line.clear();
  char id[16];
  snprintf(id, sizeof id, "ID:%x\t", static_cast<unsigned>(m_trcID));
  switch (op) {
    case OCSD_OP_DATA: {
      printIdx_ID(index_sop);
      m_line += " [";
      static const char digits[] = "0123456789abcdef";
      for (uint32_t i = 0; i < size; ++i) {
        m_line += "0x";
        m_line += digits[p_data[i] >> 4];
        m_line += digits[p_data[i] & 0xF];
        m_line += ' ';
      }
      m_line += "];\t";
      if (pkt != 0) {
        std::string text;
        pkt->toString(text);
        m_line += text;
      }
      m_line += '\n';
      break;
    }
    case OCSD_OP_EOT:
      m_line += id;
      m_line += "END OF TRACE DATA\n";
      break;
    case OCSD_OP_FLUSH:
      m_line += id;
      m_line += "FLUSH operation on trace decode path\n";
      break;
    case OCSD_OP_RESET:
      m_line += id;
      m_line += "RESET operation on trace decode path\n";
      break;
  }
  itemPrintLine(m_line);
}
