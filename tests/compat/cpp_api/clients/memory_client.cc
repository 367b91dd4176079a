// A client that reads memory from a buffer and a function, takes log lines itself, and prints what
// elements say:  memory_client TRACE ELF
#include <cstdio>
#include <cstring>
#include <iostream>

#include "opencsd.h"

namespace {

class logCallback : public ocsdMsgLogStrOutI {
 public:
  logCallback() : m_lines(0) {}
  virtual ~logCallback() {}
  virtual void printOutStr(const std::string &outStr) {
    ++m_lines;
    std::cout << outStr;
  }
  int m_lines;
};

class DecoderOutputProcessor : public ITrcGenElemIn {
 public:
  DecoderOutputProcessor() : m_instructions(0), m_elements(0) {}
  virtual ~DecoderOutputProcessor() {}
  virtual ocsd_datapath_resp_t TraceElemIn(const ocsd_trc_index_t index_sop,
                                           const uint8_t trc_chan_id,
                                           const OcsdTraceElement &elem) {
    std::string text;
    elem.toString(text);
    std::ostringstream line;
    line << "Idx:" << index_sop << "; TrcID:0x" << std::hex << (uint32_t)trc_chan_id << "; " << text
         << std::endl;
    m_last = line.str();
    ++m_elements;
    if (elem.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE) m_instructions += elem.num_instr_range;
    return OCSD_RESP_CONT;
  }
  uint64_t m_instructions;
  int m_elements;
  std::string m_last;
};

std::vector<uint8_t> readFile(const char *path) {
  std::ifstream in(path, std::ios::in | std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  return std::vector<uint8_t>(text.begin(), text.end());
}

const ocsd_vaddr_t START = 0x4000F0;
const uint32_t OFFSET = 0xF0;
const uint32_t HALF = 0x300;
const uint32_t SIZE = 0x650;
std::vector<uint8_t> program;

uint32_t readSecondHalf(const void *context, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t,
                        const uint32_t reqBytes, uint8_t *buffer) {
  ++*static_cast<int *>(const_cast<void *>(context));
  const uint64_t left = START + SIZE - address;
  const uint32_t count = reqBytes < left ? reqBytes : static_cast<uint32_t>(left);
  std::memcpy(buffer, &program[OFFSET + static_cast<size_t>(address - START)], count);
  return count;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const std::vector<uint8_t> trace = readFile(argv[1]);
  program = readFile(argv[2]);
  int calls = 0;

  ocsdMsgLogger logger;
  logCallback callback;
  logger.setLogOpts(ocsdMsgLogger::OUT_STR_CB);
  logger.setStrOutFn(&callback);
  ocsdDefaultErrorLogger err_log;
  err_log.initErrorLogger(OCSD_ERR_SEV_INFO);
  err_log.setOutputLogger(&logger);
  DecodeTree::setAlternateErrorLogger(&err_log);
  logger.LogMsg("memory client\n");

  DecodeTree *tree =
      DecodeTree::CreateDecodeTree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
  if (tree == 0) return 1;
  ocsd_etmv4_cfg cfg;
  memset(&cfg, 0, sizeof(cfg));
  cfg.arch_ver = ARCH_V8;
  cfg.core_prof = profile_CortexA;
  cfg.reg_configr = 0x841;
  cfg.reg_traceidr = 0x10;
  cfg.reg_idr0 = 0x28000EA1;
  cfg.reg_idr1 = 0x4100F403;
  cfg.reg_idr2 = 0x488;
  EtmV4Config config(&cfg);
  DecoderOutputProcessor output;
  ocsd_err_t err =
      tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config);
  if (err == OCSD_OK) err = tree->createMemAccMapper();
  if (err == OCSD_OK)
    err = tree->addBufferMemAcc(START, OCSD_MEM_SPACE_ANY, &program[OFFSET], HALF);
  if (err == OCSD_OK)
    err = tree->addCallbackMemAcc(START + HALF, START + SIZE - 1, OCSD_MEM_SPACE_ANY,
                                  readSecondHalf, &calls);
  if (err != OCSD_OK) return 1;
  tree->setGenTraceElemOutI(&output);
  tree->logMappedRanges();

  uint32_t done = 0;
  ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
  while (done < trace.size() && !OCSD_DATA_RESP_IS_FATAL(resp)) {
    if (OCSD_DATA_RESP_IS_CONT(resp)) {
      uint32_t used = 0;
      resp = tree->TraceDataIn(OCSD_OP_DATA, done, static_cast<uint32_t>(trace.size()) - done,
                               &trace[done], &used);
      done += used;
    } else {
      resp = tree->TraceDataIn(OCSD_OP_FLUSH, 0, 0, NULL, NULL);
    }
  }
  tree->TraceDataIn(OCSD_OP_EOT, 0, 0, 0, 0);
  std::cout << output.m_elements << " elements, " << std::dec << output.m_instructions
            << " instructions; the last: " << output.m_last;
  DecodeTree::DestroyDecodeTree(tree);
  DecodeTree::setAlternateErrorLogger(NULL);
  return output.m_instructions == 44901 && calls > 0 && callback.m_lines == 5 ? 0 : 1;
}
