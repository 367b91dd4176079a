#include "waymark/etm4x/register_image.h"

#include <fmt/format.h>

#include <algorithm>

namespace waymark::etm4x {

std::string register_text(const RegisterValue& value) {
  return fmt::format("0x{:0{}X}", value.value, value.wide ? 16 : 8);
}

void RegisterImage::set(std::string_view name, std::uint64_t value, bool wide) {
  const auto at = std::ranges::find(values_, name, &RegisterValue::name);
  if (at == values_.end()) {
    values_.push_back({std::string(name), value, wide});
  } else {
    at->value = value;
    at->wide = wide;
  }
}

std::optional<std::uint64_t> RegisterImage::find(std::string_view name) const {
  const auto at = std::ranges::find(values_, name, &RegisterValue::name);
  if (at == values_.end()) return std::nullopt;
  return at->value;
}

std::uint64_t RegisterImage::value(std::string_view stem, unsigned number) const {
  return value(fmt::format("{}{}", stem, number));
}

}  // namespace waymark::etm4x
