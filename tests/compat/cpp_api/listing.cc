// cppapi_listing: the listing of trc_pkt_lister, made by a client of the C++ API with the library's
// printers for packets, elements and frames.  The result must equal the recorded listings of the
// reference.
//
//   cppapi_listing [OPTION...]     the options of trc_pkt_lister for decoding
//
// CPPAPI_LISTING=waits in the environment has the element printer answer WAIT to every element.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lister/log.h"
#include "lister/options.h"
#include "opencsd.h"
#include "waymark/frames/dstream.h"
#include "waymark/frames/text.h"
#include "waymark/image/image.h"
#include "waymark/inputs/snapshot.h"

namespace {

using namespace waymark;
using namespace waymark::compat;

constexpr std::size_t kBlockSize = 1024;

/// Writes the log of the library into the log of the lister.
class Lines : public ocsdMsgLogStrOutI {
 public:
  explicit Lines(Log& log) : log_(log) {
    messages_.setLogOpts(ocsdMsgLogger::OUT_STR_CB);
    messages_.setStrOutFn(this);
    errors_.initErrorLogger(OCSD_ERR_SEV_INFO);
    errors_.setOutputLogger(&messages_);
  }
  void printOutStr(const std::string& outStr) override {
    log_.text().put(outStr);
    log_.settle();
  }
  ocsdDefaultErrorLogger& errors() { return errors_; }

 private:
  Log& log_;
  ocsdMsgLogger messages_;
  ocsdDefaultErrorLogger errors_;
};

struct TreeDeleter {
  void operator()(::DecodeTree* tree) const { ::DecodeTree::DestroyDecodeTree(tree); }
};
using Tree = std::unique_ptr<::DecodeTree, TreeDeleter>;

struct Client {
  const ListerOptions& options;
  Log& log;
  Lines& lines;
  bool formatted = true;
};

Tree make_tree(const inputs::TraceBuffer& buffer, const ListerOptions& options) {
  const auto format = inputs::buffer_format(buffer.format);
  if (format == inputs::BufferFormat::kSingleSource)
    return Tree(::DecodeTree::CreateDecodeTree(OCSD_TRC_SRC_SINGLE, 0));
  std::uint32_t flags = OCSD_DFRMTR_FRAME_MEM_ALIGN;
  if (options.tpiu || options.tpiu_hsync || format == inputs::BufferFormat::kFsyncFrames)
    flags = OCSD_DFRMTR_HAS_FSYNCS;
  if (options.tpiu_hsync) flags |= OCSD_DFRMTR_HAS_HSYNCS;
  return Tree(::DecodeTree::CreateDecodeTree(OCSD_TRC_SRC_FRAME_FORMATTED, flags));
}

struct Made {
  const char* decoder = nullptr;
  std::unique_ptr<CSConfig> config;
};

Made make_config(const std::string& type, const inputs::Device& device, ocsd_arch_profile_t core) {
  const auto reg = [&](std::string_view name, std::uint32_t otherwise = 0) {
    return device.value(name).value_or(otherwise);
  };
  if (type == "ETM4") {
    const ocsd_etmv4_cfg cfg = {reg("TRCIDR0"),     reg("TRCIDR1", 0x4100F403),
                                reg("TRCIDR2"),     reg("TRCIDR8"),
                                reg("TRCIDR9"),     reg("TRCIDR10"),
                                reg("TRCIDR11"),    reg("TRCIDR12"),
                                reg("TRCIDR13"),    reg("TRCCONFIGR"),
                                reg("TRCTRACEIDR"), core.arch,
                                core.profile};
    return {OCSD_BUILTIN_DCD_ETMV4I, std::make_unique<EtmV4Config>(&cfg)};
  }
  if (type == "ETE") {
    const ocsd_ete_cfg cfg = {reg("TRCIDR0"),
                              reg("TRCIDR1", 0x4100F403),
                              reg("TRCIDR2"),
                              reg("TRCIDR8"),
                              reg("TRCDEVARCH", 0x47705A13),
                              reg("TRCCONFIGR"),
                              reg("TRCTRACEIDR"),
                              core.arch,
                              core.profile};
    return {OCSD_BUILTIN_DCD_ETE, std::make_unique<ETEConfig>(&cfg)};
  }
  if (type == "ETM3") {
    const ocsd_etmv3_cfg cfg = {reg("ETMIDR"),      reg("ETMCR"), reg("ETMCCER"),
                                reg("ETMTRACEIDR"), core.arch,    core.profile};
    return {OCSD_BUILTIN_DCD_ETMV3, std::make_unique<EtmV3Config>(&cfg)};
  }
  if (type == "PTM1" || type == "PFT1") {
    const ocsd_ptm_cfg cfg = {reg("ETMIDR"),      reg("ETMCR"), reg("ETMCCER"),
                              reg("ETMTRACEIDR"), core.arch,    core.profile};
    return {OCSD_BUILTIN_DCD_PTM, std::make_unique<PtmConfig>(&cfg)};
  }
  if (type == "STM") {
    const ocsd_stm_cfg cfg = {reg("STMTCSR"), 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};
    return {OCSD_BUILTIN_DCD_STM, std::make_unique<STMConfig>(&cfg)};
  }
  if (type == "ITM") {
    const ocsd_itm_cfg cfg = {reg("ITMTCR")};
    return {OCSD_BUILTIN_DCD_ITM, std::make_unique<ITMConfig>(&cfg)};
  }
  return {};
}

void add_memory(::DecodeTree& tree, const inputs::Snapshot& snapshot, const inputs::Device& core) {
  for (const inputs::Dump& dump : core.dumps) {
    const ocsd_file_mem_region_t region = {
        dump.length != 0 ? static_cast<std::size_t>(dump.offset) : 0, dump.address,
        static_cast<std::size_t>(dump.length)};
    const std::string path = snapshot.path_of(dump.file);
    const auto space = static_cast<ocsd_mem_space_acc_t>(
        image::space_by_name(dump.space).value_or(image::kSpaceAny));
    if (TrcMemAccessorFile::isExistingFileAccessor(path)) {
      static_cast<void>(tree.updateBinFileRegionMemAcc(&region, 1, space, path));
    } else {
      static_cast<void>(tree.addBinFileRegionMemAcc(&region, 1, space, path));
    }
  }
}

bool add_sources(const Client& client, ::DecodeTree& tree, const inputs::Snapshot& snapshot,
                 const inputs::TraceBuffer& buffer) {
  bool any = false;
  CoreArchProfileMap cores;
  const auto create =
      static_cast<int>(client.options.flags) |
      (client.options.decode ? OCSD_CREATE_FLG_FULL_DECODER : OCSD_CREATE_FLG_PACKET_PROC);
  for (const inputs::TraceSource& source : buffer.sources) {
    if (source.device_index == inputs::TraceSource::kNoDevice) continue;
    const ocsd_arch_profile_t core = cores.getArchProfile(source.core_type);
    if (!source.core.empty() && core.arch == ARCH_UNKNOWN) continue;
    const Made made = make_config(source.protocol, snapshot.devices[source.device_index], core);
    if (made.config == nullptr) continue;
    if (tree.createDecoder(made.decoder, create, made.config.get()) != OCSD_OK) continue;
    any = true;
    if (client.options.decode && !source.core.empty())
      add_memory(tree, snapshot, snapshot.devices[source.core_index]);
    if (!client.formatted) break;
  }
  return any;
}

class Run {
 public:
  Run(const Client& client, ::DecodeTree& tree) : client_(client), tree_(tree) {}

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
      if (const ocsdError* const error = client_.lines.errors().GetLastError())
        client_.log.text().put(ocsdError::getErrorString(*error));
    } else {
      // The macro evaluates its argument more than once.
      const ocsd_datapath_resp_t answer = operate(OCSD_OP_EOT);
      if (OCSD_DATA_RESP_IS_WAIT(answer)) flush();
    }
    client_.log.line(
        fmt::format("Trace Packet Lister : Trace buffer done, processed {} bytes.", used));
    if (client_.options.statistics) put_statistics();
    return !fatal_;
  }

  ocsd_datapath_resp_t operate(ocsd_datapath_op_t op) {
    return tree_.TraceDataIn(op, 0, 0, nullptr, nullptr);
  }

 private:
  std::size_t feed(std::uint64_t index, Bytes block) {
    std::size_t at = 0;
    while (at < block.size()) {
      std::uint32_t used = 0;
      const ocsd_datapath_resp_t answer = tree_.TraceDataIn(
          OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(index + at),
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
    while (OCSD_DATA_RESP_IS_WAIT(answer)) {
      for (ItemPrinter* const printer : tree_.getPrinterList())
        if (auto* const elements = dynamic_cast<TrcGenericElementPrinter*>(printer))
          elements->ackWait();
      answer = operate(OCSD_OP_FLUSH);
    }
    fatal_ = fatal_ || OCSD_DATA_RESP_IS_FATAL(answer);
  }

  void put_statistics() {
    client_.log.line("\nReading packet decoder statistics....\n");
    ocsd_decode_stats_t* stats = nullptr;
    bool any = false;
    std::uint8_t id = 0;
    for (DecodeTreeElement* element = tree_.getFirstElement(id); element != nullptr;
         element = tree_.getNextElement(id)) {
      ocsd_decode_stats_t* found = nullptr;
      if (tree_.getDecoderStats(id, &found) != OCSD_OK) {
        client_.log.line(fmt::format("Decode stats unavailable on Trace ID 0x{:x}", id));
        continue;
      }
      any = true;
      stats = found;
      client_.log.line(
          fmt::format("Decode stats ID 0x{:x}\nTotal Bytes: {}; Unsynced Bytes: {}\n"
                      "Bad Header Errors: {}; Bad Sequence Errors: {}",
                      id, stats->channel_total, stats->channel_unsynced, stats->bad_header_errs,
                      stats->bad_sequence_errs));
    }
    if (!any || stats->demux.frame_bytes == 0) return;
    frames::Statistics counts;
    counts.valid_id_bytes = stats->demux.valid_id_bytes;
    counts.no_id_bytes = stats->demux.no_id_bytes;
    counts.reserved_id_bytes = stats->demux.reserved_id_bytes;
    counts.unknown_id_bytes = stats->demux.unknown_id_bytes;
    counts.frame_bytes = stats->demux.frame_bytes;
    frames::write_statistics(client_.log.text(), counts);
  }

  const Client& client_;
  ::DecodeTree& tree_;
  bool fatal_ = false;
};

void add_printers(const Client& client, ::DecodeTree& tree) {
  const ListerOptions& options = client.options;
  if (options.packets) {
    std::uint8_t id = 0;
    for (DecodeTreeElement* element = tree.getFirstElement(id); element != nullptr;
         element = tree.getNextElement(id))
      static_cast<void>(tree.addPacketPrinter(id, options.monitored(), nullptr));
  }
  if (options.raw_packed || options.raw_unpacked)
    static_cast<void>(tree.addRawFramePrinter(
        nullptr, (options.raw_packed ? OCSD_DFRMTR_PACKED_RAW_OUT : 0) |
                     (options.raw_unpacked ? OCSD_DFRMTR_UNPACKED_RAW_OUT : 0)));
  if (!options.decode) return;
  TrcGenericElementPrinter* elements = nullptr;
  static_cast<void>(tree.addGenElemPrinter(&elements));
  const char* const mode = std::getenv("CPPAPI_LISTING");
  if (mode != nullptr && std::strcmp(mode, "waits") == 0)
    elements->setTestWaits(std::numeric_limits<int>::max());
  tree.logMappedRanges();
}

int list(const ListerOptions& options, Log& log) {
  std::vector<inputs::Problem> problems;
  const auto snapshot = inputs::read_snapshot(options.snapshot, problems);
  if (!snapshot || snapshot->buffers.empty()) return 0;
  const inputs::TraceBuffer* buffer = &snapshot->buffers.front();
  if (!options.source_name.empty()) buffer = snapshot->find_buffer(options.source_name);
  if (buffer == nullptr) return 0;

  // The deformatter gets the logger that exists when its tree is made; the lister's logger comes
  // later.
  const Tree tree = make_tree(*buffer, options);
  if (!tree) return 1;
  Lines lines(log);
  ::DecodeTree::setAlternateErrorLogger(&lines.errors());
  tree->createMemAccMapper();
  const Client client{.options = options,
                      .log = log,
                      .lines = lines,
                      .formatted = tree->getFrameDeformatter() != nullptr};
  if (!add_sources(client, *tree, *snapshot, *buffer)) return 0;
  add_printers(client, *tree);

  if (!options.multi_session) {
    Run(client, *tree).list(snapshot->path_of(buffer->file));
    return 0;
  }
  for (std::size_t i = 0; i < snapshot->buffers.size(); ++i) {
    const inputs::TraceBuffer& session = snapshot->buffers[i];
    log.line(fmt::format("####### Multi Session decode: Buffer {} of {}; Source name = {}.\n",
                         i + 1, snapshot->buffers.size(), session.name));
    Run run(client, *tree);
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
