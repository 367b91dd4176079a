// Elements of several sources in order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "waymark/merge/time_merge.h"

namespace waymark::cli {

/// Passes on records in order of time.
class EventMerge final : private merge::RecordSink {
 public:
  using Take = std::function<void(const merge::TimedRecord& record)>;

  /// `ids`: the sources that will give elements.
  EventMerge(const std::vector<TraceId>& ids, Take take)
      : take_(std::move(take)), merge_(ids, *this) {}

  void add(std::span<const Element> elements) {
    for (const Element& element : elements) merge_.add(element);
  }
  void finish() { merge_.finish(); }
  /// How many records come after later ones.
  [[nodiscard]] std::uint64_t late() const { return merge_.late(); }

 private:
  void on_record(const merge::TimedRecord& record) override { take_(record); }

  Take take_;
  merge::TimeMerge merge_;
};

}  // namespace waymark::cli
