// c_api_pkt_print_test: the C API's own test program, with the same options.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "echo.h"
#include "options.h"

namespace {

using namespace pkt_print;

constexpr int kExitUsage = 254;
constexpr std::size_t kTextSize = 1024;
constexpr std::size_t kBlockSize = 1024;

/// One line of output, cut to 1023 characters; a line that is cut ends with a newline.
class Line {
 public:
  void add(std::string_view text) {
    const std::size_t size = std::min(text.size(), kTextSize - 1 - size_);
    std::ranges::copy(text.substr(0, size), text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += size;
  }
  template <class Write>
  void add_text(Write write) {
    const std::size_t room = text_.size() - size_;
    if (room < 2 || write(&text_[size_], static_cast<int>(room)) != OCSD_OK) return;
    size_ += std::strlen(&text_[size_]);
  }
  void print() {
    if (size_ == kTextSize - 1) text_[kTextSize - 2] = '\n';
    ocsd_def_errlog_msgout(text_.data());
  }

 private:
  std::array<char, kTextSize> text_{};
  std::size_t size_ = 0;
};

struct Program {
  Options options;
  std::vector<char> memory;
  ocsd_trace_protocol_t shown_protocol = OCSD_PROTOCOL_UNKNOWN;
};

const Program& of(const void* context) { return *static_cast<const Program*>(context); }

void print_end() { ocsd_def_errlog_msgout("**** END OF TRACE ****\n"); }

ocsd_datapath_resp_t on_packet(const void* context, const ocsd_datapath_op_t op,
                               const ocsd_trc_index_t index, const void* packet) {
  if (op == OCSD_OP_EOT) print_end();
  if (op != OCSD_OP_DATA) return OCSD_RESP_CONT;
  Line line;
  line.add(fmt::format("Idx:{}; ", index));
  line.add_text([&](char* text, int size) {
    return ocsd_pkt_str(of(context).shown_protocol, packet, text, size);
  });
  line.add("\n");
  line.print();
  return OCSD_RESP_CONT;
}

void on_monitor(const void* context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                const void* packet, const uint32_t size, const uint8_t* bytes) {
  if (op == OCSD_OP_EOT) print_end();
  if (op != OCSD_OP_DATA) return;
  Line line;
  line.add(fmt::format("Idx:{};[ ", index));
  for (uint32_t i = 0; i < size; ++i) line.add(fmt::format("0x{:02X} ", bytes[i]));
  line.add("];");
  line.add_text([&](char* text, int room) {
    return ocsd_pkt_str(of(context).shown_protocol, packet, text, room);
  });
  line.add("\n");
  line.print();
}

ocsd_datapath_resp_t on_element(const void* /*context*/, const ocsd_trc_index_t index,
                                const uint8_t id, const ocsd_generic_trace_elem* element) {
  Line line;
  line.add(fmt::format("Idx:{}; TrcID:0x{:02X}; ", index, id));
  line.add_text([&](char* text, int size) { return ocsd_gen_elem_str(element, text, size); });
  line.add("\n");
  line.print();
  return OCSD_RESP_CONT;
}

uint32_t read_memory(const void* context, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t,
                     const uint32_t wanted, uint8_t* bytes) {
  const Program& program = of(context);
  const std::uint64_t offset = address - program.options.memory_address;
  if (address < program.options.memory_address || offset >= program.memory.size()) return 0;
  const auto size =
      static_cast<uint32_t>(std::min<std::uint64_t>(wanted, program.memory.size() - offset));
  std::memcpy(bytes, program.memory.data() + offset, size);
  return size;
}

uint32_t read_memory_with_id(const void* context, const ocsd_vaddr_t address,
                             const ocsd_mem_space_acc_t space, const uint8_t /*id*/,
                             const uint32_t wanted, uint8_t* bytes) {
  return read_memory(context, address, space, wanted, bytes);
}

void print_text(const void* /*context*/, const char* text, const int size) {
  static_cast<void>(std::fwrite(text, 1, static_cast<std::size_t>(size), stdout));
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// -- The tree. ------------------------------------------------------------------------------------

ocsd_err_t create_decoder(Program& program, void* tree, unsigned char& id) {
  const Options& options = program.options;
  const int flags =
      options.flags | (options.decode ? OCSD_CREATE_FLG_FULL_DECODER : OCSD_CREATE_FLG_PACKET_PROC);
  program.shown_protocol = options.protocol;
  if (options.external) {
    const ocsd_err_t error = register_echo(program.shown_protocol);
    if (error != OCSD_OK) return error;
    const EchoConfig config{options.trace_id};
    return ocsd_dt_create_decoder(tree, kEchoName, flags, &config, &id);
  }
  switch (options.protocol) {
    case OCSD_PROTOCOL_ETMV3: {
      const ocsd_etmv3_cfg config{0x410CF250,       0x10001860, 0x344008F2,
                                  options.trace_id, ARCH_V7,    profile_CortexA};
      return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV3, flags, &config, &id);
    }
    case OCSD_PROTOCOL_PTM: {
      const ocsd_ptm_cfg config{0x411CF312,       0x10001000, 0x34C01AC2,
                                options.trace_id, ARCH_V7,    profile_CortexA};
      return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_PTM, flags, &config, &id);
    }
    case OCSD_PROTOCOL_STM: {
      const std::uint32_t tcsr =
          (0x00A00005U & 0xFF80FFFFU) | std::uint32_t{options.trace_id & 0x7FU} << 16;
      const ocsd_stm_cfg config{tcsr, 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};
      return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, flags, &config, &id);
    }
    default:
      break;
  }
  ocsd_etmv4_cfg config{};
  config.reg_configr = 0xC1;
  config.reg_traceidr = options.trace_id;
  config.reg_idr0 = 0x28000EA1;
  config.reg_idr1 = 0x4100F403;
  config.reg_idr2 = 0x488;
  config.arch_ver = ARCH_V8;
  config.core_prof = profile_CortexA;
  return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, &id);
}

ocsd_err_t attach_packets(Program& program, void* tree, unsigned char id) {
  const Options& options = program.options;
  if (!options.packets) return OCSD_OK;
  const bool monitor = options.decode;
  if (options.library_printers && !options.external)
    return ocsd_dt_set_pkt_protocol_printer(tree, id, monitor ? 1 : 0);
  return ocsd_dt_attach_packet_callback(
      tree, id, monitor ? OCSD_C_API_CB_PKT_MON : OCSD_C_API_CB_PKT_SINK,
      monitor ? reinterpret_cast<void*>(&on_monitor) : reinterpret_cast<void*>(&on_packet),
      &program);
}

ocsd_err_t add_regions(const Program& program, void* tree, const std::string& path) {
  constexpr std::size_t kFirst = 0x100;
  const std::size_t part = program.memory.size() / 4 & ~std::size_t{1};
  std::array<ocsd_file_mem_region_t, 4> regions{};
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const std::size_t skipped = i == 0 ? kFirst : 0;
    regions[i] = {part * i + skipped, program.options.memory_address + part * i + skipped,
                  part - skipped};
  }
  return ocsd_dt_add_binfile_region_mem_acc(tree, regions.data(), regions.size(),
                                            OCSD_MEM_SPACE_ANY, path.c_str());
}

ocsd_err_t add_memory(Program& program, void* tree) {
  const Options& options = program.options;
  const std::string path = options.snapshots + options.snapshot + options.memory_file;
  const ocsd_vaddr_t first = options.memory_address;
  program.memory = read_file(path);
  if (options.memory == Memory::kFile)
    return ocsd_dt_add_binfile_mem_acc(tree, first, OCSD_MEM_SPACE_ANY, path.c_str());
  if (options.memory == Memory::kRegions) return add_regions(program, tree, path);
  const ocsd_vaddr_t last = first + program.memory.size() - 1;
  if (options.memory == Memory::kCallback)
    return ocsd_dt_add_callback_mem_acc(tree, first, last, OCSD_MEM_SPACE_ANY, &read_memory,
                                        &program);
  return ocsd_dt_add_callback_trcid_mem_acc(tree, first, last, OCSD_MEM_SPACE_ANY,
                                            &read_memory_with_id, &program);
}

ocsd_err_t set_up(Program& program, void* tree, unsigned char& id) {
  const Options& options = program.options;
  ocsd_err_t error = create_decoder(program, tree, id);
  if (error == OCSD_OK) error = attach_packets(program, tree, id);
  if (error == OCSD_OK && options.decode && options.protocol != OCSD_PROTOCOL_STM) {
    error = add_memory(program, tree);
    if (error == OCSD_OK) {
      ocsd_tl_log_mapped_mem_ranges(tree);
      error = ocsd_dt_set_mem_acc_cacheing(tree, 1, 1024, 8);
    }
  }
  if (error == OCSD_OK && options.decode)
    error = options.library_printers ? ocsd_dt_set_gen_elem_printer(tree)
                                     : ocsd_dt_set_gen_elem_outfn(tree, &on_element, &program);
  if (error == OCSD_OK && options.print_function)
    error = ocsd_def_errlog_set_strprint_cb(tree, &program, &print_text);
  if (error == OCSD_OK && options.raw_flags != 0)
    error = ocsd_dt_set_raw_frame_printer(tree, options.raw_flags);
  return error;
}

void print_error(const char* what, ocsd_err_t error) {
  std::array<char, 256> text{};
  ocsd_err_str(error, text.data(), text.size());
  Line line;
  line.add(fmt::format("{}: {}\n", what, text.data()));
  line.print();
}

// -- The run. -------------------------------------------------------------------------------------

void feed(void* tree, const std::vector<char>& trace) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(trace.data());
  std::size_t at = 0;
  ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
  while (at < trace.size() && !OCSD_DATA_RESP_IS_FATAL(answer)) {
    if (OCSD_DATA_RESP_IS_WAIT(answer)) {
      answer = ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 0, 0, nullptr, nullptr);
      continue;
    }
    std::uint32_t used = 0;
    answer = ocsd_dt_process_data(
        tree, OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(at),
        static_cast<std::uint32_t>(std::min(kBlockSize, trace.size() - at)), bytes + at, &used);
    at += used;
  }
  if (OCSD_DATA_RESP_IS_FATAL(answer)) {
    Line line;
    line.add(fmt::format("Processing failed with data path error {}\n", static_cast<int>(answer)));
    line.print();
    return;
  }
  answer = ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, nullptr, nullptr);
  while (OCSD_DATA_RESP_IS_WAIT(answer))
    answer = ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 0, 0, nullptr, nullptr);
}

void print_statistics(void* tree, unsigned char id) {
  ocsd_decode_stats_t* stats = nullptr;
  Line line;
  line.add(fmt::format("\nReading packet decoder statistics for ID:0x{:02x}...\n", id));
  if (ocsd_dt_get_decode_stats(tree, id, &stats) == OCSD_OK) {
    line.add(fmt::format(
        "Total Bytes {}; Unsynced Bytes: {}\nBad Header Errors: {}; Bad sequence errors: {}\n",
        stats->channel_total, stats->channel_unsynced, stats->bad_header_errs,
        stats->bad_sequence_errs));
  } else {
    line.add("Not available for this ID.\n");
  }
  line.print();
}

std::string trace_path(const Options& options) {
  return options.snapshots + options.snapshot + options.trace_file;
}

int list(Program& program) {
  const Options& options = program.options;
  const std::string path = trace_path(options);
  std::ifstream probe(path, std::ios::binary);
  if (!probe) {
    std::printf("Failed to open file %s\n", path.c_str());
    return 1;
  }
  const std::vector<char> trace = read_file(path);
  void* const tree =
      ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
  if (tree == C_API_INVALID_TREE_HANDLE) return 1;
  unsigned char id = 0;
  const ocsd_err_t error = set_up(program, tree, id);
  bool good = error == OCSD_OK;
  if (good) {
    // As in the reference, the exit status does not depend on the trace.
    feed(tree, trace);
    if (options.statistics) print_statistics(tree, id);
    if (options.decode &&
        (options.memory == Memory::kCallback || options.memory == Memory::kCallbackWithId))
      good = ocsd_dt_remove_mem_acc(tree, options.memory_address, OCSD_MEM_SPACE_ANY) == OCSD_OK &&
             good;
  } else {
    print_error("Setting the decoder up failed", error);
  }
  ocsd_destroy_dcd_tree(tree);
  return good ? 0 : 1;
}

/// The answers of the error functions for a reserved header.
int test_errors(Program& program) {
  void* const tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
  unsigned char id = 0;
  program.options.decode = false;
  ocsd_err_t error = create_decoder(program, tree, id);
  if (error == OCSD_OK) error = attach_packets(program, tree, id);
  if (error != OCSD_OK) {
    print_error("Setting the decoder up failed", error);
    return 1;
  }
  std::vector<std::uint8_t> bytes(12, 0);
  bytes.insert(bytes.end(), {0x80, 0x04, 0x60, 0x71});
  std::uint32_t used = 0;
  static_cast<void>(ocsd_dt_process_data(
      tree, OCSD_OP_DATA, 0, static_cast<std::uint32_t>(bytes.size()), bytes.data(), &used));
  std::array<char, 512> text{};
  ocsd_err_str(OCSD_OK, text.data(), text.size());
  Line first;
  first.add(fmt::format("testing error API for code 0: {}\n", text.data()));
  first.print();
  ocsd_trc_index_t index = 0;
  std::uint8_t channel = 0;
  error = ocsd_get_last_err(&index, &channel, text.data(), text.size());
  Line second;
  second.add(
      fmt::format("get last error:\ncode = 0x{:02x}; trace index {}; cs_id 0x{:02x};\nstring: {}\n",
                  static_cast<unsigned>(error), index, channel, text.data()));
  second.print();
  ocsd_destroy_dcd_tree(tree);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Program program;
  if (!read_options(argc, argv, program.options)) return kExitUsage;
  // The log flushes each line, so text printed here must be flushed as well.
  static_cast<void>(std::setvbuf(stdout, nullptr, _IONBF, 0));
  if (ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1) != OCSD_OK ||
      ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE | C_API_MSGLOGOUT_FLG_STDOUT,
                                    program.options.log_file.c_str()) != OCSD_OK)
    return 1;
  if (!program.options.test_errors)
    std::printf("opening %s trace data file\n", trace_path(program.options).c_str());
  Line head;
  head.add(fmt::format("C-API packet print test\nLibrary Version {}\n\n", ocsd_get_version_str()));
  for (int i = 0; i < argc; ++i) head.add(fmt::format("{} ", argv[i]));
  head.add("\n\n");
  head.print();
  return program.options.test_errors ? test_errors(program) : list(program);
}
