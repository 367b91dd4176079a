#include "waymark/perf/compressor.h"

#ifdef WAYMARK_HAVE_ZSTD
#include <zstd.h>

#include <algorithm>
#include <memory>
#endif

namespace waymark::perf {
namespace {

constexpr std::uint32_t kLevel = 1;
/// The amount of decompressed records that a reader must be able to hold at once.
constexpr std::uint32_t kBufferSize = 1U << 20;

}  // namespace

std::vector<std::uint8_t> compressed_feature(ByteOrder order) {
  constexpr std::uint32_t kVersion = 1;
  constexpr std::uint32_t kZstd = 1;
  constexpr std::uint32_t kRatio = 1;
  ByteWriter out(order);
  return out.u32(kVersion).u32(kZstd).u32(kLevel).u32(kRatio).u32(kBufferSize).bytes;
}

#ifdef WAYMARK_HAVE_ZSTD

bool can_compress() { return true; }

Result<RecordBytes> compress(const RecordBytes& records) {
  // The result must fit into a record, whose size has 16 bits, even if nothing becomes smaller.
  constexpr std::size_t kPart = 32768;
  const std::unique_ptr<ZSTD_CStream, std::size_t (*)(ZSTD_CStream*)> stream(ZSTD_createCStream(),
                                                                             &ZSTD_freeCStream);
  ZSTD_initCStream(stream.get(), kLevel);
  RecordBytes compressed(records.out.order());
  std::vector<std::uint8_t> part(ZSTD_compressBound(kPart));
  for (Bytes rest = records.out.bytes; !rest.empty();) {
    const std::size_t size = std::min(kPart, rest.size());
    ZSTD_inBuffer in{rest.data(), size, 0};
    ZSTD_outBuffer out{part.data(), part.size(), 0};
    const std::size_t left = ZSTD_compressStream2(stream.get(), &out, &in, ZSTD_e_flush);
    if (left != 0) return fail(ErrorCode::kLimit, "zstd could not compress the records.");
    compressed.add(RecordType::kCompressed, 0, Bytes(part).first(out.pos));
    rest = rest.subspan(size);
  }
  return compressed;
}

#else

bool can_compress() { return false; }

Result<RecordBytes> compress(const RecordBytes& /*records*/) {
  return fail(ErrorCode::kUnsupported, "Waymark was built without zstd.");
}

#endif

}  // namespace waymark::perf
