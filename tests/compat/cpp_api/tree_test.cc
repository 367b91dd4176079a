#include <array>
#include <span>
#include <thread>

#include "support.h"
#include "waymark/element/text.h"
#include "waymark/inputs/capture.h"

namespace cpp_api {
namespace {

constexpr std::uint64_t kSampleInstructions = 44901;

/// A tree that decodes the sample to `sink`.
TreePointer sample_tree(ITrcGenElemIn& sink, int flags = OCSD_CREATE_FLG_FULL_DECODER) {
  TreePointer tree = framed_tree();
  const EtmV4Config config = sample_config();
  EXPECT_EQ(tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, flags, &config), OCSD_OK);
  EXPECT_EQ(tree->createMemAccMapper(), OCSD_OK);
  EXPECT_EQ(add_sample_memory(*tree), OCSD_OK);
  tree->setGenTraceElemOutI(&sink);
  return tree;
}

std::vector<std::string> native_lines() {
  auto capture = waymark::inputs::Capture::open(std::string(WAYMARK_SAMPLES) + "/quicksort", {});
  std::vector<std::string> lines;
  if (!capture) {
    ADD_FAILURE() << capture.error().detail;
    return lines;
  }
  waymark::DecodeTree& tree = capture->tree();
  std::vector<waymark::Element> elements(64);
  const auto take = [&] {
    while (const std::size_t count = tree.next(elements)) {
      for (const waymark::Element& element : std::span(elements).first(count)) {
        waymark::TextBuffer text;
        waymark::write_element(text, element);
        lines.push_back("Idx:" + std::to_string(element.index) + "; ID:" +
                        std::to_string(element.trace_id) + "; " + std::string(text.view()));
      }
    }
  };
  while (const auto block = capture->next_block()) {
    EXPECT_TRUE(tree.feed(block->index, block->bytes));
    take();
  }
  tree.finish();
  take();
  return lines;
}

TEST(cpp_api_tree, gives_the_elements_of_the_native_interface) {
  Collector sink;
  const TreePointer tree = sample_tree(sink);
  EXPECT_EQ(run(*tree, read_file(sample("trace.bin"))), OCSD_RESP_CONT);
  EXPECT_EQ(sink.instructions, kSampleInstructions);
  EXPECT_EQ(sink.lines, native_lines());
}

TEST(cpp_api_tree, waits_and_flushes_change_nothing_in_the_elements) {
  Collector plain;
  Collector waiting;
  waiting.wait_from = 1;
  waiting.waits = 500;
  int flushes = 0;
  const ByteVector trace = read_file(sample("trace.bin"));
  run(*sample_tree(plain), trace);
  EXPECT_EQ(run(*sample_tree(waiting), trace, 1024, &flushes), OCSD_RESP_CONT);
  EXPECT_EQ(waiting.lines, plain.lines);
  EXPECT_GE(flushes, 400);
}

TEST(cpp_api_tree, a_wait_takes_the_whole_frame_and_not_the_next) {
  Collector sink;
  sink.wait_from = 1;
  sink.waits = 1;
  const TreePointer tree = sample_tree(sink);
  const ByteVector trace = read_file(sample("trace.bin"));
  std::uint32_t used = 0;
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 0, 1024, trace.data(), &used), OCSD_RESP_WAIT);
  EXPECT_EQ(sink.count, 1U);
  EXPECT_EQ(used, 16U);
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_FLUSH, 0, 0, nullptr, nullptr), OCSD_RESP_CONT);
}

TEST(cpp_api_tree, an_unframed_tree_uses_bytes_up_to_the_packet_that_waited) {
  TreePointer tree = single_tree();
  const EtmV4Config config = sample_config();
  Collector sink;
  sink.wait_from = 1;
  sink.waits = 1;
  ASSERT_EQ(tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config),
            OCSD_OK);
  tree->createMemAccMapper();
  tree->setGenTraceElemOutI(&sink);
  // An A-sync of 12 bytes, trace info, trace on.
  const ByteVector bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0x00, 0x04};
  std::uint32_t used = 0;
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 0, 16, bytes.data(), &used), OCSD_RESP_WAIT);
  ASSERT_EQ(sink.lines.size(), 1U);
  EXPECT_EQ(sink.lines[0], "Idx:0; ID:16; OCSD_GEN_TRC_ELEM_NO_SYNC( [init-decoder])");
  EXPECT_EQ(used, 12U);
}

TEST(cpp_api_tree, without_a_decoder_an_unframed_tree_is_not_ready) {
  const TreePointer tree = single_tree();
  const ByteVector bytes(16);
  std::uint32_t used = 7;
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 0, 16, bytes.data(), &used), OCSD_RESP_FATAL_NOT_INIT);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(tree->getFrameDeformatter(), nullptr);
}

TEST(cpp_api_tree, refuses_flags_that_exclude_each_other) {
  TextLog log;
  const LoggerInUse in_use(log.errors);
  EXPECT_EQ(framed_tree(OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_HAS_FSYNCS), nullptr);
  EXPECT_EQ(
      log.text,
      "DFMT_CSFRAMES : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) [Invalid value parameter passed to "
      "component.]; Invalid Config Flag Combination Set");
  EXPECT_EQ(framed_tree(0), nullptr);
  EXPECT_EQ(framed_tree(0x100), nullptr);
}

TEST(cpp_api_tree, what_a_decoder_lacks_is_logged) {
  TextLog log;
  const LoggerInUse in_use(log.errors);
  const TreePointer tree = framed_tree();
  const EtmV4Config config = sample_config();
  Collector sink;
  tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config);
  const ByteVector trace = read_file(sample("trace.bin"));
  std::uint32_t used = 0;
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 0, 1024, trace.data(), &used),
            OCSD_RESP_FATAL_NOT_INIT);
  EXPECT_EQ(log.text,
            "DCD_ETMV4_0016 : 0x0003 (OCSD_ERR_NOT_INIT) [Component not initialised.]; No element "
            "output interface attached and enabled");
  log.text.clear();
  tree->TraceDataIn(OCSD_OP_RESET, 0, 0, nullptr, nullptr);
  tree->setGenTraceElemOutI(&sink);
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 0, 1024, trace.data(), &used),
            OCSD_RESP_FATAL_NOT_INIT);
  EXPECT_NE(log.text.find("No memory access interface attached and enabled"), std::string::npos);
}

TEST(cpp_api_tree, elements_are_walked_by_id) {
  const TreePointer tree = framed_tree();
  ocsd_etmv4_cfg registers = sample_config();
  for (const std::uint32_t id : {0x30U, 0x11U, 0x12U}) {
    registers.reg_traceidr = id;
    const EtmV4Config config(&registers);
    EXPECT_EQ(tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &config),
              OCSD_OK);
  }
  const EtmV4Config again(&registers);
  EXPECT_EQ(tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &again),
            OCSD_ERR_ATTACH_TOO_MANY);
  std::uint8_t id = 0;
  std::vector<int> ids;
  for (DecodeTreeElement* e = tree->getFirstElement(id); e != nullptr;
       e = tree->getNextElement(id)) {
    ids.push_back(id);
    EXPECT_EQ(e->getDecoderTypeName(), "ETMV4I");
    EXPECT_EQ(e->getProtocol(), OCSD_PROTOCOL_ETMV4I);
    EXPECT_NE(e->getDecoderHandle(), nullptr);
  }
  EXPECT_EQ(ids, (std::vector<int>{0x11, 0x12, 0x30}));
  EXPECT_EQ(tree->getDecoderElement(0x12)->getDecoderHandle()->getComponentName(),
            "PKTP_ETMV4I_0018");
  EXPECT_EQ(tree->removeDecoder(0x12), OCSD_OK);
  EXPECT_EQ(tree->getDecoderElement(0x12), nullptr);
  EXPECT_EQ(tree->removeDecoder(0x70), OCSD_ERR_INVALID_ID);
}

TEST(cpp_api_tree, reports_why_a_decoder_cannot_be_made) {
  const TreePointer tree = single_tree();
  const EtmV4Config config = sample_config();
  EXPECT_EQ(tree->createDecoder("ETMV4D", OCSD_CREATE_FLG_PACKET_PROC, &config),
            OCSD_ERR_DCDREG_NAME_UNKNOWN);
  EXPECT_EQ(tree->createDecoder("ETMV4I", 0, &config), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(tree->createDecoder("ETMV4I", OCSD_CREATE_FLG_PACKET_PROC, nullptr),
            OCSD_ERR_INVALID_PARAM_VAL);
  const PtmConfig other;
  EXPECT_EQ(tree->createDecoder("ETMV4I", OCSD_CREATE_FLG_PACKET_PROC, &other),
            OCSD_ERR_INVALID_PARAM_TYPE);
  EXPECT_EQ(tree->createDecoder("ETMV4I", OCSD_CREATE_FLG_PACKET_PROC, &config), OCSD_OK);
  EXPECT_EQ(tree->createDecoder("ETMV4I", OCSD_CREATE_FLG_PACKET_PROC, &config),
            OCSD_ERR_ATTACH_TOO_MANY);
}

TEST(cpp_api_tree, statistics_are_those_of_the_trace) {
  Collector sink;
  const TreePointer tree = sample_tree(sink);
  const ByteVector trace = read_file(sample("trace.bin"));
  run(*tree, trace);
  ocsd_decode_stats_t* stats = nullptr;
  ASSERT_EQ(tree->getDecoderStats(kSampleId, &stats), OCSD_OK);
  EXPECT_EQ(stats->version, OCSD_VER_NUM);
  EXPECT_EQ(stats->revision, OCSD_STATS_REVISION);
  EXPECT_EQ(stats->bad_header_errs, 0U);
  EXPECT_EQ(stats->channel_total, stats->demux.valid_id_bytes);
  EXPECT_EQ(stats->demux.valid_id_bytes + stats->demux.no_id_bytes +
                stats->demux.reserved_id_bytes + stats->demux.unknown_id_bytes +
                stats->demux.frame_bytes,
            trace.size());
  EXPECT_EQ(tree->resetDecoderStats(kSampleId), OCSD_OK);
  ASSERT_EQ(tree->getDecoderStats(kSampleId, &stats), OCSD_OK);
  EXPECT_EQ(stats->channel_total, 0U);
  EXPECT_EQ(stats->demux.frame_bytes, 0U);
  EXPECT_EQ(tree->getDecoderStats(0x55, &stats), OCSD_ERR_INVALID_PARAM_VAL);
}

TEST(cpp_api_tree, a_filter_keeps_other_ids_out) {
  Collector sink;
  const TreePointer tree = sample_tree(sink);
  std::vector<std::uint8_t> ids = {0x22};
  EXPECT_EQ(tree->setIDFilter(ids), OCSD_OK);
  const ByteVector trace = read_file(sample("trace.bin"));
  run(*tree, trace);
  EXPECT_TRUE(sink.lines.empty());
  EXPECT_EQ(tree->clearIDFilter(), OCSD_OK);
  tree->TraceDataIn(OCSD_OP_RESET, 0, 0, nullptr, nullptr);
  run(*tree, trace);
  EXPECT_EQ(sink.instructions, kSampleInstructions);
  EXPECT_EQ(single_tree()->setIDFilter(ids), OCSD_ERR_DCDT_NO_FORMATTER);
  EXPECT_EQ(single_tree()->clearIDFilter(), OCSD_ERR_DCDT_NO_FORMATTER);
}

TEST(cpp_api_tree, a_reset_restarts_decoding) {
  Collector first;
  const TreePointer tree = sample_tree(first);
  const ByteVector trace = read_file(sample("trace.bin"));
  run(*tree, trace);
  Collector second;
  tree->setGenTraceElemOutI(&second);
  EXPECT_EQ(tree->getGenTraceElemOutI(), &second);
  tree->TraceDataIn(OCSD_OP_RESET, 0, 0, nullptr, nullptr);
  run(*tree, trace);
  ASSERT_EQ(second.lines.size(), first.lines.size());
  EXPECT_EQ(second.lines[0].substr(second.lines[0].find("OCSD")),
            "OCSD_GEN_TRC_ELEM_NO_SYNC( [reset-decoder])");
  EXPECT_EQ(std::vector<std::string>(second.lines.begin() + 1, second.lines.end()),
            std::vector<std::string>(first.lines.begin() + 1, first.lines.end()));
}

TEST(cpp_api_tree, data_that_does_not_continue_is_refused) {
  Collector sink;
  const TreePointer tree = sample_tree(sink);
  const ByteVector trace = read_file(sample("trace.bin"));
  std::uint32_t used = 0;
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 0, 64, trace.data(), &used), OCSD_RESP_CONT);
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 32, 64, trace.data(), &used),
            OCSD_RESP_FATAL_INVALID_DATA);
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 64, 10, trace.data(), &used),
            OCSD_RESP_FATAL_INVALID_DATA);
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 64, 0, trace.data(), &used),
            OCSD_RESP_FATAL_INVALID_PARAM);
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 64, 16, nullptr, &used), OCSD_RESP_FATAL_INVALID_PARAM);
}

TEST(cpp_api_tree, trees_in_two_threads_are_independent) {
  const ByteVector trace = read_file(sample("trace.bin"));
  std::array<Collector, 2> sinks;
  {
    std::vector<std::jthread> threads;
    threads.reserve(sinks.size());
    for (Collector& sink : sinks)
      threads.emplace_back([&sink, &trace] {
        for (int i = 0; i < 3; ++i) {
          sink.lines.clear();
          run(*sample_tree(sink), trace);
        }
      });
  }
  EXPECT_EQ(sinks[0].lines, sinks[1].lines);
  EXPECT_EQ(sinks[0].instructions, 3 * kSampleInstructions);
}

/// A client's own memory, which records the context delivered before each read.
class ClientMemory : public ITargetMemAccess {
 public:
  ClientMemory() : elf_(read_file(sample("quicksort.elf"))) {}
  ocsd_err_t ReadTargetMemory(const ocsd_vaddr_t address, const std::uint8_t cs_trace_id,
                              const ocsd_mem_space_acc_t, std::uint32_t* num_bytes,
                              std::uint8_t* p_buffer) override {
    EXPECT_EQ(cs_trace_id, kSampleId);
    ++reads;
    // All or nothing, as some clients do.
    if (address < kTextAddress || address + *num_bytes > kTextAddress + kTextSize) {
      *num_bytes = 0;
      return OCSD_OK;
    }
    std::copy_n(elf_.begin() + static_cast<long>(kTextOffset + address - kTextAddress), *num_bytes,
                p_buffer);
    return OCSD_OK;
  }
  void InvalidateMemAccCache(const std::uint8_t) override { ++invalidations; }
  int reads = 0;
  int invalidations = 0;

 private:
  ByteVector elf_;
};

TEST(cpp_api_tree, reads_memory_of_a_clients_own_class) {
  Collector sink;
  Collector usual;
  ClientMemory memory;
  const TreePointer tree = framed_tree();
  tree->setMemAccessI(&memory);
  tree->setGenTraceElemOutI(&sink);
  const EtmV4Config config = sample_config();
  ASSERT_EQ(tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config),
            OCSD_OK);
  const ByteVector trace = read_file(sample("trace.bin"));
  EXPECT_EQ(run(*tree, trace), OCSD_RESP_CONT);
  run(*sample_tree(usual), trace);
  EXPECT_EQ(sink.lines, usual.lines);
  EXPECT_GT(memory.reads, 0);
  EXPECT_GT(memory.invalidations, 0);
}

}  // namespace
}  // namespace cpp_api
