// Printers of elements and frames, and the factory of all printers.  See trc-pkt-lister.md.
#include <algorithm>
#include <memory>

#include "opencsd/etmv3/trc_pkt_elem_etmv3.h"
#include "opencsd/etmv4/trc_pkt_elem_etmv4i.h"
#include "opencsd/itm/trc_pkt_elem_itm.h"
#include "opencsd/ptm/trc_pkt_elem_ptm.h"
#include "opencsd/stm/trc_pkt_elem_stm.h"
#include "pkt_printers/trc_print_fact.h"
#include "waymark/element/text.h"
#include "waymark/frames/text.h"

using waymark::TextBuffer;

// -- Elements. ------------------------------------------------------------------------------------

TrcGenericElementPrinter::TrcGenericElementPrinter()
    : m_needWaitAck(false), m_collect_stats(false), m_packet_counts() {}

ocsd_datapath_resp_t TrcGenericElementPrinter::TraceElemIn(ocsd_trc_index_t index_sop,
                                                           uint8_t trc_chan_id,
                                                           const OcsdTraceElement& elem) {
  ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
  if (m_collect_stats && static_cast<unsigned>(elem.elem_type) <= OCSD_GEN_TRC_ELEM_CUSTOM)
    ++m_packet_counts[elem.elem_type];
  if (is_muted()) return resp;

  TextBuffer place;
  if (!id_print_muted()) {
    place.put("Idx:");
    place.dec(index_sop);
    place.put("; ID:");
    place.hex(trc_chan_id);
    place.put("; ");
  }
  m_line.assign(place.view());
  std::string text;
  elem.toString(text);
  m_line += text;
  m_line += '\n';
  if (m_needWaitAck) {
    m_line += "WARNING: Generic Element Printer; New element without previous _WAIT acknowledged\n";
    m_needWaitAck = false;
  }
  itemPrintLine(m_line);

  if (getTestWaits() > 0) {
    resp = OCSD_RESP_WAIT;
    decTestWaits();
    m_needWaitAck = true;
  }
  return resp;
}

void TrcGenericElementPrinter::printStats() {
  TextBuffer text;
  text.put("Generic Packets processed:-\n");
  for (unsigned type = 0; type <= OCSD_GEN_TRC_ELEM_CUSTOM; ++type) {
    text.put(waymark::element_name(static_cast<waymark::ElementKind>(type)));
    text.put(" : ");
    text.dec(m_packet_counts[type]);
    text.put('\n');
  }
  text.put("\n\n");
  itemPrintLine(std::string(text.view()));
}

// -- Frames. --------------------------------------------------------------------------------------

ocsd_err_t RawFramePrinter::TraceRawFrameIn(ocsd_datapath_op_t op, ocsd_trc_index_t index,
                                            ocsd_rawframe_elem_t frame_element, int dataBlockSize,
                                            const uint8_t* pDataBlock, uint8_t traceID) {
  using waymark::frames::RawKind;
  if (op != OCSD_OP_DATA || is_muted()) return OCSD_OK;
  RawKind kind = RawKind::kPacked;
  switch (frame_element) {
    case OCSD_FRM_HSYNC:
      kind = RawKind::kHsync;
      break;
    case OCSD_FRM_FSYNC:
      kind = RawKind::kFsync;
      break;
    case OCSD_FRM_ID_DATA:
      kind = RawKind::kIdData;
      break;
    default:
      break;
  }
  TextBuffer text;
  waymark::frames::write_raw_frame(
      text, kind, index, traceID,
      {pDataBlock, static_cast<std::size_t>(std::max(dataBlockSize, 0))});
  itemPrintLine(std::string(text.view()));
  return OCSD_OK;
}

// -- The factory. ---------------------------------------------------------------------------------

namespace {

template <class Printer>
Printer* keep(std::vector<ItemPrinter*>& list, std::unique_ptr<Printer> printer,
              ocsdMsgLogger* logger) {
  if (logger != nullptr) printer->setMessageLogger(logger);
  list.push_back(printer.get());
  return printer.release();
}

template <class Packet>
ItemPrinter* make_packet_printer(std::vector<ItemPrinter*>& list, uint8_t id,
                                 ocsdMsgLogger* logger) {
  return keep(list, std::make_unique<PacketPrinter<Packet>>(id), logger);
}

}  // namespace

ItemPrinter* PktPrinterFact::createProtocolPrinter(std::vector<ItemPrinter*>& printer_list,
                                                   ocsd_trace_protocol_t protocol, uint8_t elemID,
                                                   ocsdMsgLogger* pMsgLogger) {
  switch (protocol) {
    case OCSD_PROTOCOL_ETMV4I:
    case OCSD_PROTOCOL_ETE:
      return make_packet_printer<EtmV4ITrcPacket>(printer_list, elemID, pMsgLogger);
    case OCSD_PROTOCOL_ETMV3:
      return make_packet_printer<EtmV3TrcPacket>(printer_list, elemID, pMsgLogger);
    case OCSD_PROTOCOL_PTM:
      return make_packet_printer<PtmTrcPacket>(printer_list, elemID, pMsgLogger);
    case OCSD_PROTOCOL_STM:
      return make_packet_printer<StmTrcPacket>(printer_list, elemID, pMsgLogger);
    case OCSD_PROTOCOL_ITM:
      return make_packet_printer<ItmTrcPacket>(printer_list, elemID, pMsgLogger);
    default:
      return nullptr;
  }
}

RawFramePrinter* PktPrinterFact::createRawFramePrinter(std::vector<ItemPrinter*>& printer_list,
                                                       ocsdMsgLogger* pMsgLogger) {
  return keep(printer_list, std::make_unique<RawFramePrinter>(), pMsgLogger);
}

TrcGenericElementPrinter* PktPrinterFact::createGenElemPrinter(
    std::vector<ItemPrinter*>& printer_list, ocsdMsgLogger* pMsgLogger) {
  return keep(printer_list, std::make_unique<TrcGenericElementPrinter>(), pMsgLogger);
}

void PktPrinterFact::destroyPrinter(std::vector<ItemPrinter*>& printer_list,
                                    ItemPrinter* pPrinter) {
  const auto found = std::ranges::find(printer_list, pPrinter);
  if (found == printer_list.end()) return;
  printer_list.erase(found);
  delete pPrinter;
}

void PktPrinterFact::destroyAllPrinters(std::vector<ItemPrinter*>& printer_list) {
  for (ItemPrinter* printer : printer_list) delete printer;
  printer_list.clear();
}

const int PktPrinterFact::numPrinters(std::vector<ItemPrinter*>& printer_list) {
  return static_cast<int>(printer_list.size());
}
