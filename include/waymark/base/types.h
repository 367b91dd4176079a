// Names for the quantities that every module shares.
#pragma once

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace waymark {

/// Byte offset in the capture, counted as the deformatter counts it (docs/architecture.md, "Where
/// an index points").
using TraceIndex = std::uint64_t;
inline constexpr TraceIndex kNoIndex = ~TraceIndex{0};

/// The last byte of the address space means "no address".
inline constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

/// CoreSight trace source ID, 7 bits.
using TraceId = std::uint8_t;
inline constexpr TraceId kNoTraceId = 0xFF;
inline constexpr TraceId kTraceIdCount = 0x80;

/// 0x01..0x6F are trace sources; 0 is padding and 0x70..0x7F are reserved.
constexpr bool is_source_id(TraceId id) { return id > 0 && id < 0x70; }
constexpr bool is_reserved_id(TraceId id) { return id == 0 || (id >= 0x70 && id < kTraceIdCount); }

/// Names what executed where a recording tells threads apart: a thread, from a moment on.  It means
/// the same in every process that opens the recording, so it may be stored.
struct TaskId {
  /// What a guest runs, of which the recording does not know the threads.
  static constexpr std::int32_t kGuest = -2;
  std::int32_t thread = 0;   ///< -1: not known.
  std::uint32_t moment = 0;  ///< The number of events of the recording that happened before.
  friend auto operator<=>(const TaskId&, const TaskId&) = default;

  /// Different for different tasks, for hashes.
  [[nodiscard]] constexpr std::uint64_t bits() const {
    return std::uint64_t{static_cast<std::uint32_t>(thread)} << 32 | moment;
  }
};

/// Whose code a core executes, as far as its trace says.
struct ExecutionContext {
  static constexpr std::uint8_t kNoLevel = 0xFF;

  constexpr ExecutionContext() = default;
  // A caller that has no level has a number.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr ExecutionContext(std::uint64_t number, std::uint8_t exception_level = kNoLevel)
      : process(number), level(exception_level) {}

  std::uint64_t process = 0;      ///< The context ID, and above it the VMID; 0: not known.
  std::uint8_t level = kNoLevel;  ///< The exception level; kNoLevel: not known.
  friend constexpr bool operator==(const ExecutionContext&, const ExecutionContext&) = default;
};

using Bytes = std::span<const std::uint8_t>;

/// A place or size in memory that was computed with 64 bits.  On a 32-bit machine a size has fewer
/// bits than an address or an offset of the target, so the caller has compared it with a size.
constexpr std::size_t in_memory(std::uint64_t value) {
  assert(std::in_range<std::size_t>(value));
  return static_cast<std::size_t>(value);
}

}  // namespace waymark
