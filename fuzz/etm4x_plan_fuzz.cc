// A plan file of any bytes: no crash, and an accepted plan is in the explanation of its registers.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "etm4x/units.h"
#include "waymark/etm4x/compile.h"
#include "waymark/etm4x/explain.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waymark;
  using namespace waymark::etm4x;
  if (size == 0) return 0;
  const IdRegisters id = *data % 3 == 0   ? full_unit()
                         : *data % 3 == 1 ? middle_unit()
                                          : bare_unit();
  std::vector<PlanProblem> problems;
  const auto plan =
      parse_plan({reinterpret_cast<const char*>(data + 1), size - 1}, nullptr, problems);
  if (plan.has_value() != problems.empty()) std::abort();
  if (!plan) return 0;
  const auto compiled = compile_plan(*plan, id, {}, problems);
  if (compiled.has_value() != problems.empty()) std::abort();
  if (!compiled) return 0;
  const Capabilities caps = read_capabilities(id, {});
  static_cast<void>(explanation_text(explain(compiled->image, id, caps)));
  static_cast<void>(perf_line(*plan, id, {}));
  std::vector<std::string> missing;
  if (!contains_plan(plan_of(compiled->image, caps), *plan, missing)) std::abort();
  // The explanation of registers as a plan is accepted.
  const auto back =
      parse_plan(acceptable_plan_text(plan_of(compiled->image, caps), id, {}), nullptr, problems);
  if (!back || !compile_plan(*back, id, {}, problems)) std::abort();
  return 0;
}
