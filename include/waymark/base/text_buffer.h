// Text written by hand: hexadecimal and decimal writers into one growing buffer, without
// streams and without an allocation per field.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace waymark {

/// An append-only character buffer.  Not thread safe.  clear() keeps the memory.
class TextBuffer {
 public:
  TextBuffer() = default;
  explicit TextBuffer(std::size_t capacity) { reserve(capacity); }

  void put(char c) {
    char* at = grow(1);
    *at = c;
    ++size_;
  }

  void put(std::string_view text) {
    char* at = grow(text.size());
    text.copy(at, text.size());  // Unlike memcpy, also for an empty view without data.
    size_ += text.size();
  }

  /// Decimal without padding.
  void dec(std::uint64_t value);

  /// Lower-case hexadecimal, at least `digits` digits (1 <= digits <= 16).
  void hex(std::uint64_t value, unsigned digits = 1);

  /// Upper-case hexadecimal, at least `digits` digits (1 <= digits <= 16).
  void hex_upper(std::uint64_t value, unsigned digits = 1);

  /// `text` preceded by blanks up to `width` columns.
  void right(std::string_view text, std::size_t width);

  /// Room for `count` more characters, to be taken with advance(); lets a writer of a whole line
  /// check the capacity once.
  char* grow(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]]
      reserve(size_ + count);
    return data_.get() + size_;
  }
  /// Writes over what is there, which is as long.
  void overwrite(std::size_t at, std::string_view text) {
    std::memcpy(data_.get() + at, text.data(), text.size());
  }
  void advance(std::size_t count) { size_ += count; }

  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void reserve(std::size_t capacity);

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Writers to a raw position, for lines whose length bound is known: each returns the new end.
char* write_dec(char* at, std::uint64_t value);                       ///< At most 20 characters.
char* write_hex(char* at, std::uint64_t value, unsigned digits = 1);  ///< At most 16 characters.
inline char* write_text(char* at, std::string_view text) {
  text.copy(at, text.size());
  return at + text.size();
}

}  // namespace waymark
