#include "waymark/count/counter.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <tuple>

namespace waymark::count {
namespace {

__extension__ using Wide = unsigned __int128;

// Steps: nodes in the lower half, exits in the upper one.
constexpr std::size_t kMaxNodes = Counter::kExitBit / sizeof(Step);
constexpr std::size_t kMaxExits = kMaxNodes;
constexpr std::size_t kFirstNode = 3;  // Behind no place, kLost and kReturn.
constexpr std::size_t kMaxWays = std::size_t{1} << 20;
constexpr std::size_t kMaxContexts = std::size_t{1} << 16;
constexpr std::size_t kFirstTable = std::size_t{1} << 10;

std::size_t hash(std::uint64_t address, std::uint64_t other, std::uint32_t context) {
  std::uint64_t h = (address >> 1) ^ (other << 44) ^ (std::uint64_t{context} << 32);
  h *= 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(h >> 32);
}
std::size_t block_hash(std::uint64_t address, isa::Isa isa, std::uint8_t it,
                       std::uint32_t context) {
  return hash(address, static_cast<std::uint64_t>(isa) << 4 | it, context);
}
std::size_t range_hash(const Range& range, std::uint32_t context) {
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

bool same_range(const Node& node, const Element& element, std::uint32_t context) {
  const Range& range = node.range;
  return range.start == element.start && range.end == element.end && range.count == element.count &&
         range.isa == element.isa && range.last_type == element.last_type &&
         range.last_subtype == element.last_subtype && range.last_size == element.last_size &&
         range.conditional == ((element.flags & kElementConditional) != 0) &&
         node.context == context;
}

/// An edge leads from it to the range that comes next.
bool leads_on(const Range& range) {
  return range.last_type == isa::InstrType::kIndirectBranch &&
         range.last_subtype != isa::InstrSubtype::kV8ExceptionReturn;
}

constexpr std::size_t kStepBytes = (kMaxNodes + kMaxExits) * sizeof(Step);

// Zeros that take no memory before they are written; calloc() would write them.
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
      group_(std::make_unique_for_overwrite<Place[]>(kMaxGroup)) {
  numbers_.emplace(Context{}, 0);
  step(kLost).next = {kLost, kLost};
  drop_nodes();
}

// ---- Nodes ----------------------------------------------------------------------------------

void Counter::begin(const flow::Follower& follower) {
  const std::uint64_t flushes = follower.statistics().flushes;
  if (follower_ == &follower && flushes_ == flushes) return;
  // Blocks may look otherwise now.
  if (follower_ != nullptr) {
    harvest();
    drop_nodes();
  }
  follower_ = &follower;
  flushes_ = flushes;
}

inline bool Counter::is_selected(const Element& element) const {
  const Context& now = contexts_[context_];
  return element.context_id == now.context_id && element.vmid == now.vmid &&
         (element.flags & kContextFlags) == now.flags && element.trace_id == now.trace_id &&
         element.exception_level == now.exception_level && element.security == now.security;
}

void Counter::select(const Element& element) {
  if (is_selected(element)) return;
  const Context context = context_of(element);
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
  if (used_ % kSlab == 0) slabs_.push_back(std::make_unique<Node[]>(kSlab));
  Node& node = slabs_[used_ / kSlab][used_ % kSlab];
  node.place = static_cast<Place>(used_ * sizeof(Step));
  node.context = context_;
  ++used_;
  return node;
}

template <class Same>
Node** Counter::slot(std::vector<Node*>& table, std::size_t hash, Same same) {
  const std::size_t mask = table.size() - 1;
  std::size_t i = hash & mask;
  while (table[i] != nullptr && !same(*table[i])) i = (i + 1) & mask;
  return &table[i];
}

Place Counter::find(std::uint64_t address, isa::Isa isa, std::uint8_t it, flow::Follower& follower,
                    bool refuse_exception_returns) {
  const auto same = [&](const Node& node) {
    return node.range.start == address && node.range.isa == isa && node.it_in == it &&
           node.context == context_;
  };
  Node** at = slot(blocks_, block_hash(address, isa, it, context_), same);
  if (*at != nullptr) return (*at)->place;
  const flow::Block& block = follower.block(address, isa, it);
  if (block.ended != flow::BlockEnd::kWaypoint) return 0;
  if (refuse_exception_returns && block.subtype == isa::InstrSubtype::kV8ExceptionReturn) return 0;
  if (used_ == kMaxNodes || exits_.size() == kMaxExits) {
    harvest();
    drop_nodes();
    at = slot(blocks_, block_hash(address, isa, it, context_), same);
  }
  Node& node = make();
  node.it_in = block.it_in;
  node.it_out = block.it_out;
  node.next_isa = block.next_isa;
  node.link = block.link;
  node.range = {.start = block.start,
                .end = block.end,
                .count = block.count,
                .isa = block.isa,
                .last_type = block.type,
                .last_subtype = block.subtype,
                .last_size = block.last_size,
                .conditional = block.conditional};
  if (block.is_direct_branch()) node.target = block.target;
  if (block.is_indirect_branch()) {
    node.far = static_cast<Place>(exits_.size() * sizeof(Step)) | kExitBit;
    exits_.push_back(node.place);
  }
  *at = &node;
  if (++block_count_ * 2 > blocks_.size()) {
    const std::vector<Node*> old = std::move(blocks_);
    blocks_.assign(old.size() * 2, nullptr);
    for (Node* moved : old) {
      if (moved == nullptr) continue;
      *slot(blocks_, block_hash(moved->range.start, moved->range.isa, moved->it_in, moved->context),
            [](const Node&) { return false; }) = moved;
    }
  }
  return node.place;
}

Node* Counter::range_node(const Element& element) {
  const Range range = range_of(element);
  const auto same = [&](const Node& node) { return same_range(node, element, context_); };
  Node** at = slot(ranges_, range_hash(range, context_), same);
  Node* node = *at;
  if (node == nullptr) {
    if (used_ == kMaxNodes) {
      harvest();
      drop_nodes();
      at = slot(ranges_, range_hash(range, context_), same);
    }
    node = &make();
    node->range = range;
    *at = node;
    if (++range_count_ * 2 > ranges_.size()) {
      const std::vector<Node*> old = std::move(ranges_);
      ranges_.assign(old.size() * 2, nullptr);
      for (Node* moved : old) {
        if (moved == nullptr) continue;
        *slot(ranges_, range_hash(moved->range, moved->context),
              [](const Node&) { return false; }) = moved;
      }
    }
  }
  if (last_range_ != nullptr) last_range_->guess[last_taken_ ? 1 : 0] = node;
  return node;
}

Way* Counter::add_way(Place from, std::uint64_t key, Place to) {
  if (way_count_ == kMaxWays) {
    // Nodes stay, so only the ways are turned into edges.
    harvest();
    std::ranges::fill(ways_, Way{});
    way_count_ = 0;
  }
  const auto free_slot = [this](Place of, std::uint64_t of_key) {
    std::size_t i = way_hash(of, of_key) & way_mask_;
    while (ways_[i].from != 0) i = (i + 1) & way_mask_;
    return i;
  };
  if ((way_count_ + 1) * 2 > ways_.size()) {
    const std::vector<Way> old = std::move(ways_);
    ways_.assign(old.size() * 2, {});
    way_mask_ = ways_.size() - 1;
    for (const Way& moved : old)
      if (moved.from != 0) ways_[free_slot(moved.from, moved.key)] = moved;
  }
  Way& way = ways_[free_slot(from, key)];
  way = {.key = key, .from = from, .to = to, .times = 0};
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
  slabs_.clear();
  exits_.clear();
  used_ = 0;
  while (used_ < kFirstNode) make();
  blocks_.assign(kFirstTable, nullptr);
  ranges_.assign(kFirstTable, nullptr);
  ways_.assign(kFirstTable, {});
  way_mask_ = kFirstTable - 1;
  block_count_ = range_count_ = way_count_ = 0;
  targets_.fill({});
  stretches_.assign(std::size_t{1} << kStretchBits, {});
  open_branch_ = 0;
  open_direct_ = last_range_ = nullptr;
  group_lost_ = group_lost_ || group_size_ != 0;
  group_size_ = 0;
  ++generation_;
}

// ---- Elements -------------------------------------------------------------------------------

[[gnu::always_inline]] inline void Counter::observe_range(const Element& element) {
  if (!is_selected(element)) [[unlikely]]
    select(element);
  if (open_branch_ != 0 || open_direct_ != nullptr) [[unlikely]]
    close_branch(element.start, element.isa);
  Node* node = last_range_ != nullptr ? last_range_->guess[last_taken_ ? 1 : 0] : nullptr;
  if (node == nullptr || !same_range(*node, element, context_)) [[unlikely]]
    node = range_node(element);
  const bool executed = (element.flags & kElementExecuted) != 0;
  ++node->times[executed ? 1 : 0];
  last_range_ = node;
  last_taken_ = executed;
  if (executed) {
    if (leads_on(node->range)) open_branch_ = node->place;
    if (node->target == kNoAddress && node->range.last_type == isa::InstrType::kBranch)
      open_direct_ = node;
  }
  log(node->place);
  if ((element.flags & kElementHasCycleCount) != 0) count_cycles(element.cycle_count);
}

void Counter::observe(std::span<const Element> elements) {
  for (const Element& element : elements) {
    if (element.kind == ElementKind::kInstrRange) [[likely]] {
      observe_range(element);
    } else {
      observe_other(element);
    }
  }
}

void Counter::open_branch(Place branch) {
  open_branch_ = branch != 0 && leads_on(node(branch).range) ? node(branch).place : 0;
}

Way* Counter::close_branch(std::uint64_t address, isa::Isa isa) {
  if (open_direct_ != nullptr) {
    open_direct_->target = address;
    open_direct_ = nullptr;
  }
  if (open_branch_ == 0) return nullptr;
  const Place from = open_branch_;
  const std::uint64_t key = way_key(address, isa);
  open_branch_ = 0;
  Way* found = way(from, key);
  if (found == nullptr) found = add_way(from, key, 0);
  ++found->times;
  return found;
}

void Counter::observe_other(const Element& element) {
  ++kept_.others[static_cast<std::size_t>(element.kind)];
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
      kept_.other_cycles += waiting_cycles_;
      waiting_cycles_ = 0;
      group_size_ = 0;
      group_lost_ = false;
      [[fallthrough]];
    case ElementKind::kPeContext:
      if (has_cycles) kept_.other_cycles += element.cycle_count;
      break;
    case ElementKind::kInstrRangeNoPath:
      kept_.pathless_instructions += element.count;
      [[fallthrough]];
    default:
      if (has_cycles) count_cycles(element.cycle_count);
  }
  open_branch_ = 0;
  open_direct_ = nullptr;
}

// ---- Cycles ---------------------------------------------------------------------------------

void Counter::count_cycles(std::uint64_t cycles) {
  waiting_cycles_ += cycles;
  if (group_size_ != 0 || group_lost_) close_group();
}

void Counter::close_group() {
  if (group_lost_) {
    kept_.other_cycles += waiting_cycles_;
  } else {
    // Places where execution was not known were logged with the others.
    const auto end = std::remove_if(group_.get(), group_.get() + group_size_, [](Place place) {
      return (place & kExitBit) != 0 || place <= kReturn;
    });
    const std::span<const Place> group(group_.get(), end);
    if (group.empty()) {
      group_size_ = 0;
      return;
    }
    std::uint64_t instructions = 0;
    for (const Place place : group) instructions += node(place).range.count;
    std::uint64_t passed = 0;
    std::uint64_t given = 0;
    for (const Place place : group) {
      Node& shares = node(place);
      passed += shares.range.count;
      const std::uint64_t due =
          passed == instructions
              ? waiting_cycles_
              : static_cast<std::uint64_t>(Wide{waiting_cycles_} * passed / instructions);
      shares.cycles += due - given;
      given = due;
    }
  }
  waiting_cycles_ = 0;
  group_size_ = 0;
  group_lost_ = false;
}

// ---- Results --------------------------------------------------------------------------------

void Counter::harvest() {
  for (Stretch& stretch : stretches_)
    if (stretch.times != 0) replay(stretch);
  Counts counts;
  for (std::size_t i = kFirstNode; i < used_; ++i) {
    Node& node = slabs_[i / kSlab][i % kSlab];
    Step& step = steps_[i];
    node.times[0] += step.times[0];
    node.times[1] += step.times[1];
    step.times = {};
    if (node.times[0] == 0 && node.times[1] == 0 && node.cycles == 0) continue;
    const bool direct = node.range.last_type == isa::InstrType::kBranch;
    counts.rows.push_back({.context = contexts_[node.context],
                           .range = node.range,
                           .executed = node.times[1],
                           .not_executed = node.times[0],
                           .cycles = node.cycles,
                           .target = direct && node.times[1] != 0 ? node.target : kNoAddress});
    node.times = {};
    node.cycles = 0;
  }
  const auto row_key = [](const Row& row) { return std::tie(row.context, row.range); };
  std::ranges::sort(counts.rows, {}, row_key);
  // A range may be a block as well as something that elements told of.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < counts.rows.size(); ++i) {
    Row& row = counts.rows[i];
    if (kept != 0 && row_key(counts.rows[kept - 1]) == row_key(row)) {
      Row& same = counts.rows[kept - 1];
      same.executed += row.executed;
      same.not_executed += row.not_executed;
      same.cycles += row.cycles;
      if (same.target == kNoAddress) same.target = row.target;
    } else {
      counts.rows[kept++] = row;
    }
  }
  counts.rows.resize(kept);

  for (Way& way : ways_) {
    if (way.from == 0 || way.times == 0) continue;
    const Node& from = node(way.from);
    if (!leads_on(from.range)) continue;
    counts.edges.push_back({.context = contexts_[from.context],
                            .from = from.range.last_address(),
                            .to = way.key & ~std::uint64_t{1},
                            .from_isa = from.range.isa,
                            .subtype = from.range.last_subtype,
                            .times = way.times});
    way.times = 0;
  }
  const auto edge_key = [](const Edge& edge) {
    return std::tie(edge.context, edge.from, edge.to, edge.from_isa, edge.subtype);
  };
  std::ranges::sort(counts.edges, {}, edge_key);
  kept = 0;
  for (std::size_t i = 0; i < counts.edges.size(); ++i) {
    if (kept != 0 && edge_key(counts.edges[kept - 1]) == edge_key(counts.edges[i])) {
      counts.edges[kept - 1].times += counts.edges[i].times;
    } else {
      counts.edges[kept++] = counts.edges[i];
    }
  }
  counts.edges.resize(kept);
  kept_.add(counts);
  budget = kBudget;
}

Counts Counter::take() {
  harvest();
  Counts counts = std::move(kept_);
  kept_ = {};
  return counts;
}

}  // namespace waymark::count
