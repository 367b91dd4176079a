#include "ptm_unit.h"

#include <bit>

#include "waymark/ptm/source.h"

namespace waymark::synth {
using ptm::Packet;
using ptm::PacketType;

ptm::Config PtmUnit::make_config(const UnitOptions& options, isa::Core core) {
  ptm::Config config;
  config.core = core;
  config.etmtraceidr = options.trace_id;
  config.etmcr = control_bits(options) | (options.return_stack ? 1U << 29 : 0U);
  // 64-bit timestamps in natural binary, a return stack, barriers as waypoints.
  config.etmccer = 1U << 22 | 1U << 23 | 1U << 24 | 1U << 28 | 1U << 29;
  return config;
}

PtmUnit::PtmUnit(const UnitOptions& options, const std::string& core_name, isa::Core core,
                 const Program& program, const ExecutionOptions& execution, bool keep_truth)
    : PftUnit(
          options, core_name, make_config(options, core), program,
          {.arch = core.arch, .dsb_dmb_waypoints = make_config(options, core).barrier_waypoints()},
          execution, keep_truth) {}

std::unique_ptr<Source> PtmUnit::make_source(const image::Image& image) const {
  auto source = ptm::make_source(config_, &image, {});
  return source ? std::move(*source) : nullptr;
}

// -- Packets --------------------------------------------------------------------------------------

std::uint32_t PtmUnit::take_cycles() {
  const auto count = static_cast<std::uint32_t>(cycles_ - counted_to_);
  counted_to_ = cycles_;
  return count;
}

void PtmUnit::record_cycles(std::uint32_t count) {
  if (options_.cycle_counts) record(EventKind::kCycleCount, count);
}

// With cycle counts, each atom is a separate packet.
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
    record_cycles(packet.cycle_count);
  }
  note(ptm::encode(packet, config_, *out_));
}

void PtmUnit::branch(Place to, bool exception, std::uint16_t number) {
  Packet packet;
  packet.type = PacketType::kBranchAddress;
  packet.isa = to.isa;
  packet.address.value = static_cast<std::uint32_t>(to.address);
  const unsigned changed = changed_bits(to.address);
  // A new instruction set needs five bytes; exception information needs two.
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
  record_cycles(packet.cycle_count);
  sent_ = to;
}

void PtmUnit::put_timestamp() {
  Packet packet = timestamp_packet();
  flush();
  if (options_.cycle_counts) {
    packet.has_cycle_count = true;
    packet.cycle_count = take_cycles();
  }
  put(packet);
  record(EventKind::kTimestamp, packet.timestamp);
  record_cycles(packet.cycle_count);
}

void PtmUnit::put_trigger() {
  put(PacketType::kTrigger);
  record(EventKind::kEvent, 0);
}

void PtmUnit::synchronise(ptm::IsyncReason reason) {
  Packet packet;
  packet.type = PacketType::kAsync;
  packet.length = static_cast<std::uint16_t>(random_.between(6, 12));
  put(packet);
  synced_at_ = position();
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
    record_begin(reason);
    record_cycles(packet.cycle_count);
  }
  timestamp_known_ = false;
  context_packets();
  if (options_.timestamp_mean != 0) put_timestamp();
}

// -- Steps of the core
// ------------------------------------------------------------------------------

void PtmUnit::on_block(const Step& step) {
  const CodeBlock& block = *step.block;
  if (step.exception_return) {
    put(PacketType::kExceptionReturn);
    record(EventKind::kExceptionReturn, 0);
  }
  truth_.range(step.start, step.end, step.count, step.taken, block.isa);
  if (step.kind == StepKind::kPart) {
    // The last instruction becomes a waypoint, so that the reader knows how far execution came.
    Packet packet;
    packet.type = PacketType::kWaypointUpdate;
    packet.isa = block.isa;
    const std::uint32_t last = last_of(step);
    packet.address.value = last;
    packet.address.update_bits =
        static_cast<std::uint8_t>(block.isa != sent_.isa ? 32 : std::max(changed_bits(last), 1U));
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
  record_new_context(step);
}

void PtmUnit::on_exception(const Step& step) {
  const std::uint16_t number = pft_exception_number(step.cause);
  record_exception(number, step.start);
  branch(step.next, true, number);
  record_new_context(step);
}

}  // namespace waymark::synth
