#include "detect_mtb.h"

#include <algorithm>
#include <array>

#include "waymark/mtb/buffer.h"
#include "waymark/mtb/packet.h"

namespace waymark::inputs {
namespace {

std::uint32_t word_at(Bytes content, std::size_t at) {
  return std::uint32_t{content[at]} | std::uint32_t{content[at + 1]} << 8 |
         std::uint32_t{content[at + 2]} << 16 | std::uint32_t{content[at + 3]} << 24;
}

}  // namespace

MtbFacts mtb_facts(Bytes content) {
  MtbFacts facts;
  std::array<std::uint32_t, MtbFacts::kEnoughDistinct> seen{};
  std::uint32_t destination = 0;
  bool linked = false;
  for (std::size_t at = 0; at + mtb::kRecordBytes <= content.size(); at += mtb::kRecordBytes) {
    const std::uint32_t first = word_at(content, at);
    const std::uint32_t second = word_at(content, at + 4);
    const bool unused = first == second && (first == 0 || first == ~0U);
    const bool starts = (second & 1) != 0;
    if (linked && !unused && !starts) {
      ++facts.links;
      if (mtb::likely_follows(destination, first)) {
        ++facts.near;
        auto* const end = seen.begin() + static_cast<std::ptrdiff_t>(facts.distinct);
        if (facts.distinct != seen.size() && std::find(seen.begin(), end, destination) == end)
          seen[facts.distinct++] = destination;
      }
    }
    if (!unused) ++facts.records;
    linked = !unused;
    destination = second & ~1U;
  }
  return facts;
}

}  // namespace waymark::inputs
