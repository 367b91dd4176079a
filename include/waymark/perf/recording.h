// The content of a recording of CoreSight trace: the trace units, the trace in the pieces in which
// the kernel handed it over, and what processes did in the meantime.  See perf-cs-etm.md 2 to 5 and
// 9, and simpleperf.md 2 to 4.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "waymark/base/bits.h"
#include "waymark/base/types.h"
#include "waymark/perf/file.h"
#include "waymark/perf/record.h"

namespace waymark::program {
class Program;
}

namespace waymark::perf {

enum class UnitKind : std::uint8_t { kEtmV3, kPtm, kEtmV4, kEte };

/// The trace unit of a CPU.
struct Unit {
  std::uint32_t cpu = 0;
  UnitKind kind = UnitKind::kEtmV4;
  /// Those that the recording holds, by the names of the architecture: "TRCCONFIGR".
  std::vector<std::pair<std::string, std::uint32_t>> registers{};
  /// From the hardware ID records, else from the registers; nothing: not known.
  std::optional<TraceId> trace_id{};
  std::optional<std::uint32_t> sink{};  ///< From the hardware ID records.
  /// Where the time stamps come from, as a number of the driver: 1 virtual, 2 guest physical, 3
  /// physical counter.
  std::optional<std::uint32_t> timestamp_source{};

  [[nodiscard]] std::optional<std::uint32_t> reg(std::string_view name) const;
  [[nodiscard]] bool traces_contexts() const;
  [[nodiscard]] bool traces_times() const;
  /// The size of a timestamp, in bits: 48 or 64.
  [[nodiscard]] unsigned timestamp_bits() const;
};

/// An AUXTRACE record: a stretch of what one buffer of the kernel received.
struct Buffer {
  std::size_t section = 0;        ///< In File::sections().
  std::uint64_t file_offset = 0;  ///< The offset of its bytes.
  Bytes bytes;                    ///< Lives as long as the File.
  std::uint64_t aux_offset = 0;   ///< The offset of the first byte since recording began.
  std::uint32_t queue = 0;
  std::optional<std::uint32_t> cpu{};  ///< Nothing: recorded per thread.
  std::optional<std::uint32_t> tid{};  ///< Nothing: recorded per CPU.
};

/// The bytes of one AUX record: the unit of decoding.  A decoder knows nothing of earlier pieces.
struct Piece {
  std::size_t buffer = 0;    ///< In Recording::buffers.
  std::uint64_t offset = 0;  ///< The offset of its bytes in those of the buffer.
  std::uint64_t size = 0;
  std::uint64_t aux_offset = 0;  ///< As the AUX record says.
  std::uint64_t flags = 0;       ///< AuxFlag bits.
  SampleId sample{};

  [[nodiscard]] bool raw() const { return (flags & kAuxRaw) != 0; }
};

class JittedFunction;

/// A file, or anonymous memory, became visible at an address.
struct Mapping {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;
  std::string path{};
  std::vector<std::uint8_t> build_id{};  ///< Empty: not in the record.
  bool executable = true;                ///< MMAP records do not say; they are of code.
  bool in_kernel = false;
  /// nullptr: this is not code of a JIT compiler whose bytes are known; else `path` is the file
  /// that has them.
  std::shared_ptr<const JittedFunction> jitted{};
  /// The names of code whose bytes are not known, at the addresses of the process; may be nullptr.
  std::shared_ptr<const program::Program> names{};
};
struct NewName {
  std::string name{};
  bool exec = false;
};
struct Forked {
  std::uint32_t parent_pid = 0;
  std::uint32_t parent_tid = 0;
};
struct Exited {};
struct TraceStarted {};
/// The task was scheduled out, or in.
struct Switched {
  bool out = false;
};

/// The events of a task, in order.
struct TaskEvent {
  std::uint64_t time = 0;  ///< ns; 0: before recording began, or not known.
  std::int32_t pid = 0;    ///< -1: the kernel.
  std::int32_t tid = 0;
  std::optional<std::uint32_t> cpu{};
  CpuMode mode = CpuMode::kUser;
  std::variant<Mapping, NewName, Forked, Exited, TraceStarted, Switched> what{};
};

/// Converts counts of the system counter to the recording's clock.
struct TimeConversion {
  std::uint64_t shift = 0;
  std::uint64_t multiplier = 0;
  std::uint64_t zero = 0;
  /// Where the counter has less than 64 bits: a count near the recording, and the counter's bits.
  struct Near {
    std::uint64_t cycles = 0;
    std::uint64_t mask = 0;
  };
  std::optional<Near> near{};

  /// The count with its upper bits, of which only `bits` lower bits are known: the one that is
  /// nearest to `near`.
  [[nodiscard]] std::uint64_t whole_count(std::uint64_t cycles, unsigned bits) const {
    if (!near) return cycles;
    const std::uint64_t mask = near->mask & low_mask(bits);
    const std::uint64_t ahead = (cycles - near->cycles) & mask;
    return near->cycles + ahead - (ahead > mask / 2 ? mask + 1 : 0);
  }
  /// `bits`: how many lower bits of `cycles` are known.
  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t cycles, unsigned bits = 64) const {
    cycles = whole_count(cycles, bits);
    const std::uint64_t whole = cycles >> (shift & 63);
    const std::uint64_t part = cycles & low_mask(static_cast<unsigned>(shift & 63));
    return zero + whole * multiplier + (part * multiplier >> (shift & 63));
  }
};

struct BuildId {
  std::string path{};
  std::int32_t pid = -1;
  CpuMode mode = CpuMode::kUser;
  std::vector<std::uint8_t> id{};
};

/// Trace that the recording lacks.
struct Losses {
  std::uint64_t truncated = 0;   ///< AUX records whose trace did not fit.
  std::uint64_t partial = 0;     ///< AUX records with gaps.
  std::uint64_t collisions = 0;  ///< AUX records that another user of the buffer disturbed.
  std::uint64_t missing = 0;     ///< AUX records without their bytes.
  std::uint64_t missing_bytes = 0;
  std::string first_missing{};     ///< Which the first one is: "AUX offset 4096 of CPU 2".
  std::uint64_t lost_records = 0;  ///< As LOST records count.
};

/// Where and how a recording was made; empty where the file does not say.
struct Origin {
  std::vector<std::string> command{};  ///< The words of the command that recorded.
  std::string host{};
  std::string kernel{};  ///< As `uname -r` shows it.
  std::string architecture{};
  std::string tool{};  ///< The version of perf.
};

struct Recording {
  /// Reads all records.  kNotFound: no CoreSight trace was recorded; kBadData: its description is
  /// damaged; kUnsupported: of a version that is not known; kConflict: two CPUs with one trace ID
  /// in one stream.
  static Result<Recording> read(const File& file);

  std::uint64_t version = 0;  ///< The version of the description of the units.
  std::uint32_t pmu = 0;      ///< The type number of events of cs_etm.
  bool snapshot = false;
  bool simpleperf = false;
  /// One program and what it started was recorded, from its start on, wherever it ran: the thread
  /// of an AUX record is the one that was traced.
  bool per_task = false;
  std::vector<Unit> units{};
  std::vector<Buffer> buffers{};
  std::vector<Piece> pieces{};      ///< In the order of the AUX records.
  std::vector<TaskEvent> events{};  ///< In order of time; in order of the file for simpleperf.
  std::vector<BuildId> build_ids{};
  std::optional<TimeConversion> time{};
  Losses losses{};
  Origin origin{};
  bool monotonic = false;  ///< The times of the records are those of CLOCK_MONOTONIC.
  /// simpleperf says how far after the start of a module in memory its code begins; by its path.
  std::map<std::string, std::uint64_t> module_offsets{};
  std::vector<Note> notes{};

  [[nodiscard]] const Unit* unit_of_cpu(std::uint32_t cpu) const;
  [[nodiscard]] Bytes bytes(const Piece& piece) const;
  /// The trace says which process runs.
  [[nodiscard]] bool traces_contexts() const;
  [[nodiscard]] bool has_switches() const;
};

}  // namespace waymark::perf
