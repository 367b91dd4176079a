// capi_listing: the listing of trc_pkt_lister, made by a client of the C API.  Packets come from
// monitors and sinks, elements from a callback; both are printed from their structures.  The result
// must equal the recorded listings of the reference.
//
//   capi_listing [OPTION...]     the options of trc_pkt_lister for decoding
//
// CAPI_LISTING=printers in the environment has the library's printers write the same text.
// CAPI_LISTING=waits has the element callback answer WAIT to every third element. Not at the end of
// the trace: that reaches all decoders, so elements after a WAIT come after those of other
// decoders.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lister/log.h"
#include "lister/options.h"
#include "opencsd/c_api/opencsd_c_api.h"
#include "opencsd/itm/trc_pkt_types_itm.h"
#include "waymark/frames/dstream.h"
#include "waymark/frames/text.h"
#include "waymark/image/image.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/isa/instruction.h"

namespace {

using namespace waymark;
using namespace waymark::compat;

constexpr std::size_t kBlockSize = 1024;
constexpr int kTextSize = 1 << 16;

struct Client;

/// A source of the tree: what its callbacks need to print.
struct Listed {
  Client* client = nullptr;
  ocsd_trace_protocol_t protocol = OCSD_PROTOCOL_UNKNOWN;
  unsigned id = 0;
};

struct Client {
  Client(const ListerOptions& chosen, Log& to) : options(chosen), log(to) {
    const char* const mode = std::getenv("CAPI_LISTING");
    printers = mode != nullptr && std::strcmp(mode, "printers") == 0;
    waits = mode != nullptr && std::strcmp(mode, "waits") == 0;
  }
  const ListerOptions& options;
  Log& log;
  bool printers = false;
  bool waits = false;
  unsigned elements = 0;
  bool ending = false;  ///< At the end of the trace.
  std::vector<std::unique_ptr<Listed>> listed;
  std::vector<unsigned char> ids;
  std::vector<char> text = std::vector<char>(kTextSize);
  std::string last_error;
};

void on_text(const void* context, const char* text, const int size) {
  const std::string_view all(text, static_cast<std::size_t>(size));
  // The lister has its own logger, which the deformatter does not use.
  if (all.starts_with("DFMT_CSFRAMES")) return;
  auto& client = *static_cast<Client*>(const_cast<void*>(context));
  client.log.text().put(all);
  const std::size_t error = all.find(" : 0x");
  if (error != std::string_view::npos && all.find("(OCSD_ERR") != std::string_view::npos)
    client.last_error = all.substr(error + 3);
}

void put_operation(Log& log, unsigned id, ocsd_datapath_op_t op) {
  constexpr const char* kTexts[] = {"", "END OF TRACE DATA", "FLUSH operation on trace decode path",
                                    "RESET operation on trace decode path"};
  log.line(fmt::format("ID:{:x}\t{}", id, kTexts[op]));
}

void put_packet(const Listed& listed, ocsd_trc_index_t index, const void* packet,
                std::span<const std::uint8_t> bytes, bool monitored) {
  Client& client = *listed.client;
  TextBuffer& out = client.log.text();
  out.put(fmt::format("Idx:{}; ID:{:x};", index, listed.id));
  if (monitored) {
    out.put(" [");
    for (const std::uint8_t byte : bytes) out.put(fmt::format("0x{:02x} ", byte));
    out.put("];");
  }
  if (ocsd_pkt_str(listed.protocol, packet, client.text.data(), kTextSize) != OCSD_OK)
    client.text[0] = '\0';
  out.put('\t');
  out.put(client.text.data());
  out.put('\n');
}

ocsd_datapath_resp_t on_packet(const void* context, const ocsd_datapath_op_t op,
                               const ocsd_trc_index_t index, const void* packet) {
  const auto& listed = *static_cast<const Listed*>(context);
  if (op != OCSD_OP_DATA) {
    put_operation(listed.client->log, listed.id, op);
  } else {
    put_packet(listed, index, packet, {}, false);
  }
  return OCSD_RESP_CONT;
}

void on_monitor(const void* context, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                const void* packet, const uint32_t size, const uint8_t* bytes) {
  const auto& listed = *static_cast<const Listed*>(context);
  if (op != OCSD_OP_DATA) {
    put_operation(listed.client->log, listed.id, op);
  } else {
    put_packet(listed, index, packet, {bytes, size}, true);
  }
}

ocsd_datapath_resp_t on_element(const void* context, const ocsd_trc_index_t index, const uint8_t id,
                                const ocsd_generic_trace_elem* element) {
  auto& client = *static_cast<Client*>(const_cast<void*>(context));
  if (ocsd_gen_elem_str(element, client.text.data(), kTextSize) != OCSD_OK) client.text[0] = '\0';
  client.log.line(fmt::format("Idx:{}; ID:{:x}; {}", index, id, client.text.data()));
  const bool waits = client.waits && !client.ending && ++client.elements % 3 == 0;
  return waits ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

// -- The tree. ------------------------------------------------------------------------------------

union Config {
  ocsd_etmv4_cfg etmv4;
  ocsd_ete_cfg ete;
  ocsd_ptm_cfg ptm;
  ocsd_etmv3_cfg etmv3;
  ocsd_stm_cfg stm;
  ocsd_itm_cfg itm;
};

struct Kind {
  const char* type;
  const char* decoder;
  ocsd_trace_protocol_t protocol;
};

constexpr Kind kKinds[] = {{"ETM3", OCSD_BUILTIN_DCD_ETMV3, OCSD_PROTOCOL_ETMV3},
                           {"ETM4", OCSD_BUILTIN_DCD_ETMV4I, OCSD_PROTOCOL_ETMV4I},
                           {"ETE", OCSD_BUILTIN_DCD_ETE, OCSD_PROTOCOL_ETE},
                           {"PTM1", OCSD_BUILTIN_DCD_PTM, OCSD_PROTOCOL_PTM},
                           {"PFT1", OCSD_BUILTIN_DCD_PTM, OCSD_PROTOCOL_PTM},
                           {"STM", OCSD_BUILTIN_DCD_STM, OCSD_PROTOCOL_STM},
                           {"ITM", OCSD_BUILTIN_DCD_ITM, OCSD_PROTOCOL_ITM}};

Config read_config(ocsd_trace_protocol_t protocol, const inputs::Device& device, isa::Core core) {
  const auto reg = [&](std::string_view name, std::uint32_t otherwise = 0) {
    return device.value(name).value_or(otherwise);
  };
  const auto arch = static_cast<ocsd_arch_version_t>(core.arch);
  const auto profile = static_cast<ocsd_core_profile_t>(core.profile);
  Config config{};
  switch (protocol) {
    case OCSD_PROTOCOL_ETMV3:
      config.etmv3 = {reg("ETMIDR"),      reg("ETMCR"), reg("ETMCCER"),
                      reg("ETMTRACEIDR"), arch,         profile};
      break;
    case OCSD_PROTOCOL_PTM:
      config.ptm = {reg("ETMIDR"), reg("ETMCR"), reg("ETMCCER"), reg("ETMTRACEIDR"), arch, profile};
      break;
    case OCSD_PROTOCOL_ETMV4I:
      config.etmv4 = {reg("TRCIDR0"),
                      reg("TRCIDR1", 0x4100F403),
                      reg("TRCIDR2"),
                      reg("TRCIDR8"),
                      reg("TRCIDR9"),
                      reg("TRCIDR10"),
                      reg("TRCIDR11"),
                      reg("TRCIDR12"),
                      reg("TRCIDR13"),
                      reg("TRCCONFIGR"),
                      reg("TRCTRACEIDR"),
                      arch,
                      profile};
      break;
    case OCSD_PROTOCOL_ETE:
      config.ete = {reg("TRCIDR0"),
                    reg("TRCIDR1", 0x4100F403),
                    reg("TRCIDR2"),
                    reg("TRCIDR8"),
                    reg("TRCDEVARCH", 0x47705A13),
                    reg("TRCCONFIGR"),
                    reg("TRCTRACEIDR"),
                    arch,
                    profile};
      break;
    case OCSD_PROTOCOL_STM:
      config.stm = {reg("STMTCSR"), 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};
      break;
    default:
      config.itm = {reg("ITMTCR")};
      break;
  }
  return config;
}

struct TreeDeleter {
  void operator()(void* tree) const { ocsd_destroy_dcd_tree(tree); }
};
using Tree = std::unique_ptr<void, TreeDeleter>;

Tree make_tree(const inputs::TraceBuffer& buffer, const ListerOptions& options) {
  const auto format = inputs::buffer_format(buffer.format);
  if (format == inputs::BufferFormat::kSingleSource)
    return Tree(ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0));
  std::uint32_t flags = OCSD_DFRMTR_FRAME_MEM_ALIGN;
  if (options.tpiu || options.tpiu_hsync || format == inputs::BufferFormat::kFsyncFrames)
    flags = OCSD_DFRMTR_HAS_FSYNCS;
  if (options.tpiu_hsync) flags |= OCSD_DFRMTR_HAS_HSYNCS;
  return Tree(ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, flags));
}

void add_memory(void* tree, const inputs::Snapshot& snapshot, const inputs::Device& core,
                std::vector<std::string>& known) {
  for (const inputs::Dump& first : core.dumps) {
    const std::string path = snapshot.path_of(first.file);
    if (std::ranges::find(known, path) != known.end()) continue;
    known.push_back(path);
    std::vector<ocsd_file_mem_region_t> regions;
    for (const inputs::Dump& dump : core.dumps)
      if (dump.file == first.file)
        regions.push_back({dump.length != 0 ? static_cast<std::size_t>(dump.offset) : 0,
                           dump.address, static_cast<std::size_t>(dump.length)});
    const auto space = image::space_by_name(first.space).value_or(image::kSpaceAny);
    static_cast<void>(
        ocsd_dt_add_binfile_region_mem_acc(tree, regions.data(), static_cast<int>(regions.size()),
                                           static_cast<ocsd_mem_space_acc_t>(space), path.c_str()));
  }
}

void list_packets(Client& client, void* tree, ocsd_trace_protocol_t protocol, unsigned char id,
                  bool formatted) {
  if (!client.options.packets) return;
  const bool monitor = client.options.monitored();
  const unsigned char shown = formatted ? id : 0;
  if (client.printers) {
    static_cast<void>(ocsd_dt_set_pkt_protocol_printer(tree, shown, monitor ? 1 : 0));
    return;
  }
  client.listed.push_back(std::make_unique<Listed>(Listed{&client, protocol, shown}));
  void* const function =
      monitor ? reinterpret_cast<void*>(&on_monitor) : reinterpret_cast<void*>(&on_packet);
  static_cast<void>(ocsd_dt_attach_packet_callback(
      tree, id, monitor ? OCSD_C_API_CB_PKT_MON : OCSD_C_API_CB_PKT_SINK, function,
      client.listed.back().get()));
}

bool add_sources(Client& client, void* tree, const inputs::Snapshot& snapshot,
                 const inputs::TraceBuffer& buffer, bool formatted) {
  std::vector<std::string> known;
  for (const inputs::TraceSource& source : buffer.sources) {
    if (source.device_index == inputs::TraceSource::kNoDevice) continue;
    const auto* const kind = std::ranges::find(kKinds, source.protocol, &Kind::type);
    if (kind == std::end(kKinds)) continue;
    const auto core = isa::core_by_name(source.core_type);
    if (!source.core.empty() && !core) continue;
    const Config config = read_config(kind->protocol, snapshot.devices[source.device_index],
                                      core.value_or(isa::Core{}));
    int flags = client.options.decode ? OCSD_CREATE_FLG_FULL_DECODER : OCSD_CREATE_FLG_PACKET_PROC;
    flags |= static_cast<int>(client.options.flags);
    unsigned char id = 0;
    if (ocsd_dt_create_decoder(tree, kind->decoder, flags, &config, &id) != OCSD_OK) continue;
    client.ids.push_back(id);
    list_packets(client, tree, kind->protocol, id, formatted);
    if (client.options.decode && !source.core.empty())
      add_memory(tree, snapshot, snapshot.devices[source.core_index], known);
    if (!formatted) break;
  }
  // The lister has a mapper even without memory; here an accessor creates it.
  constexpr ocsd_vaddr_t kLast = ~ocsd_vaddr_t{0};
  if (known.empty())
    static_cast<void>(ocsd_dt_add_callback_mem_acc(
        tree, kLast - 1, kLast, OCSD_MEM_SPACE_ANY,
        [](const void*, ocsd_vaddr_t, ocsd_mem_space_acc_t, uint32_t, uint8_t*) { return 0U; },
        nullptr));
  std::ranges::sort(client.ids);
  return !client.ids.empty();
}

// -- The run. -------------------------------------------------------------------------------------

class Run {
 public:
  Run(Client& client, void* tree, bool formatted)
      : client_(client), tree_(tree), formatted_(formatted) {}

  /// False: fatal.
  bool list(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    const Bytes trace(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    std::uint64_t used = 0;
    if (client_.options.dstream) {
      used = feed_records(trace);
    } else {
      while (used < trace.size() && !fatal_)
        used += feed(used, trace.subspan(used, std::min(kBlockSize, trace.size() - used)));
    }
    if (fatal_) {
      client_.log.line("Trace Packet Lister : Data Path fatal error");
      client_.log.text().put(client_.last_error);
    } else {
      client_.ending = true;
      operate(OCSD_OP_EOT);
    }
    client_.log.line(
        fmt::format("Trace Packet Lister : Trace buffer done, processed {} bytes.", used));
    if (client_.options.statistics) put_statistics();
    return !fatal_;
  }

  ocsd_datapath_resp_t operate(ocsd_datapath_op_t op) {
    return ocsd_dt_process_data(tree_, op, 0, 0, nullptr, nullptr);
  }

 private:
  std::size_t feed(std::uint64_t index, Bytes block) {
    std::size_t at = 0;
    while (at < block.size()) {
      std::uint32_t used = 0;
      const ocsd_datapath_resp_t answer = ocsd_dt_process_data(
          tree_, OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(index + at),
          static_cast<std::uint32_t>(block.size() - at), block.data() + at, &used);
      at += used;
      if (OCSD_DATA_RESP_IS_WAIT(answer)) flush();
      fatal_ = fatal_ || OCSD_DATA_RESP_IS_FATAL(answer);
      if (fatal_) break;
    }
    return at;
  }

  std::uint64_t feed_records(Bytes trace) {
    constexpr std::size_t kFooterSize = frames::kDstreamRecordSize - frames::kDstreamPayloadSize;
    std::array<std::uint8_t, kFooterSize> footer{};
    std::uint64_t index = 0;
    for (bool more = true; more && !fatal_;) {
      const std::size_t size = std::min(frames::kDstreamPayloadSize, trace.size());
      more = size == frames::kDstreamPayloadSize;
      index += feed(index, trace.first(size));
      trace = trace.subspan(size);
      const Bytes tail = trace.first(std::min(kFooterSize, trace.size()));
      std::ranges::copy(tail, footer.begin());
      trace = trace.subspan(tail.size());
      if (client_.options.raw_packed && !fatal_)
        frames::write_dstream_footer(client_.log.text(), footer);
    }
    return index;
  }

  void flush() {
    ocsd_datapath_resp_t answer = OCSD_RESP_WAIT;
    while (OCSD_DATA_RESP_IS_WAIT(answer)) answer = operate(OCSD_OP_FLUSH);
    fatal_ = fatal_ || OCSD_DATA_RESP_IS_FATAL(answer);
  }

  void put_statistics() {
    client_.log.line("\nReading packet decoder statistics....\n");
    ocsd_decode_stats_t* stats = nullptr;
    bool any = false;
    for (const unsigned char id : client_.ids) {
      if (ocsd_dt_get_decode_stats(tree_, id, &stats) != OCSD_OK) {
        client_.log.line(
            fmt::format("Decode stats unavailable on Trace ID 0x{:x}", formatted_ ? id : 0));
        continue;
      }
      any = true;
      client_.log.line(
          fmt::format("Decode stats ID 0x{:x}\nTotal Bytes: {}; Unsynced Bytes: {}\n"
                      "Bad Header Errors: {}; Bad Sequence Errors: {}",
                      formatted_ ? id : 0, stats->channel_total, stats->channel_unsynced,
                      stats->bad_header_errs, stats->bad_sequence_errs));
    }
    if (!any || stats->demux.frame_bytes == 0) return;
    const ocsd_demux_stats_t& frames = stats->demux;
    client_.log.line(fmt::format(
        "\nFrame Demux Stats\nTrace data bytes sent to registered ID decoders: {}\n"
        "Trace data bytes without registered ID decoders: {}\nTrace data bytes with unknown ID: "
        "{}\n"
        "Trace data bytes with reserved ID: {}\nFrame demux bytes, ID bytes and sync bytes: {}\n"
        "Total bytes processed by frame demux: {}\n",
        frames.valid_id_bytes, frames.no_id_bytes, frames.unknown_id_bytes,
        frames.reserved_id_bytes, frames.frame_bytes,
        frames.valid_id_bytes + frames.no_id_bytes + frames.unknown_id_bytes +
            frames.reserved_id_bytes + frames.frame_bytes));
  }

  Client& client_;
  void* tree_;
  bool formatted_;
  bool fatal_ = false;
};

int list(const ListerOptions& options, Log& log) {
  std::vector<inputs::Problem> problems;
  const auto snapshot = inputs::read_snapshot(options.snapshot, problems);
  if (!snapshot || snapshot->buffers.empty()) return 0;
  const inputs::TraceBuffer* buffer = &snapshot->buffers.front();
  if (!options.source_name.empty()) buffer = snapshot->find_buffer(options.source_name);
  if (buffer == nullptr) return 0;

  Client client(options, log);
  ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr);
  const Tree tree = make_tree(*buffer, options);
  if (!tree) return 1;
  ocsd_def_errlog_set_strprint_cb(tree.get(), &client, &on_text);
  const bool formatted =
      inputs::buffer_format(buffer->format) != inputs::BufferFormat::kSingleSource;
  if (!add_sources(client, tree.get(), *snapshot, *buffer, formatted)) return 0;
  if (options.raw_packed || options.raw_unpacked)
    ocsd_dt_set_raw_frame_printer(tree.get(),
                                  (options.raw_packed ? OCSD_DFRMTR_PACKED_RAW_OUT : 0) |
                                      (options.raw_unpacked ? OCSD_DFRMTR_UNPACKED_RAW_OUT : 0));
  if (options.decode) {
    if (client.printers) {
      ocsd_dt_set_gen_elem_printer(tree.get());
    } else {
      ocsd_dt_set_gen_elem_outfn(tree.get(), &on_element, &client);
    }
    ocsd_tl_log_mapped_mem_ranges(tree.get());
  }

  if (!options.multi_session) {
    Run(client, tree.get(), formatted).list(snapshot->path_of(buffer->file));
    return 0;
  }
  for (std::size_t i = 0; i < snapshot->buffers.size(); ++i) {
    const inputs::TraceBuffer& session = snapshot->buffers[i];
    log.line(fmt::format("####### Multi Session decode: Buffer {} of {}; Source name = {}.\n",
                         i + 1, snapshot->buffers.size(), session.name));
    Run run(client, tree.get(), formatted);
    const bool good = run.list(snapshot->path_of(session.file));
    run.operate(OCSD_OP_RESET);
    if (!good) {
      log.line(fmt::format(
          "Trace Packet Lister : ERROR : Multi-session decode for buffer {} failed. Aborting.\n",
          session.name));
      break;
    }
    log.line(fmt::format("####### Buffer {} : {} Complete\n", i + 1, session.name));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  const auto log_options = read_log_options(arguments);
  if (!log_options) return 254;
  Log log(*log_options);
  const ParsedOptions parsed = read_options(arguments);
  const int status = list(parsed.options, log);
  log.flush();
  return status;
}
