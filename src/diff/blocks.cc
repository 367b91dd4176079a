#include "waymark/diff/blocks.h"

#include <algorithm>

namespace waymark::diff {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ hash >> 29;
}

std::uint64_t mix(std::uint64_t hash, const NamedPlace& place) {
  return mix(mix(hash, std::uint64_t{place.unit} << 8 | static_cast<std::uint64_t>(place.form)),
             place.at);
}

}  // namespace

std::size_t Blocks::RawHash::operator()(const Raw& raw) const {
  const std::uint64_t where = mix(mix(mix(1, raw.start), raw.end), raw.space.bits());
  return static_cast<std::size_t>(
      mix(where, std::uint64_t{raw.exception} << 8 | static_cast<std::uint64_t>(raw.leave)));
}

std::size_t Blocks::KeyHash::operator()(const Key& key) const {
  return static_cast<std::size_t>(
      mix(mix(mix(1, key.start), key.end),
          std::uint64_t{key.exception} << 8 | static_cast<std::uint64_t>(key.leave)));
}

std::uint32_t Blocks::find(Side side, const Raw& raw, const Step& step, const Element& at) {
  Cache& cache = caches_[side];
  const auto [known, is_new] = cache.numbers.try_emplace(raw, 0);
  if (!is_new) return known->second;
  const bool has_room = blocks_.size() < kMost && cache.known.size() < kMost;
  if (!has_room) {
    cache.numbers.erase(known);
    full_ = true;
    return 0;
  }
  const BlockNumber number = number_of(side, step, at);
  known->second = static_cast<std::uint32_t>(cache.known.size());
  cache.known.push_back({.raw = raw, .number = number});
  return known->second;
}

/// Names the step, once for each step of a run.
BlockNumber Blocks::number_of(Side side, const Step& step, const Element& at) {
  const bool is_gap = step.start == 0 && step.end == 0;
  const auto place_of = [&](std::uint64_t address) {
    const program::Place place =
        places_[side] && !is_gap ? places_[side](at, address) : program::Place();
    return place.program == nullptr ? program::Place{nullptr, address} : place;
  };
  const std::uint64_t size = step.end - step.start;
  const program::Place start = place_of(step.start);
  Key key{.exception = step.exception, .leave = step.leave};
  key.start = programs_.name(side, start);
  const FunctionNumber function = programs_.function();
  key.end = key.start;
  if (key.start.form == NamedPlace::Form::kLine) {
    const std::uint64_t back = size == 0 ? 0 : size - step.last_size;
    key.end = programs_.name(side, {start.program, start.address + back});
  } else {
    key.end.at += size;
  }
  const auto [number, is_new] = numbers_.try_emplace(key, static_cast<BlockNumber>(blocks_.size()));
  if (is_new) {
    Key tail = key;
    tail.start = {};
    const auto count = [](const auto& map) { return static_cast<std::uint32_t>(map.size()); };
    blocks_.push_back(
        {.function = function,
         .start = starts_.try_emplace({.start = key.start}, count(starts_)).first->second,
         .tail = tails_.try_emplace(tail, count(tails_)).first->second,
         .leave = step.leave,
         .conditional = step.conditional,
         .differs = programs_.function(function).differs,
         .exception = step.exception});
  }
  BlockPlace& place = blocks_[number->second].places[side];
  if (!place.known) {
    place = {.start = start,
             .size = size,
             .count = step.count,
             .last_size = step.last_size,
             .known = true};
  }
  return number->second;
}

}  // namespace waymark::diff
