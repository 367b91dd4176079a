#include "ptm_unit.h"

#include <bit>

#include "waymark/ptm/encoder.h"
#include "waymark/ptm/source.h"

namespace waymark::synth {
namespace {

using isa::Isa;
using ptm::Packet;
using ptm::PacketType;

std::uint16_t exception_number(ExceptionCause cause) {
  switch (cause) {
    case ExceptionCause::kIrq:
      return 14;
    case ExceptionCause::kFiq:
      return 15;
    case ExceptionCause::kCall:
      return 10;
    case ExceptionCause::kUndefined:
      return 9;
    case ExceptionCause::kDataFault:
      return 12;
    case ExceptionCause::kFetchFault:
      return 11;
  }
  return 14;
}

}  // namespace

ptm::Config PtmUnit::make_config(const UnitOptions& options, isa::Core core) {
  ptm::Config config;
  config.core = core;
  config.etmtraceidr = options.trace_id;
  config.etmcr = (options.branch_broadcast ? 1U << 8 : 0U) |
                 (options.cycle_counts ? 1U << 12 : 0U) | (options.context_ids ? 3U << 14 : 0U) |
                 (options.timestamp_mean != 0 ? 1U << 28 : 0U) |
                 (options.return_stack ? 1U << 29 : 0U) | (options.vmids ? 1U << 30 : 0U);
  // Timestamps of 64 bits in natural binary, a return stack, barriers as waypoints.
  config.etmccer = 1U << 22 | 1U << 23 | 1U << 24 | 1U << 28 | 1U << 29;
  return config;
}

PtmUnit::PtmUnit(const UnitOptions& options, const std::string& core_name, isa::Core core,
                 const Program& program, const ExecutionOptions& execution, bool keep_truth)
    : CoreUnit(
          options, core_name, program,
          {.arch = core.arch, .dsb_dmb_waypoints = make_config(options, core).barrier_waypoints()},
          execution, keep_truth),
      config_(make_config(options, core)),
      schedule_(
          {options.timestamp_mean, options.event_mean, options.overflow_mean, options.filter_mean},
          random_) {}

std::vector<UnitRegister> PtmUnit::registers() const {
  return {{"ETMCR", config_.etmcr},
          {"ETMIDR", config_.etmidr},
          {"ETMCCER", config_.etmccer},
          {"ETMTRACEIDR", config_.etmtraceidr}};
}

std::unique_ptr<Source> PtmUnit::make_source(const image::Image& image) const {
  auto source = ptm::make_source(config_, &image, {});
  return source ? std::move(*source) : nullptr;
}

// -- Packets --------------------------------------------------------------------------------------

void PtmUnit::put(const Packet& packet) {
  if (atom_count_ != 0) flush_atoms();
  note(ptm::encode(packet, config_, *out_));
}

std::uint32_t PtmUnit::take_cycles() {
  const auto count = static_cast<std::uint32_t>(cycles_ - counted_to_);
  counted_to_ = cycles_;
  return count;
}

void PtmUnit::say_cycles(std::uint32_t count) {
  if (options_.cycle_counts) say(EventKind::kCycleCount, count);
}

// With cycle counts an atom is a packet of its own.
void PtmUnit::atom(bool taken) {
  atoms_ |= (taken ? 1U : 0U) << atom_count_;
  if (++atom_count_ == kMaxAtoms || options_.cycle_counts) flush_atoms();
}

void PtmUnit::flush_atoms() {
  Packet packet;
  packet.type = PacketType::kAtom;
  packet.atoms = atoms_;
  packet.atom_count = static_cast<std::uint8_t>(atom_count_);
  atoms_ = 0;
  atom_count_ = 0;
  if (options_.cycle_counts) {
    packet.has_cycle_count = true;
    packet.cycle_count = take_cycles();
    say_cycles(packet.cycle_count);
  }
  note(ptm::encode(packet, config_, *out_));
}

void PtmUnit::branch(Place to, bool exception, std::uint16_t number) {
  Packet packet;
  packet.type = PacketType::kBranchAddress;
  packet.isa = to.isa;
  packet.address.value = static_cast<std::uint32_t>(to.address);
  const auto changed = static_cast<unsigned>(
      std::bit_width(packet.address.value ^ static_cast<std::uint32_t>(sent_.address)));
  // A new instruction set is told by five bytes; exception information needs two.
  packet.address.update_bits =
      static_cast<std::uint8_t>(to.isa != sent_.isa ? 32 : std::max(changed, exception ? 13U : 1U));
  if (exception) {
    packet.info_bytes = 1;
    packet.exception = number;
    packet.context.ns = !now_.secure;
  }
  if (options_.cycle_counts) {
    packet.has_cycle_count = true;
    packet.cycle_count = take_cycles();
  }
  put(packet);
  say_cycles(packet.cycle_count);
  sent_ = to;
}

void PtmUnit::context_packets() {
  Packet packet;
  packet.context.context_id = now_.context_id;
  packet.context.vmid = static_cast<std::uint8_t>(now_.vmid);
  if (options_.context_ids && now_.context_id != sent_context_.context_id) {
    packet.type = PacketType::kContextId;
    put(packet);
  }
  if (options_.vmids && now_.vmid != sent_context_.vmid) {
    packet.type = PacketType::kVmid;
    put(packet);
  }
  sent_context_ = now_;
}

void PtmUnit::put_timestamp() {
  Packet packet;
  packet.type = PacketType::kTimestamp;
  packet.timestamp = timestamp();
  const std::uint64_t difference =
      timestamp_known_ ? packet.timestamp ^ last_timestamp_ : ~std::uint64_t{0};
  const auto width = static_cast<unsigned>(std::bit_width(difference));
  packet.timestamp_bits =
      static_cast<std::uint8_t>(width > 56 ? 64 : std::max(1U, (width + 6) / 7) * 7);
  if (atom_count_ != 0) flush_atoms();
  if (options_.cycle_counts) {
    packet.has_cycle_count = true;
    packet.cycle_count = take_cycles();
  }
  put(packet);
  timestamp_known_ = true;
  last_timestamp_ = packet.timestamp;
  say(EventKind::kTimestamp, packet.timestamp);
  say_cycles(packet.cycle_count);
}

void PtmUnit::synchronise(ptm::IsyncReason reason) {
  Packet packet;
  packet.type = PacketType::kAsync;
  packet.length = static_cast<std::uint16_t>(random_.between(6, 12));
  put(packet);
  synced_at_ = written_ + out_->size() - run_start_;
  const Place at = execution_.place();
  packet = {};
  packet.type = PacketType::kIsync;
  packet.reason = reason;
  packet.isa = at.isa;
  packet.address.value = static_cast<std::uint32_t>(at.address);
  packet.context.ns = !now_.secure;
  packet.context.context_id = now_.context_id;
  const bool periodic = reason == ptm::IsyncReason::kPeriodic;
  if (options_.cycle_counts && !periodic) {
    packet.has_cycle_count = true;
    packet.cycle_count = take_cycles();
  }
  put(packet);
  sent_ = at;
  sent_context_.context_id = now_.context_id;
  stack_.clear();
  if (!periodic) {
    say(EventKind::kTraceOn, static_cast<std::uint64_t>(reason == ptm::IsyncReason::kRestartOverflow
                                                            ? TraceOnReason::kOverflow
                                                            : TraceOnReason::kNormal));
    say_cycles(packet.cycle_count);
  }
  timestamp_known_ = false;
  context_packets();
  if (options_.timestamp_mean != 0) put_timestamp();
}

// -- What the core does ---------------------------------------------------------------------------

void PtmUnit::on_block(const Step& step) {
  const CodeBlock& block = *step.block;
  if (step.exception_return) {
    Packet packet;
    packet.type = PacketType::kExceptionReturn;
    put(packet);
    say(EventKind::kExceptionReturn, 0);
  }
  truth_.range(step.start, step.end, step.count, step.taken, block.isa);
  if (step.kind == StepKind::kPart) {
    // The last instruction is made a waypoint, so that the reader knows how far it came.
    Packet packet;
    packet.type = PacketType::kWaypointUpdate;
    packet.isa = block.isa;
    const std::uint32_t last = last_of(step);
    packet.address.value = last;
    packet.address.update_bits = static_cast<std::uint8_t>(
        block.isa != sent_.isa ? 32
                               : std::max(static_cast<unsigned>(std::bit_width(
                                              last ^ static_cast<std::uint32_t>(sent_.address))),
                                          1U));
    put(packet);
    sent_ = {last, block.isa};
    return;
  }
  if (block.is_indirect() && step.taken) {
    const bool matched =
        options_.return_stack && !block.link && !step.exception_return && stack_.match(step.next);
    if (matched) {
      atom(true);
    } else {
      branch(step.next, false, 0);
    }
  } else if (step.taken && block.is_direct() && options_.branch_broadcast) {
    branch(step.next, false, 0);
  } else {
    atom(step.taken);
  }
  if (step.taken && block.link) stack_.push({block.end, block.isa});
  if (step.context_changed) {
    say_context();
    context_packets();
  }
}

void PtmUnit::on_exception(const Step& step) {
  say_exception(exception_number(step.cause), step.start);
  branch(step.next, true, exception_number(step.cause));
  if (!step.context_changed) return;
  say_context();
  context_packets();
}

void PtmUnit::follow(Step& step) {
  if (step.kind == StepKind::kPart) {
    on_block(step);
    execution_.next(step);
    pass_time(step);
  }
  if (step.kind == StepKind::kException) {
    if (atom_count_ != 0) flush_atoms();
    on_exception(step);
  } else {
    on_block(step);
  }
}

bool PtmUnit::run_plain() {
  if (options_.branch_broadcast) return false;
  bool taken = false;
  std::uint64_t chance = 0;
  const CodeBlock* block = execution_.next_plain(taken, chance);
  if (block == nullptr) return false;
  truth_.range(block->start, block->end, block->count, taken, block->isa);
  pass_time(block->count, chance);
  atom(taken);
  return true;
}

void PtmUnit::rare() {
  if (schedule_.take(kTimestamp, random_)) put_timestamp();
  if (schedule_.take(kEvent, random_)) {
    Packet packet;
    packet.type = PacketType::kTrigger;
    put(packet);
    say(EventKind::kEvent, 0);
  }
  const bool overflow = schedule_.take(kOverflow, random_);
  const bool filter = schedule_.take(kFilter, random_);
  if (!overflow && !filter) return;
  if (atom_count_ != 0) flush_atoms();
  run_hidden(random_.between(1, 40));
  synchronise(overflow ? ptm::IsyncReason::kRestartOverflow : ptm::IsyncReason::kTraceEnable);
}

void PtmUnit::run(std::vector<std::uint8_t>& out, std::size_t bytes) {
  out_ = &out;
  run_start_ = out.size();
  if (!started_) synchronise(ptm::IsyncReason::kTraceEnable);
  started_ = true;
  const std::size_t end = run_start_ + bytes;
  Step step;
  while (out.size() < end) {
    if (written_ + out.size() - run_start_ - synced_at_ >= options_.sync_period) [[unlikely]]
      synchronise(ptm::IsyncReason::kPeriodic);
    if (!run_plain()) {
      execution_.next(step);
      pass_time(step);
      follow(step);
    }
    if (schedule_.tick()) [[unlikely]]
      rare();
  }
  written_ += out.size() - run_start_;
}

void PtmUnit::finish(std::vector<std::uint8_t>& out) {
  out_ = &out;
  if (atom_count_ != 0) flush_atoms();
}

}  // namespace waymark::synth
