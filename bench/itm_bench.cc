// ITM packets, elements and lines per second.  Debian's version of the reference has no ITM decoder
// to compare with.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "bench/source_rows.h"
#include "waymark/itm/encoder.h"
#include "waymark/itm/parser.h"
#include "waymark/itm/source.h"
#include "waymark/outputs/human.h"

namespace {

using namespace waymark;
using itm::Packet;
using itm::PacketType;

constexpr std::size_t kCaptureSize = 4 << 20;

void add(std::vector<std::uint8_t>& out, PacketType type, std::uint8_t source, std::uint64_t value,
         std::uint8_t size) {
  Packet packet;
  packet.type = type;
  packet.source = source;
  packet.value = value;
  packet.size = size;
  if (!itm::encode(packet, out)) std::abort();
}

/// The trace of firmware: text with a time after each character, exceptions, samples, watched
/// writes.
std::vector<std::uint8_t> firmware() {
  std::mt19937_64 random(7);
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < kCaptureSize) {
    add(bytes, PacketType::kAsync, 0, 0, 0);
    for (unsigned line = 0; line < 100; ++line) {
      for (const char c : std::string_view("tick 4711: all is well\n")) {
        add(bytes, PacketType::kSoftware, 0, static_cast<unsigned char>(c), 1);
        add(bytes, PacketType::kLocalTimestamp, 0, 40 + random() % 400, 2);
      }
      add(bytes, PacketType::kHardware, 1, 0x100F, 2);
      add(bytes, PacketType::kLocalTimestamp, 0, 3, 0);
      add(bytes, PacketType::kHardware, 2, 0x08000000 + random() % 0x10000, 4);
      add(bytes, PacketType::kHardware, 8, 0x08001234, 4);
      add(bytes, PacketType::kHardware, 17, random() & 0xFFFFFFFF, 4);
      add(bytes, PacketType::kHardware, 0, 0x20, 1);
      add(bytes, PacketType::kHardware, 1, 0x200F, 2);
      add(bytes, PacketType::kGlobalTimestamp1, 0, random() & 0x3FFF, 2);
    }
  }
  return bytes;
}

/// Words on one port, as a data logger writes them.
std::vector<std::uint8_t> words() {
  std::mt19937_64 random(7);
  std::vector<std::uint8_t> bytes;
  add(bytes, PacketType::kAsync, 0, 0, 0);
  while (bytes.size() < kCaptureSize)
    add(bytes, PacketType::kSoftware, 1, random() & 0xFFFFFFFF, 4);
  return bytes;
}

std::vector<std::uint8_t> capture(benchmark::State& state) {
  state.SetLabel(state.range(0) == 0 ? "firmware" : "words");
  return state.range(0) == 0 ? firmware() : words();
}

void packets(benchmark::State& state) {
  bench::batches<Packet>(state, capture(state),
                         [] { return std::make_unique<itm::Parser>(itm::Config{}); });
}
BENCHMARK(packets)->DenseRange(0, 1);

void one_packet_at_a_time(benchmark::State& state) {
  const auto bytes = capture(state);
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    itm::Parser parser(itm::Config{});
    Packet packet;
    bench::feed_blocks(parser, bytes, [&] {
      while (parser.next(packet)) {
        ++count;
        benchmark::DoNotOptimize(packet);
      }
    });
  }
  bench::finish(state, bytes.size(), count);
}
BENCHMARK(one_packet_at_a_time)->DenseRange(0, 1);

std::unique_ptr<Source> make() { return *itm::make_source({}, {}); }

void elements(benchmark::State& state) { bench::batches<Element>(state, capture(state), make); }
BENCHMARK(elements)->DenseRange(0, 1);

void packet_lines(benchmark::State& state) {
  bench::packet_lines(state, capture(state),
                      [] { return *itm::make_source({}, {.decode = false}); });
}
BENCHMARK(packet_lines)->DenseRange(0, 1);

void lines_for_people(benchmark::State& state) {
  TextBuffer text;
  outputs::HumanWriter writer(text);
  bench::batches<Element>(state, capture(state), make, [&](std::span<const Element> elements) {
    writer.add(elements);
    if (text.size() > bench::kMostText) text.clear();
  });
}
BENCHMARK(lines_for_people)->DenseRange(0, 1);

}  // namespace
