// Which protocol the bytes of one stream have, and which of its registers they show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/doctor/trial.h"

namespace waymark::doctor {

enum class Confidence : std::uint8_t { kNone, kGuess, kLikely, kSure };
/// "sure", "likely", "guess"; kNone: "unknown".
std::string_view confidence_name(Confidence confidence);

/// A field of a register that the trace shows.
struct KnownField {
  std::string_view register_name;
  std::string_view field;  ///< As the manuals name it: "CCI".
  std::uint32_t mask = 0;
  std::uint32_t value = 0;  ///< In its place in the register.
  std::string_view why;     ///< The evidence, as the end of a sentence: "cycle counts occur".

  /// The value as a number of the field.
  [[nodiscard]] std::uint32_t number() const;
};

/// A field of which the trace shows that it is not lower.
struct LeastField {
  std::string_view register_name;
  std::string_view field;
  std::uint32_t least = 0;  ///< As a number of the field.
  std::string_view why;     ///< The evidence, as in KnownField.
};

/// A field whose value no trace can show.  Decoding with its usual value is right.
struct UnknownField {
  std::string_view register_name;
  std::string_view field;
  std::string why{};  ///< What the trace shows nevertheless, as the end of a sentence.
};

/// A field that the trace does not show, although decoding depends on it.
struct OpenField {
  std::string_view register_name;
  std::string_view field;
  std::string_view why;  ///< What it changes.
  /// The bit of a return stack, whose two values can be compared with a program; 0: another field.
  std::uint32_t return_stack = 0;
};

/// One protocol for a stream.
struct Candidate {
  std::string_view protocol;  ///< As --source takes it: "etmv4"; empty: none.
  double score = 0;           ///< 0 to 1.
};

/// The result for a stream.
struct Verdict {
  std::string_view protocol;  ///< As --source takes it; empty: no protocol fits.
  Confidence confidence = Confidence::kNone;
  bool ete_or_etm = false;      ///< ETMv4, in which nothing tells it from an ETE, or the reverse.
  bool starts_in_sync = false;  ///< ITM without synchronisation.
  Trial trial{};
  Registers registers{};  ///< With what is known; other bits have usual values.
  std::vector<KnownField> known{};
  std::vector<LeastField> least{};
  std::vector<OpenField> open{};
  std::vector<UnknownField> unknown{};
  std::vector<Candidate> candidates{};  ///< The best first.
};

/// At most this many bytes of a stream are tried with each protocol; the best one then reads all.
inline constexpr std::size_t kTrialBytes = std::size_t{96} << 10;

/// `framed`: the stream comes from frames, so it cannot be an MTB.
Verdict judge(Bytes stream, bool framed);

}  // namespace waymark::doctor
