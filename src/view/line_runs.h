// The source lines of the instructions of ranges.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "range_walk.h"
#include "waymark/program/place_lookup.h"
#include "waymark/program/program.h"

namespace waymark::view {

/// A line of a file; 0: none is known.
using LineId = std::uint32_t;
inline constexpr LineId kNoLine = 0;

/// Instructions of a range that follow one another and are from one line.
struct LineRun {
  std::uint32_t first = 0;  ///< The number of an instruction in the range.
  LineId line = kNoLine;
};

/// Remembers the lines of ranges.  One owner; not thread safe.
class LineRuns {
 public:
  struct Line {
    std::string_view file{};  ///< As long as the program lives.
    std::uint32_t number = 0;
  };

  LineRuns(program::PlaceLookup places, RangeWalk& walk)
      : places_(std::move(places)), walk_(walk) {}

  /// Those of a range, the first one for its first instruction; valid until the next call.
  const std::vector<LineRun>& of(const Element& range);
  /// The line of one instruction.
  LineId at(const Element& range, std::uint32_t number);
  /// The line of an address in the memory that an element is about.
  LineId line_of(const Element& element, std::uint64_t address);
  [[nodiscard]] const Line& line(LineId id) const { return lines_[id]; }

 private:
  struct Key {
    const program::Program* program = nullptr;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t mixed = (key.start ^ key.end << 24) * 0x9E3779B97F4A7C15ULL;
      mixed ^= reinterpret_cast<std::uintptr_t>(key.program);
      return static_cast<std::size_t>(mixed ^ mixed >> 32);
    }
  };
  LineId line_at(const program::Program& program, std::uint64_t address);

  program::PlaceLookup places_;
  RangeWalk& walk_;
  std::unordered_map<Key, std::vector<LineRun>, KeyHash> known_;
  std::map<std::pair<std::string_view, std::uint32_t>, LineId> ids_;
  std::vector<Line> lines_ = std::vector<Line>(1);
  std::vector<program::Frame> frames_;
  const std::vector<LineRun> nothing_ = std::vector<LineRun>(1);
};

}  // namespace waymark::view
