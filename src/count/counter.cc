#include "waymark/count/counter.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "share.h"
#include "waymark/element/words.h"

namespace waymark::count {
namespace {

// Steps: nodes in the lower half, exits in the upper one.
constexpr std::size_t kMaxNodes = Counter::kExitBit / sizeof(Step);
constexpr std::size_t kMaxExits = kMaxNodes;
constexpr std::size_t kFirstNode = 4;  // The places before it are 0, kLost, kReturn and kBefore.
constexpr std::size_t kMaxWays = std::size_t{1} << 20;
constexpr std::size_t kMaxContexts = std::size_t{1} << 16;
constexpr std::size_t kFirstTable = std::size_t{1} << 10;

// The fields of a slot of a table.
constexpr unsigned kNumberBits = 20;
constexpr std::uint32_t kNumberMask = (std::uint32_t{1} << kNumberBits) - 1;
static_assert(kMaxNodes <= kNumberMask);

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

constexpr std::size_t kStepBytes = (kMaxNodes + kMaxExits) * sizeof(Step);

// Zeros that take no memory until they are written; calloc() might write them.
Step* reserve_steps() {
  void* const at = mmap(nullptr, kStepBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Step*>(at);
}

}  // namespace

void Counter::Free::operator()(Step* steps) const { (void)munmap(steps, kStepBytes); }

Counter::Counter()
    : steps_(reserve_steps()),
      contexts_(1),
      group_(std::make_unique_for_overwrite<Place[]>(kGroupRoom)) {
  numbers_.emplace(Context{}, 0);
  step(kLost).next = {kLost, kLost};
  drop_nodes();
}

// ---- Nodes ----------------------------------------------------------------------------------

void Counter::begin(const void* memory, std::uint64_t flushes) {
  if (memory_ == memory && flushes_ == flushes) return;
  // The instructions may have changed since.
  if (memory_ != nullptr) {
    harvest();
    drop_nodes();
  }
  memory_ = memory;
  flushes_ = flushes;
}

void Counter::set_tasks(const image::ImageSelector* selector, TaskFilter filter) {
  selector_ = selector;
  filter_ = std::move(filter);
  task_begin_ = selector == nullptr ? 0 : kNoIndex;
  task_end_ = selector == nullptr ? kNoIndex : 0;
}

bool Counter::is_counted(const Context& context) const { return !filter_ || filter_(context.task); }

inline bool Counter::is_selected(const Element& element, TraceIndex index) const {
  const Context& now = contexts_[context_];
  if (index < task_begin_ || index >= task_end_) [[unlikely]]
    return selector_ == nullptr;
  return element.context_id == now.context_id && element.vmid == now.vmid &&
         (element.flags & kContextFlags) == now.flags && element.trace_id == now.trace_id &&
         element.exception_level == now.exception_level && element.security == now.security;
}

void Counter::select(const Element& element, TraceIndex index) {
  if (is_selected(element, index)) return;
  Context context = context_of(element);
  if (selector_ != nullptr) {
    const image::ImageSelector::Task task = selector_->task_at(
        index, element.trace_id, std::uint64_t{element.vmid} << 32 | element.context_id);
    context.task = task.number;
    task_begin_ = task.begin;
    task_end_ = task.end;
    counted_ = is_counted(context);
  }
  if (contexts_.size() == kMaxContexts && !numbers_.contains(context)) {
    harvest();
    drop_nodes();
    contexts_.clear();
    numbers_.clear();
  }
  const auto [at, inserted] =
      numbers_.try_emplace(context, static_cast<std::uint32_t>(contexts_.size()));
  if (inserted) contexts_.push_back(context);
  context_ = at->second;
}

Node& Counter::make() {
  if (used_ == slabs_.size() * kSlab) slabs_.push_back(std::make_unique<Node[]>(kSlab));
  Node& node = numbered(used_);
  node = {};
  node.place = static_cast<Place>(used_ * sizeof(Step));
  node.context = context_;
  ++used_;
  return node;
}

// The slot of the node, or an empty slot for it.
template <class Same>
std::uint32_t& Counter::slot(Table& table, std::uint32_t hash, Same same) {
  const std::size_t mask = table.slots.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    std::uint32_t& found = table.slots[i];
    if (found == 0) return found;
    if (((found ^ hash) & ~kNumberMask) == 0 && same(numbered((found & kNumberMask) - 1)))
      return found;
  }
}

// Puts a node into its slot, after the table has grown if necessary.
template <class HashOf>
void Counter::enter(Table& table, std::uint32_t& slot, const Node& node, HashOf hash_of) {
  const auto value_of = [](std::uint32_t hash, const Node& of) {
    return (hash & ~kNumberMask) | static_cast<std::uint32_t>(number_of(of.place) + 1);
  };
  slot = value_of(hash_of(node), node);
  if (++table.used * 2 <= table.slots.size()) return;
  const std::vector<std::uint32_t> old = std::move(table.slots);
  table.slots.assign(old.size() * 2, 0);
  for (const std::uint32_t moved : old) {
    if (moved == 0) continue;
    const Node& at = numbered((moved & kNumberMask) - 1);
    const std::uint32_t hash = hash_of(at);
    this->slot(table, hash, [](const Node&) { return false; }) = value_of(hash, at);
  }
}

Place Counter::known_block(std::uint64_t address, isa::Isa isa, std::uint8_t it) {
  const auto same = [&](const Node& node) {
    return node.range.start == address && node.range.isa == isa && node.it_in == it &&
           node.context == context_;
  };
  const std::uint32_t at = slot(blocks_, block_hash(address, isa, it, context_), same);
  return at != 0 ? static_cast<Place>(((at & kNumberMask) - 1) * sizeof(Step)) : 0;
}

// A block that is not known yet.
Node& Counter::add_block(const Range& range, std::uint8_t it) {
  if (used_ == kMaxNodes || exits_.size() == kMaxExits) {
    harvest();
    drop_nodes();
  }
  Node& node = make();
  node.range = range;
  node.it_in = it;
  if (range.last_type == isa::InstrType::kIndirectBranch) {
    node.far = static_cast<Place>(exits_.size() * sizeof(Step)) | kExitBit;
    exits_.push_back(node.place);
  }
  const auto hash_of = [](const Node& of) {
    return block_hash(of.range.start, of.range.isa, of.it_in, of.context);
  };
  std::uint32_t& at = slot(blocks_, hash_of(node), [](const Node&) { return false; });
  enter(blocks_, at, node, hash_of);
  return node;
}

Place Counter::find(std::uint64_t address, isa::Isa isa, std::uint8_t it, flow::Follower& follower,
                    bool refuse_exception_returns) {
  if (const Place known = known_block(address, isa, it)) return known;
  const flow::Block& block = follower.block(address, isa, it);
  if (block.ended != flow::BlockEnd::kWaypoint) return 0;
  if (refuse_exception_returns && block.subtype == isa::InstrSubtype::kV8ExceptionReturn) return 0;
  Node& node = add_block({.start = block.start,
                          .end = block.end,
                          .count = block.count,
                          .isa = block.isa,
                          .last_type = block.type,
                          .last_subtype = block.subtype,
                          .last_size = block.last_size,
                          .conditional = block.conditional},
                         block.it_in);
  node.it_out = block.it_out;
  node.next_isa = block.next_isa;
  node.link = block.link;
  if (block.is_direct_branch()) node.target = block.target;
  return node.place;
}

Place Counter::find(std::uint32_t address, isa::Isa isa, flow::InstructionCache& cache) {
  if (const Place known = known_block(address, isa, 0)) return known;
  const flow::Step* const step = cache.find(address, isa);
  if (step == nullptr) return 0;
  Node& node = add_block({.start = step->address,
                          .end = step->end,
                          .count = 1,
                          .isa = step->isa(),
                          .last_type = step->type(),
                          .last_subtype = step->subtype(),
                          .last_size = static_cast<std::uint8_t>(step->size()),
                          .conditional = step->conditional()},
                         0);
  node.next_isa = cache.next_isa(*step);
  if (step->type() == isa::InstrType::kBranch) node.target = cache.target(*step);
  return node.place;
}

Node* Counter::range_node(const Element& element) {
  const Range range = range_of(element);
  const auto same = [&](const Node& node) {
    return node.context == context_ && is_same(node, element);
  };
  std::uint32_t* at = &slot(ranges_, range_hash(range, context_), same);
  Node* node = *at != 0 ? &numbered((*at & kNumberMask) - 1) : nullptr;
  if (node == nullptr) {
    if (used_ == kMaxNodes) {
      harvest();
      drop_nodes();
      at = &slot(ranges_, range_hash(range, context_), same);
    }
    node = &make();
    node->range = range;
    node->words = words_of(element);
    node->opens = range.last_type == isa::InstrType::kBranch || leads_on(range);
    enter(ranges_, *at, *node, [](const Node& of) { return range_hash(of.range, of.context); });
  }
  if (last_range_ != nullptr) last_range_->guess[last_taken_ ? 1 : 0] = node;
  return node;
}

Way* Counter::add_way(Place from, WayKey key, Place to) {
  if (way_count_ == kMaxWays) {
    // The nodes remain, so it is enough to turn the ways into edges.
    harvest();
    std::ranges::fill(ways_, Way{});
    way_count_ = 0;
  }
  const Place marked = from | key.mark;
  const auto free_slot = [this](Place marked_from, std::uint64_t address) {
    std::size_t i = way_hash(marked_from, address) & way_mask_;
    while (ways_[i].marked_from != 0) i = (i + 1) & way_mask_;
    return i;
  };
  if ((way_count_ + 1) * 2 > ways_.size()) {
    const std::vector<Way> old = std::move(ways_);
    ways_.assign(old.size() * 2, {});
    way_mask_ = ways_.size() - 1;
    for (const Way& moved : old)
      if (moved.marked_from != 0) ways_[free_slot(moved.marked_from, moved.address)] = moved;
  }
  Way& way = ways_[free_slot(marked, key.address)];
  way = {.address = key.address, .marked_from = marked, .to = to, .times = 0};
  ++way_count_;
  return &way;
}

void Counter::replay(Stretch& stretch) {
  Atoms atoms = expand_(stretch.row);
  for (Place at = stretch.from; atoms.count != 0; --atoms.count, atoms.bits >>= 1) {
    Step& passed = step(at);
    const std::size_t taken = atoms.bits & 1;
    passed.times[taken] += stretch.times;
    at = passed.next[taken];
  }
  stretch.times = stretch.seen = 0;
}

void Counter::drop_nodes() {
  for (std::size_t i = kFirstNode; i < used_; ++i) steps_[i] = {};
  for (std::size_t i = 0; i < exits_.size(); ++i) steps_[kMaxNodes + i] = {};
  exits_.clear();
  used_ = 0;
  while (used_ < kFirstNode) make();
  // The next nodes use the same memory.
  for (Table* const table : {&blocks_, &ranges_}) {
    table->slots.assign(std::max(table->slots.size(), kFirstTable), 0);
    table->used = 0;
  }
  ways_.assign(kFirstTable, {});
  way_mask_ = kFirstTable - 1;
  way_count_ = 0;
  targets_.fill({});
  stretches_.assign(std::size_t{1} << kStretchBits, {});
  Node& before = node(kBefore);
  before.range.last_type = isa::InstrType::kIndirectBranch;
  open_branch_ = 0;
  open_direct_ = last_range_ = nullptr;
  group_lost_ = group_lost_ || group_size_ != 0;
  group_size_ = 0;
  ++generation_;
}

// ---- Elements -------------------------------------------------------------------------------

// The next element is nearly always the one that followed the last time, so that one comparison is
// enough.  The expected node depends only on the previous node.
void Counter::observe(std::span<const Element> elements) {
  Node* last = last_range_;
  bool taken = last_taken_;
  for (const Element& element : elements) {
    if (element.kind != ElementKind::kInstrRange) [[unlikely]] {
      const std::uint64_t generation = generation_;
      if (selector_ != nullptr) select(element, element.index);
      // What follows may belong to another task, at the same address.
      if (selector_ != nullptr || generation != generation_) last = nullptr;
      observe_other(element);
      continue;
    }
    Node* node = last != nullptr ? last->guess[taken ? 1 : 0] : nullptr;
    if (node == nullptr || element.index >= task_end_ || !is_same(*node, element)) [[unlikely]] {
      last_range_ = last;
      last_taken_ = taken;
      node = observe_again(element);
    } else {
      context_ = node->context;
      if (open_direct_ != nullptr) {
        open_direct_->target = std::min(open_direct_->target, element.start);
        open_direct_ = nullptr;
      }
      if (open_branch_ != 0) close_branch(element.start, element.isa);
    }
    const bool executed = (element.flags & kElementExecuted) != 0;
    ++node->times[executed ? 1 : 0];
    last = node;
    taken = executed;
    if (executed && node->opens) {
      if (node->range.last_type == isa::InstrType::kIndirectBranch) {
        open_branch_ = node->place;
      } else {
        open_direct_ = node;
      }
    }
    if ((element.flags & kElementHasCycleCount) == 0) {
      log(node->place);
    } else if (group_size_ == 0 && !group_lost_ && !head_open_) {
      node->cycles += std::exchange(waiting_cycles_, 0) + element.cycle_count;
    } else {
      log(node->place);
      count_cycles(element.cycle_count);
    }
  }
  last_range_ = last;
  last_taken_ = taken;
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
  open_branch_ = branch != 0 && leads_on(node(branch).range) ? node(branch).place : 0;
}

Way* Counter::close_branch(std::uint64_t address, isa::Isa isa) {
  if (open_direct_ != nullptr) {
    open_direct_->target = std::min(open_direct_->target, address);
    open_direct_ = nullptr;
  }
  if (open_branch_ == 0) return nullptr;
  const Place from = open_branch_;
  const WayKey key = way_key(address, isa);
  open_branch_ = 0;
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
      [[fallthrough]];
    case ElementKind::kPeContext:
      if (has_cycles) add_other_cycles(element.cycle_count);
      break;
    case ElementKind::kAddrNacc:
      if (selector_ != nullptr && counted_) {
        constexpr std::uint64_t kPage = 0x1000;
        if (kept_.unread.size() < Counts::kMaxRows)
          ++kept_.unread[{contexts_[context_].task, element.start & ~(kPage - 1)}];
      }
      if (has_cycles) count_cycles(element.cycle_count);
      break;
    case ElementKind::kInstrRangeNoPath:
      if (counted_) kept_.pathless_instructions += element.count;
      [[fallthrough]];
    default:
      if (has_cycles) count_cycles(element.cycle_count);
  }
  open_branch_ = 0;
  open_direct_ = nullptr;
}

// ---- Cycles ---------------------------------------------------------------------------------

void Counter::count_cycles(std::uint64_t cycles) {
  if (!shares_cycles_) {
    add_other_cycles(cycles);
    return;
  }
  waiting_cycles_ += cycles;
  if (group_size_ == 1 && !group_lost_ && !head_open_ && (group_[0] & kExitBit) == 0 &&
      number_of(group_[0]) >= kFirstNode) {
    node(group_[0]).cycles += std::exchange(waiting_cycles_, 0);
    group_size_ = 0;
    return;
  }
  if (group_size_ != 0 || group_lost_ || head_open_) close_group();
}

void Counter::set_shares_cycles(bool share) {
  if (shares_cycles_ == share) return;
  shares_cycles_ = share;
  head_open_ = false;
  forget_group();
}

// Removes exits, and unknown positions that were logged with the ranges.
void Counter::tidy_group() {
  const Place* const end = std::remove_if(
      group_.get(), group_.get() + group_size_,
      [](Place place) { return (place & kExitBit) != 0 || number_of(place) < kFirstNode; });
  group_size_ = static_cast<std::size_t>(end - group_.get());
  if (group_size_ > kMaxGroup) group_lost_ = true;
}

void Counter::forget_group() {
  group_size_ = 0;
  group_lost_ = !shares_cycles_;
  waiting_cycles_ = 0;
}

void Counter::end_group_at_gap() {
  if (head_open_) {
    head_open_ = false;
    part_.group = Part::Group::kGap;
  }
  add_other_cycles(waiting_cycles_);
  forget_group();
}

void Counter::close_group() {
  tidy_group();
  if (group_size_ == 0 && !group_lost_) {
    if (!head_open_) return;
    // The cycle count of a group from before this part, if there is one.
    if (part_.first_cycles) {
      part_.more_cycles += waiting_cycles_;
    } else {
      part_.first_cycles = waiting_cycles_;
    }
  } else if (head_open_) {
    head_open_ = false;
    part_.group = Part::Group::kClosed;
    part_.closing = waiting_cycles_;
    part_.begun_lost = group_lost_;
    part_.begun = group_ranges();
  } else if (group_lost_) {
    add_other_cycles(waiting_cycles_);
  } else {
    std::uint64_t instructions = 0;
    const std::span<const Place> group(group_.get(), group_size_);
    for (const Place place : group) instructions += node(place).range.count;
    CycleShare share(waiting_cycles_, instructions);
    for (const Place place : group) {
      Node& shares = node(place);
      shares.cycles += share.next(shares.range.count);
    }
  }
  forget_group();
}

// ---- Parts ----------------------------------------------------------------------------------

PartRange Counter::part_range(const Node& node) const {
  return {.context = contexts_[node.context], .range = node.range};
}

// The ranges of a group after tidy_group().
std::vector<PartRange> Counter::group_ranges() const {
  std::vector<PartRange> ranges;
  if (group_lost_) return ranges;
  ranges.reserve(group_size_);
  for (std::size_t i = 0; i < group_size_; ++i)
    ranges.push_back(part_range(numbered(number_of(group_[i]))));
  return ranges;
}

void Counter::begin_part() {
  harvest();
  kept_ = {};
  part_ = {};
  // The stream need not follow what another part learned, possibly from a wrong guess.
  for (const std::uint32_t observed : ranges_.slots) {
    if (observed != 0) numbered((observed & kNumberMask) - 1).target = kNoAddress;
  }
  forget_group();
  head_open_ = shares_cycles_;
  open_branch_ = kBefore;
  open_direct_ = last_range_ = nullptr;
}

Part Counter::take_part() {
  harvest();
  tidy_group();
  part_.counts = std::exchange(kept_, {});
  part_.reaches_through = open_branch_ == kBefore;
  if (open_branch_ != 0 && open_branch_ != kBefore) part_.branch = part_range(node(open_branch_));
  if (open_direct_ != nullptr) part_.direct = part_range(*open_direct_);
  if (head_open_) {
    part_.begun = group_ranges();
    part_.begun_lost = group_lost_;
  } else if (shares_cycles_) {
    part_.waiting = group_ranges();
    part_.waiting_lost = group_lost_;
    part_.waiting_cycles = waiting_cycles_;
  }
  forget_group();
  head_open_ = false;
  open_branch_ = 0;
  open_direct_ = last_range_ = nullptr;
  return std::exchange(part_, {});
}

// ---- Results --------------------------------------------------------------------------------

// Only numbers are sorted, and no rows are made for which kept_ has no room: there may be more
// nodes than would fit into memory as rows.
void Counter::harvest_rows(Counts& counts) {
  const auto row_of = [this](const Node& node) {
    const bool direct = node.range.last_type == isa::InstrType::kBranch;
    return Row{.context = contexts_[node.context],
               .range = node.range,
               .executed = node.times[1],
               .not_executed = node.times[0],
               .cycles = node.cycles,
               .target = direct && node.times[1] != 0 ? node.target : kNoAddress};
  };
  std::vector<std::uint32_t> ranks(contexts_.size());
  std::uint32_t rank = 0;
  std::vector<bool> counted(contexts_.size());
  for (const auto& [context, number] : numbers_) {
    ranks[number] = rank++;
    counted[number] = is_counted(context);
  }
  struct Found {
    std::uint64_t start;
    std::uint32_t rank;
    std::uint32_t number;
  };
  std::vector<Found> found;
  for (std::size_t i = kFirstNode; i < used_; ++i) {
    Node& node = numbered(i);
    Step& step = steps_[i];
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
    return numbered(a.number).range < numbered(b.number).range;
  };
  if (!std::ranges::is_sorted(found, before)) std::ranges::sort(found, before);
  counts.rows.reserve(found.size());
  for (const Found& at : found) {
    Node& node = numbered(at.number);
    counts.rows.push_back(row_of(node));
    node.times = {};
    node.cycles = 0;
  }
}

void Counter::harvest() {
  for (Stretch& stretch : stretches_)
    if (stretch.times != 0) replay(stretch);
  Counts counts;
  harvest_rows(counts);
  for (Way& way : ways_) {
    if (way.marked_from == 0 || way.times == 0) continue;
    if (way.from() == kBefore) {
      part_.first = way.address;
      way.times = 0;
      continue;
    }
    const Node& from = node(way.from());
    if (!leads_on(from.range)) continue;
    if (!is_counted(contexts_[from.context])) {
      way.times = 0;
      continue;
    }
    counts.edges.push_back({.context = contexts_[from.context],
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
