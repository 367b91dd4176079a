#include "software_words.h"

#include "waymark/outputs/names.h"

namespace waymark::outputs {
namespace {

bool has(const Element& element, SwTraceFlag flag) { return (element.extra & flag) != 0; }

void write_value(TextBuffer& out, const Element& element) {
  out.put("0x");
  out.hex(element.start, element.extra_value > 64 ? 16 : element.extra_value / 4);
}

void write_content(TextBuffer& out, const Element& element, std::string_view word) {
  if (word == "flag") {
    out.put("flag");
  } else if (word == "time") {
    out.put("time only");
  } else if (word == "frequency") {
    if (element.start == 0) {
      out.put("timestamp frequency not set");
    } else {
      out.put("timestamps count at ");
      out.dec(element.start);
      out.put(" Hz");
    }
  } else if (word != "data") {
    for (const char c : word) out.put(c == '_' ? ' ' : c);
    if (element.extra_value != 0) {
      out.put(' ');
      write_value(out, element);
    }
  } else {
    write_value(out, element);
  }
}

}  // namespace

std::string_view software_word(const Element& element) {
  switch (static_cast<SwTraceKind>(element.reason)) {
    case SwTraceKind::kUser:
      return "user";
    case SwTraceKind::kCrossSync:
      return "cross_sync";
    case SwTraceKind::kChannelError:
      return "channel_error";
    case SwTraceKind::kData:
      break;
  }
  if (has(element, kSwGlobalError)) return "global_error";
  if (has(element, kSwMasterError)) return "master_error";
  if (has(element, kSwFrequency)) return "frequency";
  if (has(element, kSwTrigger)) return "trigger";
  if (element.extra_value != 0) return "data";
  return has(element, kSwMarker) ? "flag" : "time";
}

bool has_master(const Element& element) {
  const std::string_view word = software_word(element);
  return word != "frequency" && word != "global_error" && word != "cross_sync";
}

void write_software(TextBuffer& out, const Element& element) {
  const std::string_view word = software_word(element);
  if (has_master(element)) {
    if (has(element, kSwIdValid)) {
      out.put("master 0x");
      out.hex(element.sw_id.master, 2);
      out.put(", channel ");
      out.dec(element.sw_id.channel);
    } else {
      out.put("unknown master");
    }
    out.put(": ");
  }
  write_content(out, element, word);
  if (has(element, kSwMarker) && word != "flag") out.put(", marker");
  if ((element.flags & kElementHasTimestamp) != 0) {
    out.put(", time ");
    out.dec(element.timestamp);
    out.put(partial_time_words(element));
  }
}

}  // namespace waymark::outputs
