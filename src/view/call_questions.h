// The execution in a window, by function: flat, by caller, and as a tree.
#pragma once

#include <cstdint>
#include <optional>

#include "knowledge.h"
#include "waymark/stacks/tree.h"
#include "waymark/view/answers.h"
#include "waymark/view/replay.h"
#include "window_cut.h"

namespace waymark::view {

/// The tree of a window, and whether it is of the whole window.
struct WindowCalls {
  stacks::Tree tree{};
  bool exact = false;
  bool has_cycles = false;
  std::uint64_t calls = 0;
  std::uint64_t exceptions = 0;
  std::uint64_t gaps = 0;
};

/// Decodes the window.  A window of more than AnswerLimits::window_bytes is sampled: evenly spread
/// parts of it are decoded, this many bytes in total.
Result<WindowCalls> calls_of(Replay& replay, const Window& window, const Knowledge& knowledge,
                             const Stop& stop);

/// At most `limit` rows.
Functions functions_of(const WindowCalls& calls, std::uint32_t limit, const Knowledge& knowledge);
/// kNotFound: there is no such function.
Result<Neighbours> neighbours_of(const WindowCalls& calls, FunctionNumber function,
                                 const Knowledge& knowledge);
/// At most `limit` nodes, but the root at least.
Flame flame_of(const WindowCalls& calls, std::uint32_t limit, const Knowledge& knowledge);
/// Without the messages, which are not on stacks.
Measure measure_of(const WindowCalls& calls);
/// The number of messages of a window; nothing: not all were counted.
Result<std::optional<std::uint64_t>> messages_in(const Window& window, const Knowledge& knowledge,
                                                 const Stop& stop);

}  // namespace waymark::view
