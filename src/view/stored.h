// The knowledge of a session about a whole capture, as records that are kept with its index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "builder.h"
#include "waymark/base/result.h"
#include "waymark/index/index.h"

namespace waymark::view {

/// The version of the records.
inline constexpr std::uint64_t kStoredVersion = 4;

/// The most bytes of records for a capture of `capture_bytes`, so that the index grows by no
/// more than 2 % of the capture; 0: nothing is kept, because the capture is read at once.
[[nodiscard]] std::uint64_t stored_limit(std::uint64_t capture_bytes);

/// Gives each keyframe a place where decoders without a state begin, and takes the decoders away.
/// Keyframes of which something would not be known are left out.   Errors are those
/// of the index; kLimit: `stop` said so.
Result<Keyframes> with_entries(const Keyframes& keyframes, index::Index& index,
                               std::span<const TraceId> ids, const Stop& stop);

/// The parts of records.
struct ToStore {
  const Known& known;  ///< Complete; its keyframes have entries.
  AxisChoice axis{};
  const CodeList& codes;
  FunctionTable& functions;
  std::uint64_t limit = 0;  ///< The most bytes.
};

/// Makes records within the limit.  What is too much becomes coarser: first the overview, to half
/// of the limit; then the tree is left out, then keyframes.  Nothing: names alone are too much.
std::optional<std::vector<index::ViewRecord>> to_records(const ToStore& from);

/// The stored data.
struct Stored {
  AxisChoice axis{};
  Known known{};
  std::vector<stacks::Code> codes{};  ///< Those of the stacks of keyframes.
};

/// The capture that records must belong to.
struct StoredShape {
  std::size_t sources = 0;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;  ///< Places where reading can begin are multiples of it.
};

/// Reads them back, whatever they contain.  Functions get numbers of `functions`.  kBadData: they
/// are damaged, or belong to another capture.
Result<Stored> from_records(std::span<const index::ViewRecord> records, const StoredShape& shape,
                            FunctionTable& functions);

}  // namespace waymark::view
