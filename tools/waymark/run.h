// The loop that all commands share: blocks of trace in, batches of elements out.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "input_options.h"
#include "output.h"
#include "waymark/inputs/capture.h"

namespace waymark::cli {

/// Places in the trace, ascending.
struct RunLimits {
  std::vector<TraceIndex> places{};
  /// Called when everything before the next place was given.  kOk, or the exit code.
  std::function<int()> reached{};
};

/// Hooks of the loop; `stop` ends it early and is asked once per batch.
struct RunHooks {
  std::function<void(std::span<const Element>)> on_elements{};
  std::function<bool()> stop{};
  /// Asked after each block, with the index after it.  True: the rest is not wanted.
  std::function<bool(TraceIndex)> enough{};
  /// A live trace pauses: writes lines that wait.  True: there were some.
  std::function<bool()> release{};
  /// Bytes are missing at this place.  What came before was given.
  std::function<void(TraceIndex)> gap{};
  /// Called after each block, and several times a second while nothing comes.
  std::function<void()> turn{};
  RunLimits limits{};
};

/// Decodes the capture to its end.  kOk; kInterrupted; kOutput, whose sentence is printed; kDamaged
/// where the hook stopped it or the tree failed.
int run_capture(inputs::Capture& capture, Output& output, const RunHooks& hooks);

/// Opens the output, unless it is a file of the input.  On failure prints the sentence and returns
/// the exit code.
std::expected<Output, int> open_output(const std::string& path, const inputs::Capture& capture,
                                       const InputOptions& options);

/// " (byte 4096 of ETB_1)", where several buffers are joined; otherwise empty.
std::string place_in_buffer(const inputs::Capture& capture, TraceIndex index);

/// --stats: writes the counts of sources and frames to standard error, as text for people.
void print_statistics(inputs::Capture& capture);

/// Writes the rest of the output.  Returns `code`; kOutput, with a sentence, if writing fails; or
/// kReaderLeft, without one, if the reader went away.
int finish_output(Output& output, int code);

/// True if some source found a synchronisation point.
bool any_sync_point(const inputs::Capture& capture);

/// Whether a source traces the instructions of a core, as an STM or ITM does not.
bool traces_a_core(const inputs::Capture& capture);

}  // namespace waymark::cli
