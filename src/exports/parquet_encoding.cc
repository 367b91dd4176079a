#include "parquet_encoding.h"

#ifdef WAYMARK_HAVE_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <array>
#include <bit>

#include "thrift.h"
#include "waymark/base/wide.h"

namespace waymark::exports {
namespace {

// The sizes of DELTA_BINARY_PACKED that all writers use.
constexpr std::size_t kDeltaBlock = 128;
constexpr std::size_t kMiniblocks = 4;
constexpr std::size_t kMiniblock = kDeltaBlock / kMiniblocks;

constexpr std::size_t kGroup = 8;  // Values that are packed together.

/// Groups of eight values that are packed one by one.
void put_groups(std::string& out, std::span<const std::uint32_t> values, unsigned width) {
  if (values.empty()) return;
  const std::size_t groups = (values.size() + kGroup - 1) / kGroup;
  put_varint(out, groups << 1 | 1);
  std::array<std::uint64_t, kGroup> group{};
  for (std::size_t at = 0; at < values.size(); at += kGroup) {
    group.fill(0);
    std::ranges::copy(values.subspan(at, std::min(kGroup, values.size() - at)), group.begin());
    put_bits(out, group, width);
  }
}

/// One block of deltas; the last one is not full.
void put_delta_block(std::string& out, std::span<std::uint64_t> deltas) {
  const auto least = *std::ranges::min_element(deltas, [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  });
  put_zigzag(out, static_cast<std::int64_t>(least));
  for (std::uint64_t& delta : deltas) delta -= least;
  std::array<unsigned, kMiniblocks> widths{};
  for (std::size_t i = 0; i * kMiniblock < deltas.size(); ++i) {
    const auto part =
        deltas.subspan(i * kMiniblock).first(std::min(kMiniblock, deltas.size() - i * kMiniblock));
    widths[i] = static_cast<unsigned>(std::bit_width(*std::ranges::max_element(part)));
  }
  for (const unsigned width : widths) out += static_cast<char>(width);
  std::array<std::uint64_t, kMiniblock> values{};
  for (std::size_t i = 0; i * kMiniblock < deltas.size(); ++i) {
    values.fill(0);
    std::ranges::copy(
        deltas.subspan(i * kMiniblock).first(std::min(kMiniblock, deltas.size() - i * kMiniblock)),
        values.begin());
    put_bits(out, values, widths[i]);
  }
}

}  // namespace

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_zigzag(std::string& out, std::int64_t value) {
  put_varint(out, static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

void ThriftStruct::put_unsigned(std::uint64_t value) { put_varint(bytes_, value); }
void ThriftStruct::put_signed(std::int64_t value) { put_zigzag(bytes_, value); }

void put_little(std::string& out, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) out += static_cast<char>(value >> 8 * i & 0xFF);
}

void put_numbers(std::string& out, std::span<const std::uint64_t> values, unsigned size) {
  const std::size_t begin = out.size();
  out.resize(begin + values.size() * size);
  char* at = out.data() + begin;
  // With a constant number of bytes, the loop is one store.
  const auto put = [&at]<unsigned kSize>(std::uint64_t value) {
    for (unsigned i = 0; i < kSize; ++i) at[i] = static_cast<char>(value >> 8 * i & 0xFF);
    at += kSize;
  };
  if (size == 4) {
    for (const std::uint64_t value : values) put.template operator()<4>(value);
  } else {
    for (const std::uint64_t value : values) put.template operator()<8>(value);
  }
}

void put_bits(std::string& out, std::span<const std::uint64_t> values, unsigned width) {
  const std::size_t begin = out.size();
  out.resize(begin + (values.size() * width + 7) / 8);
  char* at = out.data() + begin;
  Wide held = 0;
  unsigned bits = 0;  // Fewer than 8 between two values.
  for (const std::uint64_t value : values) {
    held |= Wide{value} << bits;
    for (bits += width; bits >= 8; bits -= 8) {
      *at++ = static_cast<char>(held & 0xFF);
      held >>= 8;
    }
  }
  if (bits != 0) *at = static_cast<char>(held & 0xFF);
}

void put_runs(std::string& out, std::span<const std::uint32_t> values, unsigned width) {
  std::size_t packed = 0;  // The first value that is not written yet.
  std::size_t at = 0;
  while (at < values.size()) {
    std::size_t end = at + 1;
    while (end < values.size() && values[end] == values[at]) ++end;
    // Packed values come in whole groups, so a run gives the values that fill the last of them.
    const std::size_t missing = (kGroup - (at - packed) % kGroup) % kGroup;
    if (end - at < kGroup + missing) {
      at = end;
      continue;
    }
    at += missing;
    put_groups(out, values.subspan(packed, at - packed), width);
    put_varint(out, (end - at) << 1);
    put_little(out, values[at], (width + 7) / 8);
    packed = at = end;
  }
  put_groups(out, values.subspan(packed), width);
}

void put_deltas(std::string& out, std::span<const std::uint64_t> values) {
  put_varint(out, kDeltaBlock);
  put_varint(out, kMiniblocks);
  put_varint(out, values.size());
  put_zigzag(out, values.empty() ? 0 : static_cast<std::int64_t>(values.front()));
  std::array<std::uint64_t, kDeltaBlock> deltas{};
  for (std::size_t at = 1; at < values.size(); at += kDeltaBlock) {
    const std::size_t size = std::min(kDeltaBlock, values.size() - at);
    // Modulo 2^64, as the readers add them up.
    for (std::size_t i = 0; i < size; ++i) deltas[i] = values[at + i] - values[at + i - 1];
    put_delta_block(out, std::span(deltas).first(size));
  }
}

#ifdef WAYMARK_HAVE_ZSTD

bool PageCompressor::is_available() { return true; }

PageCompressor::PageCompressor() : context_(ZSTD_createCCtx()) {}
PageCompressor::~PageCompressor() { ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_)); }

std::string PageCompressor::compressed(std::string_view page) {
  std::string out(ZSTD_compressBound(page.size()), '\0');
  if (context_ == nullptr) return {};
  const std::size_t size =
      ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_), out.data(), out.size(), page.data(),
                        page.size(), ZSTD_CLEVEL_DEFAULT);
  out.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return out;
}

#else

bool PageCompressor::is_available() { return false; }

PageCompressor::PageCompressor() = default;
PageCompressor::~PageCompressor() = default;

std::string PageCompressor::compressed(std::string_view page) { return std::string(page); }

#endif

}  // namespace waymark::exports
