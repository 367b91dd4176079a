// The context that packets state.  See etmv4-ete.md 2.8.
#pragma once

#include <cstddef>

#include "waymark/base/cursor.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

/// A field keeps its value until a packet carries it.  Until the first packet, nothing is known.
class ContextRegister {
 public:
  /// Takes the INFO byte and the fields that it announces; returns their number of bytes. 0: more
  /// are needed, and nothing has changed.  `alone`: the packet has no address.
  std::size_t take(Bytes bytes, const Config& config, bool alone);
  /// A packet says that nothing has changed.
  void take_same() {
    value_.updated = value_.updated_context_id = value_.updated_vmid = false;
    seen_ = true;
  }
  [[nodiscard]] const Context& value() const { return value_; }
  /// The PE is known to be in 64-bit state.
  [[nodiscard]] bool is_64bit() const { return seen_ && value_.sf; }
  /// After a loss of synchronisation: nothing is known, but the fields keep their values.
  void reset() { seen_ = false; }

  friend bool operator==(const ContextRegister&, const ContextRegister&) = default;

 private:
  Context value_{};
  bool seen_ = false;
};

}  // namespace waymark::etmv4
