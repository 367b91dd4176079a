// Data stream packets to elements: what is certain, and how much is uncertain.  See etmv4-data.md
// 4.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/etmv4data/config.h"
#include "waymark/etmv4data/packet.h"

namespace waymark::etmv4data {

/// Pull decoder, in the form of etmv4::Decoder.  Each gap of unknown packets gives one record with
/// the number of its bytes.  One owner; not thread safe.
class Decoder {
 public:
  explicit Decoder(const Config& config) : config_(config) {}

  void accept(const Packet& packet);
  void end_of_trace();
  std::size_t drain(std::span<Element> out);
  [[nodiscard]] bool busy() const { return count_ != 0 || !diagnostics_.empty(); }
  [[nodiscard]] bool has_diagnostics() const { return !diagnostics_.empty(); }
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const { return diagnostics_; }
  void clear_diagnostics() { diagnostics_.clear(); }
  /// A record of the source, after the packets so far.
  void add_diagnostic(const Diagnostic& record) { diagnostics_.push_back(record); }
  [[nodiscard]] static bool failed() { return false; }
  void reset();

 private:
  Element& queue(ElementKind kind, TraceIndex index);
  void lose(UnsyncReason reason, TraceIndex index);
  void end_gap();

  Config config_;
  UnsyncReason unsync_reason_ = UnsyncReason::kInitDecoder;
  bool begun_ = false;
  std::uint8_t time_bits_ = 0;  ///< Low bits of the time that were sent since the last gap.
  TraceIndex last_index_ = 0;
  TraceIndex gap_index_ = 0;
  std::uint64_t gap_bytes_ = 0;
  bool gap_is_bad_ = false;
  std::array<Element, 3> queue_;
  std::uint8_t count_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::etmv4data
