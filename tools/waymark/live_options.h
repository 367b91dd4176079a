// Live sources as INPUT: --record, --arrival and --retry-for.
#pragma once

#include <memory>

#include "format.h"
#include "input_options.h"
#include "output.h"
#include "waymark/inputs/live_capture.h"
#include "waymark/live/head.h"

namespace waymark::cli {

class Command;

/// For a command that can decode trace while it arrives.  `arrival`: it writes lines that can have
/// a time.
void add_live_options(Command& command, InputOptions& options, bool arrival = true);

/// A live source, or a pipe that may be one.
struct LiveInput {
  std::shared_ptr<live::Head> head;    ///< nullptr: the input is neither.
  inputs::PipeStream* pipe = nullptr;  ///< The stream of `head`, if it is a pipe.
};

/// kInvalidArgument: a wrong address, or options that do not fit the input.
Result<void> check_live(const InputOptions& options);

/// Connects, or opens the pipe.
Result<LiveInput> open_live_input(const InputOptions& options);

/// Reads the beginning of the trace.  nullptr: what is in the pipe is needed as a whole, and was
/// copied for open_input().
Result<std::shared_ptr<live::Head>> read_trace_head(const LiveInput& input,
                                                    const InputOptions& options);

/// Both; nullptr also if the input is not live.
Result<std::shared_ptr<live::Head>> open_live(const InputOptions& options);

/// Makes the output show times of arrival, if the user wants it.
void stamp_lines(Output& output, const InputOptions& options, Format format);

}  // namespace waymark::cli
