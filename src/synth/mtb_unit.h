#pragma once

#include <optional>

#include "core_unit.h"
#include "waymark/mtb/config.h"
#include "waymark/mtb/packet.h"

namespace waymark::synth {

/// MTB: its records in order, as many as wanted.  See mtb.md.
class MtbUnit final : public CoreUnit {
 public:
  MtbUnit(const UnitOptions& options, const std::string& core_name, isa::Core core,
          const Program& program, const ExecutionOptions& execution, bool keep_truth);

  void run(std::vector<std::uint8_t>& out, std::size_t bytes) override;
  void finish(std::vector<std::uint8_t>& out) override;

  [[nodiscard]] std::string type() const override { return "MTB"; }
  [[nodiscard]] std::vector<UnitRegister> registers() const override;
  [[nodiscard]] std::unique_ptr<Source> make_source(const image::Image& image) const override;

 private:
  enum Rare : std::size_t { kFilter };
  static constexpr std::size_t kRareCount = 1;

  void follow(Step& step);
  void on_block(const Step& step);
  void on_exception(const Step& step);
  /// Executed without a record so far.
  void wait(const Step& step);
  void put(mtb::PacketType type, std::uint64_t source, std::uint64_t destination);
  void record_waiting();
  void hide_waiting();
  void begin_again();
  [[nodiscard]] std::uint32_t number_of(std::uint64_t handler) const;

  const Program* program_;
  mtb::Config config_;
  std::vector<std::uint8_t>* out_ = nullptr;
  Schedule<kRareCount> schedule_;
  std::vector<TruthEvent> waiting_;  ///< Ranges since the last record.
  bool started_ = false;             ///< There was a record since tracing began.
};

}  // namespace waymark::synth
