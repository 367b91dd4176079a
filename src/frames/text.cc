#include "waymark/frames/text.h"

namespace waymark::frames {
namespace {

constexpr std::size_t kIndexColumns = 7;
constexpr std::size_t kBytesPerLine = 16;

void write_tag(TextBuffer& out, RawKind kind, TraceId id) {
  switch (kind) {
    case RawKind::kPacked:
      out.put("   RAW_PACKED; ");
      return;
    case RawKind::kHsync:
      out.put("        HSYNC; ");
      return;
    case RawKind::kFsync:
      out.put("        FSYNC; ");
      return;
    case RawKind::kIdData:
      out.put("  ID_DATA[");
      if (id == kNoTraceId) {
        out.put("????");
      } else {
        out.put("0x");
        out.hex(id, 2);
      }
      out.put("]; ");
      return;
  }
  out.put("      UNKNOWN; ");
}

void write_count(TextBuffer& out, std::string_view what, std::uint64_t count) {
  out.put(what);
  out.dec(count);
  out.put('\n');
}

}  // namespace

void write_raw_frame(TextBuffer& out, RawKind kind, TraceIndex index, TraceId id, Bytes bytes) {
  char digits[20];
  out.put("Frame Data; Index");
  out.right({digits, static_cast<std::size_t>(write_dec(digits, index) - digits)}, kIndexColumns);
  out.put("; ");
  write_tag(out, kind, id);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0 && i % kBytesPerLine == 0) out.put('\n');
    out.hex(bytes[i], 2);
    out.put(' ');
  }
  out.put('\n');
}

void write_statistics(TextBuffer& out, const Statistics& statistics) {
  out.put("\nFrame Demux Stats\n");
  write_count(out, "Trace data bytes sent to registered ID decoders: ", statistics.valid_id_bytes);
  write_count(out, "Trace data bytes without registered ID decoders: ", statistics.no_id_bytes);
  write_count(out, "Trace data bytes with unknown ID: ", statistics.unknown_id_bytes);
  write_count(out, "Trace data bytes with reserved ID: ", statistics.reserved_id_bytes);
  write_count(out, "Frame demux bytes, ID bytes and sync bytes: ", statistics.frame_bytes);
  write_count(out, "Total bytes processed by frame demux: ", statistics.total());
  out.put('\n');
}

void write_dstream_footer(TextBuffer& out, Bytes footer) {
  out.put("DSTREAM footer [");
  for (const std::uint8_t byte : footer) {
    out.put("0x");
    out.hex(byte);
    out.put(' ');
  }
  out.put("]\n");
}

}  // namespace waymark::frames
