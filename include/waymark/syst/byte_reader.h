// Messages out of bytes that may be text or not.
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

/// A LineReader or a StreamSplitter.  It decides on text as soon as it sees the tag of a line; on
/// plain messages if the first kDecideAt bytes, or a longer first message and kDecideAt bytes after
/// it, look like them; and otherwise on text.  Any chunking gives the same frames.
/// One owner; not thread safe.
class ByteReader {
 public:
  static constexpr std::size_t kDecideAt = 4096;

  /// `short_ones`: also accept bytes that hold only short messages.
  explicit ByteReader(std::optional<ByteForm> form = std::nullopt, bool short_ones = false)
      : form_(form), short_ones_(short_ones) {}

  /// The block before must be used up, and this one must live until it is.
  void feed(Bytes block);
  bool next(Frame& frame);
  /// Call at the end; gives what is left, frame by frame.
  bool finish(Frame& frame);

  /// No later frame begins before this index.
  [[nodiscard]] TraceIndex begins_at() const {
    if (!form_) return 0;
    return form_ == ByteForm::kLines ? lines_.begins_at() : splitter_.begins_at();
  }
  /// Nothing: not known yet.
  [[nodiscard]] std::optional<ByteForm> form() const { return form_; }

 private:
  void decide(bool is_all);

  std::optional<ByteForm> form_;
  std::vector<std::uint8_t> first_;  ///< What came before the decision.
  std::size_t searched_ = 0;         ///< Bytes of first_ searched for the tag.
  std::size_t decide_at_ = kDecideAt;
  bool short_ones_ = false;
  LineReader lines_;
  StreamSplitter splitter_;
};

}  // namespace waymark::syst
