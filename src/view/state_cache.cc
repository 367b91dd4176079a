#include "state_cache.h"

#include <utility>

namespace waymark::view {

void StateCache::set_most(std::size_t most) {
  const std::scoped_lock lock(mutex_);
  most_ = most;
  shrink();
}

StateCache::State StateCache::find(TraceIndex at) {
  const std::scoped_lock lock(mutex_);
  const auto known = places_.find(at);
  if (known == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->second;
}

void StateCache::keep(TraceIndex at, State state) {
  const std::scoped_lock lock(mutex_);
  if (places_.contains(at)) return;
  entries_.emplace_front(at, std::move(state));
  places_.emplace(at, entries_.begin());
  shrink();
}

bool StateCache::has(TraceIndex at) const {
  const std::scoped_lock lock(mutex_);
  return places_.contains(at);
}

void StateCache::shrink() {
  while (entries_.size() > most_) {
    places_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

}  // namespace waymark::view
