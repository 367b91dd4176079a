// The elements of generated executions.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "synth/truth_bench.h"
#include "waymark/synth/random.h"

namespace waymark::support {

/// All elements of a random execution, whose trace is damaged if the seed is even.
inline std::vector<Element> workload_elements(std::uint64_t seed) {
  std::vector<Element> elements;
  auto workload = synth::Workload::random({.seed = seed, .damage = seed % 2 == 0});
  auto made = workload ? synth::make_in_memory(*workload, false) : std::unexpected(Error());
  if (!made) {
    ADD_FAILURE() << "no workload for seed " << seed;
    return elements;
  }
  DecodeTree tree(made->maker.frame_options());
  for (auto& source : made->sources()) EXPECT_TRUE(tree.add(std::move(source)));
  std::vector<Element> out(300);
  const auto drain = [&] {
    while (const std::size_t got = tree.next(out))
      elements.insert(elements.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(got));
  };
  const std::size_t whole = made->bytes.size() / tree.alignment() * tree.alignment();
  EXPECT_TRUE(tree.feed(0, Bytes(made->bytes).first(whole)));
  drain();
  tree.finish();
  drain();
  return elements;
}

}  // namespace waymark::support
