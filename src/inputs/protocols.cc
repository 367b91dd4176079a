#include "waymark/inputs/protocols.h"

#include <algorithm>
#include <string>

#include "protocol_rows.h"

namespace waymark::inputs {
namespace {

constexpr std::span<const ProtocolRow> (*kRows[])() = {
    etmv3_rows, etmv4_rows, etmv4data_rows, itm_rows, mtb_rows, ptm_rows, stm_rows};

struct Name {
  std::string_view name;
  std::string_view type;
};
constexpr Name kNames[] = {{"etmv4", "ETM4"}, {"etm4", "ETM4"}, {"etmv4d", "ETM4D"}, {"ete", "ETE"},
                           {"etmv3", "ETM3"}, {"etm3", "ETM3"}, {"ptm", "PTM1"},     {"stm", "STM"},
                           {"itm", "ITM"},    {"mtb", "MTB"}};

}  // namespace

const ProtocolRow* protocol_by_type(std::string_view type) {
  const std::string_view name = type.substr(0, type.find('.'));
  for (const auto rows : kRows)
    for (const ProtocolRow& row : rows())
      if (row.type == name) return &row;
  return nullptr;
}

const ProtocolRow* protocol_by_name(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto* found = std::ranges::find(kNames, lower, &Name::name);
  return found == std::end(kNames) ? nullptr : protocol_by_type(found->type);
}

}  // namespace waymark::inputs
