#pragma once

#include "core_unit.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/packet.h"

namespace waymark::synth {

/// PTM, PFT 1.1.  Fact sheet ptm.md, seen from the other side.
class PtmUnit final : public CoreUnit {
 public:
  PtmUnit(const UnitOptions& options, const std::string& core_name, isa::Core core,
          const Program& program, const ExecutionOptions& execution, bool keep_truth);

  void run(std::vector<std::uint8_t>& out, std::size_t bytes) override;
  void finish(std::vector<std::uint8_t>& out) override;
  [[nodiscard]] std::vector<UnitRegister> registers() const override;
  [[nodiscard]] std::string type() const override { return "PTM1.1"; }
  [[nodiscard]] std::unique_ptr<Source> make_source(const image::Image& image) const override;

 private:
  enum Rare : std::size_t { kTimestamp, kEvent, kOverflow, kFilter };
  static constexpr std::size_t kRareCount = 4;
  static constexpr unsigned kMaxAtoms = 5;

  static ptm::Config make_config(const UnitOptions& options, isa::Core core);

  void put(const ptm::Packet& packet);
  void atom(bool taken);
  void flush_atoms();
  void branch(Place to, bool exception, std::uint16_t number);
  void context_packets();
  std::uint32_t take_cycles();
  void say_cycles(std::uint32_t count);

  void synchronise(ptm::IsyncReason reason);
  void on_block(const Step& step);
  void on_exception(const Step& step);
  void follow(Step& step);
  bool run_plain();
  void rare();
  void put_timestamp();

  ptm::Config config_;
  Schedule<kRareCount> schedule_;
  std::vector<std::uint8_t>* out_ = nullptr;
  std::uint64_t written_ = 0;
  std::size_t run_start_ = 0;
  std::uint64_t synced_at_ = 0;
  bool started_ = false;
  std::uint32_t atoms_ = 0;
  unsigned atom_count_ = 0;
  Place sent_;  // The last address in the trace, and the instruction set that the reader knows.
  PeContext sent_context_;
  std::uint64_t last_timestamp_ = 0;
  bool timestamp_known_ = false;
  std::uint64_t counted_to_ = 0;
  UnitStack stack_;
};

}  // namespace waymark::synth
