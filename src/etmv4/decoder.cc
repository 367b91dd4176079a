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
          .reference_deviations = quirks.isa_deviations,
          .newer_branches_unknown = quirks.newer_branches_unknown};
}

}  // namespace

Decoder::Decoder(const Config& config, const image::Image& image, std::uint32_t flags,
                 const Quirks& quirks)
    : config_(config),
      quirks_(quirks),
      flags_(flags),
      path_(image, walk_options(config, flags, quirks), config.trace_id(),
            config.return_stack_enabled()),
      exception_return_is_p0_(m_profile() && (config.core.arch == isa::Arch::kV7 ||
                                              !quirks.v8m_exception_return_is_not_p0)),
      checks_((flags & (kCheckDirectBranchN | kCheckStrictBranchN | kCheckRangeContinuity)) != 0),
      atoms_can_fail_(checks_ || path_.returns() || (flags & kA64OpcodeCheck) != 0),
      follows_(!config.load_store_p0()),
      callbacks_(image.has_callbacks()) {
  straight_ =
      follows_ && config.max_speculation() == 0 && !checks_ && (flags & kA64OpcodeCheck) == 0;
  counts_queued_ =
      follows_ && !checks_ && (flags & kA64OpcodeCheck) == 0 && !quirks.error_loses_elements;
  can_lose_elements_ = path_.returns() && quirks.error_loses_elements;
  context_.kind = ElementKind::kInstrRange;
  context_.trace_id = config.trace_id();
  context_.isa = path_.isa;
  select_memory();
}

void Decoder::set_range_limit(std::uint32_t instructions) {
  path_.follower().set_range_limit(instructions);
  if (instructions != 0) {
    atoms_can_fail_ = true;
    straight_ = counts_queued_ = false;
  }
  path_.settle();
  path_.cut();
}

void Decoder::reset() {
  clear_state();
  state_ = State::kNoSync;
  unsync_reason_ = UnsyncReason::kResetDecoder;
  no_sync_pending_ = end_request_ = false;
  staged_.clear();
  staged_taken_ = staged_ready_ = 0;
  diagnostics_.clear();
  busy_ = failed_ = yield_ = run_open_ = false;
  if (!quirks_.index_survives_reset) packet_index_ = 0;
}

// The state that every loss of synchronisation forgets; etmv4-ete.md 5.1, columns "error resync"
// and "RESET".
void Decoder::clear_state() {
  leave_counter();
  run_left_ = 0;
  queue_.clear();
  holding_ = false;
  depth_ = 0;
  commit_request_ = cancel_request_ = 0;
  settling_ = event_overdue_ = false;
  mispredict_request_ = discard_request_ = false;
  path_.lost = need_context_ = true;
  address_pending_ = false;
  last_is_ = 0;
  is_64bit_ = false;
  previous_overflow_ = false;
  marker_seen_ = false;
  range_expected_ = false;
  path_.cut();
}

void Decoder::jump() {
  if (state_ == State::kNoSync) return;
  clear_state();
  state_ = State::kWaitSync;
}

void Decoder::restore(const Decoder& other) {
  static_cast<DecoderState&>(*this) = other.settled_state();
  path_.restore(other.path_.settled());
  staged_.clear();
  staged_taken_ = staged_ready_ = 0;
  diagnostics_.clear();
  select_memory(memory_from_);
}

// The state without leftovers that no longer have a meaning.
DecoderState Decoder::settled_state() const {
  DecoderState state = *this;
  state.run_atoms_ = 0;
  if (!holding_) {
    state.held_is_ = 0;
    state.held_index_ = 0;
    state.held_address_ = 0;
  }
  if (!run_open_) state.last_looked_at_ = 0;
  if (!range_expected_) state.range_expectation_ = 0;
  state.credit_ = refilled_credit();
  state.refilled_at_ = packet_index_;
  return state;
}

bool Decoder::same_state(const Decoder& other) const {
  return settled_state() == other.settled_state() && path_.settled() == other.path_.settled();
}

std::size_t Decoder::drain(std::span<Element> out) {
  out_begin_ = out_ = out.data();
  out_end_ = out_begin_ + out.size();
  while (true) {
    if (staged_ready_ != 0) [[unlikely]] {
      const std::size_t count =
          std::min(staged_ready_ - staged_taken_, static_cast<std::size_t>(out_end_ - out_));
      std::copy_n(staged_.begin() + static_cast<std::ptrdiff_t>(staged_taken_), count, out_);
      out_ += count;
      staged_taken_ += count;
      if (staged_taken_ != staged_ready_) return given();
      staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(staged_ready_));
      staged_taken_ = staged_ready_ = 0;
    }
    if (!diagnostics_.empty()) [[unlikely]]
      return given();
    if (no_sync_pending_) [[unlikely]] {
      if (!room()) return given();
      emit(ElementKind::kNoSync, packet_index_).reason = static_cast<std::uint8_t>(unsync_reason_);
      no_sync_pending_ = false;
    }
    if (yield_) [[unlikely]] {
      yield_ = false;
      if (given() != 0) return given();
    }
    if (failed_ || (commit_request_ == 0 && cancel_request_ == 0 && !mispredict_request_ &&
                    !discard_request_ && !end_request_)) {
      busy_ = false;
      return given();
    }
    if (!room()) return given();
    resolve();
  }
}

std::uint32_t Decoder::refilled_credit() const {
  constexpr std::uint64_t kPerByte = 64;
  const std::uint64_t bytes = packet_index_ - std::min(packet_index_, refilled_at_);
  if (quirks_.fatal_walk_errors || bytes > kMaxCredit / kPerByte) return kMaxCredit;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(kMaxCredit, credit_ + bytes * kPerByte));
}

void Decoder::refill_credit() {
  credit_ = refilled_credit();
  refilled_at_ = packet_index_;
}

void Decoder::refresh() {
  take_place(*this);
  path_.follower().flush();
  callbacks_ = path_.follower().reads_callbacks();
  select_memory();
}

void Decoder::select_memory(TraceIndex index) {
  path_.follower().select(space_of(context_),
                          std::uint64_t{context_.vmid} << 32 | context_.context_id, index);
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
  if (staging_) staged_.resize(staged_ready_);
  report(fault, Severity::kError, index, finding);
  clear_state();
  if (failed_) return;
  unsync_reason_ = reason;
  state_ = State::kWaitSync;
  no_sync_pending_ = true;
}

}  // namespace waymark::etmv4
