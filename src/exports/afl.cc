#include "waymark/exports/afl.h"

#include <algorithm>
#include <limits>

namespace waymark::exports {
namespace {

/// Spreads the bits of a number over all bits of the result (the last step of SplitMix64).
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ value >> 27) * 0x94D049BB133111EBULL;
  return value ^ value >> 31;
}

std::uint64_t added_up(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

std::vector<std::uint64_t> edge_counts(const profile::Profile& profile,
                                       std::span<const profile::ProgramProfile* const> programs) {
  std::vector<std::uint64_t> keys;
  for (const profile::ProgramProfile& program : profile.programs())
    keys.push_back(afl_program_key(program.build_id, program.path));
  std::vector<std::uint64_t> counts(kAflMapSize);
  for (const profile::ProgramProfile* program : programs) {
    const std::uint64_t key = keys[program->number];
    const auto count = [&](std::uint64_t from, std::uint64_t to_key, std::uint64_t to,
                           std::uint64_t times) {
      std::uint64_t& place = counts[afl_place(key, from, to_key, to)];
      place = added_up(place, times);
    };
    for (const profile::Branch& branch : program->branches) {
      if (branch.to != kNoAddress)
        count(branch.from, keys[branch.to_program], branch.to, branch.times);
    }
    for (const count::Row& row : program->counts.rows)
      if (row.not_taken() != 0)
        count(row.range.last_address(), key, row.range.end, row.not_taken());
  }
  return counts;
}

}  // namespace

std::uint64_t afl_program_key(const std::vector<std::uint8_t>& build_id, std::string_view path) {
  std::uint64_t key = 0;
  const auto take = [&key](std::uint8_t byte) { key = mixed(key + byte + 1); };
  if (build_id.empty()) {
    for (const char c : path.substr(path.rfind('/') + 1)) take(static_cast<std::uint8_t>(c));
  } else {
    for (const std::uint8_t byte : build_id) take(byte);
  }
  return key;
}

std::size_t afl_place(std::uint64_t from_key, std::uint64_t from, std::uint64_t to_key,
                      std::uint64_t to) {
  return (mixed(to_key ^ to) ^ mixed(from_key ^ from) >> 1) & (kAflMapSize - 1);
}

Result<void> write_afl(const profile::Profile& profile,
                       std::span<const profile::ProgramProfile* const> programs,
                       const Options& /*options*/, TextBuffer& out) {
  const std::vector<std::uint64_t> counts = edge_counts(profile, programs);
  for (std::size_t place = 0; place < counts.size(); ++place) {
    if (counts[place] == 0) continue;
    for (std::size_t first = 100'000; first > 1 && place < first; first /= 10) out.put('0');
    out.dec(place);
    out.put(':');
    out.dec(counts[place]);
    out.put('\n');
  }
  return {};
}

Result<void> write_afl_map(const profile::Profile& profile,
                           std::span<const profile::ProgramProfile* const> programs,
                           const Options& /*options*/, TextBuffer& out) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint8_t>::max();
  for (const std::uint64_t count : edge_counts(profile, programs))
    out.put(static_cast<char>(std::min(count, kMost)));
  return {};
}

}  // namespace waymark::exports
