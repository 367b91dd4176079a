// Common parts of the tests of the C++ interface: the sample, opened as a client does.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "opencsd.h"

namespace cpp_api {

using ByteVector = std::vector<std::uint8_t>;

inline ByteVector read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string sample(const std::string& name) {
  return std::string(WAYMARK_SAMPLES) + "/quicksort/" + name;
}

constexpr ocsd_vaddr_t kTextAddress = 0x4000F0;
constexpr std::size_t kTextOffset = 0xF0;
constexpr std::size_t kTextSize = 0x650;
constexpr std::uint8_t kSampleId = 0x10;

/// The registers of the sample; samples/quicksort/etm_0.ini.
inline EtmV4Config sample_config() {
  ocsd_etmv4_cfg registers = {};
  registers.reg_configr = 0x841;
  registers.reg_traceidr = kSampleId;
  registers.reg_idr0 = 0x28000EA1;
  registers.reg_idr1 = 0x4100F403;
  registers.reg_idr2 = 0x488;
  registers.arch_ver = ARCH_V8;
  registers.core_prof = profile_CortexA;
  return {&registers};
}

struct TreeDeleter {
  void operator()(DecodeTree* tree) const { DecodeTree::DestroyDecodeTree(tree); }
};
using TreePointer = std::unique_ptr<DecodeTree, TreeDeleter>;

inline TreePointer framed_tree(std::uint32_t flags = OCSD_DFRMTR_FRAME_MEM_ALIGN) {
  return TreePointer(DecodeTree::CreateDecodeTree(OCSD_TRC_SRC_FRAME_FORMATTED, flags));
}

inline TreePointer single_tree() {
  return TreePointer(DecodeTree::CreateDecodeTree(OCSD_TRC_SRC_SINGLE, 0));
}

inline ocsd_err_t add_sample_memory(DecodeTree& tree) {
  const ocsd_file_mem_region_t region = {kTextOffset, kTextAddress, kTextSize};
  return tree.addBinFileRegionMemAcc(&region, 1, OCSD_MEM_SPACE_ANY, sample("quicksort.elf"));
}

/// Elements as the listing prints them.
class Collector : public ITrcGenElemIn {
 public:
  ocsd_datapath_resp_t TraceElemIn(const ocsd_trc_index_t index_sop, const std::uint8_t trc_chan_id,
                                   const OcsdTraceElement& elem) override {
    std::string text;
    elem.toString(text);
    lines.push_back("Idx:" + std::to_string(index_sop) + "; ID:" + std::to_string(trc_chan_id) +
                    "; " + text);
    if (elem.getType() == OCSD_GEN_TRC_ELEM_INSTR_RANGE) instructions += elem.num_instr_range;
    if (++count == wait_from && waits > 0) {
      --waits;
      ++wait_from;
      return OCSD_RESP_WAIT;
    }
    return OCSD_RESP_CONT;
  }

  std::vector<std::string> lines;
  std::uint64_t instructions = 0;
  std::uint64_t count = 0;
  std::uint64_t wait_from = 0;  ///< The first element that is answered with WAIT, counted from 1.
  int waits = 0;                ///< The number of such elements.
};

/// Gives everything, block by block, as clients do; returns the answer of the last call.
inline ocsd_datapath_resp_t run(ITrcDataIn& to, const ByteVector& bytes, std::size_t block = 1024,
                                int* flushes = nullptr) {
  std::size_t at = 0;
  ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
  while (at < bytes.size() && !OCSD_DATA_RESP_IS_FATAL(resp)) {
    if (OCSD_DATA_RESP_IS_WAIT(resp)) {
      if (flushes != nullptr) ++*flushes;
      resp = to.TraceDataIn(OCSD_OP_FLUSH, 0, 0, nullptr, nullptr);
      continue;
    }
    std::uint32_t used = 0;
    const auto size = static_cast<std::uint32_t>(std::min(block, bytes.size() - at));
    resp = to.TraceDataIn(OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(at), size, &bytes[at], &used);
    at += used;
  }
  while (OCSD_DATA_RESP_IS_WAIT(resp)) {
    if (flushes != nullptr) ++*flushes;
    resp = to.TraceDataIn(OCSD_OP_FLUSH, 0, 0, nullptr, nullptr);
  }
  if (OCSD_DATA_RESP_IS_FATAL(resp)) return resp;
  resp = to.TraceDataIn(OCSD_OP_EOT, 0, 0, nullptr, nullptr);
  while (OCSD_DATA_RESP_IS_WAIT(resp)) resp = to.TraceDataIn(OCSD_OP_FLUSH, 0, 0, nullptr, nullptr);
  return resp;
}

/// A logger that keeps its text.
class TextLog : public ocsdMsgLogStrOutI {
 public:
  explicit TextLog(ocsd_err_severity_t verbosity = OCSD_ERR_SEV_INFO) {
    messages.setLogOpts(ocsdMsgLogger::OUT_STR_CB);
    messages.setStrOutFn(this);
    errors.initErrorLogger(verbosity);
    errors.setOutputLogger(&messages);
  }
  void printOutStr(const std::string& outStr) override { text += outStr; }

  ocsdMsgLogger messages;
  ocsdDefaultErrorLogger errors;
  std::string text;
};

/// Installs a logger for the process, for its own lifetime.
class LoggerInUse {
 public:
  explicit LoggerInUse(ITraceErrorLog& logger) { DecodeTree::setAlternateErrorLogger(&logger); }
  ~LoggerInUse() { DecodeTree::setAlternateErrorLogger(nullptr); }
  LoggerInUse(const LoggerInUse&) = delete;
  LoggerInUse& operator=(const LoggerInUse&) = delete;
};

}  // namespace cpp_api
