// A consumer that keeps everything, and what one thread gives it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "waymark/parallel/parallel_decoder.h"
#include "waymark/synth/workload.h"

namespace waymark::parallel {

/// A record and the number of elements before it.
struct PlacedRecord {
  std::size_t at = 0;
  TraceIndex index = 0;
  TraceId stream_id = 0;
  Finding finding = Finding::kNone;
  friend bool operator==(const PlacedRecord&, const PlacedRecord&) = default;
};

/// The elements that a piece saw; after its end it continues until it has seen `wanted` more
/// elements.
struct Seen final : Piece {
  explicit Seen(std::size_t more) : wanted(more) {}
  void on_elements(std::span<const Element> more) override {
    if (ended) {
      after += more.size();
    } else {
      elements.insert(elements.end(), more.begin(), more.end());
    }
  }
  void on_diagnostic(const Diagnostic& record) override {
    if (!ended)
      records.push_back({elements.size(), record.index, record.stream_id, record.finding});
  }
  void end() override { ended = true; }
  [[nodiscard]] bool wants_more() const override { return ended && after < wanted; }

  std::vector<Element> elements;
  std::vector<PlacedRecord> records;
  std::size_t wanted;
  std::size_t after = 0;
  bool ended = false;
};

/// All pieces in order.
struct Collector final : Consumer {
  std::unique_ptr<Piece> begin() override { return std::make_unique<Seen>(wanted); }
  bool take(std::unique_ptr<Piece> piece) override {
    const auto& seen = static_cast<const Seen&>(*piece);
    for (PlacedRecord record : seen.records) {
      record.at += elements.size();
      records.push_back(record);
    }
    elements.insert(elements.end(), seen.elements.begin(), seen.elements.end());
    return ++taken < most;
  }

  std::size_t wanted = 0;
  std::size_t most = ~std::size_t{0};
  std::size_t taken = 0;
  std::vector<Element> elements;
  std::vector<PlacedRecord> records;
};

inline std::unique_ptr<DecodeTree> tree_of(const synth::MemoryCapture& capture) {
  auto tree = std::make_unique<DecodeTree>(capture.maker.frame_options());
  for (auto& source : capture.sources()) EXPECT_TRUE(tree->add(std::move(source)));
  return tree;
}

/// One thread, without this module.
inline Collector sequential(DecodeTree& tree, Bytes bytes) {
  Collector all;
  auto piece = all.begin();
  tree.set_observer(piece.get());
  std::vector<Element> span(100);
  const auto drain = [&] {
    while (const std::size_t count = tree.next(span))
      piece->on_elements(std::span<const Element>(span).first(count));
  };
  if (!bytes.empty()) {
    EXPECT_TRUE(tree.feed(0, bytes));
  }
  drain();
  tree.finish();
  drain();
  tree.set_observer(nullptr);
  all.take(std::move(piece));
  return all;
}

}  // namespace waymark::parallel
