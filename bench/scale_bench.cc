// Large captures: threads, frames, counting, and how the time grows with the size.
//
//   scale_bench SNAPSHOT [THREADS [REPETITIONS]]
//
// Wall-clock times, the best of the repetitions; ratios compare figures of the same run.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "waymark/count/counter.h"
#include "waymark/frames/splitter.h"
#include "waymark/inputs/capture.h"
#include "waymark/parallel/parallel_decoder.h"

namespace {

using namespace waymark;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The least work of a client that reads each element.
struct Totals {
  std::uint64_t elements = 0;
  std::uint64_t instructions = 0;
  void add(std::span<const Element> more) {
    elements += more.size();
    for (const Element& element : more)
      instructions += element.kind == ElementKind::kInstrRange ? element.count : 0;
  }
};

struct CountingPiece final : parallel::Piece {
  void on_elements(std::span<const Element> elements) override { totals.add(elements); }
  Totals totals;
};

struct CountingConsumer final : parallel::Consumer {
  std::unique_ptr<parallel::Piece> begin() override { return std::make_unique<CountingPiece>(); }
  bool take(std::unique_ptr<parallel::Piece> piece) override {
    const Totals& more = static_cast<const CountingPiece&>(*piece).totals;
    totals.elements += more.elements;
    totals.instructions += more.instructions;
    return true;
  }
  Totals totals;
};

inputs::Capture open(const std::string& path) {
  auto capture = inputs::Capture::open(path, {});
  if (!capture) {
    fmt::print(stderr, "scale_bench: {}\n", capture.error().detail);
    std::exit(1);  // NOLINT(concurrency-mt-unsafe)
  }
  return *std::move(capture);
}

class Bench {
 public:
  Bench(std::string path, unsigned threads, unsigned repetitions)
      : path_(std::move(path)), threads_(threads), repetitions_(repetitions) {}

  int run() {
    {
      auto capture = open(path_);
      size_ = capture.trace().size();
      fmt::print("{}: {:.1f} MiB, {} sources\n", path_, static_cast<double>(size_) / (1 << 20),
                 capture.sources().size());
      frames(capture);
    }
    Totals alone;
    const double one = best([&] { alone = sequential(); });
    row("elements, 1 thread", one);
    fmt::print("{:34}{:.2f} ns per element, {} elements, {:.0f} M instructions/s\n", "",
               one * 1e9 / static_cast<double>(alone.elements), alone.elements,
               static_cast<double>(alone.instructions) / one / 1e6);
    std::uint64_t counted = 0;
    const double counting = best([&] { counted = count(); });
    row("counting, 1 thread", counting);
    fmt::print("{:34}{:.2f} ns per element, {:.0f} M instructions/s, {:.2f} times the elements\n",
               "", counting * 1e9 / static_cast<double>(alone.elements),
               static_cast<double>(counted) / counting / 1e6, one / counting);
    if (counted != alone.instructions) {
      fmt::print(stderr, "scale_bench: counting gave {} instructions.\n", counted);
      return 1;
    }
    for (unsigned threads = 2; threads <= threads_; ++threads) {
      Totals together;
      parallel::Statistics how;
      const double many = best([&] { std::tie(together, how) = in_parallel(threads); });
      row(fmt::format("elements, {} threads", threads), many);
      fmt::print("{:34}{:.2f} times one thread; {} of {} pieces decoded again, warm-ups {:.1f} %\n",
                 "", one / many, how.redone, how.pieces,
                 100.0 * static_cast<double>(how.warm_up_bytes) / static_cast<double>(size_));
      if (together.elements != alone.elements || together.instructions != alone.instructions) {
        fmt::print(stderr, "scale_bench: the threads gave {} elements.\n", together.elements);
        return 1;
      }
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print("peak memory, including the pages of the capture: {:.0f} MiB\n",
               static_cast<double>(usage.ru_maxrss) / 1024);
    return 0;
  }

 private:
  double best(const std::function<void()>& work) const {
    double least = seconds_of(work);
    for (unsigned i = 1; i < repetitions_; ++i) least = std::min(least, seconds_of(work));
    return least;
  }
  void row(const std::string& name, double seconds) const {
    fmt::print("{:34}{:8.1f} MB/s {:10.2f} ms\n", name, static_cast<double>(size_) / seconds / 1e6,
               seconds * 1e3);
  }

  void frames(inputs::Capture& capture) {
    const auto options = inputs::frame_options(capture.framing());
    const auto whole = capture.rest();
    if (!options || !whole) return;
    std::vector<std::uint8_t> copy(kBlock);
    const auto blocks = [&](auto&& take) {
      for (std::size_t at = 0; at < whole->bytes.size(); at += kBlock)
        take(at, whole->bytes.subspan(at, std::min(kBlock, whole->bytes.size() - at)));
    };
    const double copying = best([&] {
      blocks([&](std::size_t /*at*/, Bytes block) {
        std::ranges::copy(block, copy.begin());
        asm volatile("" : : "r"(copy.data()) : "memory");
      });
    });
    const double splitting = best([&] {
      frames::StreamSplitter splitter(*options);
      blocks([&](std::size_t at, Bytes block) {
        if (!splitter.feed(at, block)) return;
        while (splitter.step() != frames::Step::kNeedInput) {
        }
        for (TraceId id = 0; id < kTraceIdCount; ++id) splitter.stream(id).clear();
      });
    });
    row("memcpy", copying);
    row("frames taken apart", splitting);
    fmt::print("{:34}{:.2f} of memcpy\n", "", copying / splitting);
  }

  Totals sequential() const {
    auto capture = open(path_);
    Totals totals;
    std::vector<Element> span(1024);
    const auto drain = [&] {
      while (const std::size_t count = capture.tree().next(span))
        totals.add(std::span<const Element>(span).first(count));
    };
    while (const auto block = capture.next_block()) {
      if (!capture.tree().feed(block->index, block->bytes)) break;
      drain();
    }
    capture.tree().finish();
    drain();
    return totals;
  }

  /// Instructions.
  std::uint64_t count() const {
    auto capture = open(path_);
    std::map<Source*, count::Counter> counters;
    const SourceWork work = [&](Source& source) { source.count(counters[&source]); };
    while (const auto block = capture.next_block()) {
      for (std::size_t at = 0; at < block->bytes.size(); at += kBlock) {
        const Bytes bytes = block->bytes.subspan(at, std::min(kBlock, block->bytes.size() - at));
        if (!capture.tree().feed(block->index + at, bytes)) break;
        capture.tree().work(work);
      }
    }
    capture.tree().finish();
    capture.tree().work(work);
    std::uint64_t instructions = 0;
    for (auto& [source, counter] : counters) instructions += counter.take().totals().instructions;
    return instructions;
  }

  std::pair<Totals, parallel::Statistics> in_parallel(unsigned threads) const {
    auto capture = open(path_);
    CountingConsumer consumer;
    parallel::ParallelDecoder decoder(capture.tree(),
                                      {.threads = threads, .piece_bytes = std::size_t{1} << 20});
    if (const auto whole = capture.rest())
      static_cast<void>(decoder.decode(whole->index, whole->bytes, consumer));
    return {consumer.totals, decoder.statistics()};
  }

  static constexpr std::size_t kBlock = std::size_t{256} << 10;
  std::string path_;
  unsigned threads_;
  unsigned repetitions_;
  std::size_t size_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    fmt::print(stderr, "usage: scale_bench SNAPSHOT [THREADS [REPETITIONS]]\n");
    return 2;
  }
  const auto number = [&](int i, unsigned usual) {
    const long value = argc > i ? std::strtol(argv[i], nullptr, 10) : 0;
    return value > 0 ? static_cast<unsigned>(value) : usual;
  };
  return Bench(argv[1], number(2, 2), number(3, 3)).run();
}
