// From a plan to register values and sysfs writes, and from registers back to a plan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "waymark/etm4x/plan.h"
#include "waymark/etm4x/unit.h"

namespace waymark::etm4x {

struct SysfsWrite {
  std::string file{};  ///< Relative to the unit's folder.
  std::string value{};
  std::uint32_t line = 0;  ///< In the plan.
  friend bool operator==(const SysfsWrite&, const SysfsWrite&) = default;
};

struct CompiledPlan {
  RegisterImage image{};                    ///< The complete register values of the unit.
  std::vector<SysfsWrite> writes{};         ///< In order; the model has accepted all of them.
  std::vector<PlanProblem> beyond_sysfs{};  ///< Settings without a write; the image has them.
  std::vector<PlanProblem> notes{};         ///< Settings that are accepted but may be unintended.
};

/// Checks the plan against the unit and makes its program. If there are problems, all of them are
/// reported and nothing is returned.
std::optional<CompiledPlan> compile_plan(const Plan& plan, const IdRegisters& id,
                                         const Environment& environment,
                                         std::vector<PlanProblem>& problems);

/// The effect of registers, as a plan.  It leaves out what missing registers would say.
Plan plan_of(const RegisterImage& image, const Capabilities& caps);

/// The plan as a file that compile_plan() accepts for this unit: lines that it would refuse are
/// comments that say why.
std::string acceptable_plan_text(const Plan& plan, const IdRegisters& id,
                                 const Environment& environment);

/// Whether every line of `part` is a line of `whole`.  Missing lines are appended to `missing`.
bool contains_plan(const Plan& whole, const Plan& part, std::vector<std::string>& missing);

/// Where the code at an address is in the file of its program.
struct ProgramPlace {
  std::string file{};  ///< The name by which perf finds it.
  std::uint64_t offset = 0;
  std::uint64_t left = 0;  ///< Bytes of the same segment from that point on.
};
/// Nothing: no known program is there.
using ProgramFinder = std::function<std::optional<ProgramPlace>(std::uint64_t address)>;

/// The perf command with the most similar trace.
struct PerfLine {
  std::string command{};
  std::vector<std::string> differences{};  ///< Where it differs, or cannot express the plan.
  bool possible = false;
};
/// perf names user code by its offset in a file, which `programs` finds; an address that is not
/// found becomes a placeholder that the differences explain.
PerfLine perf_line(const Plan& plan, const IdRegisters& id, const Environment& environment,
                   const ProgramFinder& programs = nullptr);

/// The writes as a shell script for the folder of one unit below `root`.
std::string shell_script(const CompiledPlan& compiled, const Plan& plan, std::string_view root,
                         std::string_view unit);

}  // namespace waymark::etm4x
