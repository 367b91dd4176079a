// Comparisons of any elements: every instruction is counted, a run is the same as itself, and what
// is left out ends.
#include <cstdlib>

#include "support/stack_checks.h"
#include "waymark/diff/comparison.h"

namespace {

using namespace waymark;

std::uint64_t instructions(std::span<const Element> elements) {
  std::uint64_t sum = 0;
  for (const Element& element : elements)
    sum += element.kind == ElementKind::kInstrRange ? element.count : 0;
  return sum;
}

void run(diff::Comparison& comparison,
         const std::array<std::span<const Element>, diff::kSides>& runs, std::size_t batch) {
  std::array<std::size_t, diff::kSides> at{};
  while (const auto side = comparison.next()) {
    const std::size_t count = std::min(batch, runs[*side].size() - at[*side]);
    if (count == 0) {
      comparison.finish(*side);
    } else {
      comparison.observe(*side, runs[*side].subspan(at[*side], count));
    }
    at[*side] += count;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return 0;
  static const auto kProgram = support::few_functions();
  const std::vector<Element> elements = support::elements_of(Bytes(data, size).subspan(8));
  const std::size_t middle = elements.size() * data[0] / 256;
  const std::array<std::span<const Element>, diff::kSides> runs{
      std::span(elements).first(middle), std::span(elements).subspan(middle)};
  const std::size_t batch = 1 + data[1];
  diff::ComparisonOptions options;
  for (diff::Side side = 0; side < diff::kSides; ++side) {
    if ((data[2] >> side & 1) != 0) {
      options.places[side] = [](const Element& /*element*/, std::uint64_t address) {
        return program::Place{kProgram.get(), address};
      };
    }
    if ((data[2] >> side & 4) != 0)
      options.runs[side].ignores_exception = [](const Element& at) { return at.number % 2 != 0; };
    if ((data[2] >> side & 16) != 0)
      options.runs[side].ignores_function = [](const Element& at) { return at.start % 16 == 0; };
  }
  options.most_waiting = std::size_t{1} << (data[3] & 15);
  const bool ignores = (data[2] & 0x3C) != 0;
  {
    diff::Comparison comparison(options);
    run(comparison, runs, batch);
    for (diff::Side side = 0; side < diff::kSides; ++side) {
      const std::uint64_t counted = comparison.totals()[side].instructions;
      const std::uint64_t all = instructions(runs[side]);
      if (ignores ? counted > all : counted != all) std::abort();
    }
  }
  options.runs[1] = options.runs[0];
  options.places[1] = options.places[0];
  options.most_waiting = std::size_t{1} << 20;
  diff::Comparison same(options);
  run(same, {runs[0], runs[0]}, batch);
  if (same.agreement().divergences != 0 || !same.block_changes().empty()) std::abort();
  return 0;
}
