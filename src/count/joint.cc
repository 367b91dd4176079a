#include "waymark/count/joint.h"

namespace waymark::count {

std::uint64_t JointAddresses::join(const ProgramAddress& place) {
  const std::pair part(place.program, static_cast<std::uint32_t>(place.address >> 32));
  const auto [at, inserted] = numbers_.try_emplace(part, static_cast<std::uint32_t>(parts_.size()));
  if (inserted) parts_.push_back(part);
  return std::uint64_t{at->second} << 32 | (place.address & 0xFFFFFFFF);
}

ProgramAddress JointAddresses::split(std::uint64_t joint) const {
  const std::uint64_t number = joint >> 32;
  if (number >= parts_.size()) return {};
  const auto& [program, upper] = parts_[static_cast<std::size_t>(number)];
  return {program, std::uint64_t{upper} << 32 | (joint & 0xFFFFFFFF)};
}

Counts fold(const Counts& counts, JointAddresses& addresses, const Locate& locate) {
  const auto join = [&](TaskId task, std::uint64_t address) {
    return addresses.join(locate(task, address));
  };
  Counts all;
  all.rest = counts.rest;
  all.lost_edges = counts.lost_edges;
  all.others = counts.others;
  all.pathless_instructions = counts.pathless_instructions;
  all.other_cycles = counts.other_cycles;
  all.rows.reserve(counts.rows.size());
  for (Row row : counts.rows) {
    const TaskId task = row.context.task;
    const std::uint64_t size = row.range.end - row.range.start;
    row.range.start = join(task, row.range.start);
    row.range.end = row.range.start + size;
    if (row.target != kNoAddress) row.target = join(task, row.target);
    row.context = {};
    all.rows.push_back(row);
  }
  all.edges.reserve(counts.edges.size());
  for (Edge edge : counts.edges) {
    const TaskId task = edge.context.task;
    edge.from = join(task, edge.from);
    edge.to = join(task, edge.to);
    edge.context = {};
    all.edges.push_back(edge);
  }
  all.combine();
  return all;
}

}  // namespace waymark::count
