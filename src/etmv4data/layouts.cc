#include "waymark/etmv4data/layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "waymark/base/number.h"
#include "waymark/etmv4data/text.h"

namespace waymark::etmv4data {
namespace {

constexpr std::array<PacketType, Layouts::kCount> kTypes = {
    PacketType::kAddressF1, PacketType::kAddressF2, PacketType::kAddressF3, PacketType::kAddressF4,
    PacketType::kAddressF5, PacketType::kAddressF6, PacketType::kAddressF7, PacketType::kValueF1,
    PacketType::kValueF2,   PacketType::kValueF3,   PacketType::kValueF4,   PacketType::kValueF5,
    PacketType::kValueF6,   PacketType::kTraceInfo, PacketType::kEvent};

std::optional<std::size_t> row_of(PacketType type) {
  const auto* row = std::ranges::find(kTypes, type);
  if (row == kTypes.end()) return std::nullopt;
  return static_cast<std::size_t>(row - kTypes.begin());
}

constexpr std::string_view kBlanks = " \t\r";

/// Removes the first word and returns it; empty: there is none.
std::string_view take_word(std::string_view& line) {
  const std::size_t start = std::min(line.find_first_not_of(kBlanks), line.size());
  line.remove_prefix(start);
  const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::unexpected<Error> bad(std::uint32_t line, std::string_view reason) {
  return fail(ErrorCode::kParse, fmt::format("line {}: {}", line, reason));
}

Result<void> read_line(std::string_view line, std::uint32_t number, Layouts& layouts) {
  line = line.substr(0, line.find('#'));
  const std::string_view name = take_word(line);
  if (name.empty()) return {};
  const auto type = packet_of_name(name);
  if (!type || !row_of(*type))
    return bad(number, fmt::format("'{}' is not a packet that needs a layout: those are D_P1_F1 to "
                                   "D_P1_F7, D_P2_F1 to D_P2_F6, D_TRACE_INFO and D_EVENT.",
                                   name));
  if (layouts.find(*type)) return bad(number, fmt::format("{} already has a layout.", name));
  Layout layout;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string_view text =
        equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
    const auto value = parse_number(text);
    if ((key != "fixed" && key != "continued") || !value || *value > 0xFF)
      return bad(number,
                 fmt::format("'{}' is neither fixed=N nor continued=N with N up to 255.", word));
    (key == "fixed" ? layout.fixed : layout.continued) = static_cast<std::uint8_t>(*value);
  }
  return layouts.set(*type, layout);
}

}  // namespace

std::span<const PacketType> Layouts::types() { return kTypes; }

std::optional<Layout> Layouts::find(PacketType type) const {
  const auto row = row_of(type);
  return row ? rows_[*row] : std::nullopt;
}

Result<void> Layouts::set(PacketType type, Layout layout) {
  const auto row = row_of(type);
  if (!row)
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} needs no layout.", packet_name(type)));
  rows_[*row] = layout;
  return {};
}

Result<Layouts> parse_layouts(std::string_view text) {
  Layouts layouts;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    WAYMARK_TRY(read_line(text.substr(0, end), number, layouts));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return layouts;
}

}  // namespace waymark::etmv4data
