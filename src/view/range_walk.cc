#include "range_walk.h"

#include <algorithm>
#include <array>
#include <utility>

#include "waymark/program/disassembler.h"

namespace waymark::view {

unsigned RangeWalk::even_size(const Element& range) {
  const std::uint64_t bytes = range.end - range.start;
  if (bytes == std::uint64_t{4} * range.count) return 4;
  return bytes == std::uint64_t{2} * range.count ? 2 : 0;
}

const std::vector<std::uint64_t>& RangeWalk::addresses(const Element& range) {
  const bool same = known_.start == range.start && known_.end == range.end &&
                    known_.count == range.count && known_.trace_id == range.trace_id &&
                    known_.index == range.index;
  if (same && !addresses_.empty()) return addresses_;
  known_ = range;
  addresses_.clear();
  std::array<std::uint8_t, 4096> scratch{};
  Bytes bytes;
  std::uint64_t bytes_at = 0;
  std::uint64_t at = range.start;
  while (at < range.end && addresses_.size() < range.count) {
    addresses_.push_back(at);
    if (bytes.size() < 2 || at - bytes_at > bytes.size() - 2) {
      bytes = read_ ? read_(range, at, scratch) : Bytes();
      bytes_at = at;
    }
    // Code that cannot be read has instructions of the mean size.
    std::uint64_t size =
        std::max<std::uint64_t>((range.end - range.start) / range.count & ~1ULL, 2);
    if (bytes.size() >= 2) {
      const std::size_t place = in_memory(at - bytes_at);
      const std::uint32_t half = bytes[place] | std::uint32_t{bytes[place + 1]} << 8;
      size = program::instruction_size(range.isa, half);
    }
    at += size;
  }
  return addresses_;
}

std::uint64_t RangeWalk::address(const Element& range, std::uint32_t number) {
  number = std::min(number, range.count - 1);
  if (number == 0) return range.start;
  if (number + 1 == range.count && range.last_size != 0 &&
      range.end - range.start > range.last_size)
    return range.end - range.last_size;
  if (const unsigned size = even_size(range); size != 0)
    return range.start + std::uint64_t{size} * number;
  const auto& all = addresses(range);
  return all[std::min<std::size_t>(number, all.size() - 1)];
}

std::optional<std::uint32_t> RangeWalk::number(const Element& range, std::uint64_t address) {
  if (address < range.start || address >= range.end) return std::nullopt;
  if (const unsigned size = even_size(range); size != 0)
    return static_cast<std::uint32_t>((address - range.start) / size);
  const auto& all = addresses(range);
  const auto after = std::ranges::upper_bound(all, address);
  return static_cast<std::uint32_t>(after - all.begin() - 1);
}

Element RangeWalk::part(const Element& range, std::uint32_t first, std::uint32_t after) {
  Element part = range;
  after = std::min(after, range.count);
  first = std::min(first, after);
  part.count = after - first;
  part.start = first == 0 ? range.start : address(range, first);
  if (first == after) part.end = part.start;
  if (after == range.count) return part;
  part.end = address(range, after);
  part.flags &=
      static_cast<std::uint16_t>(~(kElementExecuted | kElementConditional | kElementHasCycleCount));
  part.flags |= kElementExecuted;
  part.last_type = isa::InstrType::kOther;
  part.last_subtype = isa::InstrSubtype::kNone;
  part.last_size = after == first ? std::uint8_t{0}
                                  : static_cast<std::uint8_t>(part.end - address(range, after - 1));
  return part;
}

}  // namespace waymark::view
