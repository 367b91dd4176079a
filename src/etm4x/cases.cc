#include "waymark/etm4x/cases.h"

namespace waymark::etm4x {
namespace {

std::string error_name(const Refusal& refusal) { return std::string(errno_name(refusal.error)); }

struct Runner {
  Unit& unit;

  StepResult operator()(const WriteStep& step) const {
    const Outcome outcome = unit.write(step.file, step.bytes);
    return outcome ? std::string("ok") : error_name(outcome.error());
  }
  StepResult operator()(const ReadStep& step) const {
    const auto text = unit.read(step.file);
    return text ? *text : error_name(text.error());
  }
  StepResult operator()(const PerfStep& step) const {
    auto image = unit.perf_start(step.request);
    if (!image) return error_name(image.error());
    return std::move(*image);
  }
  StepResult operator()(const DisableStep& step) const {
    unit.disable(step.registers);
    return std::string("ok");
  }
  StepResult operator()(const ImageStep& /*step*/) const { return unit.image(); }
  StepResult operator()(const HardwareStep& /*step*/) const { return unit.hardware(); }
};

}  // namespace

std::vector<StepResult> run_case(const Case& item, Quirks quirks) {
  Unit unit(item.unit, item.environment, quirks);
  std::vector<StepResult> results;
  results.reserve(item.steps.size());
  for (const Step& step : item.steps) results.push_back(std::visit(Runner{unit}, step));
  return results;
}

}  // namespace waymark::etm4x
