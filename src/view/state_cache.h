// States of decoders at keyframes that have none of their own.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "waymark/tree/decode_tree.h"

namespace waymark::view {

/// Keeps the last states.  A keyframe that was read from an index only has an entry before it,
/// often a megabyte of trace earlier; with a state, what follows it is decoded at once.  A state is
/// that of the place in the capture, however decoders came there.  Any number of threads may use
/// it.
class StateCache {
 public:
  using State = std::shared_ptr<const DecodeTree>;

  /// Keeps this many of them.  A state takes some ten kilobytes for each source of the capture.
  void set_most(std::size_t most);

  /// nullptr: there is none.
  State find(TraceIndex at);
  void keep(TraceIndex at, State state);
  [[nodiscard]] bool has(TraceIndex at) const;

 private:
  using Entry = std::pair<TraceIndex, State>;
  void shrink();

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< The last used one first.
  std::unordered_map<TraceIndex, std::list<Entry>::iterator> places_;
  std::size_t most_ = 0;
};

}  // namespace waymark::view
