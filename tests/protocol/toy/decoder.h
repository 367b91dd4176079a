// Packets of the toy protocol to elements.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "config.h"
#include "packet.h"
#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"

namespace waymark::toy {

/// Pull decoder: call accept() with a packet, then drain() until it is not busy().
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
  void add_diagnostic(const Diagnostic& record) { diagnostics_.push_back(record); }
  [[nodiscard]] static bool failed() { return false; }
  void reset();

 private:
  Element& queue(ElementKind kind, TraceIndex index);
  void lose(UnsyncReason reason, TraceIndex index);
  void report(Fault fault, Finding finding, TraceIndex index);

  Config config_;
  bool begun_ = false;
  UnsyncReason unsync_reason_ = UnsyncReason::kInitDecoder;
  TraceIndex last_index_ = 0;
  std::array<Element, 2> queue_{};
  std::size_t count_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::toy
