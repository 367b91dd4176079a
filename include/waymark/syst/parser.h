// From bytes to messages.  See mipi-syst.md 1, 2 and 6.
#pragma once

#include <cstdint>

#include "waymark/base/types.h"
#include "waymark/syst/message.h"
#include "waymark/syst/quirks.h"

namespace waymark::syst {

enum class Mode : std::uint8_t {
  /// Accepts what real senders do: a text may end with the message instead of a NUL (Linux
  /// p_sys-t), and reserved bits are ignored.
  kTolerant,
  /// Accepts only what the specification allows.
  kStrict,
};

struct ParseOptions {
  Mode mode = Mode::kTolerant;
  Quirks quirks;
};

/// Parses `bytes` as one message.  Never fails: the message's defect states the first problem in
/// the order of the checks.  No allocation; safe from any thread.
Message parse_message(Bytes bytes, const ParseOptions& options = {});

/// How long a message is that begins with `bytes`.
struct Extent {
  enum class Kind : std::uint8_t {
    kNeedMore,  ///< Not known until there are at least `size` bytes.
    kKnown,     ///< It has `size` bytes.
    kOpen,      ///< It has no length field, and at least `size` bytes: header, fields and checksum.
  };
  Kind kind = Kind::kNeedMore;
  std::size_t size = 0;
};
Extent message_extent(Bytes bytes);

}  // namespace waymark::syst
