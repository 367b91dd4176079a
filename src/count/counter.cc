#include "waymark/count/counter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "share.h"
#include "waymark/element/words.h"

namespace waymark::count {
namespace {

constexpr std::size_t kMaxContexts = std::size_t{1} << 16;

// As in flow::Follower: nodes of the same 64 bytes have neighbouring slots.
std::uint32_t hash(std::uint64_t address, std::uint64_t other, std::uint32_t context) {
  std::uint64_t h = (address >> 6) ^ (other << 44) ^ (std::uint64_t{context} << 32);
  h *= 0x9E3779B97F4A7C15ULL;
  const auto near = static_cast<std::uint32_t>(address >> 1) & 31;
  return ((static_cast<std::uint32_t>(h >> 32) & ~std::uint32_t{31}) | near) ^ near << 27;
}
std::uint32_t block_hash(std::uint64_t address, isa::Isa isa, std::uint8_t it,
                         std::uint32_t context) {
  return hash(address, static_cast<std::uint64_t>(isa) << 4 | it, context);
}
std::uint32_t range_hash(const Range& range, std::uint32_t context) {
  return hash(range.start, range.end, context);
}

Range range_of(const Element& element) {
  return {.start = element.start,
          .end = element.end,
          .count = element.count,
          .isa = element.isa,
          .last_type = element.last_type,
          .last_subtype = element.last_subtype,
          .last_size = element.last_size,
          .conditional = (element.flags & kElementConditional) != 0};
}

// The words that hold a range and its context.
constexpr std::uint64_t kKindMask =
    ~(std::uint64_t{0xFFFF} << kFlagsShift) | std::uint64_t{kContextFlags | kElementConditional}
                                                  << kFlagsShift;
constexpr std::uint64_t kRestMask = 0xFFFF;

ElementWords words_of(const Element& element) {
  return {.ids = word_of(element, offsetof(Element, context_id)),
          .kind = word_of(element, offsetof(Element, kind)) & kKindMask,
          .rest = word_of(element, offsetof(Element, exception_level)) & kRestMask};
}

/// Whether the element is this range, in this context.
inline bool is_same(const Node& node, const Element& element) {
  const Range& range = node.range;
  return ((range.start ^ element.start) | (range.end ^ element.end) |
          (range.count ^ element.count) |
          (node.words.ids ^ word_of(element, offsetof(Element, context_id))) |
          ((node.words.kind ^ word_of(element, offsetof(Element, kind))) & kKindMask) |
          ((node.words.rest ^ word_of(element, offsetof(Element, exception_level))) & kRestMask)) ==
         0;
}

/// Whether an edge goes from the range to the next one.
bool leads_on(const Range& range) {
  return range.last_type == isa::InstrType::kIndirectBranch &&
         range.last_subtype != isa::InstrSubtype::kV8ExceptionReturn;
}

/// The number of a block; not for exits.
constexpr std::size_t number_of(Place place) { return place / sizeof(Step); }
/// Neither an exit nor a place that stands for no instructions.
constexpr bool is_range(Place place) {
  constexpr Place kFirst = Nodes::kFirst * sizeof(Step);
  return place - kFirst < Nodes::kExitBit - kFirst;
}

}  // namespace

Counter::Counter() : group_{.places = std::make_unique_for_overwrite<Place[]>(kGroupRoom)} {
  step(kLost).next = {kLost, kLost};
  drop_nodes();
}

// ---- Nodes ----------------------------------------------------------------------------------

void Counter::begin_again(const void* memory, std::uint64_t flushes) {
  // The instructions may have changed since.
  if (origin_.memory != nullptr) {
    harvest();
    drop_nodes();
  }
  origin_.memory = memory;
  origin_.flushes = flushes;
}

void Counter::set_tasks(const image::ImageSelector* selector, TaskFilter filter) {
  task_.selector = selector;
  task_.filter = std::move(filter);
  task_.begin = selector == nullptr ? 0 : kNoIndex;
  task_.end = selector == nullptr ? kNoIndex : 0;
}

bool Counter::is_counted(const Context& context) const {
  return !task_.filter || task_.filter(context.task);
}

inline bool Counter::is_selected(const Element& element, TraceIndex index) const {
  const Context& now = contexts_.now();
  if (index < task_.begin || index >= task_.end) [[unlikely]]
    return task_.selector == nullptr;
  return element.context_id == now.context_id && element.vmid == now.vmid &&
         (element.flags & kContextFlags) == now.flags && element.trace_id == now.trace_id &&
         element.exception_level == now.exception_level && element.security == now.security;
}

void Counter::select(const Element& element, TraceIndex index) {
  if (is_selected(element, index)) return;
  Context context = context_of(element);
  if (task_.selector != nullptr) {
    const image::ImageSelector::Task task =
        task_.selector->task_at(index, element.trace_id, execution_context(element));
    context.task = task.id;
    task_.begin = task.begin;
    task_.end = task.end;
    task_.counted = is_counted(context);
  }
  if (!contexts_.has_room_for(context)) {
    harvest();
    drop_nodes();
    contexts_.reset();
  }
  contexts_.select(context);
}

bool Counter::Contexts::has_room_for(const Context& context) const {
  return list.size() < kMaxContexts || numbers.contains(context);
}

void Counter::Contexts::select(const Context& context) {
  const auto [at, inserted] = numbers.try_emplace(context, static_cast<std::uint32_t>(list.size()));
  if (inserted) list.push_back(context);
  current = at->second;
}

void Counter::Contexts::reset() {
  list.clear();
  numbers.clear();
}

Place Counter::known_block(std::uint64_t address, isa::Isa isa, std::uint8_t it) {
  const auto same = [&](const Node& node) {
    return node.range.start == address && node.range.isa == isa && node.it_in == it &&
           node.context == contexts_.current;
  };
  const Node* const node =
      blocks_.find(nodes_, block_hash(address, isa, it, contexts_.current), same);
  return node != nullptr ? node->place : 0;
}

// A block that is not known yet.
Node& Counter::add_block(const Range& range, std::uint8_t it, bool has_exit) {
  if (nodes_.full() || nodes_.exits_full()) {
    harvest();
    drop_nodes();
  }
  Node& node = make();
  node.range = range;
  node.it_in = it;
  if (has_exit) nodes_.add_exit(node);
  blocks_.add(nodes_, node, [](const Node& of) {
    return block_hash(of.range.start, of.range.isa, of.it_in, of.context);
  });
  return node;
}

// Instructions that nothing readable follows.
Place Counter::add_unreadable(const Range& range, std::uint8_t it) {
  Node& node = add_block(range, it, true);
  node.ending = Node::End::kUnreadable;
  node.next_isa = range.isa;
  return node.place;
}

Place Counter::find(std::uint64_t address, isa::Isa isa, std::uint8_t it, flow::Follower& follower,
                    Passes passes) {
  const WayKey key = way_key(address, isa);
  if (const Place recent = target(key); recent != 0) {
    const Node& there = node(recent);
    if (there.range.isa == isa && there.it_in == it) return recent;
  }
  if (const Place known = known_block(address, isa, it)) {
    // An indirect branch leads to a place outside IT blocks.
    if (it == 0) remember_target(key, known);
    return known;
  }
  const flow::Block& block = follower.block(address, isa, it);
  const Range range{.start = block.start,
                    .end = block.end,
                    .count = block.count,
                    .isa = block.isa,
                    .last_type = block.type,
                    .last_subtype = block.subtype,
                    .last_size = block.last_size,
                    .conditional = block.conditional};
  if (block.ended != flow::BlockEnd::kWaypoint) {
    // A callback may give the memory later.  A place after an exit is outside an IT block.
    const bool unreadable = block.ended == flow::BlockEnd::kNotAccessible &&
                            !follower.reads_callbacks() && block.it_out == 0;
    return passes.unreadable && unreadable ? add_unreadable(range, block.it_in) : 0;
  }
  if (!passes.exception_returns && block.subtype == isa::InstrSubtype::kV8ExceptionReturn) return 0;
  Node& node = add_block(range, block.it_in, block.is_indirect_branch());
  node.it_out = block.it_out;
  node.next_isa = block.next_isa;
  if (block.link) node.ending = Node::End::kCall;
  if (block.is_direct_branch()) node.target = block.target;
  return node.place;
}

Place Counter::find(std::uint32_t address, isa::Isa isa, flow::InstructionCache& cache,
                    Passes passes) {
  if (const Place known = known_block(address, isa, 0)) return known;
  const flow::Step* const step = cache.find(address, isa);
  if (step == nullptr) {
    const bool unreadable =
        cache.outcome() == flow::BlockEnd::kNotAccessible && !cache.reads_callbacks();
    return passes.unreadable && unreadable
               ? add_unreadable({.start = address, .end = address, .isa = isa}, 0)
               : 0;
  }
  Node& node = add_block({.start = step->address,
                          .end = step->end,
                          .count = 1,
                          .isa = step->isa(),
                          .last_type = step->type(),
                          .last_subtype = step->subtype(),
                          .last_size = static_cast<std::uint8_t>(step->size()),
                          .conditional = step->conditional()},
                         0, step->type() == isa::InstrType::kIndirectBranch);
  node.next_isa = cache.next_isa(*step);
  if (step->type() == isa::InstrType::kBranch) node.target = cache.target(*step);
  return node.place;
}

Node* Counter::range_node(const Element& element) {
  const Range range = range_of(element);
  const auto same = [&](const Node& node) {
    return node.context == contexts_.current && is_same(node, element);
  };
  Node* node = ranges_.find(nodes_, range_hash(range, contexts_.current), same);
  if (node == nullptr) {
    if (nodes_.full()) {
      harvest();
      drop_nodes();
    }
    node = &make();
    node->range = range;
    node->words = words_of(element);
    const bool direct = range.last_type == isa::InstrType::kBranch;
    if (direct && origin_.find_target) node->target = origin_.find_target(element);
    node->opens = direct ? node->target == kNoAddress : leads_on(range);
    ranges_.add(nodes_, *node, [](const Node& of) { return range_hash(of.range, of.context); });
  }
  if (open_.last != nullptr) open_.last->guess[open_.last_taken ? 1 : 0] = node;
  return node;
}

Way* Counter::add_way(Place from, WayKey key, Place to) {
  if (ways_.full()) {
    // The nodes remain, so it is enough to turn the ways into edges.
    harvest();
    ways_.clear();
  }
  return &ways_.add(from, key, to);
}

void Counter::replay(Stretch& stretch) {
  Atoms atoms = known_.expand(stretch.row);
  for (Place at = stretch.from; atoms.count != 0; --atoms.count, atoms.bits >>= 1) {
    Step& passed = step(at);
    const std::size_t taken = atoms.bits & 1;
    passed.times[taken] += stretch.times;
    at = passed.next[taken];
  }
  stretch.times = stretch.seen = 0;
}

void Counter::Known::reset() {
  targets.fill({});
  stretches.assign(std::size_t{1} << kStretchBits, {});
  filled.clear();
}

void Counter::drop_nodes() {
  nodes_.clear();
  blocks_.clear();
  ranges_.clear();
  ways_.clear();
  known_.reset();
  node(kBefore).range.last_type = isa::InstrType::kIndirectBranch;
  open_ = {};
  group_.lost = group_.lost || group_.size != 0;
  group_.size = 0;
  ++origin_.generation;
}

// ---- Elements -------------------------------------------------------------------------------

// The next element is nearly always the one that followed the last time, so that one comparison is
// enough.  The expected node depends only on the previous node.
void Counter::observe(std::span<const Element> elements) {
  Node* last = open_.last;
  bool taken = open_.last_taken;
  for (const Element& element : elements) {
    if (element.kind != ElementKind::kInstrRange) [[unlikely]] {
      const std::uint64_t generation = origin_.generation;
      if (task_.selector != nullptr) select(element, element.index);
      // The following code may belong to another task, at the same address.
      if (task_.selector != nullptr || generation != origin_.generation) last = nullptr;
      observe_other(element);
      continue;
    }
    Node* node = last != nullptr ? last->guess[taken ? 1 : 0] : nullptr;
    if (node == nullptr || element.index >= task_.end || !is_same(*node, element)) [[unlikely]] {
      open_.last = last;
      open_.last_taken = taken;
      node = observe_again(element);
    } else {
      contexts_.current = node->context;
      if (open_.direct != nullptr) {
        open_.direct->target = std::min(open_.direct->target, element.start);
        open_.direct = nullptr;
      }
      if (open_.branch != 0) close_branch(element.start, element.isa);
    }
    const bool executed = (element.flags & kElementExecuted) != 0;
    ++node->times[executed ? 1 : 0];
    last = node;
    taken = executed;
    if (executed && node->opens) {
      if (node->range.last_type == isa::InstrType::kIndirectBranch) {
        open_.branch = node->place;
      } else {
        open_.direct = node;
      }
    }
    if ((element.flags & kElementHasCycleCount) == 0) {
      log(node->place);
    } else if (group_.is_empty()) {
      node->cycles += std::exchange(group_.waiting_cycles, 0) + element.cycle_count;
    } else {
      log(node->place);
      count_cycles(element.cycle_count);
    }
  }
  open_.last = last;
  open_.last_taken = taken;
}

Node* Counter::observe_again(const Element& element) {
  select(element, element.index);
  // Storing the edge may remove others, so it must precede the search for the node.
  close_branch(element.start, element.isa);
  return range_node(element);
}

std::span<Element> Counter::batch() {
  if (batch_ == nullptr) batch_ = std::make_unique<Element[]>(kBatch);
  return {batch_.get(), kBatch};
}

void Counter::open_branch(Place branch) {
  open_.branch = branch != 0 && leads_on(node(branch).range) ? node(branch).place : 0;
}

Way* Counter::close_branch(std::uint64_t address, isa::Isa isa) {
  if (open_.direct != nullptr) {
    open_.direct->target = std::min(open_.direct->target, address);
    open_.direct = nullptr;
  }
  if (open_.branch == 0) return nullptr;
  const Place from = open_.branch;
  const WayKey key = way_key(address, isa);
  open_.branch = 0;
  Way* found = way(from, key);
  if (found == nullptr) found = add_way(from, key, 0);
  ++found->times;
  return found;
}

void Counter::observe_other(const Element& element) {
  count_element(element.kind);
  const bool has_cycles = (element.flags & kElementHasCycleCount) != 0;
  switch (element.kind) {
    case ElementKind::kTimestamp:
      if (has_cycles && !timestamps_repeat_cycles_) count_cycles(element.cycle_count);
      return;
    case ElementKind::kCycleCount:
    case ElementKind::kEvent:
    case ElementKind::kSwTrace:
    case ElementKind::kSyncMarker:
    case ElementKind::kInstrumentation:
    case ElementKind::kItmTrace:
    case ElementKind::kCustom:
    case ElementKind::kDataAddress:
    case ElementKind::kDataValue:
    case ElementKind::kDataEvent:
      if (has_cycles) count_cycles(element.cycle_count);
      return;
    case ElementKind::kNoSync:
    case ElementKind::kTraceOn:
    case ElementKind::kEndOfTrace:
      end_group_at_gap();
      if (has_cycles) add_other_cycles(element.cycle_count);
      break;
    case ElementKind::kPeContext:
      if (has_cycles) add_other_cycles(element.cycle_count);
      cross(element);
      return;
    case ElementKind::kException: {
      // Where the branch led, nothing was executed before the exception.
      constexpr unsigned kStates = kElementReturnAddress | kElementTailChain;
      if ((element.flags & kStates) == kElementReturnAddress)
        close_branch(element.end, element.isa);
      if (has_cycles) count_cycles(element.cycle_count);
      break;
    }
    case ElementKind::kAddrNacc:
      if (has_cycles) count_cycles(element.cycle_count);
      stop_at_unreadable(element.start);
      return;
    case ElementKind::kInstrRangeNoPath:
      if (task_.counted) kept_.pathless_instructions += element.count;
      [[fallthrough]];
    default:
      if (has_cycles) count_cycles(element.cycle_count);
  }
  open_.branch = 0;
  open_.direct = nullptr;
}

// A context between a branch and its target.
void Counter::cross(const Element& context) {
  if (open_.branch == 0 && open_.direct == nullptr) return;
  Context now = context_of(context);
  if (task_.selector != nullptr) now.task = contexts_.now().task;
  if (open_.branch == kBefore) {
    if (part_.cross(now)) return;
  } else {
    const Node& from = open_.branch != 0 ? node(open_.branch) : *open_.direct;
    if (continues(contexts_.list[from.context], now)) return;
  }
  open_.branch = 0;
  open_.direct = nullptr;
}

void Counter::stop_at_unreadable(std::uint64_t address) {
  if (task_.selector != nullptr && task_.counted) {
    constexpr std::uint64_t kPage = 0x1000;
    if (kept_.unread.size() < Counts::kMaxRows)
      ++kept_.unread[{contexts_.now().task, address & ~(kPage - 1)}];
  }
  open_.branch = 0;
  open_.direct = nullptr;
}

// ---- Cycles ---------------------------------------------------------------------------------

// There is a group: is_empty() is false.
void Counter::count_cycles_of_group(std::uint64_t cycles) {
  if (!group_.shares_cycles) {
    add_other_cycles(cycles);
    return;
  }
  group_.waiting_cycles += cycles;
  if (group_.size == 1 && !group_.lost && !group_.is_head && is_range(group_.places[0])) {
    node(group_.places[0]).cycles += exchange_waiting_cycles(0);
    group_.size = 0;
    return;
  }
  close_group();
}

void Counter::set_shares_cycles(bool share) {
  if (group_.shares_cycles == share) return;
  group_.shares_cycles = share;
  group_.is_head = false;
  group_.forget();
}

// Removes exits, and unknown positions that were logged with the ranges.  Gives the number of
// instructions of the ranges.
std::uint64_t Counter::tidy_group() {
  Place* const places = group_.places.get();
  std::uint64_t instructions = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < group_.size; ++i) {
    const Place place = places[i];
    if (!is_range(place)) continue;
    places[kept++] = place;
    instructions += nodes_.numbered(number_of(place)).range.count;
  }
  group_.size = kept;
  if (kept > kMaxGroup) group_.lost = true;
  return instructions;
}

void Counter::Group::forget() {
  size = 0;
  lost = !shares_cycles;
  waiting_cycles = 0;
}

void Counter::end_group_at_gap() {
  if (group_.is_head) {
    group_.is_head = false;
    part_.group = Part::Group::kGap;
  }
  add_other_cycles(group_.waiting_cycles);
  group_.forget();
}

void Counter::close_group() {
  const std::uint64_t instructions = tidy_group();
  if (group_.size == 0 && !group_.lost) {
    if (!group_.is_head) return;
    // The cycle count of a group from before this part, if there is one.
    if (part_.first_cycles) {
      part_.more_cycles += group_.waiting_cycles;
    } else {
      part_.first_cycles = group_.waiting_cycles;
    }
  } else if (group_.is_head) {
    group_.is_head = false;
    part_.group = Part::Group::kClosed;
    part_.closing = group_.waiting_cycles;
    part_.begun_lost = group_.lost;
    part_.begun = group_ranges();
  } else if (group_.lost) {
    add_other_cycles(group_.waiting_cycles);
  } else {
    CycleShare share(group_.waiting_cycles, instructions);
    for (const Place place : std::span<const Place>(group_.places.get(), group_.size)) {
      Node& shares = nodes_.numbered(number_of(place));
      shares.cycles += share.next(shares.range.count);
    }
  }
  group_.forget();
}

// ---- Parts ----------------------------------------------------------------------------------

PartRange Counter::part_range(const Node& node) const {
  return {.context = contexts_.list[node.context], .range = node.range};
}

// The ranges of a group after tidy_group().
std::vector<PartRange> Counter::group_ranges() const {
  std::vector<PartRange> ranges;
  if (group_.lost) return ranges;
  ranges.reserve(group_.size);
  for (std::size_t i = 0; i < group_.size; ++i)
    ranges.push_back(part_range(nodes_.numbered(number_of(group_.places[i]))));
  return ranges;
}

void Counter::begin_part() {
  harvest();
  kept_ = {};
  part_ = {};
  // The stream need not follow what another part learned, possibly from a wrong guess.
  ranges_.for_each(nodes_, [](Node& observed) {
    if (observed.opens) observed.target = kNoAddress;
  });
  group_.forget();
  group_.is_head = group_.shares_cycles;
  open_ = {.branch = kBefore};
}

Part Counter::take_part() {
  harvest();
  tidy_group();
  part_.counts = std::exchange(kept_, {});
  part_.reaches_through = open_.branch == kBefore;
  if (open_.branch != 0 && open_.branch != kBefore) part_.branch = part_range(node(open_.branch));
  if (open_.direct != nullptr) part_.direct = part_range(*open_.direct);
  if (group_.is_head) {
    part_.begun = group_ranges();
    part_.begun_lost = group_.lost;
  } else if (group_.shares_cycles) {
    part_.waiting = group_ranges();
    part_.waiting_lost = group_.lost;
    part_.waiting_cycles = group_.waiting_cycles;
  }
  group_.forget();
  group_.is_head = false;
  open_ = {};
  return std::exchange(part_, {});
}

// ---- Results --------------------------------------------------------------------------------

// Only numbers are sorted, and no rows are made for which kept_ has no room: there may be more
// nodes than would fit into memory as rows.
void Counter::harvest_rows(Counts& counts) {
  const auto row_of = [this](const Node& node) {
    const bool direct = node.range.last_type == isa::InstrType::kBranch;
    return Row{.context = contexts_.list[node.context],
               .range = node.range,
               .executed = node.times[1],
               .not_executed = node.times[0],
               .cycles = node.cycles,
               .target = direct && node.times[1] != 0 ? node.target : kNoAddress};
  };
  std::vector<std::uint32_t> ranks(contexts_.list.size());
  std::uint32_t rank = 0;
  std::vector<bool> counted(contexts_.list.size());
  for (const auto& [context, number] : contexts_.numbers) {
    ranks[number] = rank++;
    counted[number] = is_counted(context);
  }
  struct Found {
    std::uint64_t start;
    std::uint32_t rank;
    std::uint32_t number;
  };
  std::vector<Found> found;
  for (std::size_t i = Nodes::kFirst; i < nodes_.size(); ++i) {
    Node& node = nodes_.numbered(i);
    Step& step = nodes_.steps()[i];
    node.times[0] += step.times[0];
    node.times[1] += step.times[1];
    step.times = {};
    if (node.times[0] == 0 && node.times[1] == 0 && node.cycles == 0) continue;
    if (!counted[node.context]) {
      node.times = {};
      node.cycles = 0;
      continue;
    }
    if (const Row row = row_of(node); kept_.has_room_for(row)) {
      found.push_back({.start = node.range.start,
                       .rank = ranks[node.context],
                       .number = static_cast<std::uint32_t>(i)});
    } else {
      counts.rest += totals_of(row);
      node.times = {};
      node.cycles = 0;
    }
  }
  const auto before = [this](const Found& a, const Found& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.start != b.start) return a.start < b.start;
    return nodes_.numbered(a.number).range < nodes_.numbered(b.number).range;
  };
  if (!std::ranges::is_sorted(found, before)) std::ranges::sort(found, before);
  counts.rows.reserve(found.size());
  for (const Found& at : found) {
    Node& node = nodes_.numbered(at.number);
    counts.rows.push_back(row_of(node));
    node.times = {};
    node.cycles = 0;
  }
}

void Counter::harvest() {
  for (Stretch* const stretch : known_.filled)
    if (stretch->times != 0) replay(*stretch);
  Counts counts;
  harvest_rows(counts);
  for (Way& way : ways_.slots()) {
    if (way.marked_from == 0 || way.times == 0) continue;
    if (way.from() == kBefore) {
      part_.first = way.address;
      way.times = 0;
      continue;
    }
    const Node& from = node(way.from());
    if (!leads_on(from.range)) continue;
    if (!is_counted(contexts_.list[from.context])) {
      way.times = 0;
      continue;
    }
    counts.edges.push_back({.context = contexts_.list[from.context],
                            .from = from.range.last_address(),
                            .to = way.address,
                            .from_isa = from.range.isa,
                            .subtype = from.range.last_subtype,
                            .times = way.times});
    way.times = 0;
  }
  // A range can be a block and also come from elements.
  counts.combine();
  kept_.add(std::move(counts));
  budget = kBudget;
}

Counts Counter::take() {
  harvest();
  Counts counts = std::move(kept_);
  kept_ = {};
  return counts;
}

}  // namespace waymark::count
