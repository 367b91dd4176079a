// decode --last and --around: what is near a place or the end.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "decode_sink.h"

namespace waymark::cli {

/// Passes on the blocks with at least `before` instructions before a place, those with `after`
/// instructions from it on, and what is between them; before it, the context of each source.  Keeps
/// them up to finish(), in bounded memory.
class NearSink final : public Sink {
 public:
  /// `place`: kNoIndex for the end.
  NearSink(std::unique_ptr<Sink> next, std::uint64_t before, TraceIndex place, std::uint64_t after);

  void add(std::span<const Element> elements) override;
  void add(const Diagnostic& record) override;
  void add(const merge::TimedRecord& record) override;
  void finish() override;
  void end_here() override { next_->end_here(); }

  /// Whether nothing more is wanted.
  [[nodiscard]] bool enough() const { return instructions_after_ >= wanted_after_; }

 private:
  struct Record {
    std::variant<Element, Diagnostic, merge::TimedRecord> what;
    std::uint64_t number;  ///< Counts all records.
  };

  static const Element* element_of(const Record& record);
  static std::uint64_t instructions_of(const Record& record);
  void keep(const Record& record, TraceIndex index);
  void drop_first();
  void pass(const Record& record);

  /// Other records than blocks that are kept at most.
  static constexpr std::size_t kMostOthers = 65536;
  /// Records after the last one that are kept because they may say where a branch went.
  static constexpr std::size_t kMostCompleting = 64;

  std::unique_ptr<Sink> next_;
  std::uint64_t wanted_before_;
  TraceIndex place_;
  std::uint64_t wanted_after_;
  std::uint64_t count_ = 0;
  std::uint64_t instructions_before_ = 0;
  std::uint64_t instructions_after_ = 0;
  std::size_t blocks_before_ = 0;
  std::deque<Record> before_;
  std::vector<Record> after_;
  std::vector<Record> completing_;
  /// The last context of each source among what was dropped.
  std::array<std::optional<Record>, kTraceIdCount> contexts_;
};

}  // namespace waymark::cli
