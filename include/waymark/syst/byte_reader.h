// Messages out of bytes of which nobody says whether they are text.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "waymark/syst/lines.h"
#include "waymark/syst/splitter.h"

namespace waymark::syst {

enum class ByteForm : std::uint8_t {
  kLines,  ///< Text with the messages in hexadecimal.
  kPlain,  ///< One message after the other.
};

/// A LineReader or a StreamSplitter: text as soon as the tag of a line is seen, plain messages if
/// the first kDecideAt bytes can be such, and text otherwise.  Any chunking gives the same frames.
/// One owner; not thread safe.
class ByteReader {
 public:
  static constexpr std::size_t kDecideAt = 4096;

  explicit ByteReader(std::optional<ByteForm> form = std::nullopt) : form_(form) {}

  /// The block before must be used up, and this one must live until it is.
  void feed(Bytes block);
  bool next(Frame& frame);
  /// At the end: what is left, frame by frame.
  bool finish(Frame& frame);

  /// Nothing: not known yet.
  [[nodiscard]] std::optional<ByteForm> form() const { return form_; }

 private:
  void decide(bool is_all);

  std::optional<ByteForm> form_;
  std::vector<std::uint8_t> first_;  ///< What came before the decision.
  std::size_t searched_ = 0;         ///< Of it, without the tag.
  LineReader lines_;
  StreamSplitter splitter_;
};

}  // namespace waymark::syst
