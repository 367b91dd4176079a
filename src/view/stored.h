// What a session knows of a whole capture, as records that are kept with its index.
#pragma once

#include <optional>
#include <string>

#include "builder.h"
#include "waymark/base/result.h"
#include "waymark/index/index.h"

namespace waymark::view {

/// The version of the records.
inline constexpr std::uint64_t kStoredVersion = 1;

/// What was stored.
struct Stored {
  AxisChoice axis{};
  Known known{};
  std::vector<stacks::Code> codes{};  ///< Those of the stacks of keyframes.
};

/// At most this many bytes of records for a capture of `capture_bytes`: 2 %, but 64 KiB at least.
[[nodiscard]] std::uint64_t stored_limit(std::uint64_t capture_bytes);

/// Makes records within the limit: with too many, keyframes are left out, then the tree, then parts
/// of the overview.  `known` must be complete.
index::ViewRecords to_records(const Known& known, const AxisChoice& axis, const CodeList& codes,
                              const FunctionTable& functions, std::uint64_t capture_bytes,
                              std::string fingerprint);

/// Reads them back, whatever they contain.  Functions get numbers of `functions`.  kBadData: they
/// are damaged; kUnsupported: of another version.
Result<Stored> from_records(const index::ViewRecords& records, std::size_t sources,
                            std::uint64_t capture_bytes, FunctionTable& functions);

}  // namespace waymark::view
