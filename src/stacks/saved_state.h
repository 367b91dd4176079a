// The saved state of an engine.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "engine_state.h"

namespace waymark::stacks {

/// The parent of a frame's node in the tree.
enum class Below : std::uint8_t {
  kFrame,  ///< The node of the frame below it.
  kRoot,
  kLostCallers,
};

struct Engine::SavedFrame {
  Frame frame{};  ///< Frame::node has no meaning.
  Below below = Below::kFrame;
  std::uint64_t site = 0;  ///< Node::site.
};

struct Engine::SavedThread {
  std::uint64_t key = 0;  ///< Owner::thread.
  TrackId track = 0;
  std::vector<SavedFrame> frames{};
  std::size_t suspects = 0;
  bool away = false;
  std::uint32_t barrier = 0;
  std::uint64_t folded = 0;
  std::uint32_t transaction = 0;
  bool root_is_lost = false;  ///< Thread::root is that of lost callers.
  Exit exit{};
};

struct Engine::SavedSource {
  TraceId id = 0;
  Source::Running running{};  ///< Without the node.
  Exit exit{};
  std::uint8_t last_size = 0;
  Element last{};
  Source::Gap gap{};
  Source::Context context{};
  Source::Veneer veneer{};
  bool counted = false;  ///< Waiting::counted
  std::uint64_t position = 0;
  std::optional<std::size_t> thread{};  ///< The place in `threads` of the one that runs.
  std::vector<std::shared_ptr<const SavedThread>> threads{};  ///< By track.
};

struct Engine::Saved {
  std::vector<SavedSource> sources{};
  TrackId tracks = 0;
  std::uint64_t search_credit = 0;
  bool lacks_contexts = false;
};

}  // namespace waymark::stacks
