#include "report_coverage.h"

#include <utility>
#include <vector>

#include "counting.h"
#include "program_profile.h"
#include "symbol_options.h"
#include "waymark/profile/profile.h"

namespace waymark::cli {

exports::Coverage coverage_of_capture(const ViewerInput& options, const std::string& path) {
  InputOptions input = options.input;
  input.path = path;
  auto capture = try_open_capture(input, {}, {});
  if (!capture) return {};
  auto places = place_lookup(*capture, {.functions = true, .files = options.symbols});
  if (!places) return {};
  const Counted counted = count_all(*capture, std::nullopt, 0);
  const profile::Locate locate = program_locator(*capture, *std::move(places));
  profile::Profile profile;
  for (const count::Counts& counts : counted.by_source) profile.add(counts, locate);
  std::vector<const profile::ProgramProfile*> programs;
  for (const profile::ProgramProfile& program : profile.programs())
    if (program.program != nullptr && !program.counts.rows.empty()) programs.push_back(&program);
  auto coverage = exports::coverage_of(profile, programs, {});
  return coverage ? *std::move(coverage) : exports::Coverage();
}

}  // namespace waymark::cli
