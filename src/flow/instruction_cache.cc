#include "waymark/flow/instruction_cache.h"

#include <algorithm>

#include "waymark/base/bits.h"

namespace waymark::flow {
namespace {

// The number of bytes requested from a memory callback at a time.
constexpr std::size_t kCallbackBytes = 256;

bool is_branch(isa::InstrType type) {
  return type == isa::InstrType::kBranch || type == isa::InstrType::kIndirectBranch;
}

int unit_of(isa::Isa isa) { return isa == isa::Isa::kA32 ? 2 : 1; }

}  // namespace

const StepLine InstructionCache::kNoLine;
// Its instruction set is none that a place can have, so find() never gives it.
const Step InstructionCache::kNoStep = {.description = 0xFF};

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
  steps_.clear();
  links_.assign(1, {});
  leave_line();
  ++counts_.flushes;
}

void InstructionCache::leave_line() {
  last_ = {};
  recent_.fill(&kNoStep);
}

void InstructionCache::set_enabled(bool enabled) {
  enabled_ = enabled;
  leave_line();
}

void InstructionCache::select(image::SpaceMask space, ExecutionContext context, TraceIndex index) {
  if (!memory_.select(space, context, index)) begin_views();
  if (view_ == memory_.number()) return;
  view_ = memory_.number();
  leave_line();
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
  const auto opcode = load_le<std::uint32_t>(bytes);
  isa::Instruction instruction;
  std::uint8_t it = 0;
  ++counts_.classified;
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

// At least one word if there is an instruction.
Bytes InstructionCache::read(std::uint32_t address, isa::Isa isa, std::span<std::uint8_t> buffer,
                             std::span<std::uint8_t, kOpcodeBytes> word) const {
  const Bytes bytes = memory_.read(address, buffer);
  if (bytes.size() >= kOpcodeBytes || options_.quirks.reads_four_bytes) return bytes;
  return memory_.complete(address, isa, bytes, word) ? Bytes(word) : bytes;
}

// Reads memory each time.
const Step* InstructionCache::look_outside(std::uint32_t address, isa::Isa isa) {
  std::array<std::uint8_t, kOpcodeBytes> word;
  const Bytes bytes = read(address, isa, std::span(fetch_buffer_).first(kOpcodeBytes), word);
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
  if (lines_.full() || steps_.full()) forget_steps();
  const std::uint32_t base = address & ~((StepLine::kSlots << unit) - 1);
  StepLine& line = lines_.at(base, isa, view_);
  last_ = {.address = base, .unit = unit, .isa = isa, .line = &line};
  const Step* const step = line.steps[(address - base) >> unit];
  return step != nullptr ? step : fill(line, address);
}

const Step* InstructionCache::find_far(const Step*& recent, std::uint32_t address, isa::Isa isa) {
  const Step* const step = at(address, isa);
  const bool kept = step != nullptr && step != scratch_.data();
  if (kept) recent = step;
  return step;
}

const Step* InstructionCache::find_after(const Step& step) {
  const std::uint32_t link = link_of(step);
  const bool branch = step.is_branch();
  const std::uint64_t flushes = counts_.flushes;
  const Step* const found =
      at(branch ? links_[link].address : step.address, branch ? links_[link].isa : step.isa());
  if (link != kNoLink && flushes == counts_.flushes) links_[link].step = found;
  return found;
}

// Decides the instruction at `address` and, because they are likely to be next, those after it: up
// to the end of the line, a branch that is always taken, or a known instruction.
const Step* InstructionCache::fill(StepLine& line, std::uint32_t address) {
  const int unit = unit_of(line.isa);
  const std::uint32_t line_end = StepLine::kSlots << unit;
  std::uint32_t offset = address - line.address;
  std::array<std::uint8_t, kOpcodeBytes> word;
  const Bytes bytes = read(address, line.isa, fetch_buffer_, word);
  if (bytes.size() < kOpcodeBytes) {
    outcome_ = BlockEnd::kNotAccessible;
    return nullptr;
  }
  Step* const first = steps_.space();
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
  steps_.keep(count + 1);
  return first;
}

}  // namespace waymark::flow
