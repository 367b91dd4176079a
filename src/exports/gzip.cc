#include "gzip.h"

#ifdef WAYMARK_HAVE_ZLIB
#include <zlib.h>

#include <algorithm>
#include <limits>
#endif

namespace waymark::exports {

#ifdef WAYMARK_HAVE_ZLIB

Result<void> write_gzip(std::string_view bytes, TextBuffer& out) {
  constexpr int kGzip = 15 + 16;
  constexpr std::size_t kStep = std::size_t{64} << 10;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return fail(ErrorCode::kLimit, "There is not enough memory to pack the file.");
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const std::size_t given = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
    // zlib does not write there.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(out.grow(kStep));
    stream.avail_out = kStep;
    state = deflate(&stream, given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    out.advance(kStep - stream.avail_out);
    if (state == Z_STREAM_ERROR) break;
  }
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return fail(ErrorCode::kLimit, "The file could not be packed.");
  return {};
}

#else

Result<void> write_gzip(std::string_view /*bytes*/, TextBuffer& /*out*/) {
  return fail(ErrorCode::kUnsupported,
              "This build of Waymark has no zlib, which the format needs; build it with "
              "-DWAYMARK_ZLIB=ON.");
}

#endif

}  // namespace waymark::exports
