// The part of `waymark info` about perf and simpleperf recordings.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "missing_programs.h"
#include "waymark/base/text_buffer.h"
#include "waymark/exports/findings.h"
#include "waymark/inputs/capture.h"
#include "waymark/perf/process_images.h"

namespace waymark::cli {

/// Counts the bytes of trace that each process left.  Set it as the observer of a capture that is
/// read without decoding.
class ProcessBytes final : public Observer {
 public:
  /// `capture` must be a recording, and must outlive the object.
  explicit ProcessBytes(inputs::Capture& capture);

  void on_packet(const PacketRef& packet) override;

  struct Process {
    std::string name{};  ///< The last one; empty: not known.
    std::uint64_t bytes = 0;
  };
  /// By process ID; -1: trace of which the process is not known.
  [[nodiscard]] const std::map<std::int32_t, Process>& processes() const { return processes_; }
  /// The bytes in programs that are missing: the last address before the bytes was in one.
  [[nodiscard]] const MissingPrograms::Times& programs() const { return programs_; }

 private:
  /// The last facts that the packets of a source stated.
  struct Context {
    TraceIndex since = 0;              ///< The last packet.
    TraceIndex seen_begin = kNoIndex;  ///< The piece whose programs were looked for.
    std::uint64_t* program = nullptr;  ///< The bytes of the program with the last address.
    ExecutionContext value{};          ///< As ProcessImages::task_at() takes it.
  };

  inputs::Capture& capture_;
  const perf::ProcessImages& images_;
  perf::TaskCursor cursor_;
  std::map<TraceId, Context> contexts_;
  std::map<std::int32_t, Process> processes_;
  MissingPrograms::Times programs_;
};

/// `processes` is nullptr if the trace was not read.
void write_recording_text(TextBuffer& out, const inputs::Capture& capture,
                          const ProcessBytes* processes);

/// As fields of an object, each after a comma.
void write_recording_json(TextBuffer& out, const inputs::Capture& capture,
                          const ProcessBytes* processes);

/// The problems of the programs of the traced processes.
std::vector<exports::Finding> program_findings(const inputs::Capture& capture,
                                               const ProcessBytes* processes);

}  // namespace waymark::cli
