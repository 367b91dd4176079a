// ITM packets, elements and lines per second.  The reference of Debian's packages has no ITM
// decoder to stand beside.
#include <benchmark/benchmark.h>

#include <random>
#include <string_view>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/element/text.h"
#include "waymark/itm/encoder.h"
#include "waymark/itm/parser.h"
#include "waymark/itm/source.h"
#include "waymark/outputs/human.h"
#include "waymark/outputs/packet_text.h"

namespace {

using namespace waymark;
using itm::Packet;
using itm::PacketType;

constexpr std::size_t kCaptureSize = 4 << 20;
constexpr std::size_t kBlock = 256 << 10;

void add(std::vector<std::uint8_t>& out, PacketType type, std::uint8_t source, std::uint64_t value,
         std::uint8_t size) {
  Packet packet;
  packet.type = type;
  packet.source = source;
  packet.value = value;
  packet.size = size;
  if (!itm::encode(packet, out)) std::abort();
}

/// What firmware sends: text with a time after each character, exceptions, samples, watched writes.
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

void finish(benchmark::State& state, std::size_t bytes, std::uint64_t items) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["ns"] = benchmark::Counter(
      static_cast<double>(items) / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class Take>
void blocks(Bytes bytes, Take take) {
  for (std::size_t at = 0; at < bytes.size(); at += kBlock)
    take(at, bytes.subspan(at, std::min(kBlock, bytes.size() - at)));
}

void packets(benchmark::State& state) {
  const auto bytes = capture(state);
  std::vector<Packet> out(1024);
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    itm::Parser parser(itm::Config{});
    blocks(bytes, [&](std::size_t at, Bytes block) {
      const frames::Run run{0, at};
      parser.feed({block, {&run, 1}});
      while (const std::size_t taken = parser.next(std::span(out))) {
        count += taken;
        benchmark::DoNotOptimize(out.data());
      }
    });
  }
  finish(state, bytes.size(), count);
}
BENCHMARK(packets)->DenseRange(0, 1);

void one_packet_at_a_time(benchmark::State& state) {
  const auto bytes = capture(state);
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    itm::Parser parser(itm::Config{});
    Packet packet;
    blocks(bytes, [&](std::size_t at, Bytes block) {
      const frames::Run run{0, at};
      parser.feed({block, {&run, 1}});
      while (parser.next(packet)) {
        ++count;
        benchmark::DoNotOptimize(packet);
      }
    });
  }
  finish(state, bytes.size(), count);
}
BENCHMARK(one_packet_at_a_time)->DenseRange(0, 1);

void elements(benchmark::State& state) {
  const auto bytes = capture(state);
  std::vector<Element> out(1024);
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto source = *itm::make_source({}, {});
    blocks(bytes, [&](std::size_t at, Bytes block) {
      const frames::Run run{0, at};
      source->feed({block, {&run, 1}});
      while (const std::size_t taken = source->next(out)) {
        count += taken;
        benchmark::DoNotOptimize(out.data());
      }
    });
  }
  finish(state, bytes.size(), count);
}
BENCHMARK(elements)->DenseRange(0, 1);

class Lister final : public Observer {
 public:
  explicit Lister(const Source& source) : source_(source) {}
  void on_packet(const PacketRef& packet) override {
    outputs::write_packet_line(text, packet, source_);
    ++count;
    if (text.size() > (1 << 20)) text.clear();
  }
  TextBuffer text;
  std::uint64_t count = 0;

 private:
  const Source& source_;
};

void packet_lines(benchmark::State& state) {
  const auto bytes = capture(state);
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto source = *itm::make_source({}, {.decode = false});
    Lister lister(*source);
    source->set_observer(&lister, 0);
    blocks(bytes, [&](std::size_t at, Bytes block) {
      const frames::Run run{0, at};
      source->feed({block, {&run, 1}});
      source->next({});
    });
    count += lister.count;
  }
  finish(state, bytes.size(), count);
}
BENCHMARK(packet_lines)->DenseRange(0, 1);

void lines_for_people(benchmark::State& state) {
  const auto bytes = capture(state);
  std::vector<Element> out(1024);
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto source = *itm::make_source({}, {});
    TextBuffer text;
    outputs::HumanWriter writer(text);
    blocks(bytes, [&](std::size_t at, Bytes block) {
      const frames::Run run{0, at};
      source->feed({block, {&run, 1}});
      while (const std::size_t taken = source->next(out)) {
        count += taken;
        writer.add(std::span(out).first(taken));
        if (text.size() > (1 << 20)) text.clear();
      }
    });
    writer.finish();
  }
  finish(state, bytes.size(), count);
}
BENCHMARK(lines_for_people)->DenseRange(0, 1);

}  // namespace
