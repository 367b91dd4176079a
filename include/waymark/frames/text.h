// The wording of raw frames and demultiplexer statistics in listings, character for character.  See
// frames.md 5, 6 and 7.
#pragma once

#include "waymark/base/text_buffer.h"
#include "waymark/frames/demux.h"

namespace waymark::frames {

/// "Frame Data; Index ..." and its newline.  `id` is used only for kIdData.
void write_raw_frame(TextBuffer& out, RawKind kind, TraceIndex index, TraceId id, Bytes bytes);

/// "Frame Demux Stats" and its six lines, with the empty lines before and after.
void write_statistics(TextBuffer& out, const Statistics& statistics);

/// "DSTREAM footer [...]" and its newline.
void write_dstream_footer(TextBuffer& out, Bytes footer);

}  // namespace waymark::frames
