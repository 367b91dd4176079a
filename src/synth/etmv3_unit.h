#pragma once

#include "pft_unit.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/encoder.h"
#include "waymark/etmv3/packet.h"

namespace waymark::synth {

struct Etmv3Protocol {
  using Packet = etmv3::Packet;
  using PacketType = etmv3::PacketType;
  using Config = etmv3::Config;
  using Reason = etmv3::SyncReason;
  static constexpr Reason kPeriodic = Reason::kPeriodic;
  static constexpr Reason kBegin = Reason::kTraceEnable;
  static constexpr Reason kOverflow = Reason::kOverflow;
  static auto encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out) {
    return etmv3::encode(packet, config, out);
  }
};

/// ETMv3.5 without data trace: one atom per instruction.  See etmv3.md, which describes the trace
/// as a decoder sees it.
class Etmv3Unit final : public PftUnit<Etmv3Unit, Etmv3Protocol> {
 public:
  Etmv3Unit(const UnitOptions& options, const std::string& core_name, isa::Core core,
            const Program& program, const ExecutionOptions& execution, bool keep_truth);

  [[nodiscard]] std::string type() const override { return "ETM3.5"; }
  [[nodiscard]] std::unique_ptr<Source> make_source(const image::Image& image) const override;
  [[nodiscard]] bool ranges_in_parts() const override { return true; }

 private:
  friend class PftUnit<Etmv3Unit, Etmv3Protocol>;
  static constexpr unsigned kMaxAtoms = 16;  ///< Per packet.
  static constexpr unsigned kAtomRoom = 64;

  static etmv3::Config make_config(const UnitOptions& options, const std::string& core_name,
                                   isa::Core core);

  /// The atoms of `count` instructions; all are E, except possibly the last.
  void plain_block(std::uint32_t count, bool taken);
  void drain_atoms(unsigned keep);
  void flush_atoms() { drain_atoms(0); }
  void branch(Place to);
  void branch(Place to, const etmv3::Exception& exception);

  void synchronise(etmv3::SyncReason reason);
  void on_block(const Step& step);
  void on_exception(const Step& step);
  void put_timestamp();
  void put_trigger();
  void put_cycles();

  std::uint64_t atoms_ = 0;
};

}  // namespace waymark::synth
