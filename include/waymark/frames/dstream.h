// The record framing of a DSTREAM capture around its TPIU stream.  See frames.md 7.
#pragma once

#include <algorithm>
#include <optional>

#include "waymark/base/types.h"

namespace waymark::frames {

inline constexpr std::size_t kDstreamRecordSize = 512;
inline constexpr std::size_t kDstreamPayloadSize = 504;

/// One record, as views into the file.  `index` counts only payload bytes, like the deformatter.
struct DstreamRecord {
  TraceIndex index = 0;
  Bytes payload;  ///< 504 bytes, fewer only in a file that ends within the record.
  Bytes footer;   ///< 8 bytes, fewer or none in a file that ends within the record.
};

/// Goes through the records of a file that stays in memory.
class DstreamReader {
 public:
  explicit DstreamReader(Bytes file) : file_(file) {}

  /// Empty at the end of the file.
  std::optional<DstreamRecord> next() {
    if (file_.empty()) return std::nullopt;
    const Bytes record = file_.first(std::min(kDstreamRecordSize, file_.size()));
    const Bytes payload = record.first(std::min(kDstreamPayloadSize, record.size()));
    const TraceIndex index = index_;
    file_ = file_.subspan(record.size());
    index_ += payload.size();
    return DstreamRecord{index, payload, record.subspan(payload.size())};
  }

 private:
  Bytes file_;
  TraceIndex index_ = 0;
};

}  // namespace waymark::frames
