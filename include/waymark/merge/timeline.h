// When the elements of one source happened, as far as its timestamps and cycle counts show.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"

namespace waymark::merge {

/// Known facts about a time.
enum class TimeKind : std::uint8_t {
  kUnknown,       ///< The source has no timestamp.
  kExact,         ///< The trace gives it for this very element.
  kInterpolated,  ///< By cycle counts between two timestamps.
  kAfter,         ///< Not before this time, nor after the next exact time of the source.
  kBefore,        ///< Not after this time: the first timestamp, or one after a wrong one.
};

/// "unknown", "exact", "interpolated", "after", "before".
std::string_view time_kind_word(TimeKind kind);

/// The time of records that have none: records of kUnknown come after all others.
inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

/// An element or a record of damage, with its time in ticks of the system's timestamp generator.
struct TimedRecord {
  Element element;  ///< For damage: only index and trace ID.
  /// Not less than that of the previous record of the source, except where time goes back.
  std::uint64_t time = 0;
  TimeKind kind = TimeKind::kUnknown;
  bool is_damage = false;
  Diagnostic damage;
};

/// Takes elements and damage of one source, and gives the same with times, in the same order.  One
/// owner; not thread safe.
///
/// Times come from kTimestamp elements, and from kSwTrace, kCustom and kItmTrace elements that
/// carry a timestamp of the system.  ITM's local timestamps count a clock of their own and are
/// taken as cycle counts of the packets since the previous local timestamp.  Records between two
/// timestamps wait for the second, at most kMaxOpen of them; beyond that the oldest are given as
/// kAfter.
///
/// A timestamp without its upper bits is of kind kAfter, and so are the records before and after
/// it.  A whole timestamp less than the one before is of kind kAfter: time stays at the greatest.
/// If the next one is below the greatest too, and not below the first, time continues from them:
/// either the generator was set again, or the greatest was damaged.
class Timeline {
 public:
  static constexpr std::size_t kMaxOpen = std::size_t{1} << 18;

  void add(const Element& element);
  void add(const Diagnostic& damage);

  /// No more records.
  void finish();
  [[nodiscard]] bool finished() const { return finished_; }

  /// The oldest record whose time is settled; nullptr: none.  Valid until the next call of any
  /// function but waiting().
  [[nodiscard]] const TimedRecord* front() const {
    return settled_ == 0 ? nullptr : &records_.front();
  }
  void pop_front() {
    records_.pop_front();
    --settled_;
  }

  /// The number of records that are held, settled or not.
  [[nodiscard]] std::size_t held() const { return records_.size(); }

  /// The number of timestamps less than the greatest before them, and the trace index of the first.
  [[nodiscard]] std::uint64_t backwards() const { return backwards_; }
  [[nodiscard]] TraceIndex first_backwards() const { return first_backwards_; }

  /// Settles all records without waiting for the next timestamp.
  void settle_all();

 private:
  void push(const TimedRecord& record);
  void add_lower_bound(TimedRecord record);
  void restart(std::uint64_t time);
  /// `without_any`: the time of records with no timestamp of the source before or after them.
  void settle(std::uint64_t next_time, bool has_next, std::uint64_t without_any);

  std::deque<TimedRecord> records_;   ///< The first settled_ have their time.
  std::deque<std::uint64_t> cycles_;  ///< Per record that is not settled: the cycles before it.
  std::size_t settled_ = 0;
  std::size_t stamped_ = 0;        ///< The first of cycles_ after the last local timestamp.
  std::uint64_t progress_ = 0;     ///< Cycles since the last timestamp.
  bool progress_is_whole_ = true;  ///< None of them were lost.
  std::uint64_t last_time_ = 0;
  std::optional<std::uint64_t> time_before_;  ///< The timestamp before last_time_.
  std::optional<std::uint64_t> below_;  ///< The last timestamp, if it is less than last_time_.
  std::uint64_t backwards_ = 0;
  TraceIndex first_backwards_ = 0;
  bool has_time_ = false;
  bool last_is_exact_ = false;  ///< last_time_ is a whole timestamp.
  bool finished_ = false;
};

}  // namespace waymark::merge
