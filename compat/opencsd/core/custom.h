// Custom decoders: the register of the process, and a channel with one of them.  See
// opencsd-c-api.md 4.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "channel.h"
#include "opencsd/c_api/ocsd_c_api_custom.h"

namespace waymark::compat {

/// Safe from any thread.
class CustomRegister {
 public:
  static CustomRegister& instance();

  /// Writes the protocol number into `factory`.
  ErrorNumber add(std::string_view name, ocsd_extern_dcd_fact_t& factory);
  [[nodiscard]] std::optional<ocsd_extern_dcd_fact_t> find(std::string_view name) const;
  [[nodiscard]] std::optional<ocsd_extern_dcd_fact_t> find(ocsd_trace_protocol_t protocol) const;
  /// A number is never assigned twice.
  void clear();

 private:
  struct Entry {
    std::string name;
    ocsd_extern_dcd_fact_t factory;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  int next_ = OCSD_PROTOCOL_CUSTOM_0;
};

class CustomChannel final : public Channel {
 public:
  /// On success, `out` has a decoder.
  static ErrorNumber create(Surroundings& around, const ocsd_extern_dcd_fact_t& factory, int flags,
                            const void* config, std::unique_ptr<CustomChannel>& out);
  ~CustomChannel() override;

  Response data(TraceIndex index, Bytes block) override;
  Response flush() override;
  Response end_of_trace() override { return operate(OCSD_OP_EOT); }
  Response reset() override;
  [[nodiscard]] bool holds() const override { return holds_; }
  std::size_t withdraw() override;

  ErrorNumber attach_sink(FnDefPktDataIn function, const void* context) override;
  ErrorNumber attach_monitor(FnDefPktDataMon function, const void* context) override;
  ErrorNumber attach_printer(TraceId /*shown_id*/, bool /*monitor*/) override {
    return ErrorNumber::kInvalidParamVal;
  }
  ErrorNumber statistics(const ocsd_demux_stats_t& /*frames*/,
                         ocsd_decode_stats_t*& /*out*/) override {
    return ErrorNumber::kInvalidParamVal;
  }
  bool reset_statistics() override { return false; }

 private:
  CustomChannel(Surroundings& around, const ocsd_extern_dcd_fact_t& factory);
  Response operate(ocsd_datapath_op_t op) const;
  Response give();
  Response give_nothing(TraceIndex index) const;
  /// The name is known only after the creation; before, nothing is logged.
  [[nodiscard]] bool logs() const { return !component_.empty(); }
  void update_flags() const;

  Surroundings& around_;
  ocsd_extern_dcd_fact_t factory_;
  ocsd_extern_dcd_inst_t instance_{};
  std::string component_;
  PacketClient client_;

  TraceIndex index_ = 0;
  Bytes block_;  ///< The part that is not used yet.
  std::size_t used_ = 0;
  bool holds_ = false;

  friend struct CustomCallbacks;
};

}  // namespace waymark::compat
