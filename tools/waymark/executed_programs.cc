#include "executed_programs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "waymark/base/number.h"
#include "waymark/outputs/code_listing.h"
#include "waymark/outputs/function_query.h"
#include "waymark/outputs/readable_name.h"
#include "waymark/perf/process_images.h"
#include "waymark/profile/profile.h"

namespace waymark::cli {
namespace {

/// A name as in the source without its parameters: "app::run" of "app::run(int)".
std::string with_offset(std::string name, std::uint64_t offset) {
  if (offset == 0) return name;
  char digits[16];
  name += "+0x";
  name.append(digits, write_hex(digits, offset));
  return name;
}

}  // namespace

ExecutedPrograms::ExecutedPrograms(const inputs::Capture& capture, outputs::PlaceLookup places,
                                   const count::Counts& counts,
                                   std::shared_ptr<const program::Llvm> llvm)
    : capture_(capture), places_(std::move(places)), disassembler_(std::move(llvm)) {
  std::map<const program::Program*, std::size_t> numbers;
  std::map<std::pair<std::size_t, const program::Function*>, ExecutedFunction> sums;
  for (const count::Row& row : counts.rows) {
    const program::Place at = place(row.context.task, row.range.start);
    if (at.program == nullptr) continue;
    const auto [known, added] = numbers.try_emplace(at.program, programs_.size());
    if (added) {
      programs_.push_back({.program = at.program,
                           .task = row.context.task,
                           .bias = row.range.start - at.address,
                           .id = row.context.trace_id,
                           .isa = row.range.isa});
    }
    Executed& executed = programs_[known->second];
    count::Row linked = row;
    linked.context = {};
    linked.target = kNoAddress;
    linked.range.end = at.address + (row.range.end - row.range.start);
    linked.range.start = at.address;
    executed.counts.rows.push_back(linked);
    profile::each_share(*at.program, linked, [&](const count::FunctionShare& share) {
      if (share.at.function == nullptr) return;
      ExecutedFunction& sum = sums[{known->second, share.at.function}];
      sum.program = known->second;
      sum.function = share.at.function;
      sum.instructions += share.instructions;
      sum.cycles += share.cycles;
    });
  }
  for (Executed& executed : programs_) executed.counts.combine();
  for (const count::Edge& edge : counts.edges) {
    const program::Place at = place(edge.context.task, edge.from);
    const auto known = numbers.find(at.program);
    if (known == numbers.end()) continue;
    programs_[known->second].jumps.push_back({at.address, edge.to, edge.context.task, edge.times});
  }
  for (const auto& [key, sum] : sums) functions_.push_back(sum);
}

program::Place ExecutedPrograms::place(TaskId task, std::uint64_t address) const {
  if (const perf::ProcessImages* const processes = capture_.processes(); processes != nullptr)
    return processes->place(task, address).linked();
  return places_(Element(), address);
}

Bytes ExecutedPrograms::read(const Executed& executed, std::uint64_t address,
                             std::span<std::uint8_t> scratch) const {
  address += executed.bias;
  const perf::ProcessImages* const processes = capture_.processes();
  if (processes == nullptr)
    return capture_.image().read(address, image::kSpaceAny, executed.id, scratch);
  const perf::ProgramPlace place = processes->place(executed.task, address);
  if (place.bytes.empty()) return {};
  return place.bytes.first(std::min<std::uint64_t>(place.bytes.size() - 1, place.last - address) +
                           1);
}

ExecutedFunction ExecutedPrograms::sum(std::size_t program,
                                       const program::Function* function) const {
  const auto known = std::ranges::find_if(functions_, [&](const ExecutedFunction& each) {
    return each.program == program && each.function == function;
  });
  if (known != functions_.end()) return *known;
  return {.program = program, .function = function};
}

Result<std::vector<ExecutedFunction>> ExecutedPrograms::find(const std::string& text) const {
  std::vector<const program::Program*> programs;
  for (const Executed& executed : programs_) programs.push_back(executed.program);
  auto named = outputs::find_functions(programs, text);
  if (!named) return std::unexpected(std::move(named).error());
  std::vector<ExecutedFunction> found;
  for (const outputs::NamedFunction& each : *named) {
    const auto at = std::ranges::find(programs, each.program);
    found.push_back(sum(static_cast<std::size_t>(at - programs.begin()), each.function));
  }
  return found;
}

std::string ExecutedPrograms::name_of(const program::Place& place) const {
  if (place.program == nullptr) return {};
  const program::Function* const function = place.program->function(place.address);
  if (function == nullptr) return {};
  return with_offset(outputs::readable_name(function->name), place.address - function->start);
}

std::vector<outputs::AnnotatedInstruction> ExecutedPrograms::disassemble(
    const Executed& executed, const program::Function& function) {
  outputs::CodePart part{.program = executed.program,
                         .start = function.start,
                         .last = function.last,
                         .rows = executed.counts.rows,
                         .isa = executed.isa};
  for (const inputs::CaptureSource& source : capture_.sources())
    if (source.id == executed.id) part.profile = source.profile;
  part.read = [&](std::uint64_t address, std::span<std::uint8_t> scratch) {
    return read(executed, address, scratch);
  };
  part.target_name = [&](std::uint64_t target) {
    return name_of(place(executed.task, target + executed.bias));
  };
  return outputs::list_code(part, disassembler_);
}

void ExecutedPrograms::add_targets(const Executed& executed,
                                   std::vector<outputs::AnnotatedInstruction>& code) const {
  const std::uint64_t end = code.back().address + code.back().size;
  for (const Jump& jump : executed.jumps) {
    if (jump.from < code.front().address || jump.from >= end) continue;
    const auto each =
        std::ranges::lower_bound(code, jump.from, {}, &outputs::AnnotatedInstruction::address);
    if (each == code.end() || each->address != jump.from) continue;
    const program::Place to = place(jump.task, jump.to);
    const std::string name = name_of(to);
    const std::uint64_t address = to.program == nullptr ? jump.to : to.address;
    const auto known = std::ranges::find_if(each->targets, [&](const auto& target) {
      return target.address == address && target.name == name;
    });
    if (known == each->targets.end()) {
      each->targets.push_back({.address = address, .name = name, .times = jump.times});
    } else {
      known->times += jump.times;
    }
  }
  for (outputs::AnnotatedInstruction& each : code)
    std::ranges::stable_sort(each.targets, std::greater(), &outputs::AnnotatedTarget::times);
}

outputs::AnnotatedFunction ExecutedPrograms::annotate(const ExecutedFunction& function) {
  const Executed& executed = programs_[function.program];
  outputs::AnnotatedFunction result{.name = function.function->name,
                                    .readable = outputs::readable_name(function.function->name),
                                    .program = executed.program->path(),
                                    .start = function.function->start,
                                    .last = function.function->last};
  result.code = disassemble(executed, *function.function);
  if (result.code.empty()) return result;
  outputs::add_counts(executed.counts, result.code);
  for (const outputs::AnnotatedInstruction& each : result.code) {
    result.instructions += each.count.times;
    result.cycles += each.count.cycles;
  }
  outputs::add_source_lines(*executed.program, result.code);
  add_targets(executed, result.code);
  return result;
}

}  // namespace waymark::cli
