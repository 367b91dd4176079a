#include "decompress.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

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
  return std::min<std::uint64_t>(kBase + packed * kRatio,
                                 std::numeric_limits<std::ptrdiff_t>::max());
}

namespace {

/// The most that a whole file may become.  No program is larger, but a small file may claim to be.
[[maybe_unused]] std::uint64_t most_of_file(std::uint64_t packed) {
  constexpr std::uint64_t kLargest = std::uint64_t{512} << 20;
  return std::min(most_unpacked(packed), kLargest);
}

/// Makes room for more of what a stream gives; `written` bytes are there.
[[maybe_unused]] void grow(std::vector<std::uint8_t>& out, std::size_t written) {
  constexpr std::size_t kFirst = std::size_t{1} << 16;
  if (written == out.size()) out.resize(std::max(kFirst, 2 * out.size()));
}

}  // namespace

#if WAYMARK_HAVE_ZLIB
std::optional<std::vector<std::uint8_t>> unpack_gzip(Bytes packed) {
  constexpr int kGzipFormat = 16 + MAX_WBITS;
  z_stream stream{};
  if (packed.size() > UINT32_MAX || inflateInit2(&stream, kGzipFormat) != Z_OK) return std::nullopt;
  const std::uint64_t most = most_of_file(packed.size());
  std::vector<std::uint8_t> out;
  // zlib does not write to its input.
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status == Z_OK && stream.total_out < most) {
    grow(out, stream.total_out);
    stream.next_out = out.data() + stream.total_out;
    stream.avail_out =
        static_cast<uInt>(std::min<std::size_t>(out.size() - stream.total_out, UINT32_MAX));
    status = inflate(&stream, Z_NO_FLUSH);
  }
  out.resize(stream.total_out);
  inflateEnd(&stream);
  if (status != Z_STREAM_END) return std::nullopt;
  return out;
}

std::optional<std::vector<std::uint8_t>> unpack_zlib(Bytes packed, std::uint64_t size) {
  if (size > most_unpacked(packed.size())) return std::nullopt;
  std::vector<std::uint8_t> out(in_memory(size));
  uLongf written = out.size();
  if (uncompress(out.data(), &written, packed.data(), packed.size()) != Z_OK || written != size)
    return std::nullopt;
  return out;
}
#else
std::optional<std::vector<std::uint8_t>> unpack_gzip(Bytes /*packed*/) { return std::nullopt; }

std::optional<std::vector<std::uint8_t>> unpack_zlib(Bytes /*packed*/, std::uint64_t /*size*/) {
  return std::nullopt;
}
#endif

#if WAYMARK_HAVE_ZSTD
std::optional<std::vector<std::uint8_t>> unpack_zstd_file(Bytes packed) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             &ZSTD_freeDStream);
  const std::uint64_t most = most_of_file(packed.size());
  std::vector<std::uint8_t> out;
  ZSTD_inBuffer from{packed.data(), packed.size(), 0};
  std::size_t written = 0;
  std::size_t left = 1;  // 0: the end of a frame.
  while (written < most && (left != 0 || from.pos < from.size)) {
    grow(out, written);
    ZSTD_outBuffer to{out.data() + written, out.size() - written, 0};
    const std::size_t read = from.pos;
    left = ZSTD_decompressStream(stream.get(), &to, &from);
    if (ZSTD_isError(left) != 0) return std::nullopt;
    written += to.pos;
    if (to.pos == 0 && from.pos == read) return std::nullopt;  // The file is cut short.
  }
  out.resize(written);
  if (left != 0 || from.pos != from.size) return std::nullopt;
  return out;
}

std::optional<std::vector<std::uint8_t>> unpack_zstd(Bytes packed, std::uint64_t size) {
  if (size > most_unpacked(packed.size())) return std::nullopt;
  std::vector<std::uint8_t> out(in_memory(size));
  if (ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) != size)
    return std::nullopt;
  return out;
}
#else
std::optional<std::vector<std::uint8_t>> unpack_zstd_file(Bytes /*packed*/) { return std::nullopt; }

std::optional<std::vector<std::uint8_t>> unpack_zstd(Bytes /*packed*/, std::uint64_t /*size*/) {
  return std::nullopt;
}
#endif

#if WAYMARK_HAVE_LZMA
std::optional<std::vector<std::uint8_t>> unpack_xz(Bytes packed) {
  constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) return std::nullopt;
  const std::uint64_t most = most_of_file(packed.size());
  std::vector<std::uint8_t> out;
  stream.next_in = packed.data();
  stream.avail_in = packed.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK && stream.total_out < most) {
    const std::size_t written = in_memory(stream.total_out);
    grow(out, written);
    stream.next_out = out.data() + written;
    stream.avail_out = out.size() - written;
    status = lzma_code(&stream, LZMA_FINISH);
  }
  out.resize(in_memory(stream.total_out));
  lzma_end(&stream);
  if (status != LZMA_STREAM_END) return std::nullopt;
  return out;
}
#else
std::optional<std::vector<std::uint8_t>> unpack_xz(Bytes /*packed*/) { return std::nullopt; }
#endif

}  // namespace waymark::program
