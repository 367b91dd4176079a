// Detects whether bytes without frames are an STM stream.  See stm-itm.md 1 to 5.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "waymark/base/types.h"

namespace waymark::inputs {

/// The result of reading bytes as STPv2.
struct StmFacts {
  std::optional<std::size_t> sync;  ///< The byte in which the first ASYNC begins.
  std::size_t starts = 0;           ///< ASYNC packets that a VERSION packet follows, as required.
  std::size_t bad = 0;              ///< Bad packets, and ASYNC packets without a VERSION.

  [[nodiscard]] bool plausible() const { return starts != 0 && starts >= 2 * bad; }
};
StmFacts stm_facts(Bytes content);

/// The reason, as a whole sentence.
std::string stm_sentence(const StmFacts& facts);

}  // namespace waymark::inputs
