// Makes a capture in memory, decodes it and compares with the truth.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "waymark/synth/capture.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::synth {

/// Seeds 1 to this are tried; the environment variable WAYMARK_SYNTH_SEEDS asks for more.
inline std::uint64_t seed_count(std::uint64_t usual) {
  const char* text = std::getenv("WAYMARK_SYNTH_SEEDS");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

struct TruthBench {
  Program program;
  CaptureOptions capture;
  std::vector<UnitOptions> units;
  ExecutionOptions execution;
  std::uint64_t instructions = 0;  ///< That the last check() compared.
  std::uint64_t bytes = 0;

  Result<CaptureMaker> make(bool keep_truth = true) const {
    std::vector<std::unique_ptr<TraceUnit>> made;
    for (std::size_t i = 0; i < units.size(); ++i) {
      ExecutionOptions own = execution;
      own.seed += i * 1000;
      auto unit = make_unit(units[i], &program, own, keep_truth);
      if (!unit) return std::unexpected(unit.error());
      made.push_back(*std::move(unit));
    }
    return CaptureMaker::create(capture, std::move(made));
  }

  /// The first difference, and records of damage; empty: none.
  std::string check() {
    Result<CaptureMaker> maker = make();
    if (!maker) return maker.error().detail;
    const auto image = program.image();
    class Records final : public Observer {
     public:
      std::string text;
      [[nodiscard]] bool wants_packets() const override { return false; }
      void on_diagnostic(const Diagnostic& record) override {
        if (text.empty()) text = fmt::format("index {}: {}", record.index, record.message);
      }
    } records;
    DecodeTree tree(maker->frame_options());
    for (const auto& unit : maker->units())
      if (auto added = tree.add(unit->make_source(*image)); !added) return added.error().detail;
    tree.set_observer(&records);
    std::vector<std::uint8_t> all;
    while (true) {
      const Bytes block = maker->next();
      if (block.empty()) break;
      all.insert(all.end(), block.begin(), block.end());
    }
    bytes = all.size();
    std::map<TraceId, TruthChecker> checkers;
    for (const auto& unit : maker->units()) {
      if (!unit->status()) return unit->status().error().detail;
      checkers.emplace(unit->options().trace_id,
                       TruthChecker(unit->truth().bytes(), unit->ranges_in_parts()));
    }
    std::vector<Element> elements(256);
    const auto drain = [&] {
      while (const std::size_t count = tree.next(elements))
        for (const Element& element : std::span(elements).first(count))
          checkers.at(element.trace_id).take({&element, 1});
    };
    if (auto fed = tree.feed(0, all); !fed) return fed.error().detail;
    drain();
    tree.finish();
    drain();
    instructions = 0;
    std::string text = records.text;
    for (std::size_t i = 0; i < maker->units().size(); ++i) {
      TruthChecker& checker = checkers.at(maker->units()[i]->options().trace_id);
      checker.finish();
      if (!checker.difference().empty()) text += "\n" + checker.difference();
      if (checker.difference().empty() && checker.totals() != maker->units()[i]->truth().totals())
        text += "\nThe totals differ.";
      instructions += checker.totals().instructions;
    }
    return text;
  }
};

}  // namespace waymark::synth
