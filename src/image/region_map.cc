#include "region_map.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace waymark::image {

const RegionMap::Slot* RegionMap::Layer::at_or_below(std::uint64_t address) const {
  const auto above = std::ranges::upper_bound(slots, address, {}, &Slot::first);
  return above == slots.begin() ? nullptr : &*std::prev(above);
}

const RegionMap::Slot* RegionMap::Layer::above(std::uint64_t address) const {
  const auto found = std::ranges::upper_bound(slots, address, {}, &Slot::first);
  return found == slots.end() ? nullptr : &*found;
}

const Region* RegionMap::overlap(std::uint64_t first, std::uint64_t last, SpaceMask space) const {
  const auto layer = std::ranges::find(layers_, space, &Layer::space);
  if (layer == layers_.end()) return nullptr;
  const Slot* slot = layer->at_or_below(last);
  return slot != nullptr && slot->last >= first ? slot->region : nullptr;
}

void RegionMap::add(Region region) {
  auto layer = std::ranges::find(layers_, region.space, &Layer::space);
  if (layer == layers_.end()) layer = layers_.insert(layers_.end(), Layer{region.space, {}});
  regions_.push_back(std::make_unique<const Region>(std::move(region)));
  const Region& added = *regions_.back();
  const auto above = std::ranges::upper_bound(layer->slots, added.first, {}, &Slot::first);
  layer->slots.insert(above, Slot{added.first, added.last, arrivals_++, &added});
}

std::size_t RegionMap::remove(std::uint64_t address, SpaceMask space) {
  for (Layer& layer : layers_) {
    if ((layer.space & space) != 0)
      std::erase_if(layer.slots, [&](const Slot& slot) { return slot.first == address; });
  }
  std::erase_if(layers_, [](const Layer& layer) { return layer.slots.empty(); });
  return std::erase_if(regions_, [&](const auto& region) {
    return region->first == address && (region->space & space) != 0;
  });
}

RegionMap::Found RegionMap::find(std::uint64_t address, SpaceMask space) const {
  const Slot* found = nullptr;
  int spaces = 0;
  for (const Layer& layer : layers_) {
    if ((layer.space & space) == 0) continue;
    const Slot* slot = layer.at_or_below(address);
    if (slot == nullptr || slot->last < address) continue;
    const int size = std::popcount(layer.space);
    if (found != nullptr && std::pair(size, slot->arrival) > std::pair(spaces, found->arrival))
      continue;
    found = slot;
    spaces = size;
  }
  if (found == nullptr) return {};
  // A region in fewer spaces may begin inside it.
  std::uint64_t last = found->last;
  for (const Layer& layer : layers_) {
    if ((layer.space & space) == 0 || std::popcount(layer.space) > spaces) continue;
    const Slot* next = layer.above(address);
    if (next == nullptr || next->first > last) continue;
    if (std::popcount(layer.space) < spaces || next->arrival < found->arrival)
      last = next->first - 1;
  }
  return {found->region, last};
}

}  // namespace waymark::image
