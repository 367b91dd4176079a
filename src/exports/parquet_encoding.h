// Encodes the values of a Parquet page.  The names are those of its specification.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace waymark::exports {

/// 7 bits a byte, least significant first.
void put_varint(std::string& out, std::uint64_t value);
/// The same; small negative numbers are short, too.
void put_zigzag(std::string& out, std::int64_t value);

/// The lowest `size` bytes, least significant first.
void put_little(std::string& out, std::uint64_t value, unsigned size);

/// The same of each value.  `size`: 4 or 8.
void put_numbers(std::string& out, std::span<const std::uint64_t> values, unsigned size);

/// `width` bits of each value, least significant first, to a whole number of bytes.  width <= 64.
void put_bits(std::string& out, std::span<const std::uint64_t> values, unsigned width);

/// RLE: equal values as runs, and others in groups of eight with `width` bits each.  width <= 32.
void put_runs(std::string& out, std::span<const std::uint32_t> values, unsigned width);

/// DELTA_BINARY_PACKED of 64-bit values.
void put_deltas(std::string& out, std::span<const std::uint64_t> values);

/// Packs what the pages of a file contain.  One owner; not thread safe.
class PageCompressor {
 public:
  /// False: this build has no zstd, and pages are not compressed.
  static bool is_available();

  PageCompressor();
  PageCompressor(const PageCompressor&) = delete;
  PageCompressor& operator=(const PageCompressor&) = delete;
  ~PageCompressor();

  /// Empty, for a `page` that is not empty: there is no memory for it.
  std::string compressed(std::string_view page);

 private:
  void* context_ = nullptr;
};

}  // namespace waymark::exports
