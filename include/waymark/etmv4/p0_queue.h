// The elements that wait until they are committed.  See etmv4-ete.md 4.4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::etmv4 {

enum class EntryKind : std::uint8_t {
  kTraceInfo,
  kTraceOn,
  kAtom,
  kContext,
  kAddress,
  kSourceAddress,
  kException,
  kExceptionReturn,
  kFunctionReturn,
  kEvent,
  kCycleCount,
  kTimestamp,
  kTimestampCycleCount,
  kMarker,
  kDataMarker,
  kQ,
  kTransactionStart,
  kTransactionCommit,
  kTransactionFail,
  kTransactionInit,
  kInstrumentation,
  kUnseen,
};

/// The entry that a packet leaves in the queue.
struct Entry {
  TraceIndex index = 0;
  std::uint64_t value = 0;  ///< Address, timestamp, payload; atoms, oldest in bit 0.
  std::uint32_t count = 0;  ///< Remaining atoms or unseen elements; cycle count; Q count.
  std::uint32_t context_id = 0;
  std::uint32_t vmid = 0;
  std::uint16_t number = 0;  ///< Exception or event number; instrumentation level.
  EntryKind kind = EntryKind::kTraceInfo;
  std::uint8_t is = 0;
  std::uint8_t el = 0;
  bool flag = false;   ///< Context: updated.  Exception: return is target.  Q: address included.
  bool known = false;  ///< Q, timestamp: count known.  Context: carries a context ID.
  bool has_vmid = false;
  bool sf = false;
  bool ns = false;
  bool nse = false;
  friend bool operator==(const Entry&, const Entry&) = default;
};

/// The entries that say where an exception or Q element leads.
struct Arrival {
  std::optional<Entry> context;
  Entry address{};
};

/// The queue, oldest first.  A vector with a moving front: it is nearly always short.  An address
/// that comes to an empty queue may be held outside of it until the next atoms take it.  The queue
/// stays empty while an address is held.
class P0Queue {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size() - front_; }
  [[nodiscard]] Entry& front() { return entries_[front_]; }
  [[nodiscard]] Entry& at(std::size_t i) { return entries_[front_ + i]; }
  [[nodiscard]] Entry& back() { return entries_.back(); }

  Entry& add(EntryKind kind, TraceIndex index) {
    if (holds_) settle_held();
    Entry& entry = entries_.emplace_back();
    note(kind);
    entry.kind = kind;
    entry.index = index;
    return entry;
  }
  void pop_front() {
    ++front_;
    forget_popped();
    if (front_ >= 4096 && front_ * 2 > entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(front_));
      front_ = 0;
    }
  }
  void push_back(const Entry& entry) {
    note(entry.kind);
    entries_.push_back(entry);
  }
  void pop_back() {
    entries_.pop_back();
    forget_popped();
  }
  /// The address that says where the front leads; nullopt: it is missing.
  [[nodiscard]] std::optional<std::uint64_t> next_address();
  /// Removes the front, and what says where it leads.  Nothing if that is missing: then only the
  /// front was removed.
  std::optional<Arrival> pop_with_arrival();
  /// The number of the newest entries after the last atoms or unseen element.
  [[nodiscard]] std::size_t newer_than_atoms() const;
  /// Removes what the packet at `index` left, which is the newest one.
  void drop_newest(TraceIndex index);
  /// Removes the addresses among the newest `count`.
  void drop_addresses(std::size_t count);
  void clear() {
    entries_.clear();
    front_ = 0;
    simple_ = true;
  }
  /// All entries since the queue was empty are simple: each makes at most one element, and none
  /// changes the context.
  [[nodiscard]] bool simple() const { return simple_; }
  void reset() {
    clear();
    holds_ = awaits_address = false;
    depth = 0;
  }

  // -- The address that is held --

  [[nodiscard]] bool holds() const { return holds_; }
  /// The only entry: its index, address and instruction set.
  [[nodiscard]] const Entry& held() const { return held_; }
  void hold(TraceIndex index, std::uint64_t address, std::uint8_t is) {
    holds_ = true;
    held_.index = index;
    held_.value = address;
    held_.is = is;
  }
  void drop_held() { holds_ = false; }
  /// It becomes the entry that it represents.
  void settle_held();

  friend bool operator==(const P0Queue& a, const P0Queue& b);

  /// The P0 elements that are outstanding, as the trace unit counts them.
  std::int64_t depth = 0;
  /// An exception or Q element waits for its address, and counts from then on.
  bool awaits_address = false;

 private:
  /// Keeps the vector empty if the queue is.
  void forget_popped() {
    if (front_ == entries_.size()) clear();
  }
  void note(EntryKind kind) { simple_ = simple_ && is_simple(kind); }
  static constexpr bool is_simple(EntryKind kind) {
    switch (kind) {
      case EntryKind::kTraceInfo:
      case EntryKind::kTraceOn:
      case EntryKind::kAddress:
      case EntryKind::kEvent:
      case EntryKind::kCycleCount:
      case EntryKind::kTimestamp:
      case EntryKind::kTimestampCycleCount:
      case EntryKind::kMarker:
        return true;
      default:
        return false;
    }
  }

  std::vector<Entry> entries_;
  std::size_t front_ = 0;
  bool simple_ = true;
  bool holds_ = false;
  Entry held_{.kind = EntryKind::kAddress};
};

}  // namespace waymark::etmv4
