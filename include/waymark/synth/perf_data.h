// Perf recordings with ground truth: perf.data for a capture that was made.  docs/synth.md; the
// formats are those of perf-cs-etm.md 1 to 5.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "waymark/base/result.h"
#include "waymark/perf/fields.h"
#include "waymark/synth/capture.h"

namespace waymark::synth {

/// How perf records.
struct PerfDataOptions {
  enum class Form : std::uint8_t {
    kFile,
    kPipe,    ///< As `perf record -o -` writes it: without a table of contents.
    kFolder,  ///< As `perf record --threads` writes it: a file for each CPU.
  };
  Form form = Form::kFile;
  perf::ByteOrder order = perf::ByteOrder::kLittle;
  bool compressed = false;  ///< What the kernel recorded is in COMPRESSED records.
  /// Each unit writes to a buffer of its own, without CoreSight frames, as with TRBE.  Otherwise
  /// all write to one buffer.
  bool raw = false;
  unsigned metadata = 1;  ///< The version of the description of the units, 0 to 2.
  /// The buffers belong to the only process; otherwise to CPUs.
  bool per_thread = false;
  /// The AUX records of each buffer.  Each but the first usually begins in the middle of something,
  /// so that the trace up to the next synchronisation point cannot be decoded.
  unsigned pieces = 1;
  /// The first process has the program from a JIT compiler: its code is in a jitdump file, which is
  /// in the folder too.
  bool jit = false;
  /// Times in the trace can be compared with those of records (TIME_CONV), and must be: a process
  /// has the program in its memory only while it runs, and each piece of trace is handed over at
  /// the end.  Where the trace has no context IDs, each CPU runs the processes in turns, and SWITCH
  /// records say so.
  bool times = false;
};

/// kInvalidArgument: something that perf does not record, or options that exclude each other;
/// kUnsupported: Waymark was built without zstd.
Result<void> check_perf_data(const CaptureMaker& maker, std::size_t processes,
                             const PerfDataOptions& options);

/// Adds perf.data to a snapshot that write_capture() has written: a recording of the same trace, of
/// processes with these context IDs that all have the program in their memory.  The files of the
/// program are those of the snapshot, so its folder is the --symfs of the recording.
///
/// kInvalidArgument, kUnsupported: see check_perf_data(); kIo.
Result<void> write_perf_data(const CaptureMaker& maker, const Program& program,
                             std::span<const std::uint32_t> processes, const std::string& directory,
                             const PerfDataOptions& options = {});

}  // namespace waymark::synth
