// Counts elements and instructions with the OpenCSD-compatible C++ interface, as a program written
// for OpenCSD does.  Decodes the sample of this repository.
//
//   opencsd_elements samples/quicksort
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "opencsd.h"

namespace {

/// Receives every element; a real client would keep what it needs.
class Counter : public ITrcGenElemIn {
 public:
  ocsd_datapath_resp_t TraceElemIn(const ocsd_trc_index_t, const uint8_t,
                                   const OcsdTraceElement &elem) override {
    ++elements[elem.getType()];
    if (elem.getType() == OCSD_GEN_TRC_ELEM_INSTR_RANGE) instructions += elem.num_instr_range;
    return OCSD_RESP_CONT;
  }

  unsigned long elements[OCSD_GEN_TRC_ELEM_CUSTOM + 1] = {};
  unsigned long instructions = 0;
};

/// The registers of the trace unit; samples/quicksort/etm_0.ini.
EtmV4Config sample_config() {
  ocsd_etmv4_cfg registers;
  std::memset(&registers, 0, sizeof(registers));
  registers.reg_configr = 0x00000841;
  registers.reg_traceidr = 0x00000010;
  registers.reg_idr0 = 0x28000EA1;
  registers.reg_idr1 = 0x4100F403;
  registers.reg_idr2 = 0x00000488;
  registers.arch_ver = ARCH_V8;
  registers.core_prof = profile_CortexA;
  return {&registers};
}

int fail(const char *what, ocsd_err_t code) {
  const ocsdError error(OCSD_ERR_SEV_ERROR, code, what);
  std::fprintf(stderr, "opencsd_elements: %s\n", ocsdError::getErrorString(error).c_str());
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: opencsd_elements samples/quicksort\n");
    return 2;
  }
  const std::string folder = argv[1];
  std::ifstream file((folder + "/trace.bin").c_str(), std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)),
                                  std::istreambuf_iterator<char>());
  if (content.empty()) return fail("There is no trace.", OCSD_ERR_FILE_ERROR);
  const auto *const trace = reinterpret_cast<const uint8_t *>(content.data());

  // Frames of 16 bytes with the trace of one ETMv4, and the program that it traced.
  DecodeTree *const tree =
      DecodeTree::CreateDecodeTree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
  if (tree == nullptr) return fail("The tree cannot be created.", OCSD_ERR_FAIL);
  const EtmV4Config config = sample_config();
  const ocsd_file_mem_region_t text = {0xF0, 0x4000F0, 0x650};
  Counter counter;
  ocsd_err_t err =
      tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config);
  if (err == OCSD_OK) err = tree->createMemAccMapper();
  if (err == OCSD_OK)
    err = tree->addBinFileRegionMemAcc(&text, 1, OCSD_MEM_SPACE_ANY, folder + "/quicksort.elf");
  if (err != OCSD_OK) return fail("The tree cannot be built.", err);
  tree->setGenTraceElemOutI(&counter);

  uint32_t done = 0;
  ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
  while (done < content.size() && !OCSD_DATA_RESP_IS_FATAL(resp)) {
    if (OCSD_DATA_RESP_IS_WAIT(resp)) {
      resp = tree->TraceDataIn(OCSD_OP_FLUSH, 0, 0, nullptr, nullptr);
      continue;
    }
    uint32_t used = 0;
    resp = tree->TraceDataIn(OCSD_OP_DATA, done, static_cast<uint32_t>(content.size()) - done,
                             trace + done, &used);
    done += used;
  }
  tree->TraceDataIn(OCSD_OP_EOT, 0, 0, nullptr, nullptr);

  for (int type = 0; type <= OCSD_GEN_TRC_ELEM_CUSTOM; ++type) {
    if (counter.elements[type] == 0) continue;
    OcsdTraceElement element(static_cast<ocsd_gen_trc_elem_t>(type));
    std::string name;
    element.toString(name);
    std::printf("%8lu %s\n", counter.elements[type], name.substr(0, name.find('(')).c_str());
  }
  std::printf("%lu instructions\n", counter.instructions);
  DecodeTree::DestroyDecodeTree(tree);
  return 0;
}
