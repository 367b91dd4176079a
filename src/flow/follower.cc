#include "waymark/flow/follower.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "waymark/base/bits.h"

namespace waymark::flow {
namespace {

// With more blocks than this, everything is forgotten: this bounds the memory whatever the trace
// says.
constexpr std::size_t kMaxBlocks = std::size_t{1} << 19;
constexpr std::size_t kFirstTable = std::size_t{1} << 12;
// Long walks leave a checkpoint at each multiple of this, so that hostile traces cannot cause the
// same megabytes to be classified again from every address in them.
constexpr std::uint64_t kCheckpointBytes = 8192;
// A walk without a waypoint ends at the end of the region of this size after the one where it
// began: no program has such a block, but an image may show gigabytes of zeros.  All walks that
// begin in one region end at the same place, so that a result can hold for many of them.
constexpr std::uint64_t kWalkRegion = std::uint64_t{4} << 20;
constexpr std::size_t kWindows = 128;
// The number of slabs that are kept for use after flush().
constexpr std::size_t kKeptSlabs = 16;
constexpr std::size_t kMostKeptTable = kKeptSlabs * 1024 * 4;
// The most instructions of a block that is read through callbacks, which may be endless.
constexpr std::uint32_t kMaxCallbackBlock = std::uint32_t{1} << 24;

// A slot of the table: the number of a block from 1 on, and above it the upper bits of its hash, so
// that hardly any block is read for nothing.
constexpr unsigned kNumberBits = 20;
constexpr std::uint32_t kNumberMask = (std::uint32_t{1} << kNumberBits) - 1;
static_assert(kMaxBlocks <= kNumberMask);

// Blocks of the same 64 bytes have neighbouring slots, so that code that is passed through for the
// first time does not cost a cache miss for each block.
std::uint32_t hash(std::uint64_t address, isa::Isa isa, std::uint8_t it, std::uint32_t view) {
  std::uint64_t h = (address >> 6) ^ (std::uint64_t{view} << 40) ^
                    (static_cast<std::uint64_t>(isa) << 57) ^ (std::uint64_t{it} << 60);
  h *= 0x9E3779B97F4A7C15ULL;
  const auto near = static_cast<std::uint32_t>(address >> 1) & 31;
  return ((static_cast<std::uint32_t>(h >> 32) & ~std::uint32_t{31}) | near) ^ near << 27;
}

BlockEnd end_of(isa::Outcome outcome) {
  return outcome == isa::Outcome::kInvalidOpcode ? BlockEnd::kInvalidOpcode
                                                 : BlockEnd::kUnsupported;
}

// The values that a block copies from its last instruction.
void close(Block& block, const isa::Instruction& last) {
  block.target = last.target;
  block.next_isa = last.next_isa;
  block.type = last.type;
  block.subtype = last.subtype;
  block.last_size = last.size;
  block.conditional = last.conditional;
  block.link = last.link;
}

}  // namespace

Follower::Follower(const image::Image& image, const isa::Options& options, TraceId trace_id)
    : memory_(image, trace_id), options_(options) {
  flush();
}

Follower::Follower(const Follower& other)
    : memory_(other.memory_),
      options_(other.options_),
      cache_enabled_(other.cache_enabled_),
      calls_turn_(other.calls_turn_),
      walks_unlimited_(other.walks_unlimited_),
      range_limit_(other.range_limit_) {
  flush();
}

std::size_t Follower::KeyHash::operator()(const Key& key) const {
  return hash(key.address, key.isa, 0, key.view);
}

void Follower::flush() {
  memory_.forget();
  begin_views();
}

void Follower::begin_views() {
  callbacks_ = memory_.reads_callbacks();
  view_ = memory_.number();
  // Usually the same code comes again, so the memory that it used is kept.
  if (slabs_.size() > kKeptSlabs) slabs_.resize(kKeptSlabs);
  if (table_.empty() || table_.size() > kMostKeptTable) table_.assign(kFirstTable, 0);
  forget_blocks();
}

// Keeps the views, and all memory.
void Follower::forget_blocks() {
  used_ = 0;
  std::ranges::fill(table_, 0);
  windows_.resize(callbacks_ ? kWindows : 1);
  for (Window& window : windows_) window.size = 0;
  checkpoints_.clear();
  ++statistics_.flushes;
}

void Follower::set_range_limit(std::uint32_t instructions) {
  if (range_limit_ == instructions) return;
  range_limit_ = instructions;
  flush();
}

void Follower::set_walks_unlimited(bool on) {
  if (walks_unlimited_ == on) return;
  walks_unlimited_ = on;
  flush();
}

void Follower::select(image::SpaceMask space, ExecutionContext context, TraceIndex index) {
  if (!memory_.select(space, context, index)) begin_views();
  view_ = memory_.number();
}

// Whether a valid block is in the cache.
bool Follower::is_cached(const Block& block) const {
  return used_ == slabs_.size() * kSlab || &block != &kept(used_);
}

[[gnu::always_inline]] inline const Block* Follower::find(std::uint64_t address, isa::Isa isa,
                                                          std::uint8_t it_remaining) {
  if (!cache_enabled_) return nullptr;
  const std::size_t mask = table_.size() - 1;
  const std::uint32_t wanted = hash(address, isa, it_remaining, view_);
  for (std::size_t i = wanted & mask;; i = (i + 1) & mask) {
    const std::uint32_t slot = table_[i];
    if (slot == 0) {
      last_.hash = wanted & ~kNumberMask;
      last_.free_slot = i;
      return nullptr;
    }
    if (((slot ^ wanted) & ~kNumberMask) != 0) continue;
    const Block& block = kept((slot & kNumberMask) - 1);
    if (block.start == address && block.isa == isa && block.it_in == it_remaining &&
        block.view == view_) {
      last_.number = slot & kNumberMask;
      return &block;
    }
  }
}

void Follower::insert(std::size_t number) {
  const Block& block = kept(number);
  const std::size_t mask = table_.size() - 1;
  const std::uint32_t at = hash(block.start, block.isa, block.it_in, block.view);
  std::size_t i = at & mask;
  while (table_[i] != 0) i = (i + 1) & mask;
  table_[i] = (at & ~kNumberMask) | static_cast<std::uint32_t>(number + 1);
}

void Follower::grow() {
  table_.assign(table_.size() * 2, 0);
  for (std::size_t i = 0; i < used_; ++i) insert(i);
}

const Block& Follower::block(std::uint64_t address, isa::Isa isa, std::uint8_t it_remaining) {
  const Block* const found = find(address, isa, it_remaining);
  return found != nullptr ? *found : make(address, isa, it_remaining);
}

const Block& Follower::make(std::uint64_t address, isa::Isa isa, std::uint8_t it_remaining) {
  if (used_ == slabs_.size() * kSlab) slabs_.push_back(std::make_unique<Block[]>(kSlab));
  // The cache does not contain it until it is counted.
  Block& block = kept(used_);
  block = Block{.start = address,
                .end = address,
                .view = view_,
                .isa = isa,
                .it_in = it_remaining,
                .it_out = it_remaining};
  walk(block);
  // Memory that a callback cannot read now may be readable later, when its owner knows more.
  if (!cache_enabled_ || (callbacks_ && block.ended == BlockEnd::kNotAccessible)) return block;
  if (used_ == kMaxBlocks) [[unlikely]]
    return begin_again(block);
  last_.number = static_cast<std::uint32_t>(++used_);
  table_[last_.free_slot] = last_.hash | last_.number;
  if (used_ * 2 > table_.size()) grow();
  return block;
}

// The cache is full.  The block belongs to the current view.
const Block& Follower::begin_again(const Block& first) {
  const Block kept_first = first;
  forget_blocks();
  Block& block = kept(used_++);
  block = kept_first;
  insert(used_ - 1);
  return block;
}

const Block& Follower::link(const Block& from, bool taken, std::uint64_t address, isa::Isa isa,
                            std::uint8_t it_remaining) {
  const std::uint64_t flushes = statistics_.flushes;
  // A block outside the cache is overwritten by the look-up and must not be linked.
  const bool linkable = is_cached(from) && from.view == view_;
  auto* origin = const_cast<Block*>(&from);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  const Block* next = find(address, isa, it_remaining);
  if (next == nullptr) {
    next = &make(address, isa, it_remaining);
    if (flushes != statistics_.flushes || !is_cached(*next)) return *next;
  }
  if (!linkable) return *next;
  if (taken && (from.is_indirect_branch() || (from.link && calls_turn_))) {
    origin->far = last_.number;
    origin->target = address;
  } else {
    origin->next[taken ? 1 : 0] = next;
  }
  return *next;
}

// Where a walk from `address` on ends at the latest.
std::uint64_t Follower::last_end(std::uint64_t address) const {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const std::uint64_t region = address / kWalkRegion;
  if (callbacks_ || walks_unlimited_ || region >= kNone / kWalkRegion - 1) return kNone;
  return (region + 2) * kWalkRegion;
}

// The same whether all instructions were read or another walk has been there: the count is an
// estimate.
void Follower::end_at_limit(Block& block, std::uint64_t end) {
  block.ended = BlockEnd::kRangeLimit;
  block.end = end;
  block.it_out = 0;
  block.count = static_cast<std::uint32_t>((end - block.start) / 4);
}

bool Follower::splice(Block& block, std::uint64_t address, const isa::Instruction& last) const {
  const auto at = checkpoints_.find({address, block.view, block.isa});
  if (at == checkpoints_.end()) return false;
  const Block& rest = at->second;
  const std::uint64_t end = last_end(block.start);
  const unsigned waypoint_size = rest.ended == BlockEnd::kWaypoint ? rest.last_size : 0;
  if (rest.end - waypoint_size >= end) {
    end_at_limit(block, end);
    return true;
  }
  // That walk began in the region before, so it ended too early for this one.
  if (rest.ended == BlockEnd::kRangeLimit) return false;
  const Block head = block;
  block = rest;
  block.start = head.start;
  block.it_in = head.it_in;
  block.count = head.count + rest.count;
  if (rest.count == 0) close(block, last);
  return true;
}

// At least four bytes, if there are that many.  A callback is asked for bytes from the address
// on, never for a page: a page may reach into memory that its owner cannot read.
Bytes Follower::read(std::uint64_t address) {
  // Only chooses a window, so the low bits are enough.
  const auto line = static_cast<std::size_t>(address / kWindowBytes);
  const std::size_t mask = windows_.size() - 1;
  if (cache_enabled_ && callbacks_) {
    for (const std::size_t at : {line, line - 1}) {
      const Window& window = windows_[at & mask];
      const std::uint64_t offset = address - window.start;
      if (offset < window.size && window.size - offset >= 4 && window.view == view_)
        return Bytes(window.bytes).first(window.size).subspan(static_cast<std::size_t>(offset));
    }
  }
  Window& window = windows_[line & mask];
  window.size = 0;
  const Bytes bytes = memory_.read(address, window.bytes);
  if (bytes.data() == window.bytes.data()) {
    window.start = address;
    window.view = view_;
    window.size = static_cast<std::uint32_t>(bytes.size());
  }
  return bytes;
}

// Where a read ended before the word of the instruction did.
bool Follower::read_word(std::uint64_t address, isa::Isa isa, Bytes first,
                         std::span<std::uint8_t, 4> word) const {
  return !options_.quirks.reads_four_bytes && memory_.complete(address, isa, first, word);
}

void Follower::walk(Block& block) {
  ++statistics_.walks;
  std::vector<Checkpoint> passed;  // Empty except for long walks: then nothing is allocated.
  // Not copied: a copy would wait for the fields, which were just written one by one.
  std::array<isa::Instruction, 2> instructions;
  isa::Instruction* last = instructions.data();
  isa::Instruction* spare = last + 1;
  std::uint64_t address = block.start;
  std::uint64_t boundary = (address | (kCheckpointBytes - 1)) + 1;
  std::uint8_t it = block.it_in;
  const std::uint32_t most = callbacks_ ? kMaxCallbackBlock : ~std::uint32_t{0};
  const std::uint64_t end = last_end(address);
  bool open = true;
  bool spliced = false;
  bool limited = false;
  while (open) {
    Bytes bytes = read(address);
    std::array<std::uint8_t, 4> word;
    if (bytes.size() < word.size() && read_word(address, block.isa, bytes, word)) bytes = word;
    if (bytes.size() < word.size()) {
      block.ended = BlockEnd::kNotAccessible;
      break;
    }
    for (std::size_t offset = 0; open && bytes.size() - offset >= 4;) {
      // An instruction may cross the boundary.
      if (address >= boundary) [[unlikely]] {
        boundary += kCheckpointBytes;
        if (it == 0 && !callbacks_) {
          spliced = splice(block, address, *last);
          if (spliced) {
            open = false;
            break;
          }
          passed.push_back({address, block.count});
        }
      }
      const auto opcode = load_le<std::uint32_t>(bytes.data() + offset);
      if (block.isa == isa::Isa::kA64 && isa::is_plain_a64(opcode) &&
          !(options_.a64_opcode_check && (opcode >> 16) == 0)) {
        *last = {.next_isa = isa::Isa::kA64};
      } else {
        const isa::Outcome outcome =
            isa::classify(options_, block.isa, address, opcode, it, *spare);
        if (outcome != isa::Outcome::kOk) {
          block.ended = end_of(outcome);
          open = false;
          break;
        }
        std::swap(last, spare);
      }
      address += last->size;
      offset += last->size;
      ++block.count;
      ++statistics_.instructions;
      if (last->type != isa::InstrType::kOther) {
        block.ended = BlockEnd::kWaypoint;
        open = false;
      } else if (block.count == most) {
        block.ended = BlockEnd::kRangeLimit;
        open = false;
      } else if (address >= end) {
        end_at_limit(block, end);
        open = false;
        limited = true;
      }
    }
  }
  if (!spliced && !limited) {
    block.end = address;
    block.it_out = it;
    if (block.count != 0) close(block, *last);
  }
  for (const Checkpoint& checkpoint : passed) {
    Block rest = block;
    rest.start = checkpoint.address;
    rest.it_in = 0;
    rest.count = block.count - checkpoint.count;
    checkpoints_.insert_or_assign({checkpoint.address, block.view, block.isa}, rest);
  }
  if (range_limit_ != 0 && block.count > range_limit_) block.ended = BlockEnd::kRangeLimit;
}

Follower::Fetched Follower::fetch(std::uint64_t address, isa::Isa isa, std::uint8_t& it_remaining) {
  std::array<std::uint8_t, 4> word{};
  Bytes bytes = memory_.read(address, word);
  if (bytes.size() < word.size()) {
    if (!read_word(address, isa, bytes, word)) return {{}, BlockEnd::kNotAccessible};
    bytes = word;
  }
  Fetched fetched{{}, BlockEnd::kWaypoint};
  const isa::Outcome outcome =
      isa::classify(options_, isa, address, load_le<std::uint32_t>(bytes.data()), it_remaining,
                    fetched.instruction);
  if (outcome != isa::Outcome::kOk) fetched.outcome = end_of(outcome);
  return fetched;
}

}  // namespace waymark::flow
