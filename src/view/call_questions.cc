#include "call_questions.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "range_walk.h"
#include "waymark/stacks/neighbours.h"
#include "window_tree.h"

namespace waymark::view {
namespace {

/// The fact that an element states about the callers of the code that its source executes next.
void add_gap(WindowTree& tree, const Element& element) {
  switch (element.kind) {
    case ElementKind::kAddrNacc:
      tree.miss_code(element.trace_id, true);
      break;
    case ElementKind::kNoSync:
    case ElementKind::kEndOfTrace:
    case ElementKind::kAddrUnknown:
    case ElementKind::kInstrRangeNoPath:
      tree.miss_code(element.trace_id, false);
      break;
    default:
      break;
  }
}

/// Decodes from a place on, at most `most` bytes of the trace, or the whole window.  Gives the
/// instructions that each source reached.
Result<Reached> decode_into(WindowTree& tree, Replay& replay, const WindowCut& cut, double from,
                            std::optional<std::uint64_t> most, const Stop& stop) {
  tree.restart();
  Reached reached{};
  TraceIndex start = 0;
  bool any = false;
  const auto take = [&](const Element& element, std::uint64_t n) {
    if (!any) {
      tree.begin(replay.engine().tree());
      start = element.index;
      any = true;
    }
    if (is_range(element)) {
      reached[element.trace_id] = n + element.count;
    } else {
      add_gap(tree, element);
    }
    return !most || element.index < start || element.index - start < *most;
  };
  WAYMARK_TRY(
      replay.run({.from = from, .from_instant = {}, .to = cut.to, .sink = &tree}, take, stop));
  for (std::size_t id = 0; id < reached.size(); ++id)
    if (reached[id] != 0) tree.reach(static_cast<TraceId>(id), reached[id]);
  return reached;
}

/// Numbers of the codes of a tree.
std::vector<FunctionNumber> numbers_of(const stacks::Tree& tree, FunctionTable& table) {
  std::vector<FunctionNumber> numbers;
  numbers.reserve(tree.codes().size());
  for (const stacks::Code& code : tree.codes()) numbers.push_back(table.number(code));
  return numbers;
}

/// The open calls on the way from the root to a node.
template <class Key>
class OpenOnPath {
 public:
  /// Whether it was not open.
  bool enter(const Key& key) { return ++open_[key] == 1; }
  void leave(const Key& key) {
    const auto at = open_.find(key);
    if (--at->second == 0) open_.erase(at);
  }

 private:
  std::map<Key, std::uint32_t> open_;
};

}  // namespace

Result<WindowCalls> calls_of(Replay& replay, const Window& window, const Knowledge& knowledge,
                             const Stop& stop) {
  auto cut = cut_window(replay, window, knowledge, stop);
  if (!cut) return std::unexpected(std::move(cut).error());
  WindowTree tree(*cut, knowledge);
  const auto exact = decode_window(replay, *cut, knowledge.limits, stop,
                                   [&](double from, std::optional<std::uint64_t> most) {
                                     return decode_into(tree, replay, *cut, from, most, stop);
                                   });
  if (!exact) return std::unexpected(exact.error());
  WindowCalls calls;
  calls.exact = *exact;
  calls.has_cycles = tree.sums().has_cycles;
  calls.calls = tree.sums().calls;
  calls.exceptions = tree.sums().exceptions;
  calls.gaps = tree.sums().gaps;
  calls.tree = tree.take_tree();
  return calls;
}

Functions functions_of(const WindowCalls& calls, std::uint32_t limit, const Knowledge& knowledge) {
  const stacks::Tree& tree = calls.tree;
  const std::vector<FunctionNumber> numbers = numbers_of(tree, *knowledge.functions);
  const std::vector<stacks::Inclusive> inclusive = tree.inclusive();
  std::unordered_map<FunctionNumber, FunctionRow> rows;
  const auto row = [&](stacks::NodeId id) -> FunctionRow& {
    const FunctionNumber number = numbers[tree.node(id).code];
    FunctionRow& found = rows[number];
    found.function = number;
    return found;
  };
  OpenOnPath<FunctionNumber> open;
  stacks::walk(
      tree,
      [&](stacks::NodeId id) {
        const stacks::Node& node = tree.node(id);
        FunctionRow& of_node = row(id);
        of_node.self += node.instructions;
        of_node.cycles += node.cycles;
        of_node.calls += node.calls;
        if (open.enter(of_node.function)) of_node.total += inclusive[id].instructions;
      },
      [&](stacks::NodeId id) { open.leave(numbers[tree.node(id).code]); });
  Functions result;
  result.exact = calls.exact;
  result.has_cycles = calls.has_cycles;
  result.instructions = inclusive[stacks::kRootNode].instructions;
  result.cycles = inclusive[stacks::kRootNode].cycles;
  if (const stacks::Node& root = tree.node(stacks::kRootNode); root.instructions != 0) {
    FunctionRow& outside = rows[FunctionTable::kUnknown];
    outside.self += root.instructions;
    outside.total += root.instructions;
    outside.cycles += root.cycles;
  }
  for (const auto& [number, each] : rows)
    if (each.total != 0 || each.calls != 0) result.rows.push_back(each);
  std::ranges::sort(result.rows, [](const FunctionRow& a, const FunctionRow& b) {
    if (a.self != b.self) return a.self > b.self;
    if (a.total != b.total) return a.total > b.total;
    return a.function < b.function;
  });
  if (result.rows.size() > limit) result.rows.resize(limit);
  std::set<FunctionNumber> used;
  for (const FunctionRow& each : result.rows) used.insert(each.function);
  result.functions = knowledge.functions->names(used);
  return result;
}

Result<Neighbours> neighbours_of(const WindowCalls& calls, FunctionNumber function,
                                 const Knowledge& knowledge) {
  if (!knowledge.functions->has(function)) {
    return fail(ErrorCode::kNotFound,
                "There is no function with this number; use a number from the lists.");
  }
  const stacks::Tree& tree = calls.tree;
  const std::vector<FunctionNumber> numbers = numbers_of(tree, *knowledge.functions);
  std::vector<stacks::CodeId> codes;
  for (stacks::CodeId code = 0; code < numbers.size(); ++code)
    if (numbers[code] == function) codes.push_back(code);
  Neighbours result;
  result.exact = calls.exact;
  result.function = function;
  std::set<FunctionNumber> used{function};
  const auto take = [&](std::span<const stacks::Neighbour> found, std::vector<CallRow>& out) {
    std::map<FunctionNumber, CallRow> rows;
    for (const stacks::Neighbour& each : found) {
      if (tree.code(each.code).kind == stacks::CodeKind::kRoot) continue;
      CallRow& row = rows[numbers[each.code]];
      row.function = numbers[each.code];
      row.calls += each.calls;
      row.instructions += each.all.instructions;
    }
    for (const auto& [number, row] : rows) {
      if (row.calls == 0 && row.instructions == 0) continue;
      out.push_back(row);
      used.insert(number);
    }
    std::ranges::stable_sort(out, std::greater(), &CallRow::instructions);
  };
  take(stacks::callers_of(tree, codes), result.callers);
  const std::vector<stacks::Neighbour> callees = stacks::callees_of(tree, codes);
  take(std::span(callees).subspan(1), result.callees);
  result.functions = knowledge.functions->names(used);
  return result;
}

Flame flame_of(const WindowCalls& calls, std::uint32_t limit, const Knowledge& knowledge) {
  const stacks::Tree& tree = calls.tree;
  const std::vector<FunctionNumber> numbers = numbers_of(tree, *knowledge.functions);
  const std::vector<stacks::Inclusive> inclusive = tree.inclusive();
  const std::uint64_t whole = inclusive[stacks::kRootNode].instructions;
  limit = std::max(limit, 1U);
  // A node has at least as many instructions as each of its children, and a lower number, so its
  // children are never kept without it.
  std::vector<stacks::NodeId> kept;
  for (stacks::NodeId id = 1; id < tree.nodes().size(); ++id) {
    const std::uint64_t total = inclusive[id].instructions;
    if (total != 0 && total >= whole / limit) kept.push_back(id);
  }
  std::ranges::stable_sort(kept, std::greater(),
                           [&](stacks::NodeId id) { return inclusive[id].instructions; });
  if (kept.size() > limit - 1) kept.resize(limit - 1);
  std::ranges::sort(kept);
  Flame flame;
  flame.exact = calls.exact;
  const stacks::Node& root = tree.node(stacks::kRootNode);
  flame.nodes.push_back(
      {.parent = 0, .function = numbers[root.code], .self = root.instructions, .total = whole});
  std::unordered_map<stacks::NodeId, std::uint32_t> places{{stacks::kRootNode, 0}};
  std::set<FunctionNumber> used{numbers[root.code]};
  for (const stacks::NodeId id : kept) {
    const stacks::Node& node = tree.node(id);
    places.emplace(id, static_cast<std::uint32_t>(flame.nodes.size()));
    flame.nodes.push_back({.parent = places.at(node.parent),
                           .function = numbers[node.code],
                           .self = node.instructions,
                           .total = inclusive[id].instructions});
    used.insert(numbers[node.code]);
  }
  flame.functions = knowledge.functions->names(used);
  return flame;
}

Measure measure_of(const WindowCalls& calls) {
  Measure measure;
  measure.exact = calls.exact;
  measure.has_cycles = calls.has_cycles;
  const stacks::Inclusive whole = calls.tree.whole();
  measure.instructions = whole.instructions;
  measure.cycles = whole.cycles;
  measure.calls = calls.calls;
  measure.exceptions = calls.exceptions;
  measure.gaps = calls.gaps;
  std::set<stacks::CodeId> executed;
  for (const stacks::Node& node : calls.tree.nodes())
    if (node.instructions != 0) executed.insert(node.code);
  measure.functions = executed.size();
  return measure;
}

Result<std::optional<std::uint64_t>> messages_in(const Window& window, const Knowledge& knowledge,
                                                 const Stop& stop) {
  if (!knowledge.messages) return 0;
  const auto found = knowledge.messages(window.from, window.to, stop);
  if (!found) return std::unexpected(found.error());
  if (!found->complete) return std::nullopt;
  const std::set<TrackNumber> tracks(window.tracks.begin(), window.tracks.end());
  return static_cast<std::uint64_t>(std::ranges::count_if(
      found->messages,
      [&](const MessageAt& message) { return tracks.empty() || tracks.contains(message.track); }));
}

}  // namespace waymark::view
