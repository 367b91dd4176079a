#include "decompressor.h"

#ifdef WAYMARK_HAVE_ZSTD
#include <fmt/format.h>
#include <zstd.h>
#endif

namespace waymark::perf {

#ifdef WAYMARK_HAVE_ZSTD

struct Decompressor::Stream {
  ZSTD_DStream* stream = ZSTD_createDStream();
  Stream() { ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 27); }
  ~Stream() { ZSTD_freeDStream(stream); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

Decompressor::Decompressor() : stream_(std::make_unique<Stream>()) {}
Decompressor::~Decompressor() = default;

Result<std::size_t> Decompressor::next(Bytes& in, std::span<std::uint8_t> out) {
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  const std::size_t status = ZSTD_decompressStream(stream_->stream, &to, &from);
  if (ZSTD_isError(status) != 0) {
    return fail(ErrorCode::kBadData, ZSTD_getErrorName(status));
  }
  in = in.subspan(from.pos);
  return to.pos;
}

#else

struct Decompressor::Stream {};

Decompressor::Decompressor() = default;
Decompressor::~Decompressor() = default;

Result<std::size_t> Decompressor::next(Bytes& /*in*/, std::span<std::uint8_t> /*out*/) {
  return fail(ErrorCode::kUnsupported, "Waymark was built without zstd");
}

#endif

}  // namespace waymark::perf
