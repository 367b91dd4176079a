// In place of collateral_xml.cc where Waymark is built without pugixml.
#include "waymark/syst/collateral.h"

namespace waymark::syst {

std::expected<void, CollateralProblem> Collateral::add_text(const std::string& name,
                                                            std::string_view) {
  CollateralProblem problem;
  problem.kind = CollateralProblem::Kind::kUnreadable;
  problem.file = name;
  problem.reason =
      "this Waymark was built without pugixml; configure it with -DWAYMARK_COLLATERAL=ON";
  return std::unexpected(std::move(problem));
}

std::expected<void, CollateralProblem> Collateral::add_file(const std::string& path) {
  return add_text(path, {});
}

}  // namespace waymark::syst
