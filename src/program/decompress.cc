#include "decompress.h"

#include <algorithm>

#if WAYMARK_HAVE_ZLIB
#include <zlib.h>
#endif
#if WAYMARK_HAVE_ZSTD
#include <zstd.h>
#endif
#if WAYMARK_HAVE_LZMA
#include <lzma.h>
#endif

namespace waymark::program {

std::uint64_t most_unpacked(std::uint64_t packed) {
  // Nothing that zlib packs becomes more than 1032 times as long, and debug information rarely more
  // than 20 times.
  constexpr std::uint64_t kBase = std::uint64_t{1} << 20;
  constexpr std::uint64_t kRatio = 1032;
  return kBase + packed * kRatio;
}

#if WAYMARK_HAVE_ZLIB
std::optional<std::vector<std::uint8_t>> unpack_zlib(Bytes packed, std::uint64_t size) {
  if (size > most_unpacked(packed.size())) return std::nullopt;
  std::vector<std::uint8_t> out(size);
  uLongf written = size;
  if (uncompress(out.data(), &written, packed.data(), packed.size()) != Z_OK || written != size)
    return std::nullopt;
  return out;
}
#else
std::optional<std::vector<std::uint8_t>> unpack_zlib(Bytes /*packed*/, std::uint64_t /*size*/) {
  return std::nullopt;
}
#endif

#if WAYMARK_HAVE_ZSTD
std::optional<std::vector<std::uint8_t>> unpack_zstd(Bytes packed, std::uint64_t size) {
  if (size > most_unpacked(packed.size())) return std::nullopt;
  std::vector<std::uint8_t> out(size);
  if (ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) != size)
    return std::nullopt;
  return out;
}
#else
std::optional<std::vector<std::uint8_t>> unpack_zstd(Bytes /*packed*/, std::uint64_t /*size*/) {
  return std::nullopt;
}
#endif

#if WAYMARK_HAVE_LZMA
std::optional<std::vector<std::uint8_t>> unpack_xz(Bytes packed) {
  constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) return std::nullopt;
  const std::uint64_t most = most_unpacked(packed.size());
  std::vector<std::uint8_t> out;
  stream.next_in = packed.data();
  stream.avail_in = packed.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK && stream.total_out < most) {
    out.resize(std::max<std::size_t>(std::size_t{1} << 16, 2 * out.size()));
    stream.next_out = out.data() + stream.total_out;
    stream.avail_out = out.size() - stream.total_out;
    status = lzma_code(&stream, LZMA_FINISH);
  }
  out.resize(stream.total_out);
  lzma_end(&stream);
  if (status != LZMA_STREAM_END) return std::nullopt;
  return out;
}
#else
std::optional<std::vector<std::uint8_t>> unpack_xz(Bytes /*packed*/) { return std::nullopt; }
#endif

}  // namespace waymark::program
