// The sub-commands of `waymark etm4`, and the options that say which unit is meant.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf_argument.h"
#include "format.h"
#include "waymark/etm4x/tree.h"

namespace waymark::cli {

class Command;

void add_etm4_caps(Command& etm4, int& exit_code);
void add_etm4_plan(Command& etm4, int& exit_code);
void add_etm4_explain(Command& etm4, int& exit_code);
void add_etm4_simulate(Command& etm4, int& exit_code);
void add_etm4_apply(Command& etm4, int& exit_code);
void add_etm4_snapshot(Command& etm4, int& exit_code);

inline constexpr auto kDeviceRoot = "/sys/bus/coresight/devices";

/// Texts as given.
struct UnitOptions {
  std::string root = kDeviceRoot;
  std::string unit;
  std::vector<std::string> registers;
  bool vhe = false;
};

void add_unit_options(Command& command, UnitOptions& options);

/// A unit that was found, or described by --reg alone: then `tree` is null.
struct FoundUnit {
  std::unique_ptr<etm4x::DeviceTree> tree;
  std::string name;
  etm4x::IdRegisters id;
  etm4x::Environment environment;
};

/// The value of --reg: TRCIDR0 to TRCIDR5, TRCDEVARCH, TRCSSCSR0 to TRCSSCSR7.
struct GivenRegister {
  std::string name;
  std::uint32_t value = 0;
};
/// kInvalidArgument: the register is none of these.
Result<std::vector<GivenRegister>> given_registers(const UnitOptions& options);
void take_register(const GivenRegister& given, etm4x::IdRegisters& id,
                   etm4x::Environment& environment);

/// `walk`: all single-shot controls of a live unit may be selected in turn.  kNotFound with what
/// there is; kInvalidArgument: a bad --reg.
Result<FoundUnit> find_unit(const UnitOptions& options, bool walk = false);

struct PlanFile {
  std::vector<elf::File> programs;
  etm4x::Plan plan;
  etm4x::CompiledPlan compiled;
};
/// Reads and compiles a plan; problems are printed with the file's name.  The error is the exit
/// code.
std::expected<PlanFile, int> load_plan(const std::string& path,
                                       const std::vector<std::string>& programs,
                                       const FoundUnit& unit);

/// The options of `plan --estimate`.
struct EstimateOptions {
  bool wanted = false;
  std::string program = "random";
  std::uint64_t instructions = 1'000'000;
  std::uint64_t exceptions = 1000;
  std::string level = "el0";
  std::uint64_t seed = 1;
  std::string directory;
  std::string replay;
};

void add_estimate_options(Command& command, EstimateOptions& options);
/// The program to run, which must be the last one that load_plan() gets; nothing: a random one.
std::optional<std::string> estimated_file(const EstimateOptions& options);
/// Prints what the plan would trace; returns the exit code.
int run_estimate(const EstimateOptions& options, const PlanFile& file, const FoundUnit& unit,
                 Format format);

}  // namespace waymark::cli
