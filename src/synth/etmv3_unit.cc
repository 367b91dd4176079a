#include "etmv3_unit.h"

#include <bit>

#include "waymark/base/bits.h"
#include "waymark/etmv3/source.h"
#include "waymark/synth/m_profile.h"

namespace waymark::synth {
using etmv3::Packet;
using etmv3::PacketType;

etmv3::Config Etmv3Unit::make_config(const UnitOptions& options, const std::string& core_name,
                                     isa::Core core) {
  etmv3::Config config;
  config.core = core;
  config.etmidr = 0x4100F250;
  config.etmtraceidr = options.trace_id;
  config.etmcr = control_bits(options);
  config.etmccer = 1U << 22 | 1U << 28 | 1U << 29;  // 64-bit timestamps in natural binary.
  if (const MCore* const m = m_core(core_name, options.protocol)) {
    config.etmidr = m->version;
    config.etmccer = 1U << 22 | 1U << 28;  // 48-bit timestamps.
  }
  return config;
}

Etmv3Unit::Etmv3Unit(const UnitOptions& options, const std::string& core_name, isa::Core core,
                     const Program& program, const ExecutionOptions& execution, bool keep_truth)
    : PftUnit(options, core_name, make_config(options, core_name, core), program,
              {.arch = core.arch, .track_it_block = core.profile == isa::Profile::kM}, execution,
              keep_truth) {}

std::unique_ptr<Source> Etmv3Unit::make_source(const image::Image& image) const {
  auto source = etmv3::make_source(config_, &image, {});
  return source ? std::move(*source) : nullptr;
}

// -- Packets --------------------------------------------------------------------------------------

void Etmv3Unit::plain_block(std::uint32_t count, bool taken) {
  // In cycle-accurate trace, each atom counts one cycle itself.
  if (options_.cycle_counts) record(EventKind::kCycleCount, count);
  for (; count != 0;) {
    const unsigned some = std::min<std::uint32_t>(count, kAtomRoom - atom_count_);
    atoms_ |= low_mask(some) << atom_count_;
    atom_count_ += some;
    count -= some;
    if (count == 0 && !taken) atoms_ ^= std::uint64_t{1} << (atom_count_ - 1);
    if (atom_count_ == kAtomRoom) drain_atoms(kMaxAtoms);
  }
}

// Sends atoms while more than `keep` are left.
void Etmv3Unit::drain_atoms(unsigned keep) {
  while (atom_count_ > keep) {
    const Packet packet = etmv3::longest_p_header(
        static_cast<std::uint32_t>(atoms_), std::min(atom_count_, 32U), options_.cycle_counts);
    note(etmv3::encode(packet, config_, *out_));
    atoms_ >>= packet.atom_count;
    atom_count_ -= packet.atom_count;
  }
}

void Etmv3Unit::branch(Place to) { branch(to, {}); }

void Etmv3Unit::branch(Place to, const etmv3::Exception& exception) {
  Packet packet;
  packet.type = PacketType::kBranchAddress;
  packet.isa = to.isa;
  packet.previous_isa = sent_.isa;
  packet.address.value = static_cast<std::uint32_t>(to.address);
  const unsigned changed = changed_bits(to.address);
  // In the standard encoding, an exception needs the fifth byte.
  const bool whole = to.isa != sent_.isa || (exception.present && !config_.alternative_branches());
  packet.address.update_bits = static_cast<std::uint8_t>(whole ? 32U : std::max(changed, 1U));
  packet.exception = exception;
  if (exception.present) packet.context.ns = !now_.secure;
  put(packet);
  sent_ = to;
}

void Etmv3Unit::put_timestamp() {
  const Packet packet = timestamp_packet();
  put(packet);
  record(EventKind::kTimestamp, packet.timestamp);
}

void Etmv3Unit::put_trigger() {
  put(PacketType::kTrigger);
  record(EventKind::kEvent, 0);
  if (options_.cycle_counts) put_cycles();
}

// Sends the cycles that passed without an instruction.
void Etmv3Unit::put_cycles() {
  Packet packet;
  packet.type = PacketType::kCycleCount;
  packet.cycle_count = random_.between(1, 1000);
  put(packet);
  record(EventKind::kCycleCount, packet.cycle_count);
}

void Etmv3Unit::synchronise(etmv3::SyncReason reason) {
  put(PacketType::kASync);
  synced_at_ = position();
  const Place at = execution_.place();
  Packet packet;
  packet.type = PacketType::kISync;
  packet.reason = reason;
  packet.isa = at.isa;
  packet.address.value = static_cast<std::uint32_t>(at.address);
  packet.context.ns = !now_.secure;
  packet.context.context_id = now_.context_id;
  const bool begins = reason != etmv3::SyncReason::kPeriodic;
  // Cycle-accurate trace begins with the cycles since it ended, which are here or in a separate
  // packet; etmv3.md 6.1.
  if (begins && options_.cycle_counts) {
    packet.type = PacketType::kISyncCycle;
    packet.cycle_count = random_.between(1, 100'000);
  }
  put(packet);
  sent_ = at;
  sent_context_.context_id = now_.context_id;
  if (begins) {
    record_begin(reason);
    if (options_.cycle_counts) record(EventKind::kCycleCount, packet.cycle_count);
  }
  timestamp_known_ = false;
  context_packets();
  if (options_.timestamp_mean != 0) put_timestamp();
}

// -- Steps of the core
// ------------------------------------------------------------------------------

void Etmv3Unit::on_block(const Step& step) {
  const CodeBlock& block = *step.block;
  truth_.range(step.start, step.end, step.count, step.taken, block.isa);
  plain_block(step.count, step.taken);
  if (step.kind == StepKind::kPart) return;
  if (step.exception_return) {
    put(PacketType::kExceptionExit);
    // The next exception cancels the packet, but not the instruction.
    if (step.tail_chained) return;
    record(EventKind::kExceptionReturn, 0);
  }
  const bool jumped = step.taken && (block.is_indirect() || block.is_direct());
  // A reader follows direct branches, except those that change the instruction set.
  if (jumped && (block.is_indirect() || options_.branch_broadcast || step.next.isa != sent_.isa))
    branch(step.next);
  record_new_context(step);
}

void Etmv3Unit::on_exception(const Step& step) {
  const std::uint16_t number = step.vector != 0
                                   ? m_exception_number(ExceptionNumbers::kEtmV3M, step)
                                   : pft_exception_number(step.cause);
  record_exception(number, 0);
  branch(step.next, {.number = number, .present = true, .cancel = step.tail_chained});
  record_new_context(step);
}

}  // namespace waymark::synth
