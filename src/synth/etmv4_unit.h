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

  static etmv4::Config make_config(const UnitOptions& options, isa::Core core);
  static isa::Options waypoints(const etmv4::Config& config);

  void put(const etmv4::Packet& packet);
  void put(etmv4::PacketType type);
  void atom(bool taken) {
    atoms_ |= std::uint64_t{taken} << atom_count_;
    if (++atom_count_ == kAtomRoom) [[unlikely]]
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
  std::vector<std::uint8_t>* out_ = nullptr;
  std::uint64_t written_ = 0;  // Bytes before the present call of run().
  std::size_t run_start_ = 0;
  std::uint64_t synced_at_ = 0;
  bool started_ = false;

  std::uint64_t atoms_ = 0;  // The oldest in bit 0.
  unsigned atom_count_ = 0;
  std::uint32_t depth_ = 0;  // P0 elements that the decoder has not committed.
  bool pending_ = false;     // The address of the next instruction must be sent.
  bool late_ = false;        // … but only after one more block.
  bool matched_ = false;     // The last branch matched the return stack.
  bool mispredict_due_ = false;
  bool broadcast_ = false;  // Taken branches get an address, also direct ones.
  bool timestamp_with_sync_ = false;
  bool full_context_ = true;
  PeContext sent_;
  std::array<Place, 3> history_{};
  bool timestamp_absolute_ = true;
  std::uint64_t last_timestamp_ = 0;
  std::uint64_t counted_to_ = 0;  // Cycles up to here are in cycle counts.
  UnitStack stack_;
};

}  // namespace waymark::synth
