// The destination of the decoder's elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "waymark/element/element.h"

namespace waymark::etmv4 {

/// Elements go directly to the client's span, or wait until they may be given: if the span is full,
/// or if an error later in the same run would lose them.  Those that wait come before all that are
/// made after them.
class StagedOutput {
 public:
  /// The client's span, from now on.
  void begin(Element* out, Element* end) {
    begin_ = at_ = out;
    end_ = end;
  }
  /// Elements made from now on wait.
  void set_staging(bool on) { staging_ = on; }
  [[nodiscard]] bool staging() const { return staging_; }

  /// Where the next element is to be written.
  [[nodiscard]] Element& next() {
    if (staging_ || at_ == end_) [[unlikely]]
      return staged_.emplace_back();
    return *at_++;
  }
  [[nodiscard]] bool room() const { return staging_ || at_ != end_; }
  [[nodiscard]] std::size_t given() const { return static_cast<std::size_t>(at_ - begin_); }

  // For who writes the span itself.
  [[nodiscard]] Element* at() const { return at_; }
  [[nodiscard]] Element* end() const { return end_; }
  void set_at(Element* at) { at_ = at; }
  void write_at(Element* at, Element* end) {
    staging_ = false;
    at_ = at;
    end_ = end;
  }
  /// Nothing more goes to this span.
  void close() { end_ = at_; }

  /// All that wait may be given.
  void release() { released_ = staged_.size(); }
  [[nodiscard]] bool waits() const { return !staged_.empty(); }
  /// Those that may not be given yet are lost.
  void drop_unreleased() { staged_.resize(released_); }
  /// Gives what may be given.  False: the span is full before that.
  [[gnu::always_inline]] bool give_released() {
    if (released_ == 0) return true;
    const std::size_t count = std::min(released_ - taken_, static_cast<std::size_t>(end_ - at_));
    std::copy_n(staged_.begin() + static_cast<std::ptrdiff_t>(taken_), count, at_);
    at_ += count;
    taken_ += count;
    if (taken_ != released_) return false;
    staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(released_));
    taken_ = released_ = 0;
    return true;
  }

  void reset() {
    staged_.clear();
    taken_ = released_ = 0;
  }

 private:
  Element* begin_ = nullptr;
  Element* at_ = nullptr;
  Element* end_ = nullptr;
  bool staging_ = false;
  std::vector<Element> staged_;
  std::size_t taken_ = 0;  ///< Given, but still in staged_; at most released_.
  std::size_t released_ = 0;
};

}  // namespace waymark::etmv4
