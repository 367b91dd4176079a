// The ground truth of a capture: what really happened, so that decoding can be compared with it,
// instruction by instruction. The file format is described in docs/synth.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/element/element.h"
#include "waymark/synth/execution.h"

namespace waymark::synth {

enum class EventKind : std::uint8_t {
  kRange = 0,      ///< start, end, count, taken, isa.
  kContext = 1,    ///< context: of the ranges that follow.
  kException = 2,  ///< number; address: the preferred return address.
  kExceptionReturn = 3,
  kTimestamp = 4,     ///< number.
  kCycleCount = 5,    ///< number.
  kEvent = 6,         ///< number.
  kTraceOn = 7,       ///< number: TraceOnReason.
  kLost = 8,          ///< number: UnsyncReason, for a gap that the trace reports.
  kHidden = 9,        ///< A range like kRange that the trace does not show.
  kUnknownPath = 10,  ///< start, address: what follows, count: a Q element for hidden ranges.
  kMessage = 11,      ///< start: payload, count: its bits, number: port or master << 16 | channel.
  kEnd = 15,          ///< The trace ends.
};

/// One event.  `kind` determines which fields have meaning.
struct TruthEvent {
  EventKind kind = EventKind::kEnd;
  bool taken = false;
  isa::Isa isa = isa::Isa::kUnknown;
  std::uint32_t count = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t number = 0;
  std::uint64_t address = 0;
  PeContext context{};
};

/// "range 0x1000-0x1010 x4 E A64", for messages.
std::string describe(const TruthEvent& event);

/// Counts, and a hash over everything that the trace shows: enough to compare two ground truths.
struct TruthTotals {
  std::uint64_t ranges = 0;
  std::uint64_t instructions = 0;
  std::uint64_t hidden_instructions = 0;
  std::uint64_t events = 0;  ///< Everything that the trace shows, including ranges.
  std::uint64_t digest = 0;
  friend bool operator==(const TruthTotals&, const TruthTotals&) = default;

  void add(const TruthEvent& event);
  void add_range(std::uint64_t start, std::uint64_t end, std::uint32_t count, bool taken) {
    ++ranges;
    ++events;
    instructions += count;
    mix(start ^ (end << 24) ^ (std::uint64_t{count} << 1) ^ (taken ? 1U : 0U));
  }

 private:
  void mix(std::uint64_t value) {
    digest = (digest ^ value) * 0x9FB21C651E98DF25ULL;
    digest ^= digest >> 29;
  }
};

/// Writes a ground truth; see docs/synth.md.  One owner.
class TruthWriter {
 public:
  /// Without `keep`, only totals() are kept.
  explicit TruthWriter(bool keep);

  void range(std::uint64_t start, std::uint64_t end, std::uint32_t count, bool taken,
             isa::Isa isa) {
    totals_.add_range(start, end, count, taken);
    if (keep_) put_range(start, end, count, taken, isa);
  }
  void add(const TruthEvent& event);

  [[nodiscard]] const TruthTotals& totals() const { return totals_; }
  /// Bytes that were written and have not been taken yet.
  [[nodiscard]] Bytes bytes() const { return Bytes(bytes_).first(used_); }
  void clear() {
    taken_ += used_;
    used_ = 0;
  }
  /// False: only totals() are kept.
  [[nodiscard]] bool keeps() const { return keep_; }
  /// Bytes written so far.
  [[nodiscard]] std::uint64_t size() const { return taken_ + used_; }

 private:
  // More than any event needs: tags and three numbers of ten bytes.
  static constexpr std::size_t kMostOfEvent = 40;

  void put_range(std::uint64_t start, std::uint64_t end, std::uint32_t count, bool taken,
                 isa::Isa isa);
  void make_room() {
    if (bytes_.size() - used_ < kMostOfEvent) [[unlikely]]
      bytes_.resize(std::max(2 * bytes_.size(), std::size_t{1} << 12));
  }
  // The caller has reserved room.
  void put(std::uint8_t byte) { bytes_[used_++] = byte; }
  void varint(std::uint64_t value);

  bool keep_;
  TruthTotals totals_;
  std::vector<std::uint8_t> bytes_;  // Longer than the written part, which is `used_`.
  std::size_t used_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t expected_ = 0;
  isa::Isa isa_ = isa::Isa::kUnknown;
};

/// Reads what TruthWriter wrote.  `bytes` must outlive it.
class TruthReader {
 public:
  explicit TruthReader(Bytes bytes);

  /// False: the end, or failed().
  bool next(TruthEvent& event);
  /// The bytes are not a ground truth, or are cut.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::uint64_t varint();
  std::uint8_t byte();

  Bytes bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::uint64_t expected_ = 0;
  isa::Isa isa_ = isa::Isa::kUnknown;
};

/// Compares elements of one source with the ground truth. Elements that only concern the trace
/// unit's encoding (repeated contexts, the first "no sync") are ignored.
class TruthChecker {
 public:
  /// `bytes` is as from TruthWriter::bytes() and must outlive it.
  /// `in_parts`: TraceUnit::ranges_in_parts().
  explicit TruthChecker(Bytes bytes, bool in_parts = false) : reader_(bytes), in_parts_(in_parts) {}

  /// The next elements of the source, in order.
  void take(std::span<const Element> elements);
  /// All elements were taken.
  void finish();

  /// The first difference, in a sentence; empty: none.
  [[nodiscard]] const std::string& difference() const { return difference_; }
  [[nodiscard]] const TruthTotals& totals() const { return totals_; }

 private:
  void take(const Element& element);
  void compare(const TruthEvent& seen, const Element& element);
  void compare_context(const Element& element);
  void take_part(const TruthEvent& seen, const Element& element);
  bool expected(TruthEvent& event);
  void differ(const Element& element, const std::string& what);

  TruthReader reader_;
  TruthTotals totals_;
  PeContext context_;
  bool has_context_ = false;
  bool synced_ = false;
  bool in_parts_ = false;
  TruthEvent whole_;         // The range whose parts are coming.
  std::uint32_t parts_ = 0;  // Instructions of it that came so far.
  std::uint64_t part_cycles_ = 0;
  std::string difference_;
};

}  // namespace waymark::synth
