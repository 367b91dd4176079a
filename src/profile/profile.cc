#include "waymark/profile/profile.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "waymark/count/ranking.h"

namespace waymark::profile {
namespace {

std::uint64_t instructions_of(const count::Counts& counts) {
  return counts.totals().instructions + counts.pathless_instructions;
}

/// Sorts, and adds up equal branches.
void combine(std::vector<Branch>& branches) {
  const auto key = [](const Branch& branch) {
    return std::tuple(branch.from, branch.to_program, branch.to, branch.indirect, branch.subtype);
  };
  std::ranges::sort(branches, {}, key);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    if (kept != 0 && key(branches[kept - 1]) == key(branches[i])) {
      branches[kept - 1].times += branches[i].times;
    } else {
      branches[kept++] = branches[i];
    }
  }
  branches.resize(kept);
}

}  // namespace

std::uint64_t ProgramProfile::instructions() const { return instructions_of(counts); }

std::pair<std::size_t, bool> ProgramNumbers::number_of(const program::Program* program,
                                                       std::string_view path,
                                                       const std::vector<std::uint8_t>& build_id) {
  const auto number_in = [this](auto& known, auto key) {
    const auto [at, is_new] = known.try_emplace(std::move(key), next_);
    if (is_new) ++next_;
    return std::pair(at->second, is_new);
  };
  if (!build_id.empty()) return number_in(by_build_id_, build_id);
  return number_in(by_path_, std::pair(std::string(path), program != nullptr));
}

std::pair<std::size_t, bool> ProgramNumbers::number_of(const Place& place) {
  static const std::vector<std::uint8_t> kNoId;
  return number_of(place.program, place.path,
                   place.program == nullptr ? kNoId : place.program->build_id());
}

std::size_t Profile::number_of(const program::Program* program, std::string_view path,
                               const std::vector<std::uint8_t>& build_id) {
  const auto [number, is_new] = numbers_.number_of(program, path, build_id);
  if (is_new)
    programs_.push_back(
        {.number = number, .path = std::string(path), .build_id = build_id, .program = program});
  return number;
}

bool Profile::add(const count::Counts& counts, const Locate& locate) {
  const std::size_t before = programs_.size();
  const std::vector<std::uint8_t> no_id;
  const auto number = [&](const Place& place) {
    return number_of(place.program, place.path,
                     place.program == nullptr ? no_id : place.program->build_id());
  };
  for (const count::Row& row : counts.rows) {
    const Place place = locate(row.context.task, row.range.start);
    count::Row linked = row;
    linked.context = {};
    linked.target = kNoAddress;
    linked.range.end = place.address + (row.range.end - row.range.start);
    linked.range.start = place.address;
    programs_[number(place)].counts.rows.push_back(linked);
  }
  for (const count::Branch& branch : count::branches(counts)) {
    if (!branch.taken) continue;
    const Place from = locate(branch.context.task, branch.from);
    Branch linked{.from = from.address,
                  .subtype = branch.subtype,
                  .indirect = branch.type == isa::InstrType::kIndirectBranch,
                  .times = branch.times};
    if (branch.to != kNoAddress) {
      const Place to = locate(branch.context.task, branch.to);
      linked.to_program = number(to);
      linked.to = to.address;
    }
    programs_[number(from)].branches.push_back(linked);
  }
  for (ProgramProfile& program : programs_) {
    program.counts.combine();
    combine(program.branches);
  }
  other_instructions_ += counts.rest.instructions + counts.pathless_instructions;
  return programs_.size() != before;
}

bool Profile::add(std::vector<ProgramProfile> programs, std::uint64_t other_instructions) {
  const std::size_t before = programs_.size();
  std::vector<std::size_t> numbers;
  numbers.reserve(programs.size());
  for (const ProgramProfile& program : programs)
    numbers.push_back(number_of(program.program, program.path, program.build_id));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ProgramProfile& sum = programs_[numbers[i]];
    const ProgramProfile one = std::move(programs[i]);
    const std::vector<count::Row>& rows = one.counts.rows;
    sum.counts.rows.insert(sum.counts.rows.end(), rows.begin(), rows.end());
    sum.counts.combine();
    for (Branch branch : one.branches) {
      branch.to_program = branch.to == kNoAddress ? 0 : numbers[branch.to_program];
      sum.branches.push_back(branch);
    }
    combine(sum.branches);
  }
  other_instructions_ += other_instructions;
  return programs_.size() != before;
}

std::uint64_t Profile::instructions() const {
  return std::transform_reduce(
      programs_.begin(), programs_.end(), other_instructions_, std::plus(),
      [](const ProgramProfile& program) { return program.instructions(); });
}

FunctionCall call_of(const Profile& profile, const ProgramProfile& from, const Branch& branch) {
  const auto function = [](const ProgramProfile& of, std::uint64_t address) {
    return of.program == nullptr ? nullptr : of.program->function(address);
  };
  const bool known = branch.to != kNoAddress;
  const program::Function* const callee =
      known ? function(profile.programs()[branch.to_program], branch.to) : nullptr;
  const bool to_start = callee != nullptr && callee->start == branch.to;
  bool within = false;
  if (to_start && branch.to_program == from.number) {
    const program::Function* const caller = function(from, branch.from);
    within = caller != nullptr && (caller == callee || program::parent_name(caller->name) ==
                                                           program::parent_name(callee->name));
  }
  return {.call = count::call_of(branch.subtype, to_start, within), .callee = callee};
}

void each_share(const program::Program& program, const count::Row& row,
                const std::function<void(const count::FunctionShare&)>& take) {
  count::each_share(
      row, [&](std::uint64_t address) { return count::function_at(program.functions(), address); },
      [&](std::uint64_t address) { return program.halfword(address); }, take);
}

std::map<std::uint64_t, std::uint64_t> calls_of(const Profile& profile,
                                                const ProgramProfile& program) {
  std::map<std::uint64_t, std::uint64_t> calls;
  for (const ProgramProfile& from : profile.programs()) {
    for (const Branch& branch : from.branches) {
      if (branch.to == kNoAddress || branch.to_program != program.number) continue;
      const FunctionCall found = call_of(profile, from, branch);
      if (found.call != count::Call::kNone && found.callee != nullptr)
        calls[found.callee->start] += branch.times;
    }
  }
  return calls;
}

}  // namespace waymark::profile
