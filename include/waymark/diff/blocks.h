// The distinct steps of two runs, with a number each that is the same in both.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/diff/programs.h"
#include "waymark/diff/step.h"
#include "waymark/program/place_lookup.h"

namespace waymark::diff {

using BlockNumber = std::uint32_t;
/// No block has it.
inline constexpr BlockNumber kNoBlock = ~BlockNumber{0};

/// The execution of a function or block in one run.
struct Sums {
  std::uint64_t times = 0;
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

/// A step in the program of one run.
struct BlockPlace {
  program::Place start{};  ///< The address as it was linked, or that in memory.
  std::uint64_t size = 0;  ///< Bytes.
  std::uint32_t count = 0;
  std::uint8_t last_size = 0;
  bool known = false;  ///< The run executed it.

  /// The place of the last instruction.
  [[nodiscard]] program::Place last() const {
    return {start.program, start.address + size - (size == 0 ? 0 : last_size)};
  }
  /// The place after it.
  [[nodiscard]] program::Place end() const { return {start.program, start.address + size}; }
};

struct Block {
  FunctionNumber function = 0;  ///< In which it begins.
  std::uint32_t start = 0;      ///< Blocks with the same number begin at the same place.
  std::uint32_t tail = 0;       ///< The same for how they end.
  Leave leave = Leave::kBranch;
  bool conditional = false;
  bool differs = false;  ///< The two builds of its function differ.
  std::uint32_t exception = 0;
  std::array<BlockPlace, kSides> places{};
  std::array<Sums, kSides> sums{};
};

/// Bounded: beyond kMost, blocks have no number, and is_full() is true.
class Blocks {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 22;

  using Places = program::PlaceLookup;
  Blocks(Programs& programs, std::array<Places, kSides> places)
      : programs_(programs), places_(std::move(places)) {}

  /// The number of a step, which it counts.  `space`: steps with the same one have the same
  /// programs in memory.  `at`: an element of the same thread and time.  kNoBlock: is_full().
  BlockNumber add(Side side, const Step& step, TaskId space, const Element& at) {
    Cache& cache = caches_[side];
    const Raw raw{step.start, step.end, step.exception, space, step.leave};
    // Nearly all steps are followed by the same one as before.
    std::uint32_t known = cache.known[cache.last].next;
    if (cache.known[known].raw != raw) {
      known = find(side, raw, step, at);
      if (known == 0) return kNoBlock;
      cache.known[cache.last].next = known;
    }
    cache.last = known;
    const BlockNumber number = cache.known[known].number;
    Sums& sums = blocks_[number].sums[side];
    ++sums.times;
    sums.instructions += step.count;
    return number;
  }

  [[nodiscard]] const Block& operator[](BlockNumber number) const { return blocks_[number]; }
  [[nodiscard]] Block& operator[](BlockNumber number) { return blocks_[number]; }
  [[nodiscard]] const std::vector<Block>& all() const { return blocks_; }
  [[nodiscard]] bool is_full() const { return full_; }

 private:
  /// A step as it is in one run.
  struct Raw {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t exception = 0;
    TaskId space{};
    Leave leave = Leave::kBranch;
    friend bool operator==(const Raw&, const Raw&) = default;
  };
  struct RawHash {
    std::size_t operator()(const Raw& raw) const;
  };
  struct Known {
    Raw raw{};
    std::uint32_t next = 0;
    BlockNumber number = kNoBlock;
  };
  /// The execution of one run.  0 stands for nothing.
  struct Cache {
    std::vector<Known> known{{.raw = {.start = kNoAddress, .end = 0}}};
    std::unordered_map<Raw, std::uint32_t, RawHash> numbers{};
    std::uint32_t last = 0;
  };
  /// A step as both runs name it.
  struct Key {
    NamedPlace start{};
    NamedPlace end{};  ///< kFunction: relative to the same function, else as `start`.
    std::uint32_t exception = 0;
    Leave leave = Leave::kBranch;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  std::uint32_t find(Side side, const Raw& raw, const Step& step, const Element& at);
  BlockNumber number_of(Side side, const Step& step, const Element& at);

  Programs& programs_;
  std::array<Places, kSides> places_;
  std::array<Cache, kSides> caches_;
  std::unordered_map<Key, BlockNumber, KeyHash> numbers_;
  std::unordered_map<Key, std::uint32_t, KeyHash> starts_;
  std::unordered_map<Key, std::uint32_t, KeyHash> tails_;
  std::vector<Block> blocks_;
  bool full_ = false;
};

}  // namespace waymark::diff
