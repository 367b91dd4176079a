// Captures of any size: trace units, framed and interleaved, block by block; or a whole snapshot in
// a folder, with its ground truth. docs/synth.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/frames/mux.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/synth/trace_unit.h"

namespace waymark::synth {

enum class CaptureFraming : std::uint8_t {
  kMemoryAligned,  ///< Frames as in a buffer: "coresight".
  kFsync,          ///< Frames with syncs as from a port: "dstream_coresight".
  kNone,           ///< The bytes of one source: "source_data".
};

/// Damage to the finished bytes. The means are in bytes; 0: never.
struct Damage {
  std::uint64_t change_mean = 0;  ///< Between two changed bytes.
  std::uint64_t drop_mean = 0;    ///< Between two lost stretches; whole frames if memory-aligned.
  bool cut = false;               ///< The capture ends in the middle of something.
  [[nodiscard]] bool any() const { return change_mean != 0 || drop_mean != 0 || cut; }
};

struct CaptureOptions {
  std::uint64_t seed = 1;
  /// The size of the capture. It is exceeded a little; it is not reached only if all units stop
  /// before.
  std::uint64_t size = std::uint64_t{1} << 20;
  CaptureFraming framing = CaptureFraming::kMemoryAligned;
  std::uint32_t fsync_period = 64;  ///< Frames between two syncs.
  std::uint32_t interleave = 256;   ///< The mean number of bytes of one source before another
                                    ///< follows.
  Damage damage{};
};

/// Makes the bytes. Memory is bounded, whatever the size. One owner; not thread safe.
class CaptureMaker {
 public:
  /// Blocks that next() gives are about this long.
  static constexpr std::size_t kBlockSize = std::size_t{256} << 10;

  /// kInvalidArgument: no unit, two units with one trace ID, several units without frames, or an
  /// interleaving or period of 0.
  static Result<CaptureMaker> create(const CaptureOptions& options,
                                     std::vector<std::unique_ptr<TraceUnit>> units);

  /// The next bytes of the capture, valid until the next call; empty: the end.
  Bytes next();

  [[nodiscard]] const CaptureOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<std::unique_ptr<TraceUnit>>& units() const { return units_; }
  /// Bytes given so far.
  [[nodiscard]] std::uint64_t made() const { return made_; }
  /// The data that a deformatter needs; nothing for kNone.
  [[nodiscard]] std::optional<frames::Options> frame_options() const;

  /// The snapshot that describes the capture. The trace is in `trace_file`, and each segment of the
  /// program is in program_file(), if it comes from an ELF file, or else in memory_file(its
  /// number).
  [[nodiscard]] inputs::Snapshot snapshot(const Program* program,
                                          const std::string& trace_file) const;
  static std::string memory_file(std::size_t segment);
  /// The copy of an ELF file: its name, or "program.elf" if a snapshot cannot have that name, or
  /// has it for something else.
  static std::string program_file(const std::string& path);
  /// The name of a unit's device: "ETM_0".
  [[nodiscard]] std::string device_name(std::size_t unit) const;

 private:
  CaptureMaker(const CaptureOptions& options, std::vector<std::unique_ptr<TraceUnit>> units);
  void produce();
  [[nodiscard]] bool stopped() const;
  void harm();

  CaptureOptions options_;
  std::vector<std::unique_ptr<TraceUnit>> units_;
  Random random_;
  frames::Mux mux_;
  std::vector<std::vector<std::uint8_t>> pending_;  // By unit: made, but not framed yet.
  std::vector<std::size_t> used_;                   // By unit: how much of `pending_` is framed.
  std::size_t turn_ = 0;                            // The unit whose bytes are being framed,
  std::uint64_t turn_left_ = 0;                     // and how many bytes are left.
  std::vector<std::uint8_t> block_;
  std::uint64_t until_change_ = 0;
  std::uint64_t until_drop_ = 0;
  std::uint64_t produced_ = 0;  // Bytes before damage.
  std::uint64_t made_ = 0;
  bool ended_ = false;
};

/// Writes a snapshot into the folder `directory`: the trace, `truth/<device>.truth` for each source
/// whose ground truth is kept, the totals in truth/totals.ini, then memory and ini files.
/// A program from an ELF file is there as a copy of the file, which may be in the folder already.
/// `progress` is called with the number of bytes so far; if it returns false, the work stops.
///
/// kIo: the system refused.  If the capture is stopped or fails, the files that it wrote are
/// removed.
Result<void> write_capture(CaptureMaker& maker, const Program* program,
                           const std::string& directory,
                           const std::function<bool(std::uint64_t)>& progress = {});

/// The result of comparing one source of a capture with its ground truth.
struct CheckedSource {
  std::string device{};
  TraceId trace_id = 0;
  TruthTotals totals{};
  std::string difference{};  ///< Empty: none.
};

/// Decodes a capture and compares each source with its ground truth; by trace ID.  `path` is the
/// folder of a snapshot that write_capture() wrote, or a perf recording in such a folder.
/// `go_on` is called before each block; if it returns false, nothing has been compared, and the
/// result may be an error.  Errors as of inputs::Capture::open(); kNotFound: there is no ground
/// truth.
Result<std::vector<CheckedSource>> check_capture(const std::string& path,
                                                 const std::function<bool()>& go_on = {});

}  // namespace waymark::synth
