// STM packets, elements and lines per second, compared with the reference where it is installed.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/source_rows.h"
#include "waymark/frames/splitter.h"
#include "waymark/stm/encoder.h"
#include "waymark/stm/fields.h"
#include "waymark/stm/parser.h"
#include "waymark/stm/source.h"

#ifdef WAYMARK_BENCH_REFERENCE
#include <opencsd/c_api/opencsd_c_api.h>
#endif

namespace {

using namespace waymark;
using stm::Packet;

constexpr std::size_t kCaptureSize = 4 << 20;

class Writer {
 public:
  std::vector<std::uint8_t> bytes;

  void put(std::string_view keyword, std::uint64_t payload = 0, std::uint64_t timestamp = 0) {
    Packet packet = *stm::packet_of_keyword(keyword);
    packet.payload = payload;
    packet.timestamp = timestamp;
    packet.timestamp_bits = stm::Encoder::kFewestBits;
    if (!encoder_.encode(packet, bytes)) std::abort();
  }
  void start() {
    put("async");
    put("version", 3);
    put("freq", 19200000);
    put("m8", 0x41);
  }

 private:
  stm::Encoder encoder_;
};

/// The output of Linux's STM framework: messages of a timestamped word, data, and a flag.
std::vector<std::uint8_t> messages() {
  std::mt19937_64 random(7);
  Writer writer;
  std::uint64_t time = 1'000'000;
  while (writer.bytes.size() < kCaptureSize) {
    writer.start();
    for (unsigned i = 0; i < 40; ++i) {
      writer.put("c16", random() % 0x100);
      writer.put("d32ts", random() & 0xFFFFFFFF, time += random() % 4000);
      for (std::uint64_t k = random() % 6; k-- > 0;) writer.put("d64", random());
      writer.put("d8", random() & 0xFF);
      writer.put("flag");
    }
  }
  return writer.bytes;
}

/// Words of a data logger on one channel.
std::vector<std::uint8_t> words() {
  std::mt19937_64 random(7);
  Writer writer;
  writer.start();
  while (writer.bytes.size() < kCaptureSize) writer.put("d32", random() & 0xFFFFFFFF);
  return writer.bytes;
}

/// The STM source of a real capture, repeated many times; empty without the capture.
std::vector<std::uint8_t> board() {
  const std::string path = WAYMARK_BENCH_ROOT "/../shared/data/snapshots/stm_only/cstraceitm.bin";
  std::ifstream file(path, std::ios::binary);
  const std::vector<std::uint8_t> frames{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::uint8_t> bytes;
  if (frames.empty()) return bytes;
  frames::IdSet ids;
  ids.set(0x20);
  frames::StreamSplitter splitter({}, ids);
  if (!splitter.feed(0, frames)) return bytes;
  while (splitter.step() != frames::Step::kNeedInput) {
  }
  const Bytes one = splitter.stream(0x20).block().bytes;
  while (bytes.size() < kCaptureSize) bytes.insert(bytes.end(), one.begin(), one.end());
  return bytes;
}

std::vector<std::uint8_t> capture(benchmark::State& state) {
  constexpr const char* kNames[] = {"messages", "words", "board"};
  state.SetLabel(kNames[state.range(0)]);
  auto bytes = state.range(0) == 0 ? messages() : state.range(0) == 1 ? words() : board();
  if (bytes.empty()) state.SkipWithError("the capture stm_only is missing");
  return bytes;
}

void packets(benchmark::State& state) {
  const auto bytes = capture(state);
  std::uint64_t count = 0;
  struct Visitor {
    static consteval protocol::VisitorTakes takes() { return {}; }
    std::uint64_t& count;
    bool on_packet(const Packet& packet) const {
      ++count;
      benchmark::DoNotOptimize(packet.payload);
      return true;
    }
  };
  for ([[maybe_unused]] auto _ : state) {
    stm::Parser parser(stm::Config{});
    bench::feed_blocks(parser, bytes, [&] { parser.parse(Visitor{count}); });
  }
  bench::finish(state, bytes.size(), count);
}
BENCHMARK(packets)->DenseRange(0, 2);

void packet_batches(benchmark::State& state) {
  bench::batches<Packet>(state, capture(state),
                         [] { return std::make_unique<stm::Parser>(stm::Config{}); });
}
BENCHMARK(packet_batches)->DenseRange(0, 2);

void elements(benchmark::State& state) {
  bench::batches<Element>(state, capture(state), [] { return *stm::make_source({}, {}); });
}
BENCHMARK(elements)->DenseRange(0, 2);

void packet_lines(benchmark::State& state) {
  bench::packet_lines(state, capture(state),
                      [] { return *stm::make_source({}, {.decode = false}); });
}
BENCHMARK(packet_lines)->DenseRange(0, 2);

#ifdef WAYMARK_BENCH_REFERENCE

ocsd_datapath_resp_t count_packet(const void* context, const ocsd_datapath_op_t op,
                                  const ocsd_trc_index_t /*index*/, const void* /*packet*/) {
  *static_cast<std::uint64_t*>(const_cast<void*>(context)) += op == OCSD_OP_DATA;
  return OCSD_RESP_CONT;
}

ocsd_datapath_resp_t count_element(const void* context, const ocsd_trc_index_t /*index*/,
                                   const std::uint8_t /*id*/,
                                   const ocsd_generic_trace_elem* /*element*/) {
  ++*static_cast<std::uint64_t*>(const_cast<void*>(context));
  return OCSD_RESP_CONT;
}

void reference(benchmark::State& state, bool decode) {
  const auto bytes = capture(state);
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    ocsd_stm_cfg config{};
    config.reg_tcsr = 0x00200003;
    config.reg_feat3r = 0x10000;
    config.reg_devid = 0xFF;
    unsigned char id = 0;
    ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_STM,
                           decode ? OCSD_CREATE_FLG_FULL_DECODER : OCSD_CREATE_FLG_PACKET_PROC,
                           &config, &id);
    if (decode) {
      ocsd_dt_set_gen_elem_outfn(tree, count_element, &count);
    } else {
      ocsd_dt_attach_packet_callback(tree, 0, OCSD_C_API_CB_PKT_SINK,
                                     reinterpret_cast<void*>(count_packet),
                                     &count);  // NOLINT: the API's type
    }
    bench::blocks(bytes, [&](std::size_t at, Bytes block) {
      std::uint32_t used = 0;
      ocsd_dt_process_data(tree, OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(at),
                           static_cast<std::uint32_t>(block.size()), block.data(), &used);
    });
    ocsd_destroy_dcd_tree(tree);
  }
  bench::finish(state, bytes.size(), count);
}

void reference_packets(benchmark::State& state) { reference(state, false); }
BENCHMARK(reference_packets)->DenseRange(0, 2);
void reference_elements(benchmark::State& state) { reference(state, true); }
BENCHMARK(reference_elements)->DenseRange(0, 2);

#endif

}  // namespace
