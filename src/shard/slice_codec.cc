#include "waymark/shard/slice_codec.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "pack_slice.h"

namespace waymark::shard {
namespace {

using count::Context;
using count::Counts;
using count::Edge;
using count::Part;
using count::PartRange;
using count::Row;

constexpr std::uint64_t kLastGroup = static_cast<std::uint64_t>(Part::Group::kGap);

/// Contexts change rarely from row to row, and what starts ranges is near.
struct Before {
  Context context{};
  std::uint64_t start = 0;
};

void put_task(std::string& out, TaskId task) {
  put_number(out, static_cast<std::uint32_t>(task.thread));
  put_number(out, task.moment);
}

TaskId take_task(Cursor& cursor) {
  TaskId task;
  task.thread = static_cast<std::int32_t>(take_most(cursor, UINT32_MAX));
  task.moment = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  return task;
}

void put_context(std::string& out, const Context& context, Before& before) {
  const bool same = context == before.context;
  put_number(out, same ? 0 : 1);
  if (same) return;
  before.context = context;
  put_number(out, context.context_id);
  put_number(out, context.vmid);
  put_number(out, context.flags);
  put_number(out, context.trace_id);
  put_number(out, context.exception_level);
  put_number(out, static_cast<std::uint64_t>(context.security));
  put_task(out, context.task);
}

Context take_context(Cursor& cursor, Before& before) {
  if (!take_flag(cursor)) return before.context;
  Context& context = before.context;
  context.context_id = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  context.vmid = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  context.flags = static_cast<std::uint16_t>(take_most(cursor, count::kContextFlags));
  context.trace_id = static_cast<TraceId>(take_most(cursor, kTraceIdCount - 1));
  context.exception_level = static_cast<std::uint8_t>(take_most(cursor, UINT8_MAX));
  context.security =
      static_cast<Security>(take_most(cursor, static_cast<std::uint64_t>(Security::kRealm)));
  context.task = take_task(cursor);
  return context;
}

void put_part_range(std::string& out, const PartRange& range, Before& before) {
  put_context(out, range.context, before);
  put_range(out, range.range, before.start);
}

PartRange take_part_range(Cursor& cursor, Before& before) {
  PartRange range;
  range.context = take_context(cursor, before);
  range.range = take_range(cursor, before.start);
  return range;
}

void put_counts(std::string& out, const Counts& counts) {
  Before before;
  put_number(out, counts.rows.size());
  for (const Row& row : counts.rows) {
    put_part_range(out, {row.context, row.range}, before);
    put_number(out, row.executed);
    put_number(out, row.not_executed);
    put_number(out, row.cycles);
    put_address(out, row.target);
  }
  put_number(out, counts.edges.size());
  for (const Edge& edge : counts.edges) {
    put_context(out, edge.context, before);
    put_number(out, edge.from - before.start);
    before.start = edge.from;
    put_number(out, edge.to);
    put_number(out, static_cast<std::uint64_t>(edge.from_isa));
    put_number(out, static_cast<std::uint64_t>(edge.subtype));
    put_number(out, edge.times);
  }
  const count::Totals& rest = counts.rest;
  for (const std::uint64_t number :
       {rest.instructions, rest.ranges, rest.taken, rest.not_taken, rest.calls, rest.cycles,
        counts.lost_edges, counts.pathless_instructions, counts.other_cycles})
    put_number(out, number);
  for (const std::uint64_t number : counts.others) put_number(out, number);
  put_number(out, counts.unread.size());
  for (const auto& [place, times] : counts.unread) {
    put_task(out, place.first);
    put_number(out, place.second);
    put_number(out, times);
  }
}

/// Whether they ascend, as add() and others rely on.
bool is_in_order(const Counts& counts) {
  const auto row_key = [](const Row& row) { return std::tie(row.context, row.range); };
  const auto edge_key = [](const Edge& edge) {
    return std::tie(edge.context, edge.from, edge.to, edge.from_isa, edge.subtype);
  };
  return counts.rows.size() <= Counts::kMaxRows && counts.edges.size() <= Counts::kMaxRows &&
         std::ranges::adjacent_find(counts.rows, std::ranges::greater_equal(), row_key) ==
             counts.rows.end() &&
         std::ranges::adjacent_find(counts.edges, std::ranges::greater_equal(), edge_key) ==
             counts.edges.end();
}

void take_counts(Cursor& cursor, Counts& counts) {
  Before before;
  const std::size_t rows = take_count(cursor);
  for (std::size_t i = 0; i < rows && !cursor.overrun(); ++i) {
    const PartRange range = take_part_range(cursor, before);
    Row& row = counts.rows.emplace_back(Row{.context = range.context, .range = range.range});
    row.executed = take_number(cursor);
    row.not_executed = take_number(cursor);
    row.cycles = take_number(cursor);
    row.target = take_address(cursor);
  }
  const std::size_t edges = take_count(cursor);
  for (std::size_t i = 0; i < edges && !cursor.overrun(); ++i) {
    Edge& edge = counts.edges.emplace_back(Edge{.context = take_context(cursor, before)});
    edge.from = before.start += take_number(cursor);
    edge.to = take_number(cursor);
    edge.from_isa = take_isa(cursor);
    edge.subtype = take_subtype(cursor);
    edge.times = take_number(cursor);
  }
  count::Totals& rest = counts.rest;
  for (std::uint64_t* const number :
       {&rest.instructions, &rest.ranges, &rest.taken, &rest.not_taken, &rest.calls, &rest.cycles,
        &counts.lost_edges, &counts.pathless_instructions, &counts.other_cycles})
    *number = take_number(cursor);
  for (std::uint64_t& number : counts.others) number = take_number(cursor);
  const std::size_t unread = take_count(cursor);
  for (std::size_t i = 0; i < unread && !cursor.overrun(); ++i) {
    const TaskId task = take_task(cursor);
    const std::uint64_t page = take_number(cursor);
    counts.unread[{task, page}] = take_number(cursor);
  }
}

void put_ranges(std::string& out, const std::vector<PartRange>& ranges, Before& before) {
  put_number(out, ranges.size());
  for (const PartRange& range : ranges) put_part_range(out, range, before);
}

std::vector<PartRange> take_ranges(Cursor& cursor, Before& before) {
  std::vector<PartRange> ranges;
  const std::size_t count = take_count(cursor);
  for (std::size_t i = 0; i < count && !cursor.overrun(); ++i)
    ranges.push_back(take_part_range(cursor, before));
  return ranges;
}

void put_contexts(std::string& out, const std::vector<Context>& contexts, Before& before) {
  put_number(out, contexts.size());
  for (const Context& context : contexts) put_context(out, context, before);
}

std::vector<Context> take_contexts(Cursor& cursor, Before& before) {
  std::vector<Context> contexts;
  const std::size_t count = take_count(cursor);
  for (std::size_t i = 0; i < count && !cursor.overrun(); ++i)
    contexts.push_back(take_context(cursor, before));
  return contexts;
}

void put_optional(std::string& out, const std::optional<std::uint64_t>& number) {
  put_number(out, number ? 1 : 0);
  if (number) put_number(out, *number);
}

std::optional<std::uint64_t> take_optional(Cursor& cursor) {
  return take_flag(cursor) ? std::optional(take_number(cursor)) : std::nullopt;
}

void put_optional(std::string& out, const std::optional<PartRange>& range, Before& before) {
  put_number(out, range ? 1 : 0);
  if (range) put_part_range(out, *range, before);
}

std::optional<PartRange> take_optional(Cursor& cursor, Before& before) {
  return take_flag(cursor) ? std::optional(take_part_range(cursor, before)) : std::nullopt;
}

void put_part(std::string& out, const Part& part) {
  Before before;
  put_counts(out, part.counts);
  put_number(out, part.reaches_through ? 1 : 0);
  put_contexts(out, part.crossed, before);
  put_optional(out, part.first);
  put_number(out, static_cast<std::uint64_t>(part.group));
  put_optional(out, part.first_cycles);
  put_number(out, part.more_cycles);
  put_ranges(out, part.begun, before);
  put_number(out, part.begun_lost ? 1 : 0);
  put_number(out, part.closing);
  put_optional(out, part.branch, before);
  put_optional(out, part.direct, before);
  put_ranges(out, part.waiting, before);
  put_number(out, part.waiting_lost ? 1 : 0);
  put_number(out, part.waiting_cycles);
}

Part take_part(Cursor& cursor) {
  Before before;
  Part part;
  take_counts(cursor, part.counts);
  part.reaches_through = take_flag(cursor);
  part.crossed = take_contexts(cursor, before);
  part.first = take_optional(cursor);
  part.group = static_cast<Part::Group>(take_most(cursor, kLastGroup));
  part.first_cycles = take_optional(cursor);
  part.more_cycles = take_number(cursor);
  part.begun = take_ranges(cursor, before);
  part.begun_lost = take_flag(cursor);
  part.closing = take_number(cursor);
  part.branch = take_optional(cursor, before);
  part.direct = take_optional(cursor, before);
  part.waiting = take_ranges(cursor, before);
  part.waiting_lost = take_flag(cursor);
  part.waiting_cycles = take_number(cursor);
  return part;
}

}  // namespace

std::string encode(const SliceCounts& counts) {
  std::string out;
  put_files(out, counts.files);
  put_seam(out, counts.seam);
  for (std::size_t i = 0; i < counts.parts.size(); ++i) {
    put_part(out, counts.parts[i]);
    put_part(out, counts.ends[i]);
  }
  return out;
}

bool has_only(const SliceCounts& counts, const std::function<bool(TaskId)>& is_known) {
  std::map<TaskId, bool> known;
  const auto knows = [&](TaskId task) {
    const auto [at, is_new] = known.try_emplace(task);
    if (is_new) at->second = is_known(task);
    return at->second;
  };
  const auto in_context = [&](const auto& each) { return knows(each.context.task); };
  const auto in_part = [&](const Part& part) {
    return std::ranges::all_of(part.counts.rows, in_context) &&
           std::ranges::all_of(part.counts.edges, in_context) &&
           std::ranges::all_of(part.counts.unread,
                               [&](const auto& each) { return knows(each.first.first); }) &&
           std::ranges::all_of(part.crossed,
                               [&](const Context& each) { return knows(each.task); }) &&
           std::ranges::all_of(part.begun, in_context) &&
           std::ranges::all_of(part.waiting, in_context) &&
           (!part.branch || in_context(*part.branch)) && (!part.direct || in_context(*part.direct));
  };
  return std::ranges::all_of(counts.parts, in_part) && std::ranges::all_of(counts.ends, in_part);
}

Result<SliceCounts> read_slice(Bytes content) {
  const auto bad = [] {
    return fail(ErrorCode::kBadData, "the content of the part is inconsistent");
  };
  Cursor cursor(content);
  SliceCounts counts;
  counts.files = take_files(cursor);
  counts.seam = take_seam(cursor);
  for (std::size_t i = 0; i < counts.seam.sources.size() && !cursor.overrun(); ++i) {
    for (std::vector<Part>* const parts : {&counts.parts, &counts.ends}) {
      parts->push_back(take_part(cursor));
      if (!is_in_order(parts->back().counts)) return bad();
    }
  }
  if (cursor.overrun() || !cursor.at_end()) return bad();
  return counts;
}

}  // namespace waymark::shard
