// Identifies bytes without a description: how they are framed, which sources they have, and which
// protocol each source speaks.  Each result has its evidence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/doctor/stream_judge.h"
#include "waymark/frames/aligner.h"
#include "waymark/inputs/capture.h"

namespace waymark::doctor {

/// The wrapping that must be removed from the bytes of the file before they are trace.
enum class Wrapping : std::uint8_t {
  kNone,
  kText,  ///< Memory as a debugger prints it, or a hex dump.
};

/// One way of reading the bytes, and how well it explains them.
struct FramingFound {
  inputs::Framing framing = inputs::Framing::kNone;
  Confidence confidence = Confidence::kNone;
  double score = 0;           ///< The share of the bytes that the protocols explain.
  std::uint64_t header = 0;   ///< Bytes at the beginning that belong to no frame.
  std::uint64_t skipped = 0;  ///< Bytes that were left out later to find the next frame.
  std::uint64_t syncs = 0;    ///< Frame syncs; half syncs are not counted.
  std::uint64_t half_syncs = 0;
  std::vector<frames::FramePiece> pieces{};  ///< Memory-aligned frames that do not begin at 0.
};

/// One trace ID.
struct StreamFound {
  TraceId id = 0;  ///< 0 without frames.
  std::uint64_t bytes = 0;
  Verdict verdict{};
};

struct Examination {
  std::uint64_t size = 0;      ///< The size of the file, or of the memory that its text shows.
  std::uint64_t examined = 0;  ///< Bytes from the beginning on that were read for this result.
  Wrapping wrapping = Wrapping::kNone;
  FramingFound framing{};
  std::vector<FramingFound> others{};  ///< Other ways of reading the bytes, the best first.
  std::vector<StreamFound> streams{};  ///< By trace ID.
  std::uint64_t padding = 0;           ///< Bytes of ID 0, and of the markers.
  std::uint64_t stray = 0;             ///< Bytes of IDs that have too few to be sources.
  std::uint64_t tail = 0;              ///< Bytes at the end that complete no frame.
};

/// More than this is not read: the result is that of the beginning of the file.
inline constexpr std::size_t kExaminedBytes = std::size_t{8} << 20;

/// kBadData: there are no bytes, or all have one value.  kParse: text that shows memory in a form
/// that is not read.
Result<Examination> examine(Bytes content);

/// The bytes of the file as a snapshot takes them: without text, records and what is between
/// frames.  The same errors as examine(); kLimit: `stop` said so.
Result<std::vector<std::uint8_t>> trace_of(Bytes content, const Examination& examination,
                                           const std::function<bool()>& stop = {});

}  // namespace waymark::doctor
