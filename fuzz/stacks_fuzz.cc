// Call stacks of any elements: every instruction is in the tree, frames nest, time never goes back,
// and all limits hold.
#include <cstdio>
#include <cstdlib>

#include "support/stack_checks.h"
#include "support/stack_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waymark;
  if (size < 8) return 0;
  static const auto kProgram = support::few_functions();
  stacks::Options options;
  if ((data[0] & 1) != 0) {
    options.places = [](const Element& /*element*/, std::uint64_t address) {
      return program::Place{kProgram.get(), address};
    };
  }
  if ((data[0] & 2) != 0) {
    options.follows_call = [](const Element& /*element*/, std::uint64_t address) {
      return address % 8 == 0;
    };
  }
  if ((data[0] & 4) != 0) options.tail_calls = stacks::TailCalls::kReplace;
  options.exceptions_apart = (data[0] & 8) != 0;
  options.sites = (data[0] & 16) != 0;
  options.ranges = (data[0] & 32) != 0;
  options.most_frames = std::size_t{8} << (data[1] & 7);
  options.most_nodes = std::size_t{8} << (data[1] >> 4 & 7);
  support::RecordChecker records([&] {
    stacks::Options plain = options;
    plain.sites = plain.ranges = false;
    return plain;
  }());
  support::StackChecker checker(std::move(options),
                                static_cast<stacks::Timeline::Choice>(data[2] & 3));
  for (TraceId id = 0; id < 4; ++id) {
    const stacks::SourceFacts facts{
        .profile = (data[3] >> id & 1) != 0 ? isa::Profile::kM : isa::Profile::kA,
        .timestamps_repeat_cycles = (data[3] >> 4 & 1) != 0};
    checker.engine().set_source(id, facts);
    records.set_source(id, facts);
  }
  const std::vector<Element> elements = support::elements_of(Bytes(data, size).subspan(8));
  checker.observe(elements);
  records.observe(std::span(elements).first(elements.size() / 2));
  records.observe(std::span(elements).subspan(elements.size() / 2));
  for (const std::string& fault : {checker.finish(), records.finish()}) {
    if (fault.empty()) continue;
    (void)std::fputs((fault + '\n').c_str(), stderr);
    std::abort();
  }
  stacks::Tree twice;
  twice.add(checker.engine().tree());
  twice.add(checker.engine().tree());
  if (twice.whole().instructions != 2 * checker.engine().tree().whole().instructions) std::abort();
  twice.limit_depth(3);
  if (twice.whole().instructions != 2 * checker.engine().tree().whole().instructions) std::abort();
  return 0;
}
