#include "etmv3_unit.h"

#include <bit>

#include "waymark/base/bits.h"
#include "waymark/etmv3/encoder.h"
#include "waymark/etmv3/source.h"

namespace waymark::synth {
namespace {

using etmv3::Packet;
using etmv3::PacketType;

// Sheet section 5.4.
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

etmv3::Config Etmv3Unit::make_config(const UnitOptions& options, isa::Core core) {
  etmv3::Config config;
  config.core = core;
  config.etmidr = 0x4100F250;
  config.etmtraceidr = options.trace_id;
  config.etmcr = (options.branch_broadcast ? 1U << 8 : 0U) |
                 (options.cycle_counts ? 1U << 12 : 0U) | (options.context_ids ? 3U << 14 : 0U) |
                 (options.timestamp_mean != 0 ? 1U << 28 : 0U) | (options.vmids ? 1U << 30 : 0U);
  config.etmccer = 1U << 22 | 1U << 29;  // Timestamps, of 64 bits.
  return config;
}

Etmv3Unit::Etmv3Unit(const UnitOptions& options, const std::string& core_name, isa::Core core,
                     const Program& program, const ExecutionOptions& execution, bool keep_truth)
    : CoreUnit(options, core_name, program, {.arch = core.arch}, execution, keep_truth),
      config_(make_config(options, core)),
      schedule_(
          {options.timestamp_mean, options.event_mean, options.overflow_mean, options.filter_mean},
          random_) {}

std::vector<UnitRegister> Etmv3Unit::registers() const {
  return {{"ETMCR", config_.etmcr},
          {"ETMIDR", config_.etmidr},
          {"ETMCCER", config_.etmccer},
          {"ETMTRACEIDR", config_.etmtraceidr}};
}

std::unique_ptr<Source> Etmv3Unit::make_source(const image::Image& image) const {
  auto source = etmv3::make_source(config_, &image, {});
  return source ? std::move(*source) : nullptr;
}

// -- Packets --------------------------------------------------------------------------------------

void Etmv3Unit::put(const Packet& packet) {
  if (atom_count_ != 0) flush_atoms();
  note(etmv3::encode(packet, config_, *out_));
}

void Etmv3Unit::atoms(std::uint32_t count, bool taken) {
  // In cycle-accurate trace each atom says one cycle of its own.
  if (options_.cycle_counts) say(EventKind::kCycleCount, count);
  for (; count != 0;) {
    const unsigned some = std::min<std::uint32_t>(count, kAtomRoom - atom_count_);
    atoms_ |= low_mask(some) << atom_count_;
    atom_count_ += some;
    count -= some;
    if (count == 0 && !taken) atoms_ ^= std::uint64_t{1} << (atom_count_ - 1);
    if (atom_count_ == kAtomRoom) drain_atoms(kMaxAtoms);
  }
}

// As long as more than `keep` are left.
void Etmv3Unit::drain_atoms(unsigned keep) {
  while (atom_count_ > keep) {
    const Packet packet = etmv3::longest_p_header(
        static_cast<std::uint32_t>(atoms_), std::min(atom_count_, 32U), options_.cycle_counts);
    note(etmv3::encode(packet, config_, *out_));
    atoms_ >>= packet.atom_count;
    atom_count_ -= packet.atom_count;
  }
}

void Etmv3Unit::branch(Place to, bool exception, std::uint16_t number) {
  Packet packet;
  packet.type = PacketType::kBranchAddress;
  packet.isa = to.isa;
  packet.previous_isa = sent_.isa;
  packet.address.value = static_cast<std::uint32_t>(to.address);
  const auto changed = static_cast<unsigned>(
      std::bit_width(packet.address.value ^ static_cast<std::uint32_t>(sent_.address)));
  packet.address.update_bits =
      static_cast<std::uint8_t>(to.isa != sent_.isa || exception ? 32U : std::max(changed, 1U));
  if (exception) {
    packet.exception.present = true;
    packet.exception.number = number;
    packet.context.ns = !now_.secure;
  }
  put(packet);
  sent_ = to;
}

void Etmv3Unit::context_packets() {
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

void Etmv3Unit::put_timestamp() {
  Packet packet;
  packet.type = PacketType::kTimestamp;
  packet.timestamp = timestamp();
  const std::uint64_t difference =
      timestamp_known_ ? packet.timestamp ^ last_timestamp_ : ~std::uint64_t{0};
  const auto width = static_cast<unsigned>(std::bit_width(difference));
  packet.timestamp_bits =
      static_cast<std::uint8_t>(width > 56 ? 64 : std::max(1U, (width + 6) / 7) * 7);
  put(packet);
  timestamp_known_ = true;
  last_timestamp_ = packet.timestamp;
  say(EventKind::kTimestamp, packet.timestamp);
}

// The cycles that passed without an instruction.
void Etmv3Unit::put_cycles() {
  Packet packet;
  packet.type = PacketType::kCycleCount;
  packet.cycle_count = random_.between(1, 1000);
  put(packet);
  say(EventKind::kCycleCount, packet.cycle_count);
}

void Etmv3Unit::synchronise(etmv3::SyncReason reason) {
  Packet packet;
  packet.type = PacketType::kASync;
  put(packet);
  synced_at_ = written_ + out_->size() - run_start_;
  const Place at = execution_.place();
  packet = {};
  packet.type = PacketType::kISync;
  packet.reason = reason;
  packet.isa = at.isa;
  packet.address.value = static_cast<std::uint32_t>(at.address);
  packet.context.ns = !now_.secure;
  packet.context.context_id = now_.context_id;
  const bool begins = reason != etmv3::SyncReason::kPeriodic;
  // Cycle-accurate trace begins with the cycles since it ended, here or in a packet of their own;
  // sheet section 6.1.
  if (begins && options_.cycle_counts) {
    packet.type = PacketType::kISyncCycle;
    packet.cycle_count = random_.between(1, 100'000);
  }
  put(packet);
  sent_ = at;
  sent_context_.context_id = now_.context_id;
  if (begins) {
    say(EventKind::kTraceOn, static_cast<std::uint64_t>(reason == etmv3::SyncReason::kOverflow
                                                            ? TraceOnReason::kOverflow
                                                            : TraceOnReason::kNormal));
    if (options_.cycle_counts) say(EventKind::kCycleCount, packet.cycle_count);
  }
  timestamp_known_ = false;
  context_packets();
  if (options_.timestamp_mean != 0) put_timestamp();
}

// -- What the core does ---------------------------------------------------------------------------

void Etmv3Unit::on_block(const Step& step) {
  const CodeBlock& block = *step.block;
  truth_.range(step.start, step.end, step.count, step.taken, block.isa);
  atoms(step.count, step.taken);
  if (step.kind == StepKind::kPart) return;
  if (step.exception_return) {
    Packet packet;
    packet.type = PacketType::kExceptionExit;
    put(packet);
    say(EventKind::kExceptionReturn, 0);
  }
  const bool jumped = step.taken && (block.is_indirect() || block.is_direct());
  // A reader follows direct branches, but not those that change the instruction set.
  if (jumped && (block.is_indirect() || options_.branch_broadcast || step.next.isa != sent_.isa))
    branch(step.next, false, 0);
  if (step.context_changed) {
    say_context();
    context_packets();
  }
}

void Etmv3Unit::on_exception(const Step& step) {
  if (atom_count_ != 0) flush_atoms();
  say_exception(exception_number(step.cause), 0);
  branch(step.next, true, exception_number(step.cause));
  if (!step.context_changed) return;
  say_context();
  context_packets();
}

void Etmv3Unit::follow(Step& step) {
  if (step.kind == StepKind::kPart) {
    on_block(step);
    execution_.next(step);
    pass_time(step);
  }
  if (step.kind == StepKind::kException) {
    on_exception(step);
  } else {
    on_block(step);
  }
}

bool Etmv3Unit::run_plain() {
  if (options_.branch_broadcast) return false;
  bool taken = false;
  std::uint64_t chance = 0;
  const CodeBlock* block = execution_.next_plain(taken, chance);
  if (block == nullptr) return false;
  truth_.range(block->start, block->end, block->count, taken, block->isa);
  pass_time(block->count, chance);
  atoms(block->count, taken);
  return true;
}

void Etmv3Unit::rare() {
  if (schedule_.take(kTimestamp, random_)) put_timestamp();
  if (schedule_.take(kEvent, random_)) {
    Packet packet;
    packet.type = PacketType::kTrigger;
    put(packet);
    say(EventKind::kEvent, 0);
    if (options_.cycle_counts) put_cycles();
  }
  const bool overflow = schedule_.take(kOverflow, random_);
  const bool filter = schedule_.take(kFilter, random_);
  if (!overflow && !filter) return;
  if (atom_count_ != 0) flush_atoms();
  run_hidden(random_.between(1, 40));
  synchronise(overflow ? etmv3::SyncReason::kOverflow : etmv3::SyncReason::kTraceEnable);
}

void Etmv3Unit::run(std::vector<std::uint8_t>& out, std::size_t bytes) {
  out_ = &out;
  run_start_ = out.size();
  if (!started_) synchronise(etmv3::SyncReason::kTraceEnable);
  started_ = true;
  const std::size_t end = run_start_ + bytes;
  Step step;
  while (out.size() < end) {
    if (written_ + out.size() - run_start_ - synced_at_ >= options_.sync_period) [[unlikely]]
      synchronise(etmv3::SyncReason::kPeriodic);
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

void Etmv3Unit::finish(std::vector<std::uint8_t>& out) {
  out_ = &out;
  if (atom_count_ != 0) flush_atoms();
}

}  // namespace waymark::synth
