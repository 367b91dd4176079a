// A client that puts its data path together itself: frames made here, a frame decoder, an ITM
// decoder from the register, printers found again by their class.
#include <iostream>

#include "common/cs_frame_mux_data.h"
#include "opencsd.h"

namespace {

class logCallback : public ocsdMsgLogStrOutI {
 public:
  virtual void printOutStr(const std::string &outStr) { m_text += outStr; }
  std::string m_text;
};

const uint8_t itm_data[] = {0x00, 0x00, 0x00, 0x00, 0x00, 0x80, /* synchronisation */
                            0x19, 0xBB,                         /* port 3, one byte */
                            0x0A, 0x34, 0x12,                   /* port 1, two bytes */
                            0x70,                               /* overflow */
                            0x03, 0x78, 0x56, 0x34, 0x12};      /* port 0, four bytes */
const uint8_t trace_id = 0x15;

bool contains(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) return true;
  std::cout << "Missing: " << part << std::endl;
  return false;
}

}  // namespace

int main() {
  logCallback callback;
  ocsdMsgLogger logger;
  logger.setLogOpts(ocsdMsgLogger::OUT_STR_CB);
  logger.setStrOutFn(&callback);
  ocsdDefaultErrorLogger err_log;
  err_log.initErrorLogger(OCSD_ERR_SEV_INFO);
  err_log.setOutputLogger(&logger);

  CSFrameMuxData mux;
  mux.muxInData(itm_data, 9, trace_id, false);
  mux.muxInData(itm_data + 9, sizeof(itm_data) - 9, trace_id, true);

  IDecoderMngr *manager = 0;
  if (OcsdLibDcdRegister::getDecoderRegister()->getDecoderMngrByName(OCSD_BUILTIN_DCD_ITM,
                                                                     &manager) != OCSD_OK)
    return 1;
  ITMConfig config;
  config.setTraceID(trace_id);
  TraceComponent *component = 0;
  ITrcDataIn *input = 0;
  if (manager->createDecoder(OCSD_CREATE_FLG_FULL_DECODER | OCSD_CREATE_FLG_INST_ID, trace_id,
                             &config, &component) != OCSD_OK ||
      manager->getDataInputI(component, &input) != OCSD_OK)
    return 1;

  std::vector<ItemPrinter *> printers;
  ItemPrinter *base =
      PktPrinterFact::createProtocolPrinter(printers, OCSD_PROTOCOL_ITM, trace_id, &logger);
  PacketPrinter<ItmTrcPacket> *packets = dynamic_cast<PacketPrinter<ItmTrcPacket> *>(base);
  TrcGenericElementPrinter *elements = PktPrinterFact::createGenElemPrinter(printers, &logger);
  if (packets == 0 || elements == 0 || PktPrinterFact::numPrinters(printers) != 2) return 1;
  IPktRawDataMon<ItmTrcPacket> *monitor = packets;
  if (manager->attachPktMonitor(component, monitor) != OCSD_OK ||
      manager->attachOutputSink(component, elements) != OCSD_OK ||
      manager->attachErrorLogger(component, &err_log) != OCSD_OK)
    return 1;

  TraceFormatterFrameDecoder *frames = new TraceFormatterFrameDecoder();
  if (frames->Init() != OCSD_OK || frames->Configure(OCSD_DFRMTR_FRAME_MEM_ALIGN) != OCSD_OK)
    return 1;
  frames->getErrLogAttachPt()->attach(&err_log);
  frames->getIDStreamAttachPt(trace_id)->attach(input);

  uint32_t used = 0;
  ocsd_datapath_resp_t resp =
      frames->TraceDataIn(OCSD_OP_DATA, 0, mux.getFrameBufferSize(), mux.getFrameBuffer(), &used);
  if (!OCSD_DATA_RESP_IS_CONT(resp) || used != mux.getFrameBufferSize()) {
    std::cout << ocsdDataRespStr(resp).getStr() << std::endl;
    return 1;
  }
  frames->TraceDataIn(OCSD_OP_EOT, 0, 0, 0, 0);
  mux.clearFrames(1);
  std::cout << callback.m_text;
  const bool good =
      contains(callback.m_text, "; ID:15; [0x19 0xbb ];\t") &&
      contains(callback.m_text, "ITM_SWIT (ch: 0x3; Data: 0xbb) ") &&
      contains(callback.m_text, "ITM_SWIT (ch: 0x1; Data: 0x1234) ") &&
      contains(callback.m_text, "ITM_OVERFLOW; ITM_SWIT (ch: 0x0; Data: 0x12345678) ");
  delete frames;
  manager->destroyDecoder(component);
  PktPrinterFact::destroyAllPrinters(printers);
  return good ? 0 : 1;
}
