// How text for people is styled: colours and arrows, where they can be shown.
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"

namespace waymark::outputs {

/// What the reader's terminal can show.  The default is text for a file: no colours, UTF-8.
struct Style {
  bool colours = false;
  bool ascii = false;  ///< No character beyond ASCII of our own; names are unchanged.

  [[nodiscard]] std::string_view arrow() const { return ascii ? "->" : "\u2192"; }
};

/// What is coloured.
enum class Colour { kHeading, kName, kDamage };

/// While it lives, what is appended to `out` has this colour.
class Coloured {
 public:
  Coloured(TextBuffer& out, const Style& style, Colour colour)
      : out_(style.colours ? &out : nullptr) {
    if (out_ == nullptr) return;
    constexpr std::string_view kCodes[] = {"\x1b[1m", "\x1b[36m", "\x1b[31m"};
    out_->put(kCodes[static_cast<std::size_t>(colour)]);
  }
  Coloured(const Coloured&) = delete;
  Coloured& operator=(const Coloured&) = delete;
  ~Coloured() { end(); }

  /// Ends the colour before the object does.
  void end() {
    if (out_ != nullptr) out_->put("\x1b[m");
    out_ = nullptr;
  }

 private:
  TextBuffer* out_;
};

}  // namespace waymark::outputs
