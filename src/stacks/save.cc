// The state of an engine as a value, and engines that go on from it.
#include <algorithm>

#include "saved_state.h"

namespace waymark::stacks {

Engine::State::State() = default;
Engine::State::~State() = default;
Engine::State::State(const State&) = default;
Engine::State::State(State&&) noexcept = default;
Engine::State& Engine::State::operator=(const State&) = default;
Engine::State& Engine::State::operator=(State&&) noexcept = default;

std::shared_ptr<const Engine::SavedThread> Engine::save_thread(std::uint64_t key,
                                                               const Thread& thread) const {
  auto part = std::make_shared<SavedThread>();
  part->key = key;
  part->track = thread.track;
  part->suspects = thread.suspects;
  part->away = thread.away;
  part->barrier = thread.barrier;
  part->folded = thread.folded;
  part->transaction = thread.transaction;
  part->root_is_lost = tree_.node(thread.root).code == lost_callers_;
  part->exit = thread.exit;
  part->frames.reserve(thread.frames.size());
  for (std::size_t i = 0; i < thread.frames.size(); ++i) {
    const Frame& frame = thread.frames[i];
    const Node& node = tree_.node(frame.node);
    Below below = Below::kFrame;
    if (i == 0 ||
        (node.parent != thread.frames[i - 1].node && frame.node != thread.frames[i - 1].node)) {
      below = tree_.node(node.parent).code == lost_callers_ ? Below::kLostCallers : Below::kRoot;
    }
    part->frames.push_back({.frame = frame, .below = below, .site = node.site});
  }
  return part;
}

Engine::State Engine::save() {
  auto content = std::make_shared<Saved>();
  content->tracks = tracks_;
  content->search_credit = search_credit_;
  content->lacks_contexts = lacks_contexts_;
  for (const auto& each : sources_) {
    if (each == nullptr) continue;
    const Source& source = *each;
    SavedSource part{.id = source.id,
                     .running = source.running,
                     .exit = source.exit,
                     .last_size = source.last_size,
                     .last = source.last,
                     .gap = source.gap,
                     .context = source.context,
                     .veneer = source.veneer,
                     .counted = source.waiting.counted,
                     .position = source.position()};
    for (const auto& [key, thread] : source.threads) {
      if (thread.get() == source.thread) {
        part.threads.push_back(save_thread(key, *thread));
        continue;
      }
      if (thread->saved == nullptr || thread->saved->key != key)
        thread->saved = save_thread(key, *thread);
      part.threads.push_back(thread->saved);
    }
    std::ranges::sort(part.threads, {}, [](const auto& thread) { return thread->track; });
    for (std::size_t i = 0; source.thread != nullptr && i < part.threads.size(); ++i)
      if (part.threads[i]->track == source.thread->track) part.thread = i;
    content->sources.push_back(std::move(part));
  }
  State state;
  state.saved_ = std::move(content);
  return state;
}

std::unique_ptr<Engine::Thread> Engine::restore_thread(
    const SavedThread& part, const std::function<CodeId(CodeId)>& code_of) {
  auto thread = std::make_unique<Thread>();
  thread->track = part.track;
  thread->suspects = part.suspects;
  thread->away = part.away;
  thread->barrier = part.barrier;
  thread->folded = part.folded;
  thread->transaction = part.transaction;
  thread->root = part.root_is_lost ? tree_.child(kRootNode, lost_callers_) : kRootNode;
  thread->exit = part.exit;
  thread->frames.reserve(part.frames.size());
  for (const SavedFrame& saved : part.frames) {
    Frame frame = saved.frame;
    frame.code = code_of(frame.code);
    NodeId parent = kRootNode;
    if (saved.below == Below::kLostCallers) parent = tree_.child(kRootNode, lost_callers_);
    if (saved.below == Below::kFrame && !thread->frames.empty())
      parent = thread->frames.back().node;
    frame.node = tree_.child(parent, frame.code, saved.site);
    thread->frames.push_back(frame);
  }
  frames_ += thread->frames.size();
  return thread;
}

void Engine::restore(const State& state, const std::function<Code(CodeId)>& code_of) {
  if (state.saved_ == nullptr) return;
  const Saved& content = *state.saved_;
  tracks_ = content.tracks;
  search_credit_ = content.search_credit;
  lacks_contexts_ = content.lacks_contexts;
  std::unordered_map<CodeId, CodeId> known;
  const auto own = [&](CodeId code) {
    const auto [at, is_new] = known.try_emplace(code);
    if (is_new) at->second = tree_.code(code_of(code));
    return at->second;
  };
  for (const SavedSource& part : content.sources) {
    Source& source = this->source(part.id);
    source.exit = part.exit;
    source.last_size = part.last_size;
    source.last = part.last;
    source.gap = part.gap;
    source.context = part.context;
    source.context.until = options_.owner ? 0 : kNoIndex;
    source.veneer = part.veneer;
    source.waiting.counted = part.counted;
    source.executed = part.position;
    source.thread = nullptr;
    for (std::size_t i = 0; i < part.threads.size(); ++i) {
      auto thread = restore_thread(*part.threads[i], own);
      if (part.thread == i) source.thread = thread.get();
      source.threads[part.threads[i]->key] = std::move(thread);
    }
    source.running = part.running;
    source.running.node = source.thread == nullptr || source.thread->frames.empty()
                              ? kRootNode
                              : source.thread->frames.back().node;
  }
  announce();
}

/// Tells the sink what is open.
void Engine::announce() const {
  if (options_.sink == nullptr) return;
  const std::vector<OpenTrack> all = tracks(true);
  for (const OpenTrack& track : all)
    options_.sink->on_track(track.track, track.source, track.thread);
  for (const OpenTrack& track : all)
    if (track.runs) options_.sink->on_switch(track.source, track.track, position(track.source));
  for (const OpenTrack& track : all) {
    if (track.away) continue;
    for (const OpenFrame& frame : track.frames)
      options_.sink->on_enter(track.track, position(track.source), frame.code, frame.opening);
  }
}

// ---- What is open ---------------------------------------------------------------------------

std::vector<OpenFrame> Engine::open_frames(const Thread& thread) {
  std::vector<OpenFrame> frames;
  for (std::size_t i = thread.suspects; i < thread.frames.size(); ++i) {
    const Frame& frame = thread.frames[i];
    frames.push_back({.code = frame.code, .opening = frame.opening, .call_address = frame.from});
  }
  return frames;
}

std::vector<OpenFrame> Engine::stack(TraceId id) const {
  const auto& source = sources_[id];
  if (source == nullptr || source->thread == nullptr) return {};
  return open_frames(*source->thread);
}

std::optional<TrackId> Engine::track(TraceId id) const {
  const auto& source = sources_[id];
  if (source == nullptr || source->thread == nullptr) return std::nullopt;
  return source->thread->track;
}

std::vector<OpenTrack> Engine::tracks(bool frames) const {
  std::vector<OpenTrack> all;
  for (const auto& source : sources_) {
    if (source == nullptr) continue;
    for (const auto& [key, thread] : source->threads) {
      all.push_back({.track = thread->track,
                     .source = source->id,
                     .thread = key,
                     .runs = thread.get() == source->thread,
                     .away = thread->away,
                     .frames = frames ? open_frames(*thread) : std::vector<OpenFrame>{}});
    }
  }
  std::ranges::sort(all, {}, &OpenTrack::track);
  return all;
}

std::uint64_t Engine::position(TraceId id) const {
  return sources_[id] == nullptr ? 0 : sources_[id]->position();
}

}  // namespace waymark::stacks
