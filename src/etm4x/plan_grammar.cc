#include "plan_grammar.h"

#include <fmt/format.h>

namespace waymark::etm4x {

std::string lacks(std::string_view what, std::string_view reg) {
  return fmt::format("the unit has no {} ({})", what, reg);
}

std::span<const Statement> plan_statements() {
  static const std::vector<Statement> kAll = [] {
    std::vector<Statement> rows;
    for (const auto part : {filter_statements(), feature_statements(), control_statements()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return kAll;
}

}  // namespace waymark::etm4x
