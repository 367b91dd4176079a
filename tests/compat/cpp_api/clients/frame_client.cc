// A client that looks at frames only: prints them, changes the deformatter's flags, and reads the
// last error.
#include <cstring>
#include <iostream>

#include "opencsd.h"

namespace {

const uint8_t good[] = {0x21, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
                        0x41, 0x08, 0x08, 0x0a, 0x0a, 0x0c, 0x0c, 0xe0};
const uint8_t hsync[] = {0xFF, 0xFF, 0xFF, 0x7F, 0x21, 0x01, 0x02, 0x03, 0xFF, 0x7F, 0x41, 0x04,
                         0x04, 0x06, 0x06, 0x08, 0xFF, 0x7F, 0x08, 0x0a, 0x21, 0x0b, 0x0c, 0x78};

}  // namespace

int main() {
  ocsdMsgLogger logger;
  logger.setLogOpts(ocsdMsgLogger::OUT_STDOUT);
  ocsdDefaultErrorLogger err_log;
  err_log.initErrorLogger(OCSD_ERR_SEV_INFO);
  err_log.setOutputLogger(&logger);
  DecodeTree::setAlternateErrorLogger(&err_log);
  std::ostringstream head;
  head << "Frames; library " << ocsdVersion::vers_str() << "\n";
  logger.LogMsg(head.str());

  DecodeTree *tree =
      DecodeTree::CreateDecodeTree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
  if (tree == 0) return 1;
  const uint32_t raw = OCSD_DFRMTR_UNPACKED_RAW_OUT | OCSD_DFRMTR_PACKED_RAW_OUT;
  RawFramePrinter *printer = 0;
  if (tree->addRawFramePrinter(&printer, raw) != OCSD_OK || printer == 0) return 1;

  uint32_t used = 0;
  ocsd_datapath_resp_t resp = tree->TraceDataIn(OCSD_OP_DATA, 0, sizeof(good), good, &used);
  logger.LogMsg(std::string(ocsdDataRespStr(resp).getStr()) + "\n");
  if (resp != OCSD_RESP_CONT || used != sizeof(good)) return 1;

  /* The same tree, with other frames. */
  TraceFormatterFrameDecoder *frames = tree->getFrameDeformatter();
  tree->TraceDataIn(OCSD_OP_RESET, 0, 0, 0, 0);
  if (frames->Configure(raw | OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS) != OCSD_OK) return 1;
  resp = tree->TraceDataIn(OCSD_OP_DATA, 0, sizeof(hsync), hsync, &used);
  if (resp != OCSD_RESP_CONT || used != sizeof(hsync)) return 1;

  /* And such as cannot be. */
  tree->TraceDataIn(OCSD_OP_RESET, 0, 0, 0, 0);
  if (frames->Configure(raw | OCSD_DFRMTR_HAS_FSYNCS) != OCSD_OK) return 1;
  resp = tree->TraceDataIn(OCSD_OP_DATA, 0, sizeof(hsync), hsync, &used);
  if (!OCSD_DATA_RESP_IS_FATAL(resp)) return 1;
  ocsdError *last = err_log.GetLastError();
  if (last == 0 || last->getErrorCode() != OCSD_ERR_DFMTR_BAD_FHSYNC) return 1;
  logger.LogMsg(ocsdError::getErrorString(*last) + "\n");

  if (frames->Configure(OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_FRAME_MEM_ALIGN) !=
      OCSD_ERR_INVALID_PARAM_VAL)
    return 1;
  DecodeTree::DestroyDecodeTree(tree);
  return 0;
}
