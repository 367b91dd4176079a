#include "waymark/shard/step_codec.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/seed_count.h"
#include "support/stack_checks.h"
#include "support/stack_records.h"
#include "waymark/shard/stack_slice_codec.h"
#include "waymark/synth/random.h"

namespace waymark::shard {
namespace {

using stacks::Step;

Bytes bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string written(std::span<const Step> steps, bool keeps_places = true) {
  StepWriter writer(keeps_places);
  for (const Step& step : steps) writer.add(step);
  return writer.take();
}

/// The steps, and whether all of the text was some.
std::pair<std::vector<Step>, bool> read(const std::string& text) {
  std::pair<std::vector<Step>, bool> found;
  StepReader reader(bytes(text));
  for (Step step; reader.next(step);) found.first.push_back(step);
  found.second = !reader.is_bad();
  return found;
}

std::vector<Element> random_elements(std::uint64_t seed, std::size_t count = 1024) {
  synth::Random random(seed);
  std::vector<std::uint8_t> data(8 * count);
  for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random.next());
  std::vector<Element> elements = support::elements_of(data);
  for (Element& element : elements) {
    element.last_type = static_cast<isa::InstrType>(random.below(7));
    element.last_subtype = static_cast<isa::InstrSubtype>(random.below(5));
    element.index = random.below(1'000'000);
  }
  return elements;
}

std::vector<Step> steps_of(std::span<const Element> elements) {
  const auto program = support::few_functions();
  std::vector<Step> steps;
  stacks::Recorder recorder(
      [&](const Element&, std::uint64_t address) { return program::Place{program.get(), address}; },
      [&](const Step& step) { steps.push_back(step); });
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i % 37 == 0) recorder.leave_out(elements[i].trace_id);
    recorder.observe(elements.subspan(i, 1));
  }
  recorder.finish();
  return steps;
}

TEST(StepCodec, there_and_back) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    const std::vector<Step> steps = steps_of(random_elements(seed));
    const std::string text = written(steps);
    const auto [found, good] = read(text);
    ASSERT_TRUE(good);
    ASSERT_EQ(found.size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_EQ(found[i].kind, steps[i].kind);
      EXPECT_EQ(found[i].run, steps[i].run);
      EXPECT_EQ(found[i].element.index, steps[i].element.index);
      EXPECT_EQ(found[i].element.trace_id, steps[i].element.trace_id);
      EXPECT_EQ(found[i].element.kind, steps[i].element.kind);
      EXPECT_EQ(found[i].element.start, steps[i].element.start);
    }
    EXPECT_EQ(written(found), text);
    EXPECT_LT(written(steps, false).size(), text.size());
  }
}

TEST(StepCodec, an_engine_plays_what_was_read) {
  const auto program = support::few_functions();
  stacks::Options options;
  options.places = [&](const Element&, std::uint64_t address) {
    return program::Place{program.get(), address};
  };
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    support::RecordChecker checker(options);
    const std::vector<Element> elements = random_elements(seed);
    const auto through = [](std::vector<Step> steps) { return read(written(steps)).first; };
    checker.observe(std::span(elements).first(300), through);
    checker.observe(std::span(elements).subspan(300), through);
    EXPECT_EQ(checker.finish(), "") << "seed " << seed;
  }
}

TEST(StepCodec, an_engine_with_a_sink_plays_what_was_read) {
  std::size_t events = 0;
  for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
    support::RecordChecker checker({}, true);
    checker.observe(random_elements(seed),
                    [](std::vector<Step> steps) { return read(written(steps, false)).first; });
    EXPECT_EQ(checker.finish(), "") << "seed " << seed;
    events += checker.events();
  }
  EXPECT_GT(events, 1000U);
}

TEST(StepCodec, what_repeats_has_few_bytes) {
  std::vector<Element> elements;
  for (int i = 0; i < 1000; ++i) {
    Element element;
    element.kind = ElementKind::kInstrRange;
    element.start = i % 2 == 0 ? 0x1000 : 0x2000;
    element.end = element.start + 8;
    element.count = 2;
    element.last_size = 4;
    element.flags = kElementExecuted;
    element.last_type = isa::InstrType::kIndirectBranch;
    element.last_subtype =
        i % 2 == 0 ? isa::InstrSubtype::kBranchLink : isa::InstrSubtype::kV8Return;
    elements.push_back(element);
  }
  EXPECT_LT(written(steps_of(elements), false).size(), elements.size() + 200);
}

TEST(StepCodec, damaged_bytes_end_somewhere) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(200); ++seed) {
    synth::Random random(seed);
    std::string text = written(steps_of(random_elements(seed, 100)));
    for (int i = 0; i < 3; ++i)
      text[random.below(static_cast<std::uint32_t>(text.size()))] =
          static_cast<char>(random.next());
    const auto [found, good] = read(text);
    EXPECT_LE(found.size(), text.size());
    stacks::Engine engine({});
    for (const Step& step : found)
      if (!engine.play(step)) break;
    engine.finish();
  }
}

TEST(StepCodec, what_is_not_a_step_is_bad) {
  const std::string text = written(steps_of(random_elements(1, 20)));
  EXPECT_FALSE(read(text.substr(0, text.size() - 1)).second);
  // A kind of elements that does not exist.
  EXPECT_FALSE(read(std::string("\x08\x00\x7F", 3)).second);
}

TEST(StackSliceCodec, there_and_back_and_content_that_is_cut_is_refused) {
  const SliceStacks slice{.seam = {.framing = true, .sources = {{.active = true, .holds = false}}},
                          .steps = written(steps_of(random_elements(1, 20))),
                          .ends = written(steps_of(random_elements(2, 2))),
                          .files = {{.path = "a", .bytes = 1, .digest = 2}}};
  const std::string content = encode(slice);
  const auto got = read_stack_slice(bytes(content));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->seam, slice.seam);
  EXPECT_EQ(got->files, slice.files);
  EXPECT_EQ(got->steps, slice.steps);
  EXPECT_EQ(got->ends, slice.ends);
  for (std::size_t size = 0; size < content.size(); ++size)
    EXPECT_FALSE(read_stack_slice(bytes(content).first(size))) << size;
  EXPECT_FALSE(read_stack_slice(bytes(content + '\0')));
}

}  // namespace
}  // namespace waymark::shard
