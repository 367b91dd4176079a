// Trace scripts: packets by name, which are assembled into a capture, and in the same file the
// expected listing.  docs/trace-scripts.md describes the language.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/base/mapped_file.h"
#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/frames/demux.h"
#include "waymark/image/image.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/inputs/snapshot_writer.h"
#include "waymark/protocol/source.h"

namespace waymark::inputs {

/// A trace source of a script.
struct ScriptDevice {
  std::string name;
  std::string protocol;  ///< The name in snapshots: "ETM4", "ETE".
  std::string core;      ///< "Cortex-A53", "ARMv8-M", …; empty: it traces no core.
  std::vector<std::pair<std::string, std::uint32_t>> registers;
  TraceId trace_id = 0;
  std::uint32_t line = 0;
};

struct ScriptImage {
  std::uint64_t address = 0;
  image::SpaceMask space = image::kSpaceAny;
  std::string space_name;           ///< The name in the script; empty: any.
  std::vector<std::uint8_t> bytes;  ///< Empty if `file` names the content.
  std::string file;                 ///< The name in the script; the file is not opened.
  std::uint32_t line = 0;
};

/// How the bytes of a buffer are wrapped.
enum class ScriptFormat : std::uint8_t {
  kRaw,      ///< One source, no frames.
  kFrames,   ///< Memory-aligned frames.
  kFsync,    ///< Frames with full syncs.
  kHsync,    ///< Frames with full and half syncs.
  kDstream,  ///< kFsync in 512-byte records.
};

enum class ListingMode : std::uint8_t {
  kPackets,     ///< Packets without their bytes.
  kMonitor,     ///< Packets with their bytes.
  kDecode,      ///< Packets with their bytes, and elements.
  kDecodeOnly,  ///< Elements.
};

/// The listing of one buffer, from the first packet or element line on, each line with its newline.
struct Expectation {
  ListingMode mode = ListingMode::kPackets;
  std::vector<std::string> options;  ///< Words after the mode, such as "src_addr_n".
  std::string text;
  std::uint32_t line = 0;  ///< The number of its first line.
};

struct ScriptBuffer {
  std::string name;
  ScriptFormat format = ScriptFormat::kRaw;
  std::vector<std::uint8_t> bytes;
  std::vector<Expectation> expectations;
  std::uint32_t line = 0;

  /// Whether a reader must take frames apart.
  [[nodiscard]] bool formatted() const { return format != ScriptFormat::kRaw; }
  [[nodiscard]] frames::Options frame_options() const;
};

/// A script after assembly.  Plain data.
struct TraceScript {
  std::string description;
  std::vector<ScriptDevice> devices;
  std::vector<ScriptImage> images;
  std::vector<ScriptBuffer> buffers;
};

/// Limits; beyond them kLimit is returned.
struct ScriptLimits {
  std::size_t bytes = std::size_t{64} << 20;       ///< In all buffers and images.
  std::size_t statements = std::size_t{16} << 20;  ///< Executed.
};
inline constexpr std::size_t kMaxScriptDepth = 16;  ///< Blocks in blocks.

/// Assembles the text of a script.  kParse, or kLimit: `detail` begins with "line N: ".
/// `core`: what all devices trace that trace a core, in place of what the script says; empty: that.
Result<TraceScript> assemble_trace_script(std::string_view text, const ScriptLimits& limits = {},
                                          std::string_view core = {});

/// The source of a device.  kInvalidArgument: a register is missing; kNotFound: the core;
/// kUnsupported: the protocol, or a mode of it.
Result<std::unique_ptr<Source>> make_source(const ScriptDevice& device, const image::Image* image,
                                            const SourceOptions& options);

/// A snapshot of the script; `files` view into the script, which must live as long, and into
/// `images`.
struct ScriptSnapshot {
  Snapshot snapshot;
  std::vector<SnapshotFile> files;
  std::vector<MappedFile> images;  ///< The images that the script names.
};

/// Makes a snapshot for write_snapshot(), with a copy of each image file, whose names are relative
/// to `directory`, the folder of the script (empty: the current one).  kUnsupported: half syncs,
/// which snapshots cannot express.  kNotFound, kIo, kBadData: an image file that cannot be read or
/// is empty; `detail` begins with "line N: ".
Result<ScriptSnapshot> to_snapshot(const TraceScript& script, const std::string& directory = {});

}  // namespace waymark::inputs
