#include "waymark/shard/findings_codec.h"

#include <algorithm>
#include <limits>

#include "pack.h"

namespace waymark::shard {
namespace {

/// Kinds and framings are written without quotes.
bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

exports::Finding take_finding(Cursor& cursor) {
  exports::Finding finding{.kind = take_text(cursor)};
  // 0: no source.
  if (const std::uint64_t id = take_number(cursor); id != 0)
    finding.id = static_cast<TraceId>(std::min<std::uint64_t>(id - 1, kTraceIdCount - 1));
  finding.count = take_number(cursor);
  finding.bytes = take_number(cursor);
  finding.text = take_text(cursor);
  return finding;
}

}  // namespace

std::string encode(std::span<const exports::CaptureFindings> captures) {
  std::string out;
  put_number(out, captures.size());
  for (const exports::CaptureFindings& capture : captures) {
    put_text(out, capture.input);
    put_number(out, capture.code);
    put_text(out, capture.kind);
    put_text(out, capture.framing);
    put_number(out, capture.bytes);
    put_number(out, capture.findings.size());
    for (const exports::Finding& finding : capture.findings) {
      put_text(out, finding.kind);
      put_number(out, finding.id ? std::uint64_t{*finding.id} + 1 : 0);
      put_number(out, finding.count);
      put_number(out, finding.bytes);
      put_text(out, finding.text);
    }
  }
  return out;
}

Result<std::vector<exports::CaptureFindings>> read_findings(Bytes content) {
  const auto bad = [] {
    return fail(ErrorCode::kBadData, "the content of the part is inconsistent");
  };
  Cursor cursor(content);
  std::vector<exports::CaptureFindings> captures(take_count(cursor));
  for (exports::CaptureFindings& capture : captures) {
    capture.input = take_text(cursor);
    const std::uint64_t code = take_number(cursor);
    capture.kind = take_text(cursor);
    capture.framing = take_text(cursor);
    capture.bytes = take_number(cursor);
    const std::size_t count = take_count(cursor);
    for (std::size_t i = 0; i < count && !cursor.overrun(); ++i) {
      capture.findings.push_back(take_finding(cursor));
      if (!is_word(capture.findings.back().kind)) return bad();
    }
    if (cursor.overrun() || code > std::numeric_limits<std::uint8_t>::max() ||
        !is_word(capture.framing))
      return bad();
    capture.code = static_cast<std::uint8_t>(code);
  }
  if (cursor.overrun() || !cursor.at_end()) return bad();
  return captures;
}

}  // namespace waymark::shard
