#include "etmv4_unit.h"

#include <fmt/core.h>

#include <bit>

#include "waymark/base/bits.h"
#include "waymark/etmv4/encoder.h"
#include "waymark/etmv4/source.h"
#include "waymark/synth/m_profile.h"

namespace waymark::synth {
namespace {

using etmv4::Packet;
using etmv4::PacketType;
using isa::Isa;

std::uint16_t exception_number(ExceptionCause cause) {
  switch (cause) {
    case ExceptionCause::kIrq:
      return 0xE;
    case ExceptionCause::kFiq:
      return 0xF;
    case ExceptionCause::kCall:
      return 2;
    case ExceptionCause::kUndefined:
      return 3;
    case ExceptionCause::kDataFault:
      return 0xC;
    case ExceptionCause::kFetchFault:
      return 0xB;
  }
  return 0xE;
}

/// The headers that the encoder makes when there are at least 24 atoms.
struct AtomHeader {
  std::uint8_t byte = 0;
  std::uint8_t count = 0;
};
struct AtomTable {
  std::array<AtomHeader, 25> runs{};      ///< By the number of leading E; 24 means or more.
  std::array<AtomHeader, 32> patterns{};  ///< By the oldest five, if fewer than three E lead.
  std::array<AtomHeader, 25> all_e{};     ///< By their number, if all are E.
  std::array<std::array<AtomHeader, 16>, 5> few{};  ///< By their number, if fewer than five.
};

const AtomTable& atom_table() {
  static const AtomTable kTable = [] {
    AtomTable made;
    const auto header = [](std::uint32_t atoms, unsigned count) {
      const Packet packet = etmv4::longest_atom_packet(atoms, count);
      std::vector<std::uint8_t> bytes;
      (void)etmv4::encode(packet, {}, bytes);
      return AtomHeader{bytes.at(0), packet.atom_count};
    };
    for (std::uint32_t leading = 0; leading <= 24; ++leading)
      made.runs[leading] = header((1U << leading) - 1, 24);
    for (std::uint32_t atoms = 0; atoms < 32; ++atoms) made.patterns[atoms] = header(atoms, 24);
    for (unsigned count = 1; count <= 24; ++count)
      made.all_e[count] = header((1U << count) - 1, count);
    for (unsigned count = 1; count < 5; ++count)
      for (std::uint32_t atoms = 0; atoms < 1U << count; ++atoms)
        made.few[count][atoms] = header(atoms, count);
    return made;
  }();
  return kTable;
}

}  // namespace

etmv4::Config Etmv4Unit::make_config(const UnitOptions& options, const std::string& core_name,
                                     isa::Core core) {
  const bool ete = options.protocol == Protocol::kEte;
  etmv4::Config config = ete ? etmv4::Config::ete_default() : etmv4::Config{};
  if (!ete) config.trcidr1 = 0x4100F443;
  config.core = core;
  config.trctraceidr = options.trace_id;
  // COMMOPT is 1 if nothing is speculative: then cycle counts do not commit.
  config.trcidr0 = 0x08000EA1U | (options.speculation == 0 ? 1U << 29 : 0U) |
                   (options.q_mean != 0 ? 3U << 15 : 0U);
  config.trcidr2 = 0x10001088;
  config.trcidr8 = options.speculation;
  if (const MCore* const m = m_core(core_name, options.protocol)) {
    // As those of Cortex-M33 and M55: two events, cycle counts of 12 bits, addresses of 32 bits,
    // and no contexts.
    config.trcidr0 = 0x080006E1U | (options.speculation == 0 ? 1U << 29 : 0U);
    config.trcidr1 = m->version;
    config.trcidr2 = 0x00000004;
  }
  config.trcconfigr =
      1U | (options.cycle_counts ? 1U << 4 : 0U) | (options.context_ids ? 1U << 6 : 0U) |
      (options.vmids ? 1U << 7 : 0U) | (options.timestamp_mean != 0 ? 1U << 11 : 0U) |
      (options.return_stack ? 1U << 12 : 0U) | (options.branch_broadcast ? 1U << 3 : 0U) |
      (options.q_mean != 0 ? 3U << 13 : 0U);
  return config;
}

isa::Options Etmv4Unit::waypoints(const etmv4::Config& config) {
  return {.arch = config.core.arch,
          .wfi_wfe_waypoints = config.wfx_waypoints(),
          .track_it_block = config.core.profile == isa::Profile::kM};
}

Etmv4Unit::Etmv4Unit(const UnitOptions& options, const std::string& core_name, isa::Core core,
                     const Program& program, const ExecutionOptions& execution, bool keep_truth)
    : Etmv4Unit(options, core_name, make_config(options, core_name, core), program, execution,
                keep_truth) {}

Etmv4Unit::Etmv4Unit(const UnitOptions& options, const std::string& core_name,
                     const etmv4::Config& config, const Program& program,
                     const ExecutionOptions& execution, bool keep_truth)
    : CoreUnit(options, core_name, program, waypoints(config), execution, keep_truth),
      config_(config),
      schedule_({options.timestamp_mean, options.event_mean,
                 options.speculation > 1 ? options.mispredict_mean : 0, options.q_mean,
                 options.overflow_mean, options.discard_mean, options.filter_mean,
                 options.speculation != 0 ? std::uint64_t{16} : 0},
                random_),
      settings_{.broadcast = options.branch_broadcast} {}

std::vector<UnitRegister> Etmv4Unit::registers() const {
  std::vector<UnitRegister> all = {
      {"TRCCONFIGR", config_.trcconfigr}, {"TRCTRACEIDR", config_.trctraceidr},
      {"TRCIDR0", config_.trcidr0},       {"TRCIDR1", config_.trcidr1},
      {"TRCIDR2", config_.trcidr2},       {"TRCIDR8", config_.trcidr8}};
  if (config_.ete) {
    all.push_back({"TRCDEVARCH", config_.trcdevarch});
  } else {
    for (const std::string_view name : {"TRCIDR9", "TRCIDR10", "TRCIDR11", "TRCIDR12", "TRCIDR13"})
      all.push_back({name, 0});
  }
  return all;
}

std::string Etmv4Unit::type() const {
  return config_.ete ? "ETE" : fmt::format("ETM4.{}", config_.minor_version());
}

std::unique_ptr<Source> Etmv4Unit::make_source(const image::Image& image) const {
  auto source = etmv4::make_source(config_, &image, {});
  return source ? std::move(*source) : nullptr;
}

// -- Packets --------------------------------------------------------------------------------------

void Etmv4Unit::put(const Packet& packet) {
  if (atoms_.count != 0) flush_atoms();
  note(etmv4::encode(packet, config_, *output_.bytes));
}

void Etmv4Unit::put(PacketType type) {
  Packet packet;
  packet.type = type;
  put(packet);
}

void Etmv4Unit::flush_atoms() {
  drain_atoms();
  const AtomTable& table = atom_table();
  while (atoms_.count != 0) {
    const auto leading = static_cast<unsigned>(std::countr_one(atoms_.bits));
    const AtomHeader header = leading >= atoms_.count ? table.all_e[atoms_.count]
                              : leading > 2           ? table.runs[leading]
                              : atoms_.count >= 5     ? table.patterns[atoms_.bits & 0x1F]
                                                      : table.few[atoms_.count][atoms_.bits & 0xF];
    output_.bytes->push_back(header.byte);
    atoms_.pop(header.count);
    added(header.count);
  }
}

// Sends atoms while waiting cannot make a packet longer.
void Etmv4Unit::drain_atoms() {
  const AtomTable& table = atom_table();
  std::array<std::uint8_t, kAtomRoom> bytes;
  std::size_t size = 0;
  while (atoms_.count >= kMaxAtoms) {
    const auto leading = static_cast<unsigned>(std::countr_one(atoms_.bits));
    const AtomHeader header =
        leading < kMaxAtoms
            ? (leading > 2 ? table.runs[leading] : table.patterns[atoms_.bits & 0x1F])
            : table.runs[kMaxAtoms];
    bytes[size++] = header.byte;
    atoms_.pop(header.count);
    added(header.count);
  }
  output_.bytes->insert(output_.bytes->end(), bytes.begin(),
                        bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

// The decoder itself commits elements beyond the speculation depth.
void Etmv4Unit::added(std::uint32_t elements) {
  depth_ = std::min(depth_ + elements, options_.speculation);
}

void Etmv4Unit::commit(std::uint32_t count) {
  Packet packet;
  packet.type = PacketType::kCommit;
  packet.commit = count;
  put(packet);
  depth_ -= count;
}

void Etmv4Unit::context_fields(Packet& packet) {
  etmv4::Context& to = packet.context;
  to.updated = true;
  to.el = now_.el;
  to.sf = now_.a64;
  to.ns = !now_.secure;
  to.context_id = now_.context_id;
  to.vmid = now_.vmid;
  to.updated_context_id = options_.context_ids &&
                          (sent_.full_context_due || now_.context_id != sent_.context.context_id);
  to.updated_vmid = options_.vmids && (sent_.full_context_due || now_.vmid != sent_.context.vmid);
  sent_.full_context_due = false;
}

// The shortest form that the reader's history and context allow; etmv4-ete.md 2.7.
void Etmv4Unit::address(Place to, bool with_context) {
  const bool is1 = to.isa == Isa::kT32;
  Packet packet;
  bool joined = false;
  if (with_context) {
    joined = random_.coin();
    if (!joined) {
      packet.type = PacketType::kContext;
      context_fields(packet);
      put(packet);
      packet = {};
      sent_.context = now_;
    }
  }
  packet.address.value = to.address;
  packet.address.is = is1 ? 1 : 0;
  const std::uint64_t difference = to.address ^ history_.places[0].address;
  const unsigned first = is1 ? 8 : 9;
  const auto* const match = std::ranges::find(history_.places, to);
  // A reader in AArch32 state takes the upper half of a 32-bit form as 0.
  const bool fits = sent_.context.a64 ? difference >> 32 == 0 : to.address >> 32 == 0;
  if (joined) {
    packet.type = fits
                      ? (is1 ? PacketType::kAddressContext32Is1 : PacketType::kAddressContext32Is0)
                      : (is1 ? PacketType::kAddressContext64Is1 : PacketType::kAddressContext64Is0);
    packet.address.update_bits = fits ? 32 : 64;
    context_fields(packet);
    sent_.context = now_;
  } else if (match != history_.places.end()) {
    packet.type = PacketType::kAddressMatch;
    packet.match_index = static_cast<std::uint8_t>(match - history_.places.begin());
  } else if (difference >> (first + 8) == 0) {
    packet.type = is1 ? PacketType::kAddressShortIs1 : PacketType::kAddressShortIs0;
    packet.address.update_bits =
        static_cast<std::uint8_t>(difference >> first == 0 ? first : first + 8);
  } else {
    packet.type = fits ? (is1 ? PacketType::kAddress32Is1 : PacketType::kAddress32Is0)
                       : (is1 ? PacketType::kAddress64Is1 : PacketType::kAddress64Is0);
    packet.address.update_bits = fits ? 32 : 64;
  }
  put(packet);
  history_.push(to);
}

void Etmv4Unit::target(Place to) {
  address(to, sent_.full_context_due || sent_.context != now_);
  next_.pending = false;
}

void Etmv4Unit::put_timestamp() {
  Packet packet;
  packet.type = PacketType::kTimestamp;
  packet.timestamp = timestamp();
  const std::uint64_t difference =
      sent_.timestamp_known ? packet.timestamp ^ sent_.timestamp : packet.timestamp;
  const auto width = static_cast<unsigned>(std::bit_width(difference));
  packet.timestamp_bits =
      static_cast<std::uint8_t>(width > 56 ? 64 : std::max(1U, (width + 6) / 7) * 7);
  packet.has_count = options_.cycle_counts && random_.coin();
  const unsigned bits = std::min(config_.cycle_count_bits(), 20U);
  packet.cycle_count = packet.has_count ? random_.below(1U << bits) : 0;
  put(packet);
  sent_.timestamp_known = true;
  sent_.timestamp = packet.timestamp;
  record(EventKind::kTimestamp, packet.timestamp);
  if (packet.has_count) record(EventKind::kCycleCount, packet.cycle_count);
}

void Etmv4Unit::put_cycle_count() {
  if (atoms_.count != 0) flush_atoms();
  const std::uint32_t threshold = options_.cycle_threshold;
  const unsigned bits = m_profile() ? config_.cycle_count_bits() : 20;
  const std::uint64_t cycles = std::min(cycles_ - counted_to_, low_mask(bits));
  counted_to_ = cycles_;
  Packet packet;
  packet.cc_threshold = threshold;
  packet.cycle_count = static_cast<std::uint32_t>(cycles);
  packet.has_count = true;
  const bool commits = options_.speculation != 0;
  const std::uint32_t n = commits ? random_.below(std::min(depth_, 40U) + 1) : 0;
  packet.has_commit = commits;
  packet.commit = n;
  const std::uint64_t above = cycles - threshold;
  if (above < 4 && (!commits || (n >= 1 && n <= 4))) {
    packet.type = PacketType::kCycleCountF3;
  } else if (above < 16 && (!commits || (n >= 1 && n <= 16))) {
    packet.type = PacketType::kCycleCountF2;
  } else {
    packet.type = PacketType::kCycleCountF1;
    packet.has_count = !random_.one_in(64);
  }
  if (!packet.has_count) packet.cycle_count = 0;
  put(packet);
  depth_ -= n;
  record(EventKind::kCycleCount, packet.cycle_count);
}

void Etmv4Unit::synchronise(bool trace_on, std::uint64_t reason) {
  put(PacketType::kAsync);
  synced_at_ = output_.position();
  Packet info;
  info.type = PacketType::kTraceInfo;
  info.trace_info.sections = 1;
  info.trace_info.info = options_.cycle_counts ? 1 : 0;
  if (depth_ != 0) {
    info.trace_info.sections |= 4;
    info.trace_info.has_spec = true;
    info.trace_info.spec_depth = depth_;
  }
  if (options_.cycle_counts) {
    info.trace_info.sections |= 8;
    info.cc_threshold = options_.cycle_threshold;
  }
  put(info);
  history_.places.fill({0, Isa::kA64});
  sent_.timestamp_known = false;
  sent_.full_context_due = true;
  stack_.clear();
  if (settings_.timestamp_with_sync || (options_.timestamp_mean != 0 && random_.coin()))
    put_timestamp();
  if (trace_on) {
    put(PacketType::kTraceOn);
    record(EventKind::kTraceOn, reason);
  }
  // Hardware may trace one more block of the old flow before it sends the new address, also the one
  // to which a return led whose target it has not sent.
  next_.late = !trace_on && !next_.pending && random_.one_in(4);
  next_.pending = true;
}

// -- Steps of the core
// ------------------------------------------------------------------------------

void Etmv4Unit::on_block(const Step& step) {
  const bool late = next_.late;
  next_.late = false;
  const bool part = step.kind == StepKind::kPart;
  if (next_.pending && (!late || part)) target({step.start, step.isa});
  const CodeBlock& block = *step.block;
  truth_.range(step.start, step.end, step.count, step.taken, block.isa);
  // An interrupted block has no atom: the exception's address shows how far it executed.
  if (part) return;
  if (mispredict_due_ && block.is_direct() && block.conditional && !late) [[unlikely]] {
    mispredict(step);
  } else {
    atom(step.taken);
  }
  if (!step.taken) return;
  if (block.link) stack_.push({block.end, block.isa});
  if (!block.is_indirect()) {
    if (settings_.broadcast && block.is_direct()) next_.pending = true;
    return;
  }
  if (step.exception_return) {
    // In a tail chain, nothing has returned yet.
    next_.pending = true;
    if (step.tail_chained) return;
    if (!config_.ete) put(PacketType::kExceptionReturn);
    if (m_profile()) added(1);
    if (!config_.ete || block.isa == Isa::kA64) record(EventKind::kExceptionReturn, 0);
    if (step.context_changed) record_context();
    return;
  }
  // When a unit broadcasts branches, it still sends the addresses of returns.
  if (options_.return_stack && !settings_.broadcast && !block.link && !next_.pending &&
      stack_.match(step.next))
    return;
  next_.pending = true;
}

void Etmv4Unit::on_exception(const Step& step) {
  // Then the reader knows the place without its address.
  if (next_.late && random_.coin()) next_.pending = false;
  next_.late = false;
  const Place at{step.start, step.isa};
  Packet packet;
  packet.type = PacketType::kException;
  packet.exception = m_profile() ? m_exception_number(ExceptionNumbers::kEtmV4M, step)
                                 : exception_number(step.cause);
  if (options_.speculation > 1 && !next_.pending && random_.one_in(4)) {
    // Instructions fetched beyond the interrupted one are cancelled.
    const std::uint32_t count = wrong_path(at, std::min(options_.speculation, 8U));
    if (count != 0) {
      Packet cancel;
      cancel.type = PacketType::kCancelF1;
      cancel.cancel = count;
      put(cancel);
      depth_ -= count;
    }
  }
  // A reader knows the target of the return in a tail chain without an address, unless it could be
  // that of a call.
  const bool known = step.tail_chained && !options_.return_stack;
  if (next_.pending && (random_.coin() || (step.tail_chained && !known))) {
    packet.exception_address = etmv4::ExceptionAddress::kReturnIsTarget;
    put(packet);
    target(at);
  } else {
    if (next_.pending && !known) target(at);
    packet.exception_address = etmv4::ExceptionAddress::kReturnAddress;
    put(packet);
    address(at, false);
  }
  added(1);
  record_exception(packet.exception, step.start);
  if (step.context_changed) record_context();
  next_.pending = true;
}

// Emits the wrong outcome of the branch and some of what would have followed, then cancels both.
void Etmv4Unit::mispredict(const Step& step) {
  mispredict_due_ = false;
  const CodeBlock& block = *step.block;
  atom(!step.taken);
  flush_atoms();
  const Place wrong =
      step.taken ? Place{block.end, block.isa} : Place{block.target, block.next_isa};
  const std::uint32_t count = wrong_path(wrong, std::min(options_.speculation - 1, 8U));
  Packet packet;
  packet.cancel = count;
  if (count == 0) {
    packet.type = PacketType::kMispredict;
  } else if (count == 1) {
    packet.type = PacketType::kCancelF2;
  } else if (count <= 5 && random_.coin()) {
    packet.type = PacketType::kCancelF3;
  } else {
    packet.type = PacketType::kCancelF1Mispredict;
  }
  put(packet);
  depth_ -= count;
}

// Emits P0 elements from `place` on that will be cancelled; returns their number.
std::uint32_t Etmv4Unit::wrong_path(Place place, std::uint32_t limit) {
  std::uint32_t count = 0;
  for (const std::uint32_t wanted = random_.below(limit + 1); count < wanted; ++count) {
    const CodeBlock& block = execution_.block_at(place);
    if (!block.complete) break;
    const bool taken = !block.conditional || random_.coin();
    atom(taken);
    if (taken && block.is_indirect()) {
      if (block.targets == nullptr || block.targets->empty()) {
        ++count;
        break;
      }
      place = (*block.targets)[random_.below(static_cast<std::uint32_t>(block.targets->size()))];
      // Instructions that are cancelled do not change the reader's context.
      if ((place.isa == Isa::kA64) != sent_.context.a64) {
        ++count;
        break;
      }
      address(place, false);
    } else if (taken && block.is_direct()) {
      place = {block.target, block.next_isa};
    } else {
      place = {block.end, block.isa};
    }
  }
  if (atoms_.count != 0) flush_atoms();
  return count;
}

// A run of blocks for which the trace has only the number of instructions and the end.
void Etmv4Unit::q_element() {
  const Place start = execution_.place();
  if (next_.pending) target(start);
  next_.late = false;
  Step step;
  std::uint32_t instructions = 0;
  bool left = false;
  for (std::uint32_t blocks = random_.between(1, 12); blocks != 0 && !left && !execution_.ended();
       --blocks) {
    execution_.next(step);
    pass_time(step);
    // An exception has its own packet, so the Q element ends before it.
    left = step.kind != StepKind::kBlock || step.exception_return;
    if (left) break;
    hide(step);
    instructions += step.count;
  }
  const Place end{left ? step.start : step.next.address, left ? step.isa : step.next.isa};
  if (instructions != 0) {
    Packet packet;
    packet.type = PacketType::kQ;
    packet.q.has_count = true;
    packet.q.count = instructions;
    const bool is1 = end.isa == Isa::kT32;
    const std::uint64_t difference = end.address ^ history_.places[0].address;
    const bool fits = sent_.context.a64 ? difference >> 32 == 0 : end.address >> 32 == 0;
    packet.address.value = end.address;
    packet.address.is = is1 ? 1 : 0;
    const unsigned first = is1 ? 8 : 9;
    const auto* const match = std::ranges::find(history_.places, end);
    if (match != history_.places.end()) {
      packet.match_index = packet.q.type =
          static_cast<std::uint8_t>(match - history_.places.begin());
    } else if (difference >> (first + 8) == 0) {
      packet.q.type = is1 ? 6 : 5;
      packet.address.update_bits =
          static_cast<std::uint8_t>(difference >> first == 0 ? first : first + 8);
    } else if (fits) {
      packet.q.type = is1 ? 0xB : 0xA;
      packet.address.update_bits = 32;
    } else {
      packet.q.type = 0xC;
    }
    put(packet);
    if (packet.q.type == 0xC) {
      address(end, false);
    } else {
      history_.push(end);
    }
    added(1);
    TruthEvent event{.kind = EventKind::kUnknownPath};
    event.start = start.address;
    event.address = end.address;
    event.count = instructions;
    truth_.add(event);
  }
  if (left) follow(step);
}

// Continues until the last packet is that of a P0 element, as anything after it is lost with the
// rest.
void Etmv4Unit::settle() {
  // If every step has an exception, no block outside a handler ever ends.
  constexpr unsigned kPatience = 64;
  constexpr unsigned kMostSteps = 4096;
  Step step;
  unsigned steps = 0;
  if (execution_.ended()) return;
  do {
    if (++steps == kPatience) execution_.hold_exceptions();
    execution_.next(step);
    pass_time(step);
    follow(step);
  } while ((step.kind != StepKind::kBlock || step.exception_return) && steps < kMostSteps &&
           !execution_.ended());
  if (steps >= kPatience) execution_.resume_exceptions();
}

void Etmv4Unit::gap(PacketType type) {
  settle();
  if (depth_ != 0 || atoms_.count != 0) flush_atoms();
  if (depth_ != 0) commit(depth_);
  put(type);
  const bool overflow = type == PacketType::kOverflow;
  record(EventKind::kLost,
         static_cast<std::uint64_t>(overflow ? UnsyncReason::kOverflow : UnsyncReason::kDiscard));
  run_hidden(random_.between(1, 40));
  synchronise(true, static_cast<std::uint64_t>(overflow ? TraceOnReason::kOverflow
                                                        : TraceOnReason::kNormal));
}

void Etmv4Unit::filter() {
  if (atoms_.count != 0) flush_atoms();
  run_hidden(random_.between(1, 40));
  put(PacketType::kTraceOn);
  record(EventKind::kTraceOn, static_cast<std::uint64_t>(TraceOnReason::kNormal));
  stack_.clear();
  next_.late = false;
  next_.pending = true;
}

void Etmv4Unit::rare() {
  if (schedule_.take(kTimestamp, random_)) put_timestamp();
  if (schedule_.take(kEvent, random_)) {
    Packet packet;
    packet.type = PacketType::kEvent;
    packet.value = static_cast<std::uint8_t>(random_.between(1, 15));
    put(packet);
    record(EventKind::kEvent, packet.value);
  }
  if (schedule_.take(kMispredict, random_)) mispredict_due_ = true;
  if (schedule_.take(kCommit, random_)) {
    if (atoms_.count != 0) flush_atoms();
    if (depth_ != 0) commit(random_.between(1, depth_));
  }
  if (schedule_.take(kQ, random_)) q_element();
  if (schedule_.take(kOverflow, random_)) gap(PacketType::kOverflow);
  if (schedule_.take(kDiscard, random_)) gap(PacketType::kDiscard);
  if (schedule_.take(kFilter, random_)) filter();
}

void Etmv4Unit::follow(Step& step) {
  if (step.kind == StepKind::kPart || step.chains()) {
    // Nothing else can be traced between an interrupted block and its exception.
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

// Traces blocks that consist of one atom.  False: the next block is not such a block.
bool Etmv4Unit::run_plain() {
  if (next_.pending || mispredict_due_ || next_.late || settings_.broadcast) return false;
  bool taken = false;
  std::uint64_t chance = 0;
  const CodeBlock* block = execution_.next_plain(taken, chance);
  if (block == nullptr) return false;
  truth_.range(block->start, block->end, block->count, taken, block->isa);
  pass_time(block->count, chance);
  atom(taken);
  return true;
}

void Etmv4Unit::run(std::vector<std::uint8_t>& out, std::size_t bytes) {
  output_.start(out);
  if (!started_) {
    started_ = true;
    synchronise(true, static_cast<std::uint64_t>(TraceOnReason::kNormal));
  }
  const std::size_t end = output_.begin + bytes;
  Step step;
  while (out.size() < end && !execution_.ended()) {
    if (output_.position() - synced_at_ >= options_.sync_period) [[unlikely]]
      synchronise(false, 0);
    if (!run_plain()) {
      execution_.next(step);
      pass_time(step);
      follow(step);
    }
    if (options_.cycle_counts && cycles_ - counted_to_ >= options_.cycle_threshold)
      put_cycle_count();
    if (schedule_.tick()) [[unlikely]]
      rare();
  }
  output_.before = output_.position();
}

void Etmv4Unit::finish(std::vector<std::uint8_t>& out) {
  if (!started_) return;
  output_.start(out);
  settle();
  if (atoms_.count != 0) flush_atoms();
  if (depth_ != 0) commit(depth_);
}

}  // namespace waymark::synth
