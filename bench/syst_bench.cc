// SyS-T messages, frames and lines per second, and the checksum.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "waymark/outputs/messages.h"
#include "waymark/syst/crc32c.h"
#include "waymark/syst/instrument.h"
#include "waymark/syst/interpreter.h"
#include "waymark/syst/lines.h"
#include "waymark/syst/sinks.h"
#include "waymark/syst/splitter.h"

namespace {

using namespace waymark;
using syst::instrument::Handle;
using syst::instrument::Level;
using syst::instrument::Origin;

constexpr std::size_t kStreamSize = std::size_t{100} << 20;

std::uint64_t now() {
  static std::uint64_t time = 0;
  return time += 250;
}

/// The contents of a firmware log: formats with a few arguments, catalog messages, texts, short
/// messages.
template <class Sink>
void send_mixed(Sink& sink, std::uint32_t number) {
  const Handle handle(sink, Origin::module_unit(3, 4),
                      {.length = true, .checksum = true, .timestamp = true}, now);
  handle.printf(Level::kInfo, "task %s: state %d, %u bytes at %p", "idle", number & 7, number * 12,
                &number);
  handle.catalog32(Level::kDebug, 0x10, number, number + 1);
  handle.text(Level::kWarning, "voltage out of range, retrying");
  handle.short32(number & 0xFFFFFFF);
  handle.printf(Level::kDebug, "%s took %lu us (%x)", "handler", 123UL, number);
}

const std::vector<std::uint8_t>& plain_stream() {
  static const std::vector<std::uint8_t> kStream = [] {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(kStreamSize + 1024);
    syst::instrument::PlainSink sink([&](std::span<const std::uint8_t> part) {
      bytes.insert(bytes.end(), part.begin(), part.end());
    });
    for (std::uint32_t i = 0; bytes.size() < kStreamSize; ++i) send_mixed(sink, i);
    return bytes;
  }();
  return kStream;
}

const std::string& text_stream() {
  static const std::string kStream = [] {
    std::string text;
    text.reserve(kStreamSize + 1024);
    syst::instrument::LineSink sink(
        [&](std::span<const char> part) { text.append(part.data(), part.size()); });
    for (std::uint32_t i = 0; text.size() < kStreamSize; ++i) send_mixed(sink, i);
    return text;
  }();
  return kStream;
}

void report(benchmark::State& state, std::size_t bytes, std::uint64_t messages) {
  const auto rounds = static_cast<std::uint64_t>(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes * rounds));
  state.counters["messages"] =
      benchmark::Counter(static_cast<double>(messages * rounds), benchmark::Counter::kIsRate);
}

template <class Reader, class Take>
std::uint64_t read_all(Bytes content, Take&& take) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  Reader reader;
  syst::Frame frame;
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < content.size(); at += kBlock) {
    reader.feed(content.subspan(at, std::min(kBlock, content.size() - at)));
    for (; reader.next(frame); ++count) take(frame);
  }
  for (; reader.finish(frame); ++count) take(frame);
  return count;
}

void parse(benchmark::State& state) {
  const Bytes content = plain_stream();
  std::uint64_t messages = 0;
  for ([[maybe_unused]] auto _ : state) {
    messages = read_all<syst::StreamSplitter>(content, [](const syst::Frame& frame) {
      benchmark::DoNotOptimize(syst::parse_message(frame.bytes));
    });
  }
  report(state, content.size(), messages);
}
BENCHMARK(parse)->Name("plain bytes to messages")->Unit(benchmark::kMillisecond);

template <class Reader>
void print(benchmark::State& state, Bytes content,
           void (outputs::MessageWriter::*write)(const syst::Record&)) {
  std::uint64_t messages = 0;
  for ([[maybe_unused]] auto _ : state) {
    const syst::Collateral collateral;
    syst::Interpreter interpreter(collateral);
    TextBuffer out;
    outputs::MessageWriter writer(out);
    messages = read_all<Reader>(content, [&](const syst::Frame& frame) {
      (writer.*write)(interpreter.interpret(frame));
      if (out.size() > 256 << 10) out.clear();
    });
  }
  report(state, content.size(), messages);
}

Bytes text_bytes() {
  return {reinterpret_cast<const std::uint8_t*>(text_stream().data()), text_stream().size()};
}

void plain_to_text(benchmark::State& state) {
  print<syst::StreamSplitter>(state, plain_stream(), &outputs::MessageWriter::text);
}
BENCHMARK(plain_to_text)->Name("plain bytes to text")->Unit(benchmark::kMillisecond);

void plain_to_json(benchmark::State& state) {
  print<syst::StreamSplitter>(state, plain_stream(), &outputs::MessageWriter::json);
}
BENCHMARK(plain_to_json)->Name("plain bytes to JSON")->Unit(benchmark::kMillisecond);

void lines_to_text(benchmark::State& state) {
  print<syst::LineReader>(state, text_bytes(), &outputs::MessageWriter::text);
}
BENCHMARK(lines_to_text)->Name("console text to text")->Unit(benchmark::kMillisecond);

template <std::uint32_t (*kChecksum)(Bytes)>
void checksum(benchmark::State& state) {
  const std::vector<std::uint8_t> bytes(static_cast<std::size_t>(state.range(0)), 0x5A);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(kChecksum(bytes));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
}
BENCHMARK(checksum<syst::crc32c>)->Name("CRC-32C")->Arg(64)->Arg(65536);
BENCHMARK(checksum<syst::crc32c_portable>)->Name("CRC-32C from tables")->Arg(64)->Arg(65536);

}  // namespace
