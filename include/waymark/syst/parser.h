// Bytes to messages.  See mipi-syst.md 1, 2 and 6.
#pragma once

#include <cstdint>

#include "waymark/base/types.h"
#include "waymark/syst/message.h"
#include "waymark/syst/quirks.h"

namespace waymark::syst {

enum class Mode : std::uint8_t {
  /// As senders are found: a text may end with the message instead of a NUL (Linux p_sys-t), and
  /// reserved bits are ignored.
  kTolerant,
  /// As the specification says.
  kStrict,
};

struct ParseOptions {
  Mode mode = Mode::kTolerant;
  Quirks quirks;
};

/// The message that is all of `bytes`.  Never fails: what is wrong is the message's defect, the
/// first in the order of the checks.  No allocation; safe from any thread.
Message parse_message(Bytes bytes, const ParseOptions& options = {});

/// How far a message that begins with `bytes` reaches.
struct Extent {
  enum class Kind : std::uint8_t {
    kNeedMore,  ///< Not known before there are at least `size` bytes.
    kKnown,     ///< It has `size` bytes.
    kOpen,      ///< It has no length field, and at least `size` bytes: header, fields and checksum.
  };
  Kind kind = Kind::kNeedMore;
  std::size_t size = 0;
};
Extent message_extent(Bytes bytes);

}  // namespace waymark::syst
