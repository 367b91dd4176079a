// The memory that a decoder reads through an ITargetMemAccess, as an image whose blocks the
// follower can cache.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "common/ocsd_error.h"
#include "interfaces/trc_tgt_mem_access_i.h"
#include "mem_acc/trc_mem_acc_mapper.h"
#include "waymark/image/image.h"

namespace waymark::compat {

/// Buffers and files of the library's own mapper are read in place; all other memory is requested.
class MemoryView {
 public:
  /// `warn` is called for errors of a read.
  explicit MemoryView(std::function<void(const ocsdError&)> warn) : warn_(std::move(warn)) {}

  /// Brings the image up to date with `memory`.  True: something has changed.
  bool update(ITargetMemAccess* memory);

  [[nodiscard]] const image::Image& image() const { return image_; }

 private:
  void clear();
  bool show_accessors(const TrcMemAccMapGlobalSpace& mapper);
  void ask(ITargetMemAccess& memory);
  [[nodiscard]] std::size_t checked(std::uint32_t read, std::size_t asked) const;

  std::function<void(const ocsdError&)> warn_;
  image::Image image_;
  std::vector<std::pair<std::uint64_t, image::SpaceMask>> regions_;
  ITargetMemAccess* memory_ = nullptr;
  const TrcMemAccMapper* mapper_ = nullptr;  ///< The same object, if it is a mapper.
  std::uint32_t generation_ = 0;
};

}  // namespace waymark::compat
