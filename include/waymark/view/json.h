// The answers of a viewer as JSON, and a timeline also as binary columns.  docs/view_api.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/view/answers.h"

namespace waymark::view {

/// Longer texts are cut.  In bytes.
inline constexpr std::size_t kLongestJsonName = 1024;
inline constexpr std::size_t kLongestJsonMessage = 4096;

/// A JSON string with its quotes, cut after `most` bytes.  Control characters, bidirectional
/// controls and `<` become `\uNNNN`, and each byte that is not UTF-8 becomes U+FFFD: so the string
/// is text wherever it is put, also inside of HTML.
void write_string(TextBuffer& out, std::string_view text, std::size_t most);

/// The shortest number that reads back as the same; null if it is not finite.
void write_number(TextBuffer& out, double value);

/// Each writes one object.
void write_json(TextBuffer& out, const CaptureFacts& facts, std::string_view version);
void write_json(TextBuffer& out, const std::vector<Track>& tracks);
/// `tracks`: those of the session, for the kind of each.
void write_json(TextBuffer& out, const Timeline& timeline, const std::vector<Track>& tracks);
void write_json(TextBuffer& out, const PlaceAnswer& answer);
void write_json(TextBuffer& out, const PlacesAnswer& answer);
void write_json(TextBuffer& out, const Code& code);
void write_json(TextBuffer& out, const Functions& functions);
void write_json(TextBuffer& out, const Neighbours& neighbours);
void write_json(TextBuffer& out, const Flame& flame);
void write_json(TextBuffer& out, const Measure& measure, double span);
void write_json(TextBuffer& out, const Hits& hits);
void write_json(TextBuffer& out, const std::vector<HealthFinding>& findings);
/// `{"error": sentence}`.
void write_error(TextBuffer& out, std::string_view sentence);

/// The object with its spans in columns after it.
std::string binary_timeline(const Timeline& timeline, const std::vector<Track>& tracks);

}  // namespace waymark::view
