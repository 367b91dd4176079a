#include "gap_images.h"

#include <algorithm>
#include <limits>

namespace waymark::locate {

void GapImages::choose(std::int32_t pid) {
  pid_ = pid;
  layers_.clear();
  is_met_ = false;
}

const perf::Task& GapImages::task_of(const Element& element) {
  return tasks_.task(element.index, element.trace_id, execution_context(element));
}

bool GapImages::is_free(std::uint64_t address, std::uint64_t size) const {
  const std::uint64_t last = address + (size - 1);
  return std::ranges::none_of(layers_, [&](const auto& layer) {
    return std::ranges::any_of(layer.first->regions(), [&](const image::RegionInfo& region) {
      return region.first <= last && address <= region.last;
    });
  });
}

std::string GapImages::recorded_at(std::uint64_t address) const {
  if (!is_met_) return {};
  const perf::ProgramPlace place = processes_.place(task_, address);
  return place.mapping == nullptr ? std::string() : place.mapping->path;
}

const image::Image& GapImages::image_at(TraceIndex index, TraceId trace_id,
                                        ExecutionContext context) const {
  const image::Image& below = processes_.image_at(index, trace_id, context);
  const Task task = processes_.task_at(index, trace_id, context);
  if (processes_.task(task.id).pid != pid_) return below;
  task_ = task.id;
  is_met_ = true;
  std::unique_ptr<image::Image>& layer = layers_[&below];
  if (layer == nullptr) {
    layer = std::make_unique<image::Image>();
    // The whole address space is free in a new image.
    static_cast<void>(
        layer->add_callback(0, std::numeric_limits<std::uint64_t>::max(), image::kSpaceAny,
                            [this, &below](std::uint64_t address, image::SpaceMask space,
                                           TraceId id, std::span<std::uint8_t> out) -> std::size_t {
                              Bytes bytes = below.read(address, space, id, out);
                              if (bytes.empty()) bytes = trial_.read(address, space, id, out);
                              const std::size_t size = std::min(bytes.size(), out.size());
                              if (size != 0 && bytes.data() != out.data())
                                std::ranges::copy(bytes.first(size), out.begin());
                              return size;
                            }));
  }
  return *layer;
}

image::ImageSelector::Task GapImages::task_at(TraceIndex index, TraceId trace_id,
                                              ExecutionContext context) const {
  return processes_.task_at(index, trace_id, context);
}

}  // namespace waymark::locate
