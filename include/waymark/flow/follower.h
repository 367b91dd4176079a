// From an address to the next waypoint, decided once and remembered: the block cache.  See
// docs/architecture.md, etmv4-ete.md 4.6 and isa-waypoints.md 6.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "waymark/flow/memory_view.h"
#include "waymark/isa/instruction.h"

namespace waymark::flow {

enum class BlockEnd : std::uint8_t {
  kWaypoint,       ///< The last instruction is a waypoint.
  kNotAccessible,  ///< Memory at `end` is not readable; the block may be empty.
  kInvalidOpcode,  ///< The bytes at `end` are not an instruction.
  kUnsupported,    ///< No classifier for this instruction set.
  kRangeLimit,     ///< More instructions than allowed.
};

/// The instructions from `start` up to and including the next waypoint.  One cache line.
struct alignas(64) Block {
  std::uint64_t start = 0;
  std::uint64_t end = 0;  ///< After the last instruction.
  /// For a direct branch.  For an indirect branch with `far`: where it led the last time.
  std::uint64_t target = 0;

  /// Successors: [0] not taken, [1] taken; they hold whatever the address says.  nullptr: not known
  /// yet, or more must be done; see Follower::far().
  const Block* next[2] = {nullptr, nullptr};

  std::uint32_t count = 0;  ///< The number of instructions.
  std::uint32_t view = 0;   ///< The memory that was read; see Follower::select.
  // In the order of Element, so that a range copies them in one move.
  isa::Isa isa = isa::Isa::kUnknown;
  isa::InstrType type = isa::InstrType::kOther;
  isa::InstrSubtype subtype = isa::InstrSubtype::kNone;
  std::uint8_t last_size = 0;
  isa::Isa next_isa = isa::Isa::kUnknown;  ///< After a taken branch.
  bool conditional = false;
  bool link = false;
  BlockEnd ended = BlockEnd::kWaypoint;
  std::uint8_t it_in = 0;   ///< Instructions left in the IT block at `start`.
  std::uint8_t it_out = 0;  ///< The same at `end`.
  /// The number, from 1 on, of the block after a taken branch that is not a mere link.
  std::uint32_t far = 0;

  [[nodiscard]] bool is_branch() const { return is_direct_branch() || is_indirect_branch(); }
  [[nodiscard]] bool is_direct_branch() const { return type == isa::InstrType::kBranch; }
  [[nodiscard]] bool is_indirect_branch() const { return type == isa::InstrType::kIndirectBranch; }
};
static_assert(sizeof(Block) == 64);
static_assert(offsetof(Block, type) == offsetof(Block, isa) + 1 &&
              offsetof(Block, subtype) == offsetof(Block, isa) + 2 &&
              offsetof(Block, last_size) == offsetof(Block, isa) + 3);

/// Points into the cache of its owner's follower.  A copy of the owner gets an empty cache, so a
/// copy of this points nowhere; assignment is for one owner.
class BlockPointer {
 public:
  BlockPointer() = default;
  BlockPointer(const BlockPointer& /*other*/) {}
  BlockPointer& operator=(const BlockPointer&) = default;
  BlockPointer& operator=(const Block* block) {
    block_ = block;
    return *this;
  }
  operator const Block*() const { return block_; }
  const Block* operator->() const { return block_; }

 private:
  const Block* block_ = nullptr;
};

/// Counters of the cache, for tests and benchmarks.
struct CacheStatistics {
  std::uint64_t walks = 0;         ///< Blocks built.
  std::uint64_t instructions = 0;  ///< Instructions classified to build them.
  std::uint64_t flushes = 0;       ///< The number of times that everything was forgotten.
};

/// The follower with its cache.  One owner; not thread safe.  Several followers may share an image.
///
/// A block belongs to a view: the memory space, and for an image with callbacks or a selector also
/// the context and the trace ID (one follower serves one ID).  So after a context change, a block
/// of another process is never used, and switching back finds the old blocks again.
class Follower {
 public:
  /// `image` must outlive the follower.
  Follower(const image::Image& image, const isa::Options& options, TraceId trace_id);

  /// Copies start with an empty cache.
  Follower(const Follower& other);
  Follower& operator=(const Follower&) = delete;

  /// Selects what is read from now on.  Flushes if the image has changed: earlier blocks are gone
  /// then.
  void select(image::SpaceMask space, ExecutionContext context, TraceIndex index = 0);

  /// The longest block, in instructions; 0: no limit (the walk ends where the image does).
  void set_range_limit(std::uint32_t instructions);

  /// A quirk of the reference: a walk over code without a waypoint ends only where the memory does.
  /// Otherwise it also ends after 4 to 8 MiB.
  void set_walks_unlimited(bool on);

  /// Switches the cache off: every look-up walks.  For tests.
  void set_cache_enabled(bool enabled) { cache_enabled_ = enabled; }

  /// The block at `address`.  Valid until the next call that can build a block.
  const Block& block(std::uint64_t address, isa::Isa isa, std::uint8_t it_remaining);

  /// The successor of `from` at `address`; remembers the link.
  const Block& successor(const Block& from, bool taken, std::uint64_t address, isa::Isa isa,
                         std::uint8_t it_remaining) {
    // A wrong guess is noticed before the block is read: it would rarely be in the cache.
    const bool turns = taken && from.far != 0;
    const Block* const linked = turns && from.target != address ? nullptr : far(from, taken);
    if (linked != nullptr && linked->start == address && linked->isa == isa &&
        linked->it_in == it_remaining) [[likely]]
      return *linked;
    return link(from, taken, address, isa, it_remaining);
  }

  /// Calls are not mere links: something must be done for each of them.  Indirect branches never
  /// are.
  void set_calls_turn(bool on) {
    calls_turn_ = on;
    flush();
  }
  /// The block that came after `from` the last time; nullptr: none, or it is not known any more.
  /// For an indirect branch it is a guess.
  [[nodiscard]] const Block* far(const Block& from, bool taken) const {
    if (!taken || from.far == 0) return from.next[taken ? 1 : 0];
    return &kept(from.far - 1);
  }

  /// One instruction, read without the cache: for walks that ignore waypoints.
  struct Fetched {
    isa::Instruction instruction;
    BlockEnd outcome;  ///< kWaypoint here means: fetched, of any type.
  };
  Fetched fetch(std::uint64_t address, isa::Isa isa, std::uint8_t& it_remaining);

  /// Reads can depend on the context: the image had callbacks when it was last examined.
  [[nodiscard]] bool reads_callbacks() const { return callbacks_; }
  [[nodiscard]] image::SpaceMask space() const { return memory_.space(); }
  [[nodiscard]] const isa::Options& options() const { return options_; }
  [[nodiscard]] std::uint32_t range_limit() const { return range_limit_; }
  /// That of the blocks that are found now.
  [[nodiscard]] std::uint32_t view() const { return view_; }
  [[nodiscard]] const CacheStatistics& statistics() const { return statistics_; }

  /// MemoryView::covers() and begin().
  [[nodiscard]] bool covers(TraceIndex index) const { return memory_.covers(index); }
  [[nodiscard]] TraceIndex covers_from() const { return memory_.begin(); }

  /// False once the image has changed since the cache was filled; then flush() before continuing.
  [[nodiscard]] bool current() const { return memory_.current(); }
  void flush();

 private:
  /// A slab holds this many blocks; pointers to them stay valid until flush().
  static constexpr std::size_t kSlab = 1024;

  /// A position in a long walk, and the number of instructions before it.
  struct Checkpoint {
    std::uint64_t address;
    std::uint32_t count;
  };
  /// The result of the last look-up.
  struct LookUp {
    std::uint32_t number = 0;   ///< That of the cached block, from 1 on.
    std::uint32_t hash = 0;     ///< For a new block: the upper bits of its hash,
    std::size_t free_slot = 0;  ///< and where it belongs.
  };
  struct Key {
    std::uint64_t address;
    std::uint32_t view;
    isa::Isa isa;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  [[nodiscard]] std::uint64_t last_end(std::uint64_t address) const;
  static void end_at_limit(Block& block, std::uint64_t end);
  bool splice(Block& block, std::uint64_t address, const isa::Instruction& last) const;
  const Block& link(const Block& from, bool taken, std::uint64_t address, isa::Isa isa,
                    std::uint8_t it_remaining);
  void walk(Block& block);
  Bytes read(std::uint64_t address);
  bool read_word(std::uint64_t address, isa::Isa isa, Bytes first,
                 std::span<std::uint8_t, 4> word) const;
  const Block* find(std::uint64_t address, isa::Isa isa, std::uint8_t it_remaining);
  const Block& make(std::uint64_t address, isa::Isa isa, std::uint8_t it_remaining);
  [[nodiscard]] Block& kept(std::size_t number) const {
    return slabs_[number / kSlab][number % kSlab];
  }
  bool is_cached(const Block& block) const;
  void insert(std::size_t number);
  void begin_views();
  void forget_blocks();
  const Block& begin_again(const Block& first);
  void grow();

  MemoryView memory_;
  isa::Options options_;
  bool cache_enabled_ = true;
  bool callbacks_ = false;
  bool calls_turn_ = false;
  bool walks_unlimited_ = false;
  std::uint32_t view_ = 0;
  std::uint32_t range_limit_ = 0;
  CacheStatistics statistics_;

  LookUp last_;
  std::vector<std::uint32_t> table_;  ///< Open addressing; size a power of two; 0: empty.
  std::vector<std::unique_ptr<Block[]>> slabs_;
  std::size_t used_ = 0;  ///< Blocks; look-ups that keep nothing write the one after them.
  // The last answers of a callback, by address: neighbouring blocks come from one answer.  Never
  // older than the blocks.
  static constexpr std::size_t kWindowBytes = 256;
  struct Window {
    std::uint64_t start = 0;
    std::uint32_t view = 0;
    std::uint32_t size = 0;  ///< 0: empty.
    std::array<std::uint8_t, kWindowBytes> bytes;
  };
  std::vector<Window> windows_;  ///< A power of two; one if there are no callbacks.
  // Results of long walks from multiples of 8 KiB on, so that no byte is classified often.
  std::unordered_map<Key, Block, KeyHash> checkpoints_;
};

}  // namespace waymark::flow
