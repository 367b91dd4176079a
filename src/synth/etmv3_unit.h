#pragma once

#include "core_unit.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/packet.h"

namespace waymark::synth {

/// ETMv3.5 without data trace: an atom for each instruction.  Fact sheet etmv3.md, seen from the
/// other side.
class Etmv3Unit final : public CoreUnit {
 public:
  Etmv3Unit(const UnitOptions& options, const std::string& core_name, isa::Core core,
            const Program& program, const ExecutionOptions& execution, bool keep_truth);

  void run(std::vector<std::uint8_t>& out, std::size_t bytes) override;
  void finish(std::vector<std::uint8_t>& out) override;
  [[nodiscard]] std::vector<UnitRegister> registers() const override;
  [[nodiscard]] std::string type() const override { return "ETM3.5"; }
  [[nodiscard]] std::unique_ptr<Source> make_source(const image::Image& image) const override;
  [[nodiscard]] bool ranges_in_parts() const override { return true; }

 private:
  enum Rare : std::size_t { kTimestamp, kEvent, kOverflow, kFilter };
  static constexpr std::size_t kRareCount = 4;
  static constexpr unsigned kMaxAtoms = 16;  ///< Of one packet.
  static constexpr unsigned kAtomRoom = 64;

  static etmv3::Config make_config(const UnitOptions& options, isa::Core core);

  void put(const etmv3::Packet& packet);
  /// The atoms of `count` instructions, all E but perhaps the last.
  void atoms(std::uint32_t count, bool taken);
  void drain_atoms(unsigned keep);
  void flush_atoms() { drain_atoms(0); }
  void branch(Place to, bool exception, std::uint16_t number);
  void context_packets();

  void synchronise(etmv3::SyncReason reason);
  void on_block(const Step& step);
  void on_exception(const Step& step);
  void follow(Step& step);
  bool run_plain();
  void rare();
  void put_timestamp();
  void put_cycles();

  etmv3::Config config_;
  Schedule<kRareCount> schedule_;
  std::vector<std::uint8_t>* out_ = nullptr;
  std::uint64_t written_ = 0;
  std::size_t run_start_ = 0;
  std::uint64_t synced_at_ = 0;
  bool started_ = false;
  std::uint64_t atoms_ = 0;
  unsigned atom_count_ = 0;
  Place sent_;
  PeContext sent_context_;
  std::uint64_t last_timestamp_ = 0;
  bool timestamp_known_ = false;
};

}  // namespace waymark::synth
