#include "occurrence.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "waymark/base/escape.h"
#include "waymark/base/number.h"
#include "waymark/element/dwt.h"

namespace waymark::cli {
namespace {

/// Longer lines of a port are taken in parts.
constexpr std::size_t kLongestLine = 4096;

bool is_port_write(const Element& element) {
  return element.kind == ElementKind::kItmTrace &&
         static_cast<ItmKind>(element.extra & kItmKindMask) == ItmKind::kSoftware;
}

bool enters_exception(const Element& element, std::uint64_t number) {
  if (element.kind != ElementKind::kItmTrace ||
      static_cast<ItmKind>(element.extra & kItmKindMask) != ItmKind::kHardware)
    return false;
  const DwtEvent event =
      dwt_event(element.number, element.extra_value, static_cast<std::uint32_t>(element.start));
  return event.kind == DwtKind::kException && event.action == DwtExceptionAction::kEntered &&
         event.exception == number;
}

bool is_loss(const Element& element) {
  return element.kind == ElementKind::kNoSync ||
         (element.kind == ElementKind::kItmTrace && (element.extra & kItmOverflow) != 0);
}

bool is_channel_write(const Element& element) {
  return element.kind == ElementKind::kSwTrace && element.extra_value != 0 &&
         (element.extra & kSwIdValid) != 0 &&
         element.reason == static_cast<std::uint8_t>(SwTraceKind::kData);
}

}  // namespace

Result<Occurrence> Occurrence::parse(const std::string& text) {
  Occurrence made;
  constexpr std::pair<std::string_view, Kind> kForms[] = {
      {"event:", Kind::kEvent}, {"exception:", Kind::kException}, {"port:", Kind::kPort}};
  for (const auto& [prefix, kind] : kForms) {
    if (!text.starts_with(prefix)) continue;
    const auto value = parse_number(std::string_view(text).substr(prefix.size()));
    if (!value) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: expected a number after {}", escaped(text), prefix));
    }
    made.kind_ = kind;
    made.value_ = *value;
    return made;
  }
  constexpr std::string_view kText = "text:";
  if (text.starts_with(kText)) {
    made.kind_ = Kind::kText;
    made.name_ = text.substr(kText.size());
    if (made.name_.empty())
      return fail(ErrorCode::kInvalidArgument, "text: the text to look for is missing.");
    return made;
  }
  if (text.starts_with("0x") || text.starts_with("0X")) {
    const auto address = parse_number(text);
    if (!address)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: this is not an address.", escaped(text)));
    made.kind_ = Kind::kAddress;
    made.value_ = *address;
    return made;
  }
  // Names of C++ contain a plus as well, so only one before a number is an offset.
  made.name_ = text;
  if (const std::size_t plus = text.rfind('+'); plus != std::string::npos && plus != 0) {
    if (const auto offset = parse_number(std::string_view(text).substr(plus + 1))) {
      made.name_ = text.substr(0, plus);
      made.value_ = *offset;
    }
  }
  if (made.name_.empty())
    return fail(ErrorCode::kInvalidArgument, "the name of the place is missing.");
  return made;
}

Result<void> Occurrence::find_function(const inputs::Capture& capture,
                                       const SymbolOptions& symbols) {
  auto places = program_places(capture, symbols);
  if (!places) return std::unexpected(std::move(places).error());
  auto function = places->match(name_);
  if (!function) return fail(ErrorCode::kInvalidArgument, std::move(function).error().detail);
  places_ = std::move(places->lookup);
  function_ = *std::move(function);
  return {};
}

std::optional<std::uint64_t> Occurrence::in_range(const Element& element) {
  if (element.end <= element.start) return std::nullopt;
  std::uint64_t offset = 0;
  if (kind_ == Kind::kAddress) {
    if (value_ < element.start || value_ >= element.end) return std::nullopt;
    offset = value_ - element.start;
  } else {
    // A range may begin before a function that it falls into.
    const auto find = [&](std::uint64_t address) -> std::optional<std::uint64_t> {
      const program::Place place = places_(element, address);
      const program::Function* const function =
          place.program == nullptr ? nullptr : place.program->function(place.address);
      if (function == nullptr || !function_.matches(*place.program, *function)) return std::nullopt;
      return address - place.address + function->start + value_;
    };
    auto wanted = find(element.start);
    if (!wanted) wanted = find(element.end - std::max<unsigned>(element.last_size, 1));
    if (!wanted || *wanted < element.start || *wanted >= element.end) return std::nullopt;
    offset = *wanted - element.start;
  }
  // Instructions of T32 have two sizes: their mean is near enough for a place within a range.
  return offset * element.count / (element.end - element.start);
}

bool Occurrence::ends_line(const Element& element) {
  std::string& line = lines_[{element.trace_id, element.number}];
  const unsigned size = std::min<unsigned>(element.extra_value, 4);
  bool found = false;
  for (unsigned i = 0; i < size; ++i) {
    const auto c = static_cast<char>(element.start >> (8 * i) & 0xFF);
    if (c == '\n' || c == '\0' || line.size() == kLongestLine) {
      found = found || line.contains(name_);
      line.clear();
    } else {
      line.push_back(c);
    }
  }
  return found;
}

std::optional<std::uint64_t> Occurrence::happens(const Element& element, std::string_view message) {
  const auto now = [](bool yes) { return yes ? std::optional<std::uint64_t>(0) : std::nullopt; };
  switch (kind_) {
    case Kind::kFunction:
    case Kind::kAddress:
      return element.kind == ElementKind::kInstrRange ? in_range(element) : std::nullopt;
    case Kind::kEvent:
      return now(element.kind == ElementKind::kEvent && value_ < 32 &&
                 (element.number >> value_ & 1) != 0 &&
                 element.reason == static_cast<std::uint8_t>(EventType::kNumbered));
    case Kind::kException:
      return now((element.kind == ElementKind::kException && element.number == value_) ||
                 enters_exception(element, value_));
    case Kind::kPort:
      return now((is_port_write(element) && element.number == value_) ||
                 (is_channel_write(element) && element.sw_id.channel == value_));
    case Kind::kText:
      // Text does not continue after a loss.
      if (is_loss(element))
        std::erase_if(lines_,
                      [&](const auto& line) { return line.first.first == element.trace_id; });
      if (element.kind == ElementKind::kCustom) return now(message.contains(name_));
      return now(is_port_write(element) && ends_line(element));
  }
  return std::nullopt;
}

}  // namespace waymark::cli
