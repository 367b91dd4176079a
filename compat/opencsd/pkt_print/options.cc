#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace pkt_print {
namespace {

constexpr char kUsage[] =
    "Usage: c_api_pkt_print_test [OPTION...]\n"
    "\n"
    "Prints the packets of a recorded trace through the C API.\n"
    "\n"
    "  -etmv3 | -ptm | -stm   protocol; default ETMv4\n"
    "  -id <n>                trace ID; default that of the protocol's capture\n"
    "  -ss_path <folder>      folder of the snapshots\n"
    "  -decode                packets and elements\n"
    "  -decode_only           elements\n"
    "  -test_cb, -test_cb_id, -test_region_file\n"
    "                         memory by a function, by one that gets the trace ID, by regions\n"
    "  -extern                an external decoder that echoes\n"
    "  -raw, -raw_packed      frames, unpacked or packed\n"
    "  -test_printstr         log through a function of the program\n"
    "  -test_libprint         print with the library's printers\n"
    "  -test_err_api          show errors\n"
    "  -stats                 counts of the decoder\n"
    "  -direct_br_cond, -strict_br_cond, -range_cont, -halt_err\n"
    "                         checks of the decoder\n"
    "  -logfilename <file>    log there as well\n"
    "  -help                  this text\n";

struct Protocol {
  std::string_view option;
  ocsd_trace_protocol_t protocol;
  const char* snapshot;
  const char* trace_file;
  std::uint64_t memory_address;
  std::uint8_t trace_id;
};

constexpr Protocol kProtocols[] = {
    {"-etmv3", OCSD_PROTOCOL_ETMV3, "TC2/", "cstrace.bin", 0xC0008000, 0x10},
    {"-ptm", OCSD_PROTOCOL_PTM, "TC2/", "cstrace.bin", 0xC0008000, 0x13},
    {"-stm", OCSD_PROTOCOL_STM, "juno_r1_1/", "cstraceitm.bin", 0xFFFFFFC000081000, 0x20}};

struct Flag {
  std::string_view option;
  int flag;
};
constexpr Flag kFlags[] = {{"-direct_br_cond", OCSD_OPFLG_N_UNCOND_DIR_BR_CHK},
                           {"-strict_br_cond", OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK},
                           {"-range_cont", OCSD_OPFLG_CHK_RANGE_CONTINUE},
                           {"-halt_err", OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS}};

bool choose_protocol(std::string_view option, Options& options, bool id_given) {
  for (const Protocol& row : kProtocols) {
    if (row.option != option) continue;
    options.protocol = row.protocol;
    options.snapshot = row.snapshot;
    options.trace_file = row.trace_file;
    options.memory_address = row.memory_address;
    if (!id_given) options.trace_id = row.trace_id;
    return true;
  }
  return false;
}

bool choose_switch(std::string_view option, Options& options) {
  if (option == "-decode") {
    options.decode = true;
  } else if (option == "-decode_only") {
    options.decode = true;
    options.packets = false;
  } else if (option == "-test_cb") {
    options.memory = Memory::kCallback;
  } else if (option == "-test_cb_id") {
    options.memory = Memory::kCallbackWithId;
  } else if (option == "-test_region_file") {
    options.memory = Memory::kRegions;
  } else if (option == "-extern") {
    options.external = true;
  } else if (option == "-raw") {
    options.raw_flags |= OCSD_DFRMTR_UNPACKED_RAW_OUT;
  } else if (option == "-raw_packed") {
    options.raw_flags |= OCSD_DFRMTR_PACKED_RAW_OUT;
  } else if (option == "-test_printstr") {
    options.print_function = true;
  } else if (option == "-test_libprint") {
    options.library_printers = true;
  } else if (option == "-test_err_api") {
    options.test_errors = true;
  } else if (option == "-stats") {
    options.statistics = true;
  } else {
    for (const Flag& row : kFlags) {
      if (row.option != option) continue;
      options.flags |= row.flag;
      return true;
    }
    return false;
  }
  return true;
}

bool usage() {
  static_cast<void>(std::fputs(kUsage, stdout));
  return false;
}

}  // namespace

bool read_options(int argc, char** argv, Options& options) {
  bool id_given = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "-help") return usage();
    if (option == "-id" || option == "-ss_path" || option == "-logfilename") {
      if (++i == argc) {
        std::printf("Error: Missing value of %s option\n", argv[i - 1]);
        return usage();
      }
      const std::string value = argv[i];
      if (option == "-ss_path") {
        options.snapshots = value.ends_with('/') ? value : value + '/';
      } else if (option == "-logfilename") {
        options.log_file = value;
      } else {
        options.trace_id = static_cast<std::uint8_t>(std::strtoul(value.c_str(), nullptr, 0));
        id_given = true;
        std::printf("ID override = 0x%02X\n", options.trace_id);
        if (!OCSD_IS_VALID_CS_SRC_ID(options.trace_id)) return usage();
      }
      continue;
    }
    if (choose_protocol(option, options, id_given) || choose_switch(option, options)) continue;
    std::printf("Ignored unknown argument %s\n", argv[i]);
  }
  return true;
}

}  // namespace pkt_print
