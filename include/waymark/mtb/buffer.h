// Finds the records in a dump of the buffer by the registers of the MTB.  See mtb.md 3.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::mtb {

/// POSITION and MASTER as a debugger reads them after the stop.
struct BufferRegisters {
  std::uint32_t position = 0;
  std::uint32_t master = 0;
  /// POSITION before tracing began; without it, the beginning of the buffer.
  std::optional<std::uint32_t> initial_position{};

  [[nodiscard]] constexpr bool wrapped() const { return (position >> 2 & 1) != 0; }
  [[nodiscard]] constexpr std::uint64_t pointer() const { return position & ~std::uint32_t{7}; }
  /// The size of the buffer, in bytes.
  [[nodiscard]] constexpr std::uint64_t size() const {
    return std::uint64_t{1} << ((master & 0x1F) + 4);
  }
};

/// Bytes of a dump from `begin` up to, and not including, `end`.
struct DumpPart {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const DumpPart&, const DumpPart&) = default;

  [[nodiscard]] constexpr std::uint64_t size() const { return end - begin; }
};

/// The records of a dump, the oldest first: those of the first part, then those of the second.  The
/// dump is the buffer, its used part, or all of the SRAM from its first byte on.
///
/// kInvalidArgument: the registers cannot belong to a dump of this size; kBadData: there is no
/// record.  The detail is a sentence without the name of the dump.
Result<std::array<DumpPart, 2>> order_records(std::uint64_t dump_size,
                                              const BufferRegisters& registers);

/// Whether the source in the first word of a record is a little after the destination before it.
/// Code without a taken branch is seldom longer.
bool likely_follows(std::uint32_t destination, std::uint32_t first_word);

/// Without the registers: the offset of the oldest record, if the records themselves show where the
/// buffer wraps.  All records but one must follow the record before them, and the first one must
/// follow the last.
std::optional<std::uint64_t> find_oldest(Bytes dump);

}  // namespace waymark::mtb
