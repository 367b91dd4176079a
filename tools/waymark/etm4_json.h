// The JSON of the commands of `waymark etm4`.  docs/howto/program_etmv4.md has the fields.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/etm4x/compile.h"

namespace waymark::cli {

using Json = nlohmann::ordered_json;

/// "0x1f": registers and addresses are texts, because not every reader of JSON has 64 bits.
Json hex_json(std::uint64_t value);
/// An object of names and values.
Json registers_json(const etm4x::RegisterImage& image);
/// [{"file": ..., "value": ...}, ...]
Json writes_json(const std::vector<etm4x::SysfsWrite>& writes);
/// Sentences.
Json problems_json(const std::vector<etm4x::PlanProblem>& problems);

/// One line.  Bytes that are not UTF-8 become U+FFFD.
void put_json(TextBuffer& out, const Json& value);

/// Text of several lines for people: its names are escaped, its line ends stay.
void put_lines(TextBuffer& out, std::string_view text);

}  // namespace waymark::cli
