#include "etm4.h"

#include <pybind11/stl.h>

#include <map>
#include <memory>

#include "elf_argument.h"
#include "programs.h"
#include "sealed.h"
#include "waymark/etm4x/assumed_unit.h"
#include "waymark/etm4x/explain.h"

namespace waymark::python {
namespace {

/// A trace unit as its ID registers describe it.
struct Unit {
  etm4x::IdRegisters id;
  etm4x::Environment environment;
};

Unit unit_of(const std::map<std::string, std::uint32_t>& registers, bool vhe) {
  cli::UnitOptions options;
  // One check for the command line and for Python.
  for (const auto& [name, value] : registers)
    options.registers.push_back(name + "=" + std::to_string(value));
  Unit unit;
  unit.environment.unknown_sscsr = 0xFF;
  auto given = cli::given_registers(options);
  if (!given) {
    std::string& detail = given.error().detail;
    if (detail.starts_with("--reg ")) detail.erase(0, std::string_view("--reg ").size());
    throw Failure(std::move(given).error());
  }
  for (const cli::GivenRegister& each : *given) cli::take_register(each, unit.id, unit.environment);
  unit.environment.kernel_at_el2 = vhe;
  if ((unit.id.devarch >> 12 & 0xF) == 5)
    unit.environment.access = etm4x::RegisterAccess::kSystemRegisters;
  return unit;
}

struct Plan {
  Unit unit;
  etm4x::Plan plan;
  etm4x::CompiledPlan compiled;
};

Plan compile(const std::string& text, const Unit& unit, const std::vector<std::string>& programs) {
  std::vector<elf::File> files;
  for (const std::string& program : programs)
    files.push_back(unwrap(cli::open_elf_argument(program)));
  std::vector<etm4x::PlanProblem> problems;
  auto plan = etm4x::parse_plan(text, cli::symbol_resolver(files), problems);
  std::optional<etm4x::CompiledPlan> compiled;
  if (plan) compiled = etm4x::compile_plan(*plan, unit.id, unit.environment, problems);
  if (!compiled) {
    std::string all;
    for (const etm4x::PlanProblem& problem : problems)
      all += (all.empty() ? "" : " ") + problem.text();
    raise(ErrorCode::kParse, "The plan is refused: " + all);
  }
  return {.unit = unit, .plan = *std::move(plan), .compiled = *std::move(compiled)};
}

py::dict registers_of(const etm4x::RegisterImage& image) {
  py::dict registers;
  for (const etm4x::RegisterValue& each : image.values())
    registers[text_of(each.name)] = each.value;
  return registers;
}

py::list texts_of(const std::vector<etm4x::PlanProblem>& problems) {
  py::list list;
  for (const etm4x::PlanProblem& problem : problems) list.append(text_of(problem.text()));
  return list;
}

py::list texts_of(const std::vector<std::string>& texts) {
  py::list list;
  for (const std::string& text : texts) list.append(text_of(text));
  return list;
}

py::dict explain(const std::map<std::string, std::uint64_t>& registers, bool ete) {
  etm4x::RegisterImage image;
  for (const auto& [name, value] : registers) {
    const bool wide = name.starts_with("TRCACVR") || name.starts_with("TRCACATR") ||
                      name.starts_with("TRCCIDCVR") || name.starts_with("TRCVMIDCVR");
    if (!wide && value > 0xFFFFFFFF)
      raise(ErrorCode::kInvalidArgument, name + ": this register has 32 bits.");
    image.set(name, value, wide);
  }
  const etm4x::AssumedUnit unit = etm4x::assumed_unit(image, ete);
  const etm4x::Explanation found =
      etm4x::explain(image, unit.id, etm4x::Unit(unit.id, unit.environment).caps);
  py::dict dict;
  dict["traces"] = texts_of(found.traces);
  dict["decoder"] = texts_of(found.decoder);
  dict["doubts"] = texts_of(found.problems);
  dict["plan"] = texts_of(etm4x::plan_lines(found.plan));
  return dict;
}

}  // namespace

void bind_etm4(py::module_& module) {
  sealed(py::class_<Unit>(module, "Unit"));
  module.def("unit", unit_of);
  sealed(py::class_<Plan>(module, "Plan"))
      .def_property_readonly("registers",
                             [](const Plan& self) { return registers_of(self.compiled.image); })
      .def_property_readonly(
          "writes",
          [](const Plan& self) {
            py::list writes;
            for (const etm4x::SysfsWrite& write : self.compiled.writes)
              writes.append(py::make_tuple(text_of(write.file), text_of(write.value)));
            return writes;
          })
      .def_property_readonly("notes",
                             [](const Plan& self) { return texts_of(self.compiled.notes); })
      .def_property_readonly("beyond_sysfs",
                             [](const Plan& self) { return texts_of(self.compiled.beyond_sysfs); })
      .def_property_readonly(
          "lines", [](const Plan& self) { return texts_of(etm4x::plan_lines(self.plan)); })
      .def_property_readonly(
          "decode_options",
          [](const Plan& self) {
            return text_of(etm4x::decoder_options(self.compiled.image, self.unit.id));
          })
      .def("script", [](const Plan& self, const std::string& root, const std::string& unit) {
        return etm4x::shell_script(self.compiled, self.plan, root, unit);
      });
  module.def("compile_plan", compile);
  module.def("explain", explain);
}

}  // namespace waymark::python
