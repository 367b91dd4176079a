#include "waymark/flow/instruction_cache.h"

#include <algorithm>

#include "waymark/base/bits.h"

namespace waymark::flow {
namespace {

// The numbers of lines and of steps that are allocated at a time; pointers to them stay valid until
// everything is forgotten.
constexpr std::size_t kLineSlab = 32;
constexpr std::size_t kStepSlab = 1024;
// With more than these, everything is forgotten: this bounds the memory whatever the trace says.
constexpr std::size_t kMaxLines = std::size_t{1} << 15;
constexpr std::size_t kMaxStepSlabs = std::size_t{1} << 10;
constexpr std::size_t kFirstTable = 256;
constexpr std::size_t kOpcodeBytes = 4;  // Read even if the instruction has two.
// The number of bytes requested from a memory callback at a time.
constexpr std::size_t kCallbackBytes = 256;

std::size_t hash(std::uint32_t address, isa::Isa isa, std::uint32_t view) {
  std::uint64_t h =
      (address >> 7) ^ (std::uint64_t{view} << 40) ^ (static_cast<std::uint64_t>(isa) << 57);
  h *= 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(h >> 32);
}

bool is_branch(isa::InstrType type) {
  return type == isa::InstrType::kBranch || type == isa::InstrType::kIndirectBranch;
}

int unit_of(isa::Isa isa) { return isa == isa::Isa::kA32 ? 2 : 1; }

}  // namespace

const InstructionCache::Line InstructionCache::kNoLine;
const Step InstructionCache::kNoStep = {.description =
                                            static_cast<std::uint32_t>(isa::Isa::kUnknown)};

InstructionCache::InstructionCache(const image::Image& image, const isa::Options& options,
                                   TraceId trace_id)
    : memory_(image, trace_id), options_(options), fetch_buffer_(kCallbackBytes) {
  flush();
}

InstructionCache::InstructionCache(const InstructionCache& other)
    : memory_(other.memory_),
      options_(other.options_),
      enabled_(other.enabled_),
      fetch_buffer_(kCallbackBytes) {
  flush();
}

void InstructionCache::flush() {
  memory_.forget();
  begin_views();
}

void InstructionCache::begin_views() {
  callbacks_ = memory_.reads_callbacks();
  view_ = memory_.number();
  forget_steps();
}

// Views keep their numbers.
void InstructionCache::forget_steps() {
  lines_.clear();
  used_ = 0;
  slabs_.clear();
  slab_used_ = kStepSlab;
  links_.assign(1, {});
  table_.assign(kFirstTable, nullptr);
  leave_line();
  ++flushes_;
}

void InstructionCache::leave_line() {
  line_isa_ = isa::Isa::kUnknown;
  line_ = &kNoLine;
  recent_.fill(&kNoStep);
}

void InstructionCache::set_enabled(bool enabled) {
  enabled_ = enabled;
  leave_line();
}

void InstructionCache::select(image::SpaceMask space, std::uint64_t context, TraceIndex index) {
  if (!memory_.select(space, context, index)) begin_views();
  if (view_ == memory_.number()) return;
  view_ = memory_.number();
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
  if (used_ % kLineSlab == 0) lines_.push_back(std::make_unique<Line[]>(kLineSlab));
  Line& line = lines_.back()[used_ % kLineSlab];
  line.address = address;
  line.isa = isa;
  line.view = view_;
  ++used_;
  if (used_ * 2 > table_.size()) {
    table_.assign(table_.size() * 2, nullptr);
    for (std::size_t i = 0; i < used_; ++i) insert(&lines_[i / kLineSlab][i % kLineSlab]);
  } else {
    insert(&line);
  }
  return line;
}

// An end at `address`.
Step InstructionCache::end_step(std::uint32_t address, isa::Isa isa) {
  return {.address = address,
          .end = address,
          .bits = Step::kAlways | Step::kStopsExecuted | Step::kStopsNotExecuted,
          .description = static_cast<std::uint32_t>(isa)};
}

// `link` is written only for branches.
bool InstructionCache::classify(std::uint32_t address, isa::Isa isa, const std::uint8_t* bytes,
                                Step& step, Link& link) {
  const std::uint32_t opcode = load_le<std::uint32_t>(bytes);
  isa::Instruction instruction;
  std::uint8_t it = 0;
  ++classified_;
  if (isa::classify(options_, isa, address, opcode, it, instruction) != isa::Outcome::kOk)
    return false;
  step.address = address;
  step.end = address + instruction.size;
  step.bits = Step::kAlways | (instruction.conditional ? Step::kConditional : 0) |
              static_cast<std::uint32_t>(isa::data_access(isa, opcode)) << Step::kAccessShift;
  step.description =
      static_cast<std::uint32_t>(isa) | static_cast<std::uint32_t>(instruction.type) << 8 |
      static_cast<std::uint32_t>(instruction.subtype) << 16 | std::uint32_t{instruction.size} << 24;
  if (is_branch(instruction.type)) {
    step.bits |= Step::kStopsExecuted;
    link = {nullptr, static_cast<std::uint32_t>(instruction.target), instruction.next_isa};
  }
  return true;
}

// Reads memory each time.
const Step* InstructionCache::look_outside(std::uint32_t address, isa::Isa isa) {
  const Bytes bytes = memory_.read(address, std::span(fetch_buffer_).first(kOpcodeBytes));
  outcome_ = bytes.size() < kOpcodeBytes ? BlockEnd::kNotAccessible : BlockEnd::kUnsupported;
  if (bytes.size() < kOpcodeBytes ||
      !classify(address, isa, bytes.data(), scratch_[0], links_[kNoLink]))
    return nullptr;
  scratch_[1] = end_step(scratch_[0].end, isa);
  return scratch_.data();
}

const Step* InstructionCache::look_up(std::uint32_t address, isa::Isa isa) {
  const bool known = isa == isa::Isa::kA32 || isa == isa::Isa::kT32;
  const int unit = unit_of(isa);
  const bool aligned = (address & ((1U << unit) - 1)) == 0;
  if (!enabled_ || !aligned || !known) return look_outside(address, isa);
  if (used_ == kMaxLines || slabs_.size() == kMaxStepSlabs) forget_steps();
  const std::uint32_t base = address & ~((kSlots << unit) - 1);
  Line* const line = &line_at(base, isa);
  line_address_ = base;
  unit_ = unit;
  line_isa_ = isa;
  line_ = line;
  const Step* const step = line->steps[(address - base) >> unit];
  return step != nullptr ? step : fill(*line, address);
}

const Step* InstructionCache::find_far(const Step*& recent, std::uint32_t address, isa::Isa isa) {
  const Step* const step = at(address, isa);
  const bool kept = step != nullptr && step != scratch_.data();
  if (kept) recent = step;
  return step;
}

const Step* InstructionCache::find_behind(const Step& step) {
  const std::uint32_t link = link_of(step);
  const bool branch = step.is_branch();
  const std::uint64_t flushes = flushes_;
  const Step* const found =
      at(branch ? links_[link].address : step.address, branch ? links_[link].isa : step.isa());
  if (link != kNoLink && flushes == flushes_) links_[link].step = found;
  return found;
}

// Decides the instruction at `address` and, because they are likely to be next, those after it: up
// to the end of the line, a branch that is always taken, or a known instruction.
const Step* InstructionCache::fill(Line& line, std::uint32_t address) {
  const int unit = unit_of(line.isa);
  const std::uint32_t line_end = kSlots << unit;
  std::uint32_t offset = address - line.address;
  const Bytes bytes = memory_.read(address, fetch_buffer_);
  if (bytes.size() < kOpcodeBytes) {
    outcome_ = BlockEnd::kNotAccessible;
    return nullptr;
  }
  if (kStepSlab - slab_used_ < kSlots + 1) {
    // One more, so that the step after the last can be read.
    slabs_.push_back(std::make_unique<Step[]>(kStepSlab + 1));
    slab_used_ = 0;
  }
  Step* const first = &slabs_.back()[slab_used_];
  std::size_t count = 0;
  std::size_t at = 0;
  const Step* known = nullptr;
  while (offset < line_end && bytes.size() - at >= kOpcodeBytes) {
    known = line.steps[offset >> unit];
    if (known != nullptr) break;
    Step& step = first[count];
    Link link;
    if (!classify(line.address + offset, line.isa, bytes.data() + at, step, link)) break;
    const bool branch = step.is_branch();
    if (branch) {
      step.bits |= link_bits(links_.size());
      links_.push_back(link);
    }
    line.steps[offset >> unit] = &step;
    ++count;
    offset += step.size();
    at += step.size();
    if (branch && !step.conditional()) break;
  }
  if (count == 0) {
    outcome_ = BlockEnd::kUnsupported;
    return nullptr;
  }
  Step& end = first[count];
  end = end_step(first[count - 1].end, line.isa);
  end.bits |= link_bits(links_.size());
  links_.push_back({known, end.address, line.isa});
  slab_used_ += count + 1;
  return first;
}

}  // namespace waymark::flow
