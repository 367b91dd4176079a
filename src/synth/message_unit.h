#pragma once

#include "core_unit.h"
#include "waymark/itm/config.h"
#include "waymark/itm/packet.h"
#include "waymark/stm/config.h"
#include "waymark/stm/encoder.h"
#include "waymark/stm/packet.h"

namespace waymark::synth {

/// Software that writes messages, and how a unit traces them.  See stm-itm.md.
class MessageUnit : public TraceUnit {
 public:
  void run(std::vector<std::uint8_t>& out, std::size_t bytes) override;
  void finish(std::vector<std::uint8_t>& /*out*/) override {}

 protected:
  MessageUnit(const UnitOptions& options, bool keep_truth);

  virtual void synchronise() = 0;
  virtual void message() = 0;
  virtual void end_of_run() = 0;
  void record_message(std::uint64_t from, std::uint32_t width, std::uint64_t payload);
  [[nodiscard]] bool timestamp_due();

  Random random_;
  Schedule<2> schedule_;  // Timestamps, overflows.
  std::vector<std::uint8_t>* out_ = nullptr;
  std::uint64_t time_ = 1000;

 private:
  std::uint64_t written_ = 0;
  std::uint64_t synced_at_ = 0;
  bool started_ = false;
};

class StmUnit final : public MessageUnit {
 public:
  StmUnit(const UnitOptions& options, bool keep_truth);
  [[nodiscard]] std::vector<UnitRegister> registers() const override;
  [[nodiscard]] std::string type() const override { return "STM"; }
  [[nodiscard]] std::unique_ptr<Source> make_source(const image::Image& image) const override;

 private:
  void synchronise() override;
  void message() override;
  void end_of_run() override { encoder_.align(); }
  void put(stm::PacketType type, std::uint64_t payload, unsigned width);

  stm::Config config_;
  stm::Encoder encoder_;
  std::uint64_t master_ = 0;
  std::uint64_t channel_ = 0;
};

class ItmUnit final : public MessageUnit {
 public:
  ItmUnit(const UnitOptions& options, bool keep_truth);
  [[nodiscard]] std::vector<UnitRegister> registers() const override;
  [[nodiscard]] std::string type() const override { return "ITM"; }
  [[nodiscard]] std::unique_ptr<Source> make_source(const image::Image& image) const override;

 private:
  void synchronise() override;
  void message() override;
  void end_of_run() override {}

  itm::Config config_;
  std::uint64_t stamped_ = 1000;
};

}  // namespace waymark::synth
