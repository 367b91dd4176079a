// Which programs a trace executed, and at which load address: candidates for the address come from
// the addresses in the trace, and decoding with the program there confirms or contradicts them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/image/image.h"
#include "waymark/inputs/capture.h"

namespace waymark::locate {

/// The result of decoding with a program at one place.
struct Evidence {
  std::uint64_t waypoints = 0;  ///< Ranges of instructions of the program.
  std::uint64_t ways = 0;       ///< From one stated address to the next without a contradiction.
  std::uint64_t contradictions = 0;  ///< What no right image can explain.
  std::uint64_t before_first = 0;    ///< Waypoints before the first contradiction.
  std::uint64_t missing = 0;         ///< How often the trace led to addresses without code.
  // The first contradiction; kNoAddress: none.
  std::uint64_t address = kNoAddress;
  TraceIndex index = kNoIndex;
};

enum class Verdict : std::uint8_t {
  kExecuted,     ///< Without, or nearly without, contradictions.
  kPerhaps,      ///< The same, but over too few waypoints to be sure.
  kNotExecuted,  ///< The trace contradicts it at each address that was tried.
  kNoCandidate,  ///< No address of the trace can be one of its code.
  kNotReadable,  ///< See `reason`.
};

struct Found {
  std::string path{};
  Verdict verdict = Verdict::kNoCandidate;
  std::uint64_t slide = 0;  ///< How far above its link addresses: the best of those tried.
  std::uint64_t first = 0;  ///< The address of its first code there.
  Evidence evidence{};
  double share = 0;      ///< The part of the addresses in the trace that is its code; 0 to 1.
  std::string reason{};  ///< A whole sentence.
  /// Recordings: the path that the recording has where the program was found; empty: none.
  std::string recorded{};
};

/// A process of a recording.
struct Process {
  std::int32_t pid = -1;  ///< -1: it is not known which.
  std::string name{};
};

struct Report {
  std::optional<Process> process{};  ///< Recordings: whose trace this is about.
  std::uint64_t stated = 0;  ///< How often the trace stated an address whose code was not known.
  std::uint64_t distinct = 0;
  /// Those that were executed first, the most waypoints first; then in the order of their paths.
  std::vector<Found> programs{};
};

/// From this many waypoints and ways on, a program that is not contradicted was executed.  In a
/// long loop, a wrong program may pass many waypoints by chance.
inline constexpr std::uint64_t kEnoughWaypoints = 200;
inline constexpr std::uint64_t kEnoughWays = 4;

/// Processes of a recording with the most addresses without code; the others are left out.
inline constexpr std::size_t kMostProcesses = 8;

/// `capture` was opened with CaptureOptions::check_image and with `image` as its memory, in which
/// the programs are tried one after the other; afterwards it is as before.  `paths`: ELF files.
/// `stop`, which may be empty, is called from time to time.  Memory and time are bounded for each
/// program, whatever its size and that of the trace.  One report; of a recording, whose processes
/// have the same program at different addresses, one for each process.
///
/// kUnsupported: no source traces instructions, or its trace cannot be compared with an image;
/// kBadData: the trace states no address whose code is not known; kIo: `stop` said so.
Result<std::vector<Report>> locate(inputs::Capture& capture, image::Image& image,
                                   std::span<const std::string> paths,
                                   const std::function<bool()>& stop);

}  // namespace waymark::locate
