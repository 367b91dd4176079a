// Messages of several sources in the order of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/syst/interpreter.h"

namespace waymark::syst {

/// Gives each record of a capture the time by which it can be compared with the records of other
/// sources, and counts the records whose time is earlier than that of a record before them.
///
/// Times are ticks of the transport.  Without a transport they are ticks of the sender's clock, and
/// for a transport without timestamps the nanoseconds that CLOCK messages give.  The first record
/// with a time decides which of them the capture uses.  A record without such a time, or with only
/// its low bits, has the time of the record before it with the same trace ID.
///
/// One owner; not thread safe.
class MessageOrder {
 public:
  /// Takes the records of a capture in the order of the capture; returns the time of this one.
  std::uint64_t add(const Record& record);

  /// Records that are earlier than a record before them.
  [[nodiscard]] std::uint64_t backwards() const { return backwards_; }
  /// The place of the first of these; nothing where times never run backwards.
  [[nodiscard]] const std::optional<TraceIndex>& first_backwards() const {
    return first_backwards_;
  }

 private:
  enum class Scale : std::uint8_t { kTransport, kSender, kNanoseconds };
  struct Time {
    Scale scale;
    std::uint64_t value;
  };
  static std::optional<Time> time_of(const Record& record);

  std::optional<Scale> scale_;
  std::array<std::uint64_t, 256> last_{};  ///< By trace ID.
  std::uint64_t greatest_ = 0;
  std::uint64_t backwards_ = 0;
  std::optional<TraceIndex> first_backwards_;
};

/// Sorts texts by time, as many as there are.  Texts with equal times keep their order.
///
/// Memory holds at most about `memory` bytes of them.  The rest is in a temporary file, which has
/// no name and disappears with the process.  One owner; not thread safe.
class MessageSorter {
 public:
  static constexpr std::size_t kMemory = std::size_t{64} << 20;

  /// `folder`: where the temporary file is made if one is needed; empty: $TMPDIR, or else /tmp.
  explicit MessageSorter(std::size_t memory = kMemory, std::string folder = {});
  ~MessageSorter();
  MessageSorter(const MessageSorter&) = delete;
  MessageSorter& operator=(const MessageSorter&) = delete;

  /// `time`: as MessageOrder::add() returns it.  kIo: the temporary file cannot be written.
  Result<void> add(std::uint64_t time, std::string_view text);

  /// Calls `take` with each text in the order of time, until it returns false.  The sorter is empty
  /// afterwards.  kIo: the temporary file cannot be read.
  Result<void> finish(const std::function<bool(std::string_view)>& take);

  /// Bytes in the temporary file.
  [[nodiscard]] std::uint64_t spilled() const;

 private:
  class SpillFile;

  struct Entry {
    std::uint64_t time;
    std::size_t begin;  ///< In texts_; entries are added in this order.
    std::size_t size;
  };

  void sort();
  Result<void> spill();
  Result<void> merge(const std::function<bool(std::string_view)>& take);

  std::size_t memory_;
  std::string folder_;
  std::vector<char> texts_;
  std::vector<Entry> entries_;
  std::unique_ptr<SpillFile> file_;
};

}  // namespace waymark::syst
