// Frames per second of both forms of the deformatter, compared with a plain copy of the same bytes.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "waymark/frames/mux.h"
#include "waymark/frames/splitter.h"

namespace {

using namespace waymark;
using namespace waymark::frames;

constexpr std::size_t kCaptureSize = 4 << 20;

/// A capture of `sources` sources that write up to `burst` bytes in turn.
std::vector<std::uint8_t> capture(unsigned sources, unsigned burst, const MuxOptions& options) {
  std::mt19937_64 random(7);
  Mux mux(options);
  std::vector<std::uint8_t> bytes;
  while (mux.bytes().size() < kCaptureSize) {
    bytes.resize(1 + random() % burst);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    if (!mux.write(static_cast<TraceId>(0x10 + random() % sources), bytes)) std::abort();
  }
  mux.finish();
  return mux.take();
}

struct Setting {
  unsigned sources;
  unsigned burst;
  MuxOptions options;
};

Setting setting(std::int64_t number) {
  switch (number) {
    case 0:
      return {1, 4096, {.id_repeat = 0}};
    case 1:
      return {1, 4096, {}};
    case 2:
      return {4, 256, {}};
    case 3:
      return {4, 8, {}};
    case 4:
      return {1, 4096, {.fsync_period = 1}};
    default:
      return {4, 64, {.fsync_period = 16, .hsync_period = 100}};
  }
}

void label(benchmark::State& state) {
  static constexpr std::string_view kNames[] = {
      "one source, ID once",      "one source, ID every 8 frames", "4 sources, long bursts",
      "4 sources, up to 8 bytes", "one source, FSYNC every frame", "4 sources, FSYNC and HSYNC"};
  state.SetLabel(std::string(kNames[state.range(0)]));
}

void copy(benchmark::State& state) {
  const auto bytes = capture(1, 4096, {});
  std::vector<std::uint8_t> to(bytes.size());
  for ([[maybe_unused]] auto _ : state) {
    std::memcpy(to.data(), bytes.data(), bytes.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(copy);

// As a driver uses it: blocks of 64 KiB, with the streams cleared after each block.
void split(benchmark::State& state) {
  const Setting chosen = setting(state.range(0));
  const auto bytes = capture(chosen.sources, chosen.burst, chosen.options);
  StreamSplitter splitter(chosen.options.demux_options());
  const std::size_t block = 64 << 10;
  const std::size_t size = bytes.size() / block * block;
  for ([[maybe_unused]] auto _ : state) {
    splitter.reset();
    for (std::size_t at = 0; at < size; at += block) {
      if (!splitter.feed(at, Bytes(bytes).subspan(at, block))) std::abort();
      if (splitter.step() != Step::kNeedInput) std::abort();
      for (TraceId id = 0x10; id < 0x14; ++id) {
        benchmark::DoNotOptimize(splitter.stream(id).block().bytes.data());
        splitter.stream(id).clear();
      }
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * size));
  label(state);
}
BENCHMARK(split)->DenseRange(0, 5);

void step(benchmark::State& state) {
  const Setting chosen = setting(state.range(0));
  auto bytes = capture(chosen.sources, chosen.burst, chosen.options);
  const Options options = chosen.options.demux_options();
  bytes.resize(bytes.size() / options.alignment() * options.alignment());
  Demux demux(options);
  for ([[maybe_unused]] auto _ : state) {
    demux.reset();
    if (!demux.feed(0, bytes)) std::abort();
    while (demux.step() == Step::kFrame) benchmark::DoNotOptimize(&demux.frame());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
  label(state);
}
BENCHMARK(step)->DenseRange(0, 5);

}  // namespace
