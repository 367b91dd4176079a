#pragma once

#include "core_unit.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"

namespace waymark::synth {

/// ETMv4 and ETE.  See etmv4-ete.md 2 and 4, which describe the trace as a decoder sees it.
class Etmv4Unit : public CoreUnit {
 public:
  Etmv4Unit(const UnitOptions& options, const std::string& core_name, isa::Core core,
            const Program& program, const ExecutionOptions& execution, bool keep_truth);

  void run(std::vector<std::uint8_t>& out, std::size_t bytes) override;
  void finish(std::vector<std::uint8_t>& out) override;
  [[nodiscard]] std::vector<UnitRegister> registers() const override;
  [[nodiscard]] std::string type() const override;
  [[nodiscard]] std::unique_ptr<Source> make_source(const image::Image& image) const override;

 protected:
  /// A unit that registers configure.
  Etmv4Unit(const UnitOptions& options, const std::string& core_name, const etmv4::Config& config,
            const Program& program, const ExecutionOptions& execution, bool keep_truth);

  enum Rare : std::size_t {
    kTimestamp,
    kEvent,
    kMispredict,
    kQ,
    kOverflow,
    kDiscard,
    kFilter,
    kCommit
  };
  static constexpr std::size_t kRareCount = 8;
  static constexpr unsigned kMaxAtoms = 24;  ///< Per packet.
  static constexpr unsigned kAtomRoom = 64;

  static etmv4::Config make_config(const UnitOptions& options, const std::string& core_name,
                                   isa::Core core);
  static isa::Options waypoints(const etmv4::Config& config);
  [[nodiscard]] bool m_profile() const { return config_.core.profile == isa::Profile::kM; }

  struct Output {
    std::vector<std::uint8_t>* bytes = nullptr;
    std::uint64_t before = 0;  ///< Bytes before the present call of run().
    std::size_t begin = 0;     ///< The size of `bytes` when the call began.

    void start(std::vector<std::uint8_t>& out) {
      bytes = &out;
      begin = out.size();
    }
    /// In the whole trace.
    [[nodiscard]] std::uint64_t position() const { return before + bytes->size() - begin; }
  };
  /// Facts that registers state and options do not.
  struct Settings {
    bool broadcast = false;  ///< Taken branches get an address, also direct ones.
    bool timestamp_with_sync = false;
  };
  /// Those that wait for a packet.
  struct Atoms {
    std::uint64_t bits = 0;  ///< The oldest in bit 0.
    unsigned count = 0;

    void push(bool taken) { bits |= std::uint64_t{taken} << count++; }
    void pop(unsigned oldest) {
      bits >>= oldest;
      count -= oldest;
    }
  };
  /// The address to send after the last step.
  struct NextAddress {
    bool pending = false;  ///< The address of the next instruction must be sent,
    bool late = false;     ///< but only after one more block.
  };
  /// The state of the reader since the last synchronisation.
  struct Sent {
    PeContext context;
    bool full_context_due = true;
    bool timestamp_known = false;
    std::uint64_t timestamp = 0;
  };
  /// The addresses that the reader remembers, the newest first.
  struct History {
    std::array<Place, 3> places{};
    void push(Place place) { places = {place, places[0], places[1]}; }
  };

  void put(const etmv4::Packet& packet);
  void put(etmv4::PacketType type);
  void atom(bool taken) {
    atoms_.push(taken);
    if (atoms_.count == kAtomRoom) [[unlikely]]
      drain_atoms();
  }
  void drain_atoms();
  void flush_atoms();
  void added(std::uint32_t elements);
  void address(Place to, bool with_context);
  void target(Place to);
  void context_fields(etmv4::Packet& packet);

  void synchronise(bool trace_on, std::uint64_t reason);
  void on_block(const Step& step);
  void on_exception(const Step& step);
  void rare();
  bool run_plain();
  void follow(Step& step);
  void settle();
  void put_timestamp();
  void put_cycle_count();
  void mispredict(const Step& step);
  std::uint32_t wrong_path(Place place, std::uint32_t limit);
  void q_element();
  void gap(etmv4::PacketType type);
  void filter();
  void commit(std::uint32_t count);

  etmv4::Config config_;
  Schedule<kRareCount> schedule_;
  Output output_;
  std::uint64_t synced_at_ = 0;
  bool started_ = false;

  Settings settings_;
  Atoms atoms_;
  std::uint32_t depth_ = 0;  // P0 elements that the decoder has not committed.
  NextAddress next_;
  bool mispredict_due_ = false;
  Sent sent_;
  History history_;
  std::uint64_t counted_to_ = 0;  // Cycles up to here are in cycle counts.
  UnitStack stack_;
};

}  // namespace waymark::synth
