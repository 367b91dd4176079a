// Detects whether bytes without frames are an ITM stream.  See stm-itm.md 11.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "waymark/base/types.h"

namespace waymark::inputs {

/// The index at which the first ITM alignment synchronisation begins (the last five of its zeros).
std::optional<std::size_t> find_itm_sync(Bytes content);

/// The result of reading bytes as ITM packets, from the first synchronisation, or from the first
/// byte if there is none.
struct ItmFacts {
  std::optional<std::size_t> sync;
  std::size_t size = 0;
  std::size_t read = 0;  ///< Bytes of good packets.
  std::size_t packets = 0;
  std::size_t bad = 0;
  std::size_t odd_syncs = 0;  ///< Synchronisations that are longer than hardware makes them.
  std::size_t data = 0;       ///< Packets of stimulus ports and hardware sources.
  std::size_t common = 0;     ///< Those of `data` with one of the most common headers.
  bool one_value = true;      ///< All bytes are the same.

  /// Almost certainly ITM.
  [[nodiscard]] bool certain() const;
  /// Synchronised, and without a bad packet from that point on.  A PTM or ETMv3 stream begins with
  /// the same synchronisation, but a few of its bytes already make a bad ITM packet.
  [[nodiscard]] bool clean() const;
  /// Good enough if the bytes are nothing else.
  [[nodiscard]] bool plausible() const;
};
ItmFacts itm_facts(Bytes content);

/// The reason, as a whole sentence.
std::string itm_sentence(const ItmFacts& facts);

}  // namespace waymark::inputs
