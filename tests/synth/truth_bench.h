// Makes a capture in memory, decodes it, and compares it with the ground truth.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "waymark/synth/workload.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::synth {

struct TruthBench : Workload {
  std::uint64_t instructions = 0;  ///< Compared by the last check().
  std::uint64_t bytes = 0;

  /// The first difference, and the damage; empty: none.
  std::string check() {
    Result<MemoryCapture> made = make_in_memory(*this);
    if (!made) return made.error().detail;
    bytes = made->bytes.size();
    class Records final : public Observer {
     public:
      std::string text;
      [[nodiscard]] bool wants_packets() const override { return false; }
      void on_diagnostic(const Diagnostic& record) override {
        if (text.empty()) text = fmt::format("index {}: {}", record.index, describe(record));
      }
    } records;
    DecodeTree tree(made->maker.frame_options());
    for (auto& source : made->sources())
      if (auto added = tree.add(std::move(source)); !added) return added.error().detail;
    tree.set_observer(&records);
    std::map<TraceId, TruthChecker> checkers;
    for (const auto& unit : made->maker.units())
      checkers.emplace(unit->options().trace_id,
                       TruthChecker(unit->truth().bytes(), unit->ranges_in_parts()));
    std::vector<Element> elements(256);
    const auto drain = [&] {
      while (const std::size_t count = tree.next(elements))
        for (const Element& element : std::span(elements).first(count))
          checkers.at(element.trace_id).take({&element, 1});
    };
    if (auto fed = tree.feed(0, made->bytes); !fed) return fed.error().detail;
    drain();
    tree.finish();
    drain();
    instructions = 0;
    std::string text = records.text;
    for (const auto& unit : made->maker.units()) {
      TruthChecker& checker = checkers.at(unit->options().trace_id);
      checker.finish();
      if (!checker.difference().empty()) text += "\n" + checker.difference();
      if (checker.difference().empty() && checker.totals() != unit->truth().totals())
        text += "\nThe totals differ.";
      instructions += checker.totals().instructions;
    }
    return text;
  }
};

/// Options drawn from the seed for sources of these protocols; without protocols, for one to four
/// random ones.
inline TruthBench drawn(std::uint64_t seed, std::vector<Protocol> protocols) {
  TruthBench bench;
  auto workload = Workload::random({.seed = seed, .protocols = std::move(protocols)});
  EXPECT_TRUE(workload) << workload.error().detail;
  if (workload) static_cast<Workload&>(bench) = *std::move(workload);
  return bench;
}

}  // namespace waymark::synth
