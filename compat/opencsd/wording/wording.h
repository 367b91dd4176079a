// The sentences of the reference about damage.  Native sentences are those of describe().
#pragma once

#include <optional>
#include <string_view>

#include "error_text.h"
#include "waymark/base/diagnostic.h"
#include "waymark/protocol/source.h"

namespace waymark::compat {

/// One record as the reference's logger shows it.
struct Wording {
  ErrorNumber number = ErrorNumber::kFail;
  TraceIndex index = kNoIndex;
  std::string_view text;  ///< Static storage; some end with a newline.
};

/// The reference's wording of a record from a source of this protocol, or from the frame layer.
/// The native sentence, if the reference never says this: a quirk is switched off.
Wording wording_of(const Diagnostic& record, Protocol protocol);

/// The parts of each protocol, which may also correct the number and the index.  Without a value:
/// the reference has no words for it.
using Words = std::optional<std::string_view>;
Words frames_words(const Diagnostic& record);
Words etmv3_words(const Diagnostic& record, Wording& wording);
Words etmv4_words(const Diagnostic& record, Wording& wording);
Words ptm_words(const Diagnostic& record);
Words stm_words(const Diagnostic& record, Wording& wording);
Words itm_words(const Diagnostic& record);

}  // namespace waymark::compat
