// Cases of the programming model: steps on a fresh unit, and what each one gives.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "waymark/etm4x/unit.h"

namespace waymark::etm4x {

/// Writes bytes to a file of the driver.
struct WriteStep {
  std::string file;
  std::string bytes;
};
struct ReadStep {
  std::string file;
};
/// perf starts the unit.
struct PerfStep {
  PerfRequest request;
};
/// The unit stops, and leaves these values in its status registers.
struct DisableStep {
  std::vector<std::pair<std::string, std::uint64_t>> registers;
};
/// The registers that the settings give.
struct ImageStep {};
/// The registers that the hardware holds.
struct HardwareStep {};

using Step = std::variant<WriteStep, ReadStep, PerfStep, DisableStep, ImageStep, HardwareStep>;

/// Registers, or the text that was read, "ok", or the name of an error of the kernel.
using StepResult = std::variant<std::string, RegisterImage>;

struct Case {
  std::string id{};
  IdRegisters unit{};
  Environment environment{};
  std::vector<Step> steps{};
};

/// Runs the steps on a fresh unit; one result for each.
std::vector<StepResult> run_case(const Case& item, Quirks quirks);

}  // namespace waymark::etm4x
