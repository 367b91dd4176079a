// Shared by the units of ETMv3 and PTM: registers, packets that are alike, and the loop over
// blocks.
#pragma once

#include <algorithm>
#include <bit>

#include "core_unit.h"

namespace waymark::synth {

/// See etmv3.md 5.4 and ptm.md: both protocols number exceptions in the same way.
[[nodiscard]] std::uint16_t pft_exception_number(ExceptionCause cause);

/// `Unit` is the derived class; it handles a block and sends atoms:
///
///     void flush_atoms();                                  // There are atom_count_ of them.
///     void plain_block(std::uint32_t count, bool taken);   // A block that is only atoms.
///     void synchronise(Reason reason);
///     void on_block(const Step& step);
///     void on_exception(const Step& step);
///     void put_timestamp();
///     void put_trigger();
///
/// `Protocol` has the types Packet, PacketType, Config and Reason, encode(), and the reasons for
/// synchronisation kPeriodic, kBegin and kOverflow.  All of this is known at compile time: the loop
/// over blocks makes no virtual calls.
template <class Unit, class Protocol>
class PftUnit : public CoreUnit {
 public:
  void run(std::vector<std::uint8_t>& out, std::size_t bytes) override {
    out_ = &out;
    run_start_ = out.size();
    if (!started_) unit().synchronise(Protocol::kBegin);
    started_ = true;
    const std::size_t end = run_start_ + bytes;
    Step step;
    while (out.size() < end && !execution_.ended()) {
      if (position() - synced_at_ >= options_.sync_period) [[unlikely]]
        unit().synchronise(Protocol::kPeriodic);
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

  void finish(std::vector<std::uint8_t>& out) override {
    out_ = &out;
    flush();
  }

  [[nodiscard]] std::vector<UnitRegister> registers() const override {
    return {{"ETMCR", config_.etmcr},
            {"ETMIDR", config_.etmidr},
            {"ETMCCER", config_.etmccer},
            {"ETMTRACEIDR", config_.etmtraceidr}};
  }

 protected:
  using Packet = typename Protocol::Packet;
  using PacketType = typename Protocol::PacketType;
  using Config = typename Protocol::Config;
  using Reason = typename Protocol::Reason;

 private:
  friend Unit;
  PftUnit(const UnitOptions& options, const std::string& core_name, const Config& config,
          const Program& program, const isa::Options& waypoints, const ExecutionOptions& execution,
          bool keep_truth)
      : CoreUnit(options, core_name, program, waypoints, execution, keep_truth),
        config_(config),
        schedule_({options.timestamp_mean, options.event_mean, options.overflow_mean,
                   options.filter_mean},
                  random_) {}

 protected:
  /// The bits of ETMCR that both protocols have.
  static std::uint32_t control_bits(const UnitOptions& options) {
    return (options.branch_broadcast ? 1U << 8 : 0U) | (options.cycle_counts ? 1U << 12 : 0U) |
           (options.context_ids ? 3U << 14 : 0U) | (options.timestamp_mean != 0 ? 1U << 28 : 0U) |
           (options.vmids ? 1U << 30 : 0U);
  }

  void flush() {
    if (atom_count_ != 0) unit().flush_atoms();
  }
  /// Sends the atoms before it first.
  void put(const Packet& packet) {
    flush();
    note(Protocol::encode(packet, config_, *out_));
  }
  void put(PacketType type) {
    Packet packet;
    packet.type = type;
    put(packet);
  }

  void context_packets() {
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

  /// A timestamp of the present time, as short as the previous one allows.
  [[nodiscard]] Packet timestamp_packet() {
    Packet packet;
    packet.type = PacketType::kTimestamp;
    packet.timestamp = timestamp();
    const std::uint64_t difference =
        timestamp_known_ ? packet.timestamp ^ last_timestamp_ : ~std::uint64_t{0};
    const auto width = static_cast<unsigned>(std::bit_width(difference));
    unsigned most = 64;
    if constexpr (requires { config_.timestamp_bits(); }) most = config_.timestamp_bits();
    // The last of the bytes has more or fewer bits than the others.
    const unsigned before_last = (most - 1) / 8 * 7;
    packet.timestamp_bits =
        static_cast<std::uint8_t>(width > before_last ? most : std::max(1U, (width + 6) / 7) * 7);
    timestamp_known_ = true;
    last_timestamp_ = packet.timestamp;
    return packet;
  }

  /// The number of bits up to the highest one that differs from the last address in the trace.
  [[nodiscard]] unsigned changed_bits(std::uint64_t address) const {
    return static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(address) ^
                                                static_cast<std::uint32_t>(sent_.address)));
  }

  void record_begin(Reason reason) {
    record(EventKind::kTraceOn,
           static_cast<std::uint64_t>(reason == Protocol::kOverflow ? TraceOnReason::kOverflow
                                                                    : TraceOnReason::kNormal));
  }
  void record_new_context(const Step& step) {
    if (!step.context_changed) return;
    record_context();
    context_packets();
  }

  /// The position in the trace.
  [[nodiscard]] std::uint64_t position() const { return written_ + out_->size() - run_start_; }

  Config config_;
  std::vector<std::uint8_t>* out_ = nullptr;
  std::uint64_t synced_at_ = 0;
  unsigned atom_count_ = 0;  // Atoms that were not sent yet.
  Place sent_;  // The last address in the trace, and the instruction set that the reader knows.
  PeContext sent_context_;
  bool timestamp_known_ = false;

 private:
  enum Rare : std::size_t { kTimestamp, kEvent, kOverflow, kFilter };
  static constexpr std::size_t kRareCount = 4;

  Unit& unit() { return static_cast<Unit&>(*this); }

  // Traces a block that consists of atoms.  False: the block needs more than atoms.
  bool run_plain() {
    if (options_.branch_broadcast) return false;
    bool taken = false;
    std::uint64_t chance = 0;
    const CodeBlock* block = execution_.next_plain(taken, chance);
    if (block == nullptr) return false;
    truth_.range(block->start, block->end, block->count, taken, block->isa);
    pass_time(block->count, chance);
    unit().plain_block(block->count, taken);
    return true;
  }

  void follow(Step& step) {
    if (step.kind == StepKind::kPart || step.chains()) {
      unit().on_block(step);
      execution_.next(step);
      pass_time(step);
    }
    if (step.kind == StepKind::kException) {
      flush();
      unit().on_exception(step);
    } else {
      unit().on_block(step);
    }
  }

  void rare() {
    if (schedule_.take(kTimestamp, random_)) unit().put_timestamp();
    if (schedule_.take(kEvent, random_)) unit().put_trigger();
    const bool overflow = schedule_.take(kOverflow, random_);
    const bool filter = schedule_.take(kFilter, random_);
    if (!overflow && !filter) return;
    flush();
    run_hidden(random_.between(1, 40));
    unit().synchronise(overflow ? Protocol::kOverflow : Protocol::kBegin);
  }

  Schedule<kRareCount> schedule_;
  std::uint64_t written_ = 0;  // Bytes before the present call of run().
  std::size_t run_start_ = 0;
  bool started_ = false;
  std::uint64_t last_timestamp_ = 0;
};

}  // namespace waymark::synth
