// The command line of c_api_pkt_print_test; see trc-pkt-lister.md 8.
#pragma once

#include <cstdint>
#include <string>

#include "opencsd/c_api/opencsd_c_api.h"

namespace pkt_print {

enum class Memory : std::uint8_t { kFile, kCallback, kCallbackWithId, kRegions };

struct Options {
  std::string snapshots = "../../../snapshots/";
  std::string snapshot = "juno_r1_1/";
  std::string trace_file = "cstrace.bin";
  std::string memory_file = "kernel_dump.bin";
  std::uint64_t memory_address = 0xFFFFFFC000081000;
  std::string log_file = "c_api_test.log";
  ocsd_trace_protocol_t protocol = OCSD_PROTOCOL_ETMV4I;
  std::uint8_t trace_id = 0x10;
  bool decode = false;
  bool packets = true;
  Memory memory = Memory::kFile;
  bool external = false;
  int raw_flags = 0;
  bool print_function = false;  ///< The log goes through a function of the program.
  bool library_printers = false;
  bool test_errors = false;
  bool statistics = false;
  int flags = 0;
};

/// False: the usage has been printed.
bool read_options(int argc, char** argv, Options& options);

}  // namespace pkt_print
