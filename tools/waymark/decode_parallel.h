// decode on several threads.
#pragma once

#include <optional>

#include "decode_sink.h"
#include "output.h"
#include "waymark/inputs/capture.h"

namespace waymark::cli {

class Command;

/// -j N: 1 to parallel::kMaxThreads; 0 where it is not said.
void add_threads_option(Command& command, unsigned& threads);

/// How many threads are worth it: `wanted`, or where that is 0 one for each core from a certain
/// size on; 1 where sources cannot be cut.
unsigned threads_for(inputs::Capture& capture, unsigned wanted);

struct ParallelOutcome {
  int code = 0;
  bool executed = false;  ///< Sink::says_something().
};

/// Decodes the whole capture with several threads; the text is that of one thread.  Nothing where
/// one thread does it: `threads` is 1, or 0 and the trace is short, or sources cannot be cut.
/// `sink`: of its members, `format` and `symbols`.
std::optional<ParallelOutcome> decode_parallel(inputs::Capture& capture, Output& output,
                                               const SinkOptions& sink, unsigned threads);

}  // namespace waymark::cli
