#include "waymark/flow/instruction_cache.h"

#include <algorithm>
#include <cstring>

namespace waymark::flow {
namespace {

// A slab holds this many lines; pointers to them stay valid until flush().
constexpr std::size_t kSlab = 32;
// Beyond this many lines everything is forgotten: a bound on memory whatever the trace says.
constexpr std::size_t kMaxLines = std::size_t{1} << 15;
constexpr std::size_t kFirstTable = 256;
constexpr std::size_t kOpcodeBytes = 4;  // Asked for also where an instruction has two.
// Bytes asked of a memory callback at once.
constexpr std::size_t kCallbackBytes = 256;

std::size_t hash(std::uint32_t address, isa::Isa isa, std::uint32_t view) {
  std::uint64_t h =
      (address >> 7) ^ (std::uint64_t{view} << 40) ^ (static_cast<std::uint64_t>(isa) << 57);
  h *= 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(h >> 32);
}

std::uint32_t word_at(const std::uint8_t* bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
  return word;
}

int unit_of(isa::Isa isa) { return isa == isa::Isa::kA32 ? 2 : 1; }

}  // namespace

const InstructionCache::Line InstructionCache::kNoLine;

InstructionCache::InstructionCache(const image::Image& image, const isa::Options& options,
                                   TraceId trace_id)
    : image_(&image), options_(options), trace_id_(trace_id), fetch_buffer_(kCallbackBytes) {
  flush();
}

InstructionCache::InstructionCache(const InstructionCache& other)
    : image_(other.image_),
      options_(other.options_),
      trace_id_(other.trace_id_),
      enabled_(other.enabled_),
      space_(other.space_),
      fetch_buffer_(kCallbackBytes) {
  flush();
}

void InstructionCache::flush() {
  callbacks_ = image_->has_callbacks();
  image_version_ = image_->version();
  views_.clear();
  next_view_ = 0;
  view_ = next_view_++;
  slabs_.clear();
  used_ = 0;
  table_.assign(kFirstTable, nullptr);
  leave_line();
}

void InstructionCache::leave_line() {
  line_isa_ = isa::Isa::kUnknown;
  line_ = &kNoLine;
}

void InstructionCache::set_enabled(bool enabled) {
  enabled_ = enabled;
  leave_line();
}

void InstructionCache::select(image::SpaceMask space, std::uint64_t context) {
  if (image_version_ != image_->version()) flush();
  space_ = space;
  if (!image_->has_spaces() && !callbacks_) return;
  const std::uint64_t key = (callbacks_ ? context * 0x9E3779B97F4A7C15ULL : 0) ^ space;
  const auto [at, inserted] = views_.try_emplace(key, next_view_);
  if (inserted) ++next_view_;
  view_ = at->second;
  leave_line();
}

void InstructionCache::insert(Line* line) {
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash(line->address, line->isa, line->view) & mask;
  while (table_[i] != nullptr) i = (i + 1) & mask;
  table_[i] = line;
}

InstructionCache::Line& InstructionCache::line_at(std::uint32_t address, isa::Isa isa) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash(address, isa, view_) & mask; table_[i] != nullptr; i = (i + 1) & mask) {
    Line& line = *table_[i];
    if (line.address == address && line.isa == isa && line.view == view_) return line;
  }
  if (used_ == kMaxLines) {
    const std::uint32_t view = view_;
    const std::uint32_t next_view = next_view_;
    auto views = std::move(views_);
    flush();
    view_ = view;
    next_view_ = next_view;
    views_ = std::move(views);
  }
  if (used_ % kSlab == 0) slabs_.push_back(std::make_unique<Line[]>(kSlab));
  Line& line = slabs_.back()[used_ % kSlab];
  line.address = address;
  line.isa = isa;
  line.view = view_;
  ++used_;
  if (used_ * 2 > table_.size()) {
    table_.assign(table_.size() * 2, nullptr);
    for (std::size_t i = 0; i < used_; ++i) insert(&slabs_[i / kSlab][i % kSlab]);
  } else {
    insert(&line);
  }
  return line;
}

bool InstructionCache::classify(std::uint32_t address, isa::Isa isa, const std::uint8_t* bytes,
                                Step& step) {
  const std::uint32_t opcode = word_at(bytes);
  isa::Instruction instruction;
  std::uint8_t it = 0;
  ++classified_;
  if (isa::classify(options_, isa, address, opcode, it, instruction) != isa::Outcome::kOk)
    return false;
  step.target = static_cast<std::uint32_t>(instruction.target);
  step.size = instruction.size;
  step.type = instruction.type;
  step.subtype = instruction.subtype;
  step.conditional = instruction.conditional;
  step.access = isa::data_access(isa, opcode);
  step.next_isa = instruction.next_isa;
  return true;
}

const Step* InstructionCache::look_up(std::uint32_t address, isa::Isa isa) {
  const bool known = isa == isa::Isa::kA32 || isa == isa::Isa::kT32;
  const int unit = unit_of(isa);
  const bool aligned = (address & ((1U << unit) - 1)) == 0;
  if (!enabled_ || !aligned || !known) {
    const Bytes bytes =
        image_->read(address, space_, trace_id_, std::span(fetch_buffer_).first(kOpcodeBytes));
    outcome_ = bytes.size() < kOpcodeBytes ? BlockEnd::kNotAccessible : BlockEnd::kUnsupported;
    if (bytes.size() < kOpcodeBytes || !classify(address, isa, bytes.data(), scratch_))
      return nullptr;
    return &scratch_;
  }
  const std::uint32_t base = address & ~((kSlots << unit) - 1);
  Line* const line = &line_at(base, isa);
  line_address_ = base;
  unit_ = unit;
  line_isa_ = isa;
  line_ = line;
  const Step& step = line->steps[(address - base) >> unit];
  return step.size != 0 ? &step : fill(*line, address);
}

// Decides the instruction at `address` and, since they are likely next, those behind it up to a
// branch.
const Step* InstructionCache::fill(Line& line, std::uint32_t address) {
  const int unit = unit_of(line.isa);
  const std::uint32_t end = kSlots << unit;
  std::uint32_t offset = address - line.address;
  const Bytes bytes = image_->read(address, space_, trace_id_, fetch_buffer_);
  if (bytes.size() < kOpcodeBytes) {
    outcome_ = BlockEnd::kNotAccessible;
    return nullptr;
  }
  Step* const first = &line.steps[offset >> unit];
  std::size_t at = 0;
  while (offset < end && bytes.size() - at >= kOpcodeBytes) {
    Step& step = line.steps[offset >> unit];
    if (step.size != 0) break;
    if (!classify(line.address + offset, line.isa, bytes.data() + at, step)) break;
    if (step.type != isa::InstrType::kOther) break;
    offset += step.size;
    at += step.size;
  }
  outcome_ = BlockEnd::kUnsupported;
  return first->size != 0 ? first : nullptr;
}

}  // namespace waymark::flow
