// The sub-commands of `waymark etm4`, and the options that say which unit is meant.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "elf_file.h"
#include "waymark/etm4x/tree.h"

namespace waymark::cli {

void add_etm4_caps(CLI::App& etm4, int& exit_code);
void add_etm4_plan(CLI::App& etm4, int& exit_code);
void add_etm4_explain(CLI::App& etm4, int& exit_code);
void add_etm4_simulate(CLI::App& etm4, int& exit_code);
void add_etm4_apply(CLI::App& etm4, int& exit_code);
void add_etm4_snapshot(CLI::App& etm4, int& exit_code);

inline constexpr auto kDeviceRoot = "/sys/bus/coresight/devices";

/// Texts as given.
struct UnitOptions {
  std::string root = kDeviceRoot;
  std::string unit;
  std::vector<std::string> registers;
  bool vhe = false;
};

void add_unit_options(CLI::App& command, UnitOptions& options);

/// A unit that was found, or described by --reg alone: then `tree` is null.
struct FoundUnit {
  std::unique_ptr<etm4x::DeviceTree> tree;
  std::string name;
  etm4x::IdRegisters id;
  etm4x::Environment environment;
};

/// kNotFound with what there is; kInvalidArgument: a bad --reg.
Result<FoundUnit> find_unit(const UnitOptions& options);

struct PlanFile {
  std::vector<ElfFile> programs;
  etm4x::Plan plan;
  etm4x::CompiledPlan compiled;
};
/// Reads and compiles a plan; problems are printed with the file's name.  The error is the exit
/// code.
std::expected<PlanFile, int> load_plan(const std::string& path,
                                       const std::vector<std::string>& programs,
                                       const FoundUnit& unit);

}  // namespace waymark::cli
