// The decoder's interface: state, output, errors.
#include "waymark/etmv4/decoder.h"

#include <algorithm>

#include "decoder_inl.h"
#include "waymark/etmv4/memory_space.h"
#include "waymark/protocol/source.h"

namespace waymark::etmv4 {
namespace {

isa::Options walk_options(const Config& config, std::uint32_t flags, const Quirks& quirks) {
  return {.arch = config.core.arch,
          .dsb_dmb_waypoints = false,
          .wfi_wfe_waypoints = config.wfx_waypoints(),
          .track_it_block = !quirks.it_blocks_ignored,
          .a64_opcode_check = (flags & kA64OpcodeCheck) != 0,
          // An ETMv4 has a packet for them.
          .aarch32_exception_returns =
              config.major_version() >= 5 && !quirks.aarch32_exception_returns_unknown,
          .quirks = {.a32_eret_is_not_a_branch = quirks.a32_eret_is_not_a_branch,
                     .newer_branches_unconditional = quirks.newer_branches_unconditional,
                     .clrm_is_a_branch = quirks.clrm_is_a_branch,
                     .newer_branches_unknown = quirks.newer_branches_unknown,
                     .pauth_lr_unknown = quirks.pauth_lr_unknown,
                     .reads_four_bytes = quirks.reads_four_bytes}};
}

}  // namespace

Decoder::Decoder(const Config& config, const image::Image& image, std::uint32_t flags,
                 const Quirks& quirks)
    : config_(config),
      quirks_(quirks),
      flags_(flags),
      path_(image, walk_options(config, flags, quirks), config.trace_id(),
            config.return_stack_enabled()),
      callbacks_(image.has_callbacks()) {
  const bool opcode_check = (flags & kA64OpcodeCheck) != 0;
  traits_.exception_return_is_p0 =
      m_profile() && (config.core.arch == isa::Arch::kV7 || !quirks.v8m_exception_return_is_not_p0);
  traits_.checks =
      (flags & (kCheckDirectBranchN | kCheckStrictBranchN | kCheckRangeContinuity)) != 0;
  traits_.atoms_can_fail = traits_.checks || path_.returns() || opcode_check;
  traits_.reports_lost_atoms = (flags & kReportLostAtoms) != 0;
  traits_.follows = !config.load_store_p0();
  // A listing of 1.8.3 shows timestamps of an M profile without any marker (v7m_svc).
  traits_.timestamp_markers = config.timestamp_markers() && !m_profile() &&
                              (!quirks.markers_since_ete_1_1 || config.version() >= 0x51);
  const bool plain = traits_.follows && !traits_.checks && !opcode_check;
  const std::uint32_t depth = config.max_speculation();
  traits_.max_depth =
      quirks.max_speculation_is_signed ? static_cast<std::int32_t>(depth) : std::int64_t{depth};
  traits_.straight = plain && depth == 0;
  traits_.counts_queued = plain && !quirks.error_loses_elements;
  traits_.can_lose_elements = path_.returns() && quirks.error_loses_elements;
  context_.kind = ElementKind::kInstrRange;
  context_.trace_id = config.trace_id();
  context_.isa = path_.isa;
  path_.follower().set_walks_unlimited(quirks.walks_unlimited);
  select_memory();
}

void Decoder::set_range_limit(std::uint32_t instructions) {
  path_.follower().set_range_limit(instructions);
  if (instructions != 0) {
    traits_.atoms_can_fail = true;
    traits_.straight = traits_.counts_queued = false;
  }
  path_.settle();
  path_.cut();
}

void Decoder::reset() {
  clear_state();
  sync_ = {.reason = UnsyncReason::kResetDecoder};
  requests_ = {};
  output_.reset();
  diagnostics_.clear();
  busy_ = failed_ = yield_ = run_.open = false;
  if (!quirks_.index_survives_reset) packet_index_ = 0;
}

// The state that every loss of synchronisation forgets; etmv4-ete.md 5.1, columns "error resync"
// and "RESET".
void Decoder::clear_state() {
  leave_counter();
  rest_.left = 0;
  queue_.reset();
  requests_ = {.end = requests_.end};
  settling_ = false;
  mode_ = {};
  earlier_ = {.unfollowed_reported = earlier_.unfollowed_reported};
  expected_start_.reset();
  path_.lost = true;
  path_.cut();
}

void Decoder::jump() {
  if (sync_.state == State::kNoSync) return;
  clear_state();
  sync_.state = State::kWaitSync;
}

void Decoder::restore(const Decoder& other) {
  static_cast<DecoderState&>(*this) = other.settled_state();
  path_.restore(other.path_.settled());
  output_.reset();
  diagnostics_.clear();
  select_memory(memory_from_);
}

// The state without leftovers that no longer have a meaning.
DecoderState Decoder::settled_state() const {
  DecoderState state = *this;
  state.rest_.atoms = 0;
  if (!run_.open) state.run_.looked_at = 0;
  refill(state.credit_);
  return state;
}

bool Decoder::same_state(const Decoder& other) const {
  return settled_state() == other.settled_state() && path_.settled() == other.path_.settled();
}

std::size_t Decoder::drain(std::span<Element> out) {
  output_.begin(out.data(), out.data() + out.size());
  while (true) {
    if (!output_.give_released()) [[unlikely]]
      return output_.given();
    if (!diagnostics_.empty()) [[unlikely]]
      return output_.given();
    if (sync_.unreported) [[unlikely]] {
      if (!output_.room()) return output_.given();
      emit(ElementKind::kNoSync, packet_index_).reason = static_cast<std::uint8_t>(sync_.reason);
      sync_.unreported = false;
    }
    if (yield_) [[unlikely]] {
      yield_ = false;
      if (output_.given() != 0) return output_.given();
    }
    if (failed_ || !requests_.any()) {
      busy_ = false;
      return output_.given();
    }
    if (!output_.room()) return output_.given();
    resolve();
  }
}

// With fatal errors, nothing bounds the work but the length of the trace.
void Decoder::refill(Credit& credit) const {
  if (quirks_.fatal_walk_errors) {
    credit.reset(packet_index_);
  } else {
    credit.refill(packet_index_);
  }
}

void Decoder::refresh() {
  take_place(*this);
  path_.follower().flush();
  callbacks_ = path_.follower().reads_callbacks();
  select_memory();
}

void Decoder::select_memory(TraceIndex index) {
  path_.follower().select(space_of(context_), execution_context(context_), index);
  memory_from_ = path_.follower().covers_from();
  path_.cut();
}

void Decoder::emit_not_accessible(TraceIndex index, std::uint64_t address) {
  Element& nacc = emit(ElementKind::kAddrNacc, index);
  nacc.start = address;
  nacc.number = path_.follower().space();
}

void Decoder::report(Fault fault, Severity severity, TraceIndex index, Finding finding) {
  Diagnostic& record = diagnostics_.emplace_back();
  record.fault = fault;
  record.severity = severity;
  record.trace_id = config_.trace_id();
  record.index = index;
  record.finding = finding;
  busy_ = true;
  if ((flags_ & kHaltOnBadPackets) != 0 && severity != Severity::kInfo) {
    record.fatal = true;
    failed_ = true;
  }
}

void Decoder::blame(std::uint64_t address) { diagnostics_.back().address = address; }

void Decoder::fail_commit(Fault fault, TraceIndex index, Finding finding, UnsyncReason reason) {
  if (output_.staging()) output_.drop_unreleased();
  report(fault, Severity::kError, index, finding);
  clear_state();
  if (failed_) return;
  sync_.reason = reason;
  sync_.state = State::kWaitSync;
  sync_.unreported = true;
}

}  // namespace waymark::etmv4
