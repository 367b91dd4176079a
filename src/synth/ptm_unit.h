#pragma once

#include "pft_unit.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/encoder.h"
#include "waymark/ptm/packet.h"

namespace waymark::synth {

struct PtmProtocol {
  using Packet = ptm::Packet;
  using PacketType = ptm::PacketType;
  using Config = ptm::Config;
  using Reason = ptm::IsyncReason;
  static constexpr Reason kPeriodic = Reason::kPeriodic;
  static constexpr Reason kBegin = Reason::kTraceEnable;
  static constexpr Reason kOverflow = Reason::kRestartOverflow;
  static auto encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out) {
    return ptm::encode(packet, config, out);
  }
};

/// PTM, PFT 1.1.  See ptm.md, which describes the trace as a decoder sees it.
class PtmUnit final : public PftUnit<PtmUnit, PtmProtocol> {
 public:
  PtmUnit(const UnitOptions& options, const std::string& core_name, isa::Core core,
          const Program& program, const ExecutionOptions& execution, bool keep_truth);

  [[nodiscard]] std::string type() const override { return "PTM1.1"; }
  [[nodiscard]] std::unique_ptr<Source> make_source(const image::Image& image) const override;

 private:
  friend class PftUnit<PtmUnit, PtmProtocol>;
  static constexpr unsigned kMaxAtoms = 5;

  static ptm::Config make_config(const UnitOptions& options, isa::Core core);

  void atom(bool taken);
  void plain_block(std::uint32_t /*count*/, bool taken) { atom(taken); }
  void flush_atoms();
  void branch(Place to, bool exception, std::uint16_t number);
  std::uint32_t take_cycles();
  void record_cycles(std::uint32_t count);

  void synchronise(ptm::IsyncReason reason);
  void on_block(const Step& step);
  void on_exception(const Step& step);
  void put_timestamp();
  void put_trigger();

  std::uint32_t atoms_ = 0;
  std::uint64_t counted_to_ = 0;
  UnitStack stack_;
};

}  // namespace waymark::synth
