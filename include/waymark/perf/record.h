// The records of a perf.data file, one after the other.  See perf-cs-etm.md 2 and simpleperf.md 2.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/perf/file.h"

namespace waymark::perf {

/// When and where the kernel wrote a record; what the recording leaves out is empty.
struct SampleId {
  std::optional<std::uint32_t> pid{};
  std::optional<std::uint32_t> tid{};
  std::optional<std::uint64_t> time{};  ///< ns of the recording's clock.
  std::optional<std::uint32_t> cpu{};
};

struct Record {
  RecordType type{};
  std::uint16_t misc = 0;
  std::size_t section = 0;  ///< In File::sections().
  std::uint64_t offset =
      0;  ///< In the section's file; of a compressed record, that of its container.
  /// After the header, and without the sample id.  Valid until the next record is read, or, where
  /// in_file is true, as long as the File.
  Bytes body;
  bool in_file = true;  ///< False: it was compressed or split.
  SampleId sample{};
  /// kAuxtrace: the bytes after the record, as they are in the file; they live as long as the File.
  Bytes trace;
  std::uint64_t trace_offset = 0;  ///< The offset of `trace` in the section's file.

  [[nodiscard]] CpuMode mode() const { return static_cast<CpuMode>(misc & kCpuModeMask); }
};

/// Reads the records of all sections in the order of the file, with the content of compressed
/// records in their place and simpleperf's split records joined.
///
/// A damaged record ends its section, with a note: nothing says where the next record begins.
/// Memory is bounded whatever the file says.
class RecordReader {
 public:
  /// `file` must outlive the reader.
  explicit RecordReader(const File& file);
  RecordReader(RecordReader&&) noexcept;
  RecordReader& operator=(RecordReader&&) noexcept;
  ~RecordReader();

  /// False at the end.
  bool next(Record& record);

  [[nodiscard]] const std::vector<Note>& notes() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace waymark::perf
