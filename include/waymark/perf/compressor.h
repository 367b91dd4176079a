// Records as `perf record --compression-level` writes them.  See perf-cs-etm.md 2.
#pragma once

#include <cstdint>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/perf/writer.h"

namespace waymark::perf {

/// Whether compress() works: it needs zstd.
[[nodiscard]] bool can_compress();

/// The same records in COMPRESSED records, which are one zstd stream.  `records` may be of any
/// length.  kUnsupported: Waymark was built without zstd.
Result<RecordBytes> compress(const RecordBytes& records);

/// The payload of the feature kCompressed that such a file has.
std::vector<std::uint8_t> compressed_feature(ByteOrder order);

}  // namespace waymark::perf
