// The name of the trace of a capture in messages.
#pragma once

#include <string>

namespace waymark::inputs {

class Capture;

/// The path of its file; for several buffers as one trace, which no file has, the folder of the
/// snapshot and the names of the buffers.  Not yet safe for a terminal: see base/escape.h.
std::string trace_name(const Capture& capture);

}  // namespace waymark::inputs
