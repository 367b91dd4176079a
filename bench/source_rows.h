// Rows of google-benchmark for one source without frames: blocks to packets, elements or lines.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/frames/stream.h"
#include "waymark/outputs/packet_text.h"
#include "waymark/protocol/source.h"

namespace waymark::bench {

inline constexpr std::size_t kBlock = 256 << 10;
inline constexpr std::size_t kBatch = 1024;
inline constexpr std::size_t kMostText = 1 << 20;

inline void finish(benchmark::State& state, std::size_t bytes, std::uint64_t items) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["ns"] = benchmark::Counter(
      static_cast<double>(items) / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// `take` gets the index and the bytes of each block.
template <class Take>
void blocks(Bytes bytes, Take take) {
  for (std::size_t at = 0; at < bytes.size(); at += kBlock)
    take(at, bytes.subspan(at, std::min(kBlock, bytes.size() - at)));
}

/// Gives all blocks in turn to `consumer`, a parser or a source, and empties it with `take`.
template <class Consumer, class Take>
void feed_blocks(Consumer& consumer, Bytes bytes, Take take) {
  blocks(bytes, [&](std::size_t at, Bytes block) {
    const frames::Run run{0, at};
    consumer.feed({block, {&run, 1}});
    take();
  });
}

/// `make` makes an object with next(std::span<Item>); `taken` receives each batch.
template <class Item, class Make, class Taken>
void batches(benchmark::State& state, Bytes bytes, Make make, Taken taken) {
  std::vector<Item> out(kBatch);
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    auto consumer = make();
    feed_blocks(*consumer, bytes, [&] {
      while (const std::size_t got = consumer->next(std::span(out))) {
        count += got;
        taken(std::span(out).first(got));
      }
    });
  }
  finish(state, bytes.size(), count);
}

template <class Item, class Make>
void batches(benchmark::State& state, Bytes bytes, Make make) {
  batches<Item>(state, bytes, make,
                [](std::span<Item> items) { benchmark::DoNotOptimize(items.data()); });
}

class PacketLister final : public Observer {
 public:
  explicit PacketLister(const Source& source) : source_(source) {}
  void on_packet(const PacketRef& packet) override {
    outputs::write_packet_line(text_, packet, source_);
    ++count_;
    if (text_.size() > kMostText) text_.clear();
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  TextBuffer text_;
  std::uint64_t count_ = 0;
  const Source& source_;
};

/// `make` makes a source that does not decode.
template <class Make>
void packet_lines(benchmark::State& state, Bytes bytes, Make make) {
  std::uint64_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto source = make();
    PacketLister lister(*source);
    source->set_observer(&lister, 0);
    feed_blocks(*source, bytes, [&] { source->next({}); });
    count += lister.count();
  }
  finish(state, bytes.size(), count);
}

}  // namespace waymark::bench
