// The code that the elements of a capture are about.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "waymark/element/element.h"
#include "waymark/image/image.h"
#include "waymark/inputs/capture.h"

namespace waymark::inputs {

/// Reads what decoding has read: the memory of the process of an element, at its time and in its
/// memory space.  Any number of threads may use it.
class CodeMemory {
 public:
  /// The capture must outlive the object.
  explicit CodeMemory(const Capture& capture);

  /// As image::Image::read().
  [[nodiscard]] Bytes read(const Element& element, std::uint64_t address,
                           std::span<std::uint8_t> scratch) const;

  /// The profile of the core that an ID traces.
  [[nodiscard]] isa::Profile profile_of(TraceId id) const {
    return id < kTraceIdCount ? profiles_[id] : isa::Profile::kUnknown;
  }

 private:
  using Space = image::SpaceMask (*)(const Element& context);

  const image::Image& image_;
  std::array<Space, kTraceIdCount> spaces_{};
  std::array<isa::Profile, kTraceIdCount> profiles_{};
};

}  // namespace waymark::inputs
