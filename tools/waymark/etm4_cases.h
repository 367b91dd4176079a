// Cases of the programming model: steps on a fresh unit, as JSON.  docs/howto/program_etmv4.md.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "etm4_json.h"
#include "waymark/base/result.h"
#include "waymark/etm4x/quirks.h"

namespace waymark::cli {

struct Etm4Step {
  const Json* step = nullptr;
  Json result;
};

struct Etm4Case {
  std::string id;
  std::vector<Etm4Step> steps;
};

/// kParse: it is not JSON, or not of the format.
Result<Json> read_etm4_cases(std::string_view text);

/// Runs one case from `cases` on a fresh unit; what a case expects is not looked at.  `item` must
/// outlive the answer.  kParse with the step: it is not of the format.
Result<Etm4Case> run_etm4_case(const Json& item, etm4x::Quirks quirks);

/// The expected result of the step; null: none.
Json etm4_expectation(const Json& step);

/// Spaced as in the documents: {"a": "b"}.
std::string json_text(const Json& value);

}  // namespace waymark::cli
