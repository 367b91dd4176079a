#include "waymark/locate/code_sites.h"

#include <algorithm>
#include <cstring>

namespace waymark::locate {
namespace {

void keep_each_once(std::vector<std::uint64_t>& sites) {
  std::ranges::sort(sites);
  const auto same = std::ranges::unique(sites);
  sites.erase(same.begin(), same.end());
  if (sites.size() > kMostSites) sites.resize(kMostSites);
}

/// Collects the sites of one instruction set.
class Collector {
 public:
  explicit Collector(isa::Isa isa)
      : isa_(isa), options_{.arch = isa == isa::Isa::kA64 ? isa::Arch::kAA64 : isa::Arch::kV8} {}

  void scan(std::uint64_t address, Bytes code, const std::function<bool()>& stop) {
    constexpr std::size_t kStretch = std::size_t{1} << 20;
    const std::size_t step = isa_ == isa::Isa::kT32 ? 2 : 4;
    std::uint8_t it_remaining = 0;
    auto at = static_cast<std::size_t>(address % step);
    std::size_t asks_at = 0;
    while (at + step <= code.size()) {
      if (at >= asks_at) {
        if (stop && stop()) return;
        asks_at = at + kStretch;
      }
      std::uint32_t opcode = 0;
      std::memcpy(&opcode, code.data() + at, std::min<std::size_t>(4, code.size() - at));
      isa::Instruction instruction;
      const bool known = isa::classify(options_, isa_, address + at, opcode, it_remaining,
                                       instruction) == isa::Outcome::kOk;
      const std::size_t size = known ? instruction.size : step;
      if (known) take(address + at, instruction);
      at += size;
    }
  }

  void add_function(std::uint64_t address) { sites_.calls.push_back(address); }

  /// `segments`: sites elsewhere are no sites of this program.
  CodeSites finish(const std::vector<elf::Segment>& segments) {
    const auto is_outside = [&](std::uint64_t site) {
      return std::ranges::none_of(segments, [&](const elf::Segment& segment) {
        return site >= segment.address && site - segment.address < segment.size;
      });
    };
    keep_each_once(sites_.calls);
    std::erase_if(sites_.calls, is_outside);
    sites_.blocks.insert(sites_.blocks.end(), sites_.calls.begin(), sites_.calls.end());
    keep_each_once(sites_.blocks);
    std::erase_if(sites_.blocks, is_outside);
    return std::move(sites_);
  }

 private:
  void take(std::uint64_t address, const isa::Instruction& instruction) {
    const bool branches = instruction.type == isa::InstrType::kBranch;
    if (!branches && instruction.type != isa::InstrType::kIndirectBranch) return;
    const std::uint64_t after = address + instruction.size;
    const bool stays = instruction.next_isa == isa_ || instruction.next_isa == isa::Isa::kUnknown;
    (instruction.link ? sites_.calls : sites_.blocks).push_back(after);
    if (branches && stays)
      (instruction.link ? sites_.calls : sites_.blocks).push_back(instruction.target);
    // Data that is read as code must not fill the memory.
    for (auto* const sites : {&sites_.calls, &sites_.blocks})
      if (sites->size() >= 4 * kMostSites) keep_each_once(*sites);
  }

  isa::Isa isa_;
  isa::Options options_;
  CodeSites sites_;
};

}  // namespace

std::vector<elf::Segment> code_segments(const elf::File& program) {
  std::vector<elf::Segment> segments;
  std::ranges::copy_if(program.segments(), std::back_inserter(segments), &elf::Segment::executable);
  return segments.empty() ? program.segments() : segments;
}

CodeSites find_sites(const elf::File& program, isa::Isa isa, const std::function<bool()>& stop) {
  const std::vector<elf::Segment> segments = code_segments(program);
  Collector collector(isa);
  for (const elf::Segment& segment : segments)
    collector.scan(segment.address, program.contents(segment), stop);
  const bool thumb = isa == isa::Isa::kT32;
  for (const elf::Symbol& symbol : program.symbols()) {
    if (!symbol.function) continue;
    if (isa == isa::Isa::kA64 || ((symbol.address & 1) != 0) == thumb)
      collector.add_function(symbol.address & ~std::uint64_t{thumb});
  }
  return collector.finish(segments);
}

}  // namespace waymark::locate
