#include "mtb_unit.h"

#include "waymark/mtb/encoder.h"
#include "waymark/mtb/source.h"

namespace waymark::synth {
namespace {

UnitOptions without_id(UnitOptions options) {
  options.trace_id = mtb::Config::trace_id();
  return options;
}

/// Facts that no record states are as decoders show them.
ExecutionOptions without_context(ExecutionOptions options) {
  options.secure = false;
  return options;
}

isa::Options waypoints(isa::Core core) { return {.arch = core.arch, .track_it_block = true}; }

}  // namespace

MtbUnit::MtbUnit(const UnitOptions& options, const std::string& core_name, isa::Core core,
                 const Program& program, const ExecutionOptions& execution, bool keep_truth)
    : CoreUnit(without_id(options), core_name, program, waypoints(core), without_context(execution),
               keep_truth),
      program_(&program),
      schedule_({options.filter_mean}, random_) {
  config_.core = core;
  if (program.vector_table()) config_.vtor = static_cast<std::uint32_t>(*program.vector_table());
}

std::vector<UnitRegister> MtbUnit::registers() const {
  std::vector<UnitRegister> registers;
  if (config_.vtor.given()) registers.push_back({"VTOR", config_.vtor});
  if (config_.pc) registers.push_back({"PC", *config_.pc});
  return registers;
}

std::unique_ptr<Source> MtbUnit::make_source(const image::Image& image) const {
  auto source = mtb::make_source(config_, &image, {});
  return source ? std::move(*source) : nullptr;
}

void MtbUnit::run(std::vector<std::uint8_t>& out, std::size_t bytes) {
  out_ = &out;
  const std::size_t end = out.size() + bytes;
  Step step;
  while (out.size() < end && !execution_.ended()) {
    execution_.next(step);
    follow(step);
    // The exception that is due has been taken.
    if (schedule_.tick() && schedule_.take(kFilter, random_)) begin_again();
  }
}

// The core is halted after its last instruction.
void MtbUnit::finish(std::vector<std::uint8_t>& out) {
  out_ = &out;
  if (!started_) return hide_waiting();
  config_.pc = static_cast<std::uint32_t>(execution_.place().address);
  record_waiting();
}

// -- Records --------------------------------------------------------------------------------------

void MtbUnit::put(mtb::PacketType type, std::uint64_t source, std::uint64_t destination) {
  mtb::Packet packet;
  packet.type = type;
  packet.source = static_cast<std::uint32_t>(source);
  packet.destination = static_cast<std::uint32_t>(destination);
  packet.start = !started_;
  started_ = true;
  note(mtb::encode(packet, *out_));
}

void MtbUnit::record_waiting() {
  for (const TruthEvent& range : waiting_) truth_.add(range);
  waiting_.clear();
}

void MtbUnit::hide_waiting() {
  for (TruthEvent& range : waiting_) range.kind = EventKind::kHidden;
  record_waiting();
}

/// Tracing is stopped, and later started: the ranges after the last record are not shown.
void MtbUnit::begin_again() {
  hide_waiting();
  started_ = false;
  // A reader knows which places exceptions have interrupted only from their records.
  execution_.hold_exceptions();
  run_hidden(random_.between(1, 40));
  execution_.resume_exceptions();
}

// -- Steps of the core ----------------------------------------------------------------------------

void MtbUnit::follow(Step& step) {
  if (step.kind == StepKind::kPart) {
    wait(step);
    execution_.next(step);
  }
  if (step.kind == StepKind::kException) {
    on_exception(step);
  } else {
    on_block(step);
  }
}

void MtbUnit::wait(const Step& step) {
  TruthEvent range{.kind = EventKind::kRange};
  range.start = step.start;
  range.end = step.end;
  range.count = step.count;
  range.taken = step.taken;
  range.isa = step.block->isa;
  waiting_.push_back(range);
}

void MtbUnit::on_block(const Step& step) {
  const CodeBlock& block = *step.block;
  wait(step);
  if (!step.taken || !(block.is_direct() || block.is_indirect())) return;
  const std::uint64_t source = block.last_instruction();
  if (!started_) {
    // Only the branch itself is certain.
    TruthEvent& range = waiting_.back();
    if (range.count > 1) {
      TruthEvent branch = range;
      branch.start = source;
      branch.count = 1;
      range.end = source;
      --range.count;
      waiting_.push_back(branch);
    }
    for (std::size_t i = 0; i + 1 < waiting_.size(); ++i) waiting_[i].kind = EventKind::kHidden;
    record(EventKind::kTraceOn, static_cast<std::uint64_t>(TraceOnReason::kNormal));
  }
  record_waiting();
  if (!step.exception_return) return put(mtb::PacketType::kBranch, source, step.next.address);
  constexpr std::uint32_t kValues[] = {0xFFFF'FFF1, 0xFFFF'FFF9, 0xFFFF'FFFD};
  const std::uint32_t value = kValues[random_.below(3)];
  put(mtb::PacketType::kBranch, source, value & ~1U);
  put(mtb::PacketType::kExceptionReturn, value, step.next.address);
  record(EventKind::kExceptionReturn, 0);
}

void MtbUnit::on_exception(const Step& step) {
  if (!started_) {
    hide_waiting();
    record(EventKind::kTraceOn, static_cast<std::uint64_t>(TraceOnReason::kNormal));
  }
  record_waiting();
  record_exception(number_of(step.next.address), step.start);
  put(mtb::PacketType::kException, step.start, step.next.address);
}

/// The number of the only vector with this handler; 0: unknown.
std::uint32_t MtbUnit::number_of(std::uint64_t handler) const {
  if (!program_->vector_table()) return 0;
  const std::vector<Place>& handlers = program_->handlers();
  for (std::size_t i = 0; i < handlers.size(); ++i)
    if (handlers[i].address == handler) return program_->vector_of_handler(i);
  return 0;
}

}  // namespace waymark::synth
