#include "program_counts.h"

#include <map>
#include <utility>

namespace waymark::cli {

ProgramCounts fold_programs(const count::Counts& counts, const perf::ProcessImages& images) {
  ProgramCounts all;
  // The file on this machine, and the path in the recording.
  std::map<std::pair<const void*, std::string>, std::uint32_t> numbers;
  const auto number_of = [&](const void* file, const std::string& path,
                             const program::Program* program) {
    const auto [at, inserted] =
        numbers.try_emplace({file, path}, static_cast<std::uint32_t>(all.programs.size()));
    if (inserted) all.programs.push_back({.path = path, .program = program});
    return at->second;
  };
  const auto locate = [&](TaskId task, std::uint64_t address) -> count::ProgramAddress {
    const perf::ProgramPlace place = images.place(task, address);
    if (place.mapping == nullptr) return {number_of(nullptr, "", nullptr), address};
    const std::string& path = place.mapping->path;
    const program::Place linked = place.linked();
    if (linked.program != nullptr)
      return {number_of(linked.program, path, linked.program), linked.address};
    return {number_of(place.file, path, nullptr), place.file_offset};
  };
  all.counts = count::fold(counts, all.addresses, locate);
  return all;
}

void ProgramSum::add(const count::Counts& counts, const profile::Locate& locate) {
  const auto place_of = [&](TaskId task, std::uint64_t address) -> count::ProgramAddress {
    const profile::Place place = locate(task, address);
    const auto [number, is_new] = numbers_.number_of(place);
    if (is_new)
      sum_.programs.push_back({.path = std::string(place.path), .program = place.program});
    return {static_cast<std::uint32_t>(number), place.address};
  };
  sum_.counts.add(count::fold(counts, sum_.addresses, place_of));
}

count::FunctionAt ProgramCounts::function_at(std::uint64_t joint) const {
  const count::ProgramAddress place = addresses.split(joint);
  if (place.program >= programs.size() || programs[place.program].program == nullptr)
    return {.program = place.program};
  count::FunctionAt found =
      count::function_at(programs[place.program].program->functions(), place.address);
  found.program = place.program;
  const std::uint64_t bias = joint - place.address;
  if (found.function != nullptr) found.start += bias;
  if (found.end != kNoAddress) found.end += bias;
  return found;
}

std::optional<std::uint16_t> ProgramCounts::halfword(std::uint64_t joint) const {
  const count::ProgramAddress place = addresses.split(joint);
  if (place.program >= programs.size() || programs[place.program].program == nullptr)
    return std::nullopt;
  return programs[place.program].program->halfword(place.address);
}

std::vector<count::FunctionRow> ProgramCounts::functions() const {
  return count::functions(
      counts, [this](std::uint64_t joint) { return function_at(joint); },
      [this](std::uint64_t joint) { return halfword(joint); });
}

}  // namespace waymark::cli
