// The single instructions of ranges.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/element/element.h"

namespace waymark::view {

/// Finds the addresses of the instructions of ranges.  Only T32 code whose instructions have both
/// sizes is read.  Not thread safe.
class RangeWalk {
 public:
  using Read = std::function<Bytes(const Element& element, std::uint64_t address,
                                   std::span<std::uint8_t> scratch)>;
  explicit RangeWalk(Read read) : read_(std::move(read)) {}

  /// The address of an instruction of the range, counted from 0; its last one for those beyond.
  std::uint64_t address(const Element& range, std::uint32_t number);
  /// The instruction that has the byte at an address; nothing: it is outside the range.
  std::optional<std::uint32_t> number(const Element& range, std::uint64_t address);

  /// The part of a range from one of its instructions up to another one, as an element.  A part
  /// that leaves out the last instruction ends with an instruction that is not a branch.
  Element part(const Element& range, std::uint32_t first, std::uint32_t after);

 private:
  /// The size of all its instructions; 0: they differ.
  static unsigned even_size(const Element& range);
  const std::vector<std::uint64_t>& addresses(const Element& range);

  Read read_;
  Element known_{};  ///< What addresses_ is of.
  std::vector<std::uint64_t> addresses_;
};

/// Whether an element is a range with instructions.
inline bool is_range(const Element& element) {
  return element.kind == ElementKind::kInstrRange && element.count != 0 &&
         element.end > element.start;
}

}  // namespace waymark::view
