// Counts what is executed, without an element for each range.  See docs/architecture.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "waymark/count/counts.h"
#include "waymark/count/nodes.h"
#include "waymark/count/part.h"
#include "waymark/count/ways.h"
#include "waymark/element/element.h"
#include "waymark/flow/follower.h"
#include "waymark/flow/instruction_cache.h"
#include "waymark/image/image_selector.h"

namespace waymark::count {

/// Several atoms that were walked as one: their form in the trace, and how often they led from one
/// place to another since their steps were counted.
struct Stretch {
  std::uint64_t row = 0;
  Place from = 0;
  Place to = 0;
  std::uint32_t times = 0;
  std::uint32_t seen = 0;  ///< The value of `times` when another stretch last wanted this entry.
};

/// The counts of one source.  They are those of the elements that the source would have given,
/// however they came: all through observe(), or the simple ones directly to the nodes.
///
/// Speculative instructions are counted only if they were executed in the end.  Ranges that do not
/// end with a waypoint (before an exception, for instance) are rows of their own.
///
/// The edge of an indirect branch leads to the next range, or to the return address of an exception
/// that comes before it.  There is no edge if another thread (see continues()), an exception
/// without a return address, an exception return, a gap or unreadable memory comes between.
///
/// Cycles: a cycle count covers the ranges since the previous count, up to and including the
/// element that carries it (if the registers rule out cycle counts, none are shared out).  Each
/// range gets a share by its number of instructions: of C cycles for n instructions, those from the
/// i-th to the j-th get C*j/n - C*(i-1)/n, both rounded down.  A count without a range before it is
/// added to the next one.  Counts::other_cycles gets those that a gap follows before any range,
/// those of the elements kTraceOn and kPeContext (how long nothing was traced), and those of more
/// than kMaxGroup ranges.  The next cycle count repeats what a timestamp of ETMv4 says, so the
/// timestamp does not count.
///
/// Bounded: nodes beyond a limit are turned into rows, and rows beyond Counts::kMaxRows into
/// totals; open edges and counts are lost at that moment.  One owner; not thread safe.
///
/// A stream may be counted in parts, by one counter or several: call begin_part() and take_part()
/// for each part, and combine the parts with a Stitcher.
class Counter {
 public:
  static constexpr std::size_t kMaxGroup = std::size_t{1} << 16;

  Counter();
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  /// Counts elements, which follow one another as the source gave them.
  void observe(std::span<const Element> elements);

  /// Whether timestamps repeat what cycle counts say (ETMv4, ETE): then only cycle counts count.
  /// Source::count() sets it.
  void set_timestamps_repeat_cycles(bool repeat) { timestamps_repeat_cycles_ = repeat; }

  /// False: the registers rule out cycle counts.  Counts that still come go to
  /// Counts::other_cycles.  Source::count() sets it.
  void set_shares_cycles(bool share);

  /// Which tasks are counted.  Several threads may call a copy each.
  using TaskFilter = std::function<bool(TaskId task)>;

  /// Counts the tasks of `selector` apart: call it before anything is counted.  It must outlive
  /// this.  nullptr: there is one task.  What `filter` refuses is left out,
  /// except for open edges and groups of a Part: Counts::keep() removes those.
  void set_tasks(const image::ImageSelector* selector, TaskFilter filter = {});

  [[nodiscard]] bool has_tasks() const { return task_.selector != nullptr; }

  /// The target of the direct branch at the end of a range, from its code; kNoAddress: not known.
  /// Several threads may call a copy each.
  using FindTarget = std::function<std::uint64_t(const Element& range)>;

  /// Without it, elements show the target of a direct branch only where execution goes on, and not
  /// before an exception, a gap or the end.
  void set_targets(FindTarget find) { origin_.find_target = std::move(find); }

  /// From this call on, it counts a part of a stream, and does not know what came before.
  void begin_part();

  /// The counts since begin_part(), with the open edges and groups on both sides.
  Part take_part();

  /// Space for elements that are being delivered, for callers that have no space of their own.
  std::span<Element> batch();

  /// All counts since the last call.  An open edge, or a group of ranges without its cycle count,
  /// stays open.
  Counts take();

  // -- For decoders: from node to node. ---------------------------------------------------------

  /// Call it before memory is read: nodes are dropped if the follower has dropped its blocks, or
  /// the cache its instructions.
  void begin(const flow::Follower& follower) { begin(&follower, follower.statistics().flushes); }
  void begin(const flow::InstructionCache& cache) { begin(&cache, cache.flushes()); }

  /// The elements that follow, at this place of the trace and after it, have the context of
  /// `element`.
  void select(const Element& element, TraceIndex index);

  /// Places while the address of execution is unknown; with kReturn, the return stack knows it.
  static constexpr Place kLost = 1 * sizeof(Step);
  static constexpr Place kReturn = 2 * sizeof(Step);
  /// The element before a part: perhaps a branch.
  static constexpr Place kBefore = 3 * sizeof(Step);
  static constexpr Place kExitBit = Nodes::kExitBit;

  /// Which blocks a walk passes.
  struct Passes {
    bool exception_returns = true;
    /// Those that end in memory that cannot be read: nothing says where the next atom leads.
    bool unreadable = false;
  };
  /// The block at the address; 0 if it does not end with a waypoint, or is not passed.
  /// May drop all nodes: see generation().
  Place find(std::uint64_t address, isa::Isa isa, std::uint8_t it, flow::Follower& follower,
             Passes passes);
  /// The same for a single instruction; 0 if there is none.
  Place find(std::uint32_t address, isa::Isa isa, flow::InstructionCache& cache, Passes passes);

  /// Changes when earlier nodes and places are gone.
  [[nodiscard]] std::uint64_t generation() const { return origin_.generation; }

  /// The steps, from place 0 on; they never move.
  [[nodiscard]] std::uint8_t* steps() { return reinterpret_cast<std::uint8_t*>(nodes_.steps()); }
  [[nodiscard]] Step& step(Place place) { return nodes_.step(place); }
  /// For a block, its node; for an exit, the node of the block before it.
  [[nodiscard]] Node& node(Place place) { return nodes_.at(place); }

  /// The number of rows with at most kMostAtoms atoms that may come until harvest() must be called,
  /// which resets it: steps and ways count to 2^32.
  static constexpr std::uint32_t kMostAtoms = 192;
  std::uint32_t budget = kBudget;
  void harvest();

  /// The atoms of a row, oldest first in bit 0, at most 64.
  struct Atoms {
    std::uint64_t bits = 0;
    std::uint32_t count = 0;
  };
  /// Gives the atoms of a Stretch::row.
  using Expand = Atoms (*)(std::uint64_t row);
  void set_expand(Expand expand) { known_.expand = expand; }

  /// The entry for the stretch.
  [[nodiscard]] Stretch& stretch(Place from, std::uint64_t row) {
    const std::uint64_t mixed = row * 0x9E3779B97F4A7C15ULL ^ from * 0xD1B54A32D192ED03ULL;
    return known_.stretches[static_cast<std::size_t>(mixed >> (64 - kStretchBits))];
  }
  /// The stretch was walked over links alone: from now on it is one step, unless another stretch
  /// needs `at` more.
  void remember_stretch(Stretch& at, Place from, std::uint64_t row, Place to) {
    if (at.times != at.seen) {
      at.seen = at.times;
      return;
    }
    if (at.times != 0) replay(at);
    if (at.from == 0) known_.filled.push_back(&at);
    at = {.row = row, .from = from, .to = to, .times = 0, .seen = 0};
  }

  static WayKey way_key(std::uint64_t address, isa::Isa isa) {
    return {address, isa == isa::Isa::kT32 ? WayKey::kT32 : 0};
  }

  /// The block at the address of a key, if an indirect branch went there recently; otherwise 0.
  [[nodiscard]] Place target(WayKey key) const {
    const Target& found = known_.targets[target_hash(key)];
    const bool same =
        found.address == key.address && found.marked_context == (contexts_.current | key.mark);
    return same ? found.place : 0;
  }
  void remember_target(WayKey key, Place place) {
    known_.targets[target_hash(key)] = {
        .address = key.address, .place = place, .marked_context = contexts_.current | key.mark};
  }

  /// The way from an exit to an address; nullptr: it is new.
  [[nodiscard]] Way* way(Place from, WayKey key) { return ways_.find(from, key); }
  /// Adds the way; valid until the next one is added.
  Way* add_way(Place from, WayKey key, Place to);

  /// A range begins there, after what was observed: counts the edge that leads to it, if there is
  /// one, and returns it.
  Way* close_branch(std::uint64_t address, isa::Isa isa);
  /// The next observation shows where `branch` went, which is a block, its exit or a range.  0:
  /// nothing is open.
  void open_branch(Place branch);

  /// Adds a range to those that the next cycle count covers.  Exits do not count.
  void log(Place place) {
    if (group_.lost) return;
    if (group_.size == kGroupRoom) [[unlikely]] {
      tidy_group();
      if (group_.lost) return;
    }
    group_.places[group_.size++] = place;
  }
  /// Counts an element that does not end the flow.
  void count_element(ElementKind kind) { count_elements(kind, 1); }
  void count_elements(ElementKind kind, std::uint64_t times) {
    if (task_.counted) kept_.others[static_cast<std::size_t>(kind)] += times;
  }
  /// Counts an element that says that the address is unknown, without its cycles.
  void count_unknown_address() {
    count_element(ElementKind::kAddrUnknown);
    open_branch(0);
    open_.direct = nullptr;
  }
  /// Counts an element that stands for memory that cannot be read.
  void count_unreadable(std::uint64_t address) {
    count_element(ElementKind::kAddrNacc);
    stop_at_unreadable(address);
  }
  /// Counts the cycles of what was logged.
  void count_cycles(std::uint64_t cycles) {
    if (group_.is_empty()) [[likely]] {
      group_.waiting_cycles += cycles;
    } else {
      count_cycles_of_group(cycles);
    }
  }
  /// Counts the cycles of a range that has a count of its own, and is not logged for that.
  void count_cycles_of(Place place, std::uint64_t cycles) {
    if (group_.is_empty()) [[likely]] {
      add_cycles(place, exchange_waiting_cycles(0) + cycles);
    } else {
      log(place);
      count_cycles(cycles);
    }
  }
  /// The next cycle count may cover ranges that were logged.  Otherwise ranges with counts of their
  /// own can be counted with the next two functions: the first of them gets what waits.
  [[nodiscard]] bool has_cycle_group() const { return !group_.is_empty(); }
  std::uint64_t exchange_waiting_cycles(std::uint64_t cycles) {
    return std::exchange(group_.waiting_cycles, cycles);
  }
  void add_cycles(Place place, std::uint64_t cycles) {
    nodes_.numbered(place / sizeof(Step)).cycles += cycles;
  }

 private:
  static constexpr std::size_t kBatch = 256;
  static constexpr std::size_t kGroupRoom = 2 * kMaxGroup;  ///< Includes exits.
  static constexpr std::uint32_t kBudget = 0xFFFF'FFFF / kMostAtoms - 1;
  static constexpr std::size_t kTargetBits = 12;
  static constexpr std::size_t kStretchBits = 13;
  struct Target {
    std::uint64_t address = kNoAddress;
    Place place = 0;
    std::uint32_t marked_context = 0;
  };
  static std::size_t target_hash(WayKey key) {
    return static_cast<std::size_t>(key.address * 0x9E3779B97F4A7C15ULL >> (64 - kTargetBits));
  }
  [[nodiscard]] bool is_selected(const Element& element, TraceIndex index) const;
  [[nodiscard]] bool is_counted(const Context& context) const;
  void add_other_cycles(std::uint64_t cycles) {
    if (task_.counted) kept_.other_cycles += cycles;
  }
  void replay(Stretch& stretch);
  void stop_at_unreadable(std::uint64_t address);
  Node* observe_again(const Element& element);
  void observe_other(const Element& element);
  void cross(const Element& context);
  std::uint64_t tidy_group();
  void count_cycles_of_group(std::uint64_t cycles);
  void end_group_at_gap();
  void close_group();
  [[nodiscard]] PartRange part_range(const Node& node) const;
  [[nodiscard]] std::vector<PartRange> group_ranges() const;
  void begin(const void* memory, std::uint64_t flushes) {
    if (origin_.memory != memory || origin_.flushes != flushes) [[unlikely]]
      begin_again(memory, flushes);
  }
  void begin_again(const void* memory, std::uint64_t flushes);
  Node& make() { return nodes_.make(contexts_.current); }
  [[nodiscard]] Place known_block(std::uint64_t address, isa::Isa isa, std::uint8_t it);
  Node& add_block(const Range& range, std::uint8_t it, bool has_exit);
  Place add_unreadable(const Range& range, std::uint8_t it);
  Node* range_node(const Element& element);
  void harvest_rows(Counts& counts);
  void drop_nodes();

  /// Shortcuts, which may be forgotten at any time after harvest().
  struct Known {
    std::array<Target, std::size_t{1} << kTargetBits> targets;
    std::vector<Stretch> stretches;
    std::vector<Stretch*> filled;  ///< Those that are not empty: harvest() looks at no others.
    Expand expand = nullptr;
    void reset();  ///< `expand` stays.
  };
  /// The input from which the nodes were made.
  struct Origin {
    const void* memory = nullptr;  ///< A flow::Follower or InstructionCache.
    std::uint64_t flushes = 0;     ///< How often its instructions were forgotten.
    std::uint64_t generation = 0;  ///< Counts how often the nodes were dropped.
    FindTarget find_target{};      ///< Empty: elements show the targets.
  };
  /// The contexts by number.  `current` is always the number of one.
  struct Contexts {
    std::vector<Context> list{Context{}};
    std::map<Context, std::uint32_t> numbers{{Context{}, 0}};
    std::uint32_t current = 0;

    [[nodiscard]] const Context& now() const { return list[current]; }
    [[nodiscard]] bool has_room_for(const Context& context) const;
    void select(const Context& context);  ///< Adds it, if it is new.
    void reset();                         ///< Without contexts, until select().
  };
  /// The task of the current context, and the part of the trace in which it runs.
  struct Task {
    const image::ImageSelector* selector = nullptr;
    TaskFilter filter;
    bool counted = true;  ///< What happens now is counted.
    TraceIndex begin = 0;
    TraceIndex end = kNoIndex;
  };
  /// The facts about earlier ranges that the next range will show.
  struct Open {
    Place branch = 0;        ///< A taken indirect branch; a block or a range.
    Node* direct = nullptr;  ///< The same for a direct branch that was observed.
    Node* last = nullptr;    ///< The range that was observed last.
    bool last_taken = false;
  };
  /// The ranges that the next cycle count covers, and exits among them.
  struct Group {
    std::unique_ptr<Place[]> places;
    std::size_t size = 0;
    bool lost = false;  ///< There were others.
    /// In a part: no cycle count and no gap has closed the group at the start.
    bool is_head = false;
    bool shares_cycles = true;
    std::uint64_t waiting_cycles = 0;

    /// A range with its own cycle count need not be logged.
    [[nodiscard]] bool is_empty() const { return size == 0 && !lost && !is_head; }
    void forget();
  };

  Nodes nodes_;
  NodeTable blocks_;
  NodeTable ranges_;
  Ways ways_;
  Known known_;
  Origin origin_;
  Contexts contexts_;
  Task task_;
  Open open_;
  Group group_;
  bool timestamps_repeat_cycles_ = false;
  Part part_;  ///< For counting a part.
  std::unique_ptr<Element[]> batch_;
  Counts kept_;
};

}  // namespace waymark::count
