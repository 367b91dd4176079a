// The reference through its C API, used for speed: the whole capture in few calls, clients that
// only count, and no error log.
#include <opencsd/c_api/opencsd_c_api.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bench/checksum.h"
#include "bench/reference.h"
#include "bench/stopwatch.h"

namespace waymark::bench {
namespace {

struct Client {
  Counts counts;
  std::array<std::uint64_t, 256> sums{};
};

ocsd_datapath_resp_t on_packet(const void* context, const ocsd_datapath_op_t op,
                               const ocsd_trc_index_t /*index*/, const void* /*packet*/) {
  auto& client = *static_cast<Client*>(const_cast<void*>(context));
  client.counts.packets += op == OCSD_OP_DATA;
  return OCSD_RESP_CONT;
}

void count(Counts& counts, const ocsd_generic_trace_elem& element) {
  ++counts.elements;
  if (element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE) {
    ++counts.ranges;
    counts.instructions += element.num_instr_range;
  }
}

ocsd_datapath_resp_t on_element(const void* context, const ocsd_trc_index_t /*index*/,
                                const std::uint8_t /*id*/, const ocsd_generic_trace_elem* element) {
  count(static_cast<Client*>(const_cast<void*>(context))->counts, *element);
  return OCSD_RESP_CONT;
}

ocsd_datapath_resp_t on_element_verify(const void* context, const ocsd_trc_index_t /*index*/,
                                       const std::uint8_t id,
                                       const ocsd_generic_trace_elem* element) {
  auto& client = *static_cast<Client*>(const_cast<void*>(context));
  count(client.counts, *element);
  const bool range = element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE;
  client.sums[id] = fold(client.sums[id], static_cast<std::uint64_t>(element->elem_type),
                         range ? element->st_addr : 0, range ? element->en_addr : 0);
  return OCSD_RESP_CONT;
}

void on_text(const void* context, const char* /*text*/, const int length) {
  auto& client = *static_cast<Client*>(const_cast<void*>(context));
  client.counts.text_bytes += static_cast<std::uint64_t>(length);
}

std::string error_text(const std::string& what, ocsd_err_t error) {
  std::array<char, 256> text{};
  ocsd_err_str(error, text.data(), static_cast<int>(text.size()));
  return what + ": " + text.data();
}

struct TreeDeleter {
  void operator()(void* tree) const { ocsd_destroy_dcd_tree(tree); }
};
using Tree = std::unique_ptr<void, TreeDeleter>;

Tree make_tree(Framing framing) {
  switch (framing) {
    case Framing::kNone:
      return Tree(ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0));
    case Framing::kMemoryAligned:
      return Tree(ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN));
    case Framing::kFsync:
      return Tree(ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_HAS_FSYNCS));
  }
  return nullptr;
}

ocsd_err_t add_source(void* tree, const SourceSetup& source, int flags, unsigned char& id) {
  const auto arch = static_cast<ocsd_arch_version_t>(source.arch);
  const auto profile = static_cast<ocsd_core_profile_t>(source.profile);
  if (source.kind == SourceKind::kPtm) {
    const ocsd_ptm_cfg config{.reg_idr = source.etmidr,
                              .reg_ctrl = source.etmcr,
                              .reg_ccer = source.etmccer,
                              .reg_trc_id = source.traceidr,
                              .arch_ver = arch,
                              .core_prof = profile};
    return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_PTM, flags, &config, &id);
  }
  if (source.kind == SourceKind::kStm) {
    ocsd_stm_cfg config{};
    config.reg_tcsr = source.traceidr << 16;
    config.reg_feat3r = 0x10000;
    config.reg_devid = 0xFF;
    return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM, flags, &config, &id);
  }
  if (source.kind == SourceKind::kEtmV3) {
    const ocsd_etmv3_cfg config{.reg_idr = source.etmidr,
                                .reg_ctrl = source.etmcr,
                                .reg_ccer = source.etmccer,
                                .reg_trc_id = source.traceidr,
                                .arch_ver = arch,
                                .core_prof = profile};
    return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV3, flags, &config, &id);
  }
  if (source.kind == SourceKind::kEte) {
    const ocsd_ete_cfg config{.reg_idr0 = source.idr0,
                              .reg_idr1 = source.idr1,
                              .reg_idr2 = source.idr2,
                              .reg_idr8 = source.idr8,
                              .reg_devarch = source.devarch,
                              .reg_configr = source.configr,
                              .reg_traceidr = source.traceidr,
                              .arch_ver = arch,
                              .core_prof = profile};
    return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETE, flags, &config, &id);
  }
  const ocsd_etmv4_cfg config{.reg_idr0 = source.idr0,
                              .reg_idr1 = source.idr1,
                              .reg_idr2 = source.idr2,
                              .reg_idr8 = source.idr8,
                              .reg_idr9 = source.idr9,
                              .reg_idr10 = source.idr10,
                              .reg_idr11 = source.idr11,
                              .reg_idr12 = source.idr12,
                              .reg_idr13 = source.idr13,
                              .reg_configr = source.configr,
                              .reg_traceidr = source.traceidr,
                              .arch_ver = arch,
                              .core_prof = profile};
  return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, &id);
}

/// The regions of one file must be added in one call, because an accessor holds the whole file.
std::expected<void, std::string> add_memory(void* tree, const std::vector<MemorySetup>& memory) {
  std::vector<std::string> done;
  for (const MemorySetup& first : memory) {
    if (std::ranges::find(done, first.path) != done.end()) continue;
    done.push_back(first.path);
    // 1.3.3 has no spaces beyond 0x1F.
    const auto space = static_cast<ocsd_mem_space_acc_t>(first.space & OCSD_MEM_SPACE_ANY);
    if (space == 0) return std::unexpected("the reference does not know a memory space used");
    ocsd_err_t error = OCSD_OK;
    if (first.length == 0) {
      error = ocsd_dt_add_binfile_mem_acc(tree, first.address, space, first.path.c_str());
    } else {
      std::vector<ocsd_file_mem_region_t> regions;
      for (const MemorySetup& part : memory) {
        if (part.path == first.path) regions.push_back({part.offset, part.address, part.length});
      }
      error = ocsd_dt_add_binfile_region_mem_acc(
          tree, regions.data(), static_cast<int>(regions.size()), space, first.path.c_str());
    }
    if (error != OCSD_OK) return std::unexpected(error_text(first.path, error));
  }
  return {};
}

std::expected<void, std::string> feed(void* tree, const std::vector<std::uint8_t>& trace) {
  std::uint64_t index = 0;
  while (index < trace.size()) {
    const auto size =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kBlockSize, trace.size() - index));
    std::uint32_t used = 0;
    const auto response =
        ocsd_dt_process_data(tree, OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(index), size,
                             trace.data() + index, &used);
    if (OCSD_DATA_RESP_IS_FATAL(response) || used == 0) {
      return std::unexpected("the reference stopped at byte " + std::to_string(index + used));
    }
    index += used;
  }
  std::uint32_t used = 0;
  ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, nullptr, &used);
  return {};
}

}  // namespace

std::string reference_version() { return std::string("OpenCSD ") + ocsd_get_version_str(); }

std::expected<Counts, std::string> run_reference(const Capture& capture, Work work, bool verify) {
  ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr);
  const Tree tree = make_tree(capture.framing);
  if (!tree) return std::unexpected("the reference could not make a decode tree");

  Client client;
  const int flags =
      work == Work::kPackets ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER;
  for (const SourceSetup& source : capture.sources) {
    unsigned char id = 0;
    ocsd_err_t error = add_source(tree.get(), source, flags, id);
    if (error == OCSD_OK && work == Work::kPackets) {
      error = ocsd_dt_attach_packet_callback(tree.get(), id, OCSD_C_API_CB_PKT_SINK,
                                             reinterpret_cast<void*>(&on_packet), &client);
    }
    if (error == OCSD_OK && work == Work::kListing) {
      error = ocsd_dt_set_pkt_protocol_printer(tree.get(), id, 1);
    }
    if (error != OCSD_OK) return std::unexpected(error_text(source.device, error));
  }
  ocsd_err_t error = OCSD_OK;
  if (work != Work::kPackets) {
    if (auto added = add_memory(tree.get(), capture.memory); !added) {
      return std::unexpected(added.error());
    }
  }
  if (work == Work::kListing) {
    error = ocsd_dt_set_gen_elem_printer(tree.get());
    if (error == OCSD_OK) error = ocsd_def_errlog_set_strprint_cb(tree.get(), &client, &on_text);
  } else if (work != Work::kPackets) {
    error =
        ocsd_dt_set_gen_elem_outfn(tree.get(), verify ? &on_element_verify : &on_element, &client);
  }
  if (error != OCSD_OK) return std::unexpected(error_text("attaching the client", error));

  const Stopwatch stopwatch;
  if (auto fed = feed(tree.get(), capture.trace); !fed) return std::unexpected(fed.error());
  client.counts.seconds = stopwatch.seconds();
  for (const std::uint64_t sum : client.sums) client.counts.checksum ^= sum;
  return client.counts;
}

}  // namespace waymark::bench
