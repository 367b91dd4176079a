#include "counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "complain.h"
#include "decode_parallel.h"
#include "input_options.h"
#include "interrupt.h"
#include "progress.h"
#include "run.h"
#include "waymark/count/counter.h"
#include "waymark/inputs/branch_code.h"
#include "waymark/parallel/counting.h"
#include "waymark/parallel/parallel_decoder.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kElements = 512;

/// Counts the damage in a window.
class DamageCounter final : public Observer {
 public:
  explicit DamageCounter(const Window& window) : window_(window) {}
  [[nodiscard]] bool wants_packets() const override { return false; }
  void on_diagnostic(const Diagnostic& record) override {
    // The decoder reports a bad packet too.
    if (record.stage == Stage::kPackets || !record.is_damage()) return;
    if (!window_.contains(record)) return;
    ++all_;
    if (record.trace_id < kTraceIdCount) ++by_id_[record.trace_id];
  }
  void take(const inputs::Capture& capture, Counted& counted) const {
    counted.all_damage = all_;
    for (const inputs::CaptureSource& source : capture.sources())
      counted.damage.push_back(by_id_[source.id & (kTraceIdCount - 1)]);
  }

 private:
  const Window& window_;
  std::uint64_t all_ = 0;
  std::array<std::uint64_t, kTraceIdCount> by_id_{};
};

void take_damage(inputs::Capture& capture, Counted& counted) {
  counted.all_damage = capture.tree().damage();
  for (const inputs::CaptureSource& source : capture.sources())
    counted.damage.push_back(source.source->statistics().diagnostics);
}

/// One thread: each source with its counter.
class Counting {
 public:
  Counting(inputs::Capture& capture, const std::optional<Selection>& selection)
      : capture_(capture), batch_(kElements) {
    for (const inputs::CaptureSource& source : capture.sources()) {
      Own& own = own_[source.source];
      own.counter.set_tasks(capture.image().selector(), task_filter(selection));
      own.counter.set_targets(inputs::BranchCode(capture).direct_targets());
      by_id_[source.id & (kTraceIdCount - 1)] = &own;
      // Without trace, this only tells the counter what the registers say.
      source.source->count(own.counter);
    }
  }

  Counted run() {
    Counted counted;
    counted.code = count_whole(counted.read_to);
    take(counted);
    take_damage(capture_, counted);
    return counted;
  }

  /// Only what is in the window.
  Counted run(Window& window, Output& output) {
    Counted counted;
    counted.read_to = window.start();
    const RunHooks hooks{.on_elements =
                             [&](std::span<const Element> elements) {
                               for (const Element& element : window.cut(elements)) observe(element);
                             },
                         .stop = {},
                         .enough =
                             [&](TraceIndex index) {
                               counted.read_to = index;
                               return window.enough(index);
                             }};
    DamageCounter damage(window);
    capture_.tree().set_observer(&damage);
    counted.code = run_capture(capture_, output, hooks);
    capture_.tree().set_observer(nullptr);
    take(counted);
    damage.take(capture_, counted);
    return counted;
  }

 private:
  struct Own {
    count::Counter counter;
    count::ItmCounts itm;
  };

  int count_whole(TraceIndex& read_to) {
    Progress progress(capture_.live() ? 0 : capture_.trace().size());
    DecodeTree& tree = capture_.tree();
    const SourceWork count = [this](Source& source) { count_source(source); };
    while (true) {
      const auto event = capture_.next_event();
      if (interrupted()) return kInterrupted;
      if (!event) return complain(event.error().detail, kInput);
      if (!*event) break;
      const inputs::TraceBlock* const block = &(*event)->block;
      if ((*event)->kind == inputs::TraceEvent::Kind::kGap) {
        tree.lose();
        tree.work(count);
        continue;
      }
      for (std::size_t at = 0; at < block->bytes.size(); at += kStep) {
        const Bytes bytes = block->bytes.subspan(at, std::min(kStep, block->bytes.size() - at));
        if (const auto fed = tree.feed(block->index + at, bytes); !fed)
          return complain(fed.error().detail, kDamaged);
        tree.work(count);
        read_to = block->index + at + bytes.size();
        if (interrupted()) return kInterrupted;
      }
      progress.at(block->index + block->bytes.size());
    }
    tree.finish();
    tree.work(count);
    return kOk;
  }

  void count_source(Source& source) {
    Own& own = own_[&source];
    if (source.protocol() == Protocol::kItm) {
      while (const std::size_t given = source.next(batch_)) {
        const auto elements = std::span<const Element>(batch_).first(given);
        own.counter.observe(elements);
        own.itm.observe(elements);
      }
    } else {
      source.count(own.counter);
    }
  }

  void observe(const Element& element) {
    Own* const own = by_id_[element.trace_id & (kTraceIdCount - 1)];
    if (own == nullptr) return;
    own->counter.observe({&element, 1});
    own->itm.observe({&element, 1});
  }

  void take(Counted& counted) {
    for (const inputs::CaptureSource& source : capture_.sources()) {
      Own& own = own_.at(source.source);
      counted.by_source.push_back(own.counter.take());
      counted.itm.push_back(std::move(own.itm));
    }
  }

  /// With the streams made from it, it stays in the second-level cache.
  static constexpr std::size_t kStep = std::size_t{256} << 10;

  inputs::Capture& capture_;
  std::map<Source*, Own> own_;
  std::array<Own*, kTraceIdCount> by_id_{};
  std::vector<Element> batch_;
};

/// Several threads.
Counted count_in_pieces(inputs::Capture& capture, const inputs::TraceBlock& whole,
                        const std::optional<Selection>& selection, unsigned threads) {
  // By pieces after the last one that was taken.
  constexpr TraceIndex kStillRead = std::size_t{32} << 20;
  Progress progress(capture.trace().size());
  Counted counted;
  parallel::CountingConsumer consumer(capture.tree(), [&](TraceIndex end) {
    progress.at(end);
    counted.read_to = end;
    if (end > kStillRead) capture.passed(end - kStillRead);
    if (interrupted()) counted.code = kInterrupted;
    return counted.code == kOk;
  });
  consumer.set_tasks(capture.image().selector(), task_filter(selection));
  consumer.set_targets(inputs::BranchCode(capture).direct_targets());
  parallel::ParallelDecoder decoder(
      capture.tree(), {.threads = threads, .piece_bytes = parallel::CountingConsumer::kPieceBytes});
  if (const auto done = decoder.decode(whole.index, whole.bytes, consumer); !done) {
    const bool memory = done.error().code == ErrorCode::kLimit;
    counted.code = complain(done.error().detail, memory ? kMemory : kDamaged);
    if (memory) return counted;
  }
  for (const inputs::CaptureSource& source : capture.sources())
    counted.by_source.push_back(consumer.take_counts(*source.source));
  counted.itm.resize(counted.by_source.size());
  take_damage(capture, counted);
  return counted;
}

}  // namespace

count::Counter::TaskFilter task_filter(const std::optional<Selection>& selection) {
  if (!selection) return {};
  return [own = *selection](TaskId task) mutable { return own.has_task(task); };
}

Counted count_all(inputs::Capture& capture, const std::optional<Selection>& selection,
                  unsigned threads) {
  threads = threads_for(capture, threads);
  const auto whole = threads > 1 ? capture.rest() : std::nullopt;
  return whole ? count_in_pieces(capture, *whole, selection, threads)
               : Counting(capture, selection).run();
}

Counted count_window(inputs::Capture& capture, const std::optional<Selection>& selection,
                     Window& window, Output& output) {
  return Counting(capture, selection).run(window, output);
}

void keep_programs(Counted& counted, Selection& selection) {
  for (count::Counts& counts : counted.by_source) {
    std::erase_if(counts.rows, [&](const count::Row& row) {
      return !selection.has_place(row.context.task, row.range.start);
    });
    std::erase_if(counts.edges, [&](const count::Edge& edge) {
      return !selection.has_place(edge.context.task, edge.from);
    });
    count::Counts kept;
    kept.rows = std::move(counts.rows);
    kept.edges = std::move(counts.edges);
    counts = std::move(kept);
  }
}

bool counted_something(const Counted& counted) {
  return std::ranges::any_of(counted.by_source, [](const count::Counts& counts) {
    const auto of = [&](ElementKind kind) { return counts.others[static_cast<std::size_t>(kind)]; };
    return counts.totals().ranges + counts.pathless_instructions + of(ElementKind::kItmTrace) +
               of(ElementKind::kSwTrace) !=
           0;
  });
}

int report_nothing(std::string_view input, const inputs::Capture& capture,
                   const std::optional<Selection>& selection, const Window& window,
                   const MissingPrograms* missing) {
  const bool is_missing = missing != nullptr && !missing->empty();
  std::string_view why = "no source that traces instructions has a program image.";
  if (is_missing) {
    why = "the programs that ran are missing.";
  } else if (selection) {
    why = "none of the selected code was executed.";
  } else if (window.given()) {
    why = "nothing was executed in this part of the trace.";
  } else if (!any_sync_point(capture)) {
    why = "no synchronisation point was found; `waymark info` shows what is in the trace.";
  }
  const int code =
      complain(fmt::format("{}: no instruction could be counted: {}", input, why), kDamaged);
  if (missing != nullptr) missing->report();
  return code;
}

}  // namespace waymark::cli
