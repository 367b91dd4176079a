#include "waymark/count/counter.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/counting.h"
#include "waymark/etmv4/source.h"

namespace waymark::count {
namespace {

Element range(std::uint64_t start, std::uint32_t count, bool executed = true,
              isa::InstrType type = isa::InstrType::kBranch) {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.start = start;
  element.end = start + 4 * count;
  element.count = count;
  element.isa = isa::Isa::kA64;
  element.last_type = type;
  element.last_size = 4;
  if (executed) element.flags = kElementExecuted;
  return element;
}

Element other(ElementKind kind) {
  Element element;
  element.kind = kind;
  return element;
}

Element cycles(std::uint32_t count, ElementKind kind = ElementKind::kCycleCount) {
  Element element = other(kind);
  element.cycle_count = count;
  element.flags = kElementHasCycleCount;
  return element;
}

Counts counts_of(const std::vector<Element>& elements, bool timestamps_repeat_cycles = false) {
  Counter counter;
  counter.set_timestamps_repeat_cycles(timestamps_repeat_cycles);
  counter.observe(elements);
  Counts counts = counter.take();
  support::PlainCounter plain(timestamps_repeat_cycles);
  plain.add(elements);
  EXPECT_EQ(support::difference(plain.counts(), counts), "");
  return counts;
}

TEST(Counter, counts_ranges_by_their_last_instruction) {
  const Counts counts =
      counts_of({range(0x100, 3), range(0x100, 3, false), range(0x200, 1), range(0x100, 3)});
  ASSERT_EQ(counts.rows.size(), 2U);
  EXPECT_EQ(counts.rows[0].taken(), 2U);
  EXPECT_EQ(counts.rows[0].not_taken(), 1U);
  EXPECT_EQ(counts.rows[0].instructions(), 9U);
  EXPECT_EQ(counts.totals().instructions, 10U);
}

TEST(Counter, learns_the_target_of_a_direct_branch_that_was_taken) {
  const Counts counts = counts_of({range(0x100, 3, false), range(0x10C, 1), range(0x200, 1, false),
                                   other(ElementKind::kTraceOn), range(0x300, 1)});
  EXPECT_EQ(counts.rows[0].target, kNoAddress);
  EXPECT_EQ(counts.rows[1].target, 0x200U);
  EXPECT_EQ(counts.rows[2].target, kNoAddress);
}

TEST(Counter, code_has_the_target_of_a_direct_branch_that_nothing_follows) {
  const std::vector<Element> elements{
      range(0x100, 3),        other(ElementKind::kException), range(0x200, 1), range(0x900, 1),
      range(0x300, 2, false), other(ElementKind::kTraceOn),   range(0x300, 2)};
  Counter counter;
  std::size_t asked = 0;
  counter.set_targets([&asked](const Element& of) {
    ++asked;
    return of.start == 0x200 ? kNoAddress : of.end + 0x1000;
  });
  for (int i = 0; i < 2; ++i) {
    counter.begin_part();
    counter.observe(elements);
    const Counts counts = counter.take_part().counts;
    ASSERT_EQ(counts.rows.size(), 4U);
    EXPECT_EQ(counts.rows[0].target, 0x110CU);
    // It cannot be read.
    EXPECT_EQ(counts.rows[1].target, 0x900U);
    EXPECT_EQ(counts.rows[2].target, 0x1308U);
    EXPECT_EQ(counts.rows[3].target, 0x1904U);
  }
  EXPECT_EQ(asked, 4U);
}

TEST(Counter, shares_cycles_out_by_instructions) {
  const Counts counts = counts_of({range(0x100, 1), range(0x200, 2), range(0x100, 1), cycles(10)});
  // Rounded down, 10/4, 10*3/4 and 10 give 2, 5 and 3.
  EXPECT_EQ(counts.rows[0].cycles, 5U);
  EXPECT_EQ(counts.rows[1].cycles, 5U);
  EXPECT_EQ(counts.other_cycles, 0U);
}

TEST(Counter, a_count_without_ranges_goes_to_the_next_or_is_dropped_after_a_gap) {
  const Counts counts = counts_of({cycles(4), range(0x100, 1), cycles(3), cycles(20),
                                   other(ElementKind::kTraceOn), range(0x200, 1), cycles(5),
                                   range(0x300, 1), other(ElementKind::kNoSync), cycles(7)});
  EXPECT_EQ(counts.rows[0].cycles, 7U);
  EXPECT_EQ(counts.rows[1].cycles, 5U);
  EXPECT_EQ(counts.rows[2].cycles, 0U);
  EXPECT_EQ(counts.other_cycles, 20U);
}

TEST(Counter, counts_cycles_of_timestamps_only_where_they_are_not_repeated) {
  const std::vector<Element> elements = {range(0x100, 1), cycles(4, ElementKind::kTimestamp),
                                         cycles(9)};
  EXPECT_EQ(counts_of(elements, true).rows[0].cycles, 9U);
  // The second cycle count waits for a range.
  EXPECT_EQ(counts_of(elements, false).rows[0].cycles, 4U);
}

TEST(Counter, takes_cycles_that_a_range_carries) {
  Element with = range(0x200, 1);
  with.flags |= kElementHasCycleCount;
  with.cycle_count = 8;
  const Counts counts = counts_of({range(0x100, 3), with, cycles(0)});
  EXPECT_EQ(counts.rows[0].cycles, 6U);
  EXPECT_EQ(counts.rows[1].cycles, 2U);
}

TEST(Counter, gives_no_cycles_to_more_ranges_than_a_group_holds) {
  Counter counter;
  const Element one = range(0x100, 1);
  for (std::size_t i = 0; i <= Counter::kMaxGroup; ++i) counter.observe({&one, 1});
  const Element count = cycles(50);
  counter.observe({&count, 1});
  const Counts counts = counter.take();
  EXPECT_EQ(counts.other_cycles, 50U);
  EXPECT_EQ(counts.totals().cycles, 0U);
  EXPECT_EQ(counts.totals().ranges, Counter::kMaxGroup + 1);
}

TEST(Counter, counts_where_indirect_branches_went) {
  const auto indirect = range(0x100, 1, true, isa::InstrType::kIndirectBranch);
  const auto untaken = range(0x100, 1, false, isa::InstrType::kIndirectBranch);
  const Counts counts =
      counts_of({indirect, range(0x200, 1), indirect, other(ElementKind::kTimestamp),
                 range(0x200, 1), indirect, range(0x300, 1), untaken, range(0x104, 1), indirect,
                 other(ElementKind::kException), range(0x400, 1)});
  ASSERT_EQ(counts.edges.size(), 2U);
  EXPECT_EQ(counts.edges[0].from, 0x100U);
  EXPECT_EQ(counts.edges[0].to, 0x200U);
  EXPECT_EQ(counts.edges[0].times, 2U);
  EXPECT_EQ(counts.edges[1].to, 0x300U);
}

Element context(std::uint32_t id, std::uint8_t level = 0) {
  Element element = other(ElementKind::kPeContext);
  element.context_id = id;
  element.exception_level = level;
  element.flags = kElementContextIdValid | kElementElValid;
  return element;
}

TEST(Counter, a_branch_goes_on_in_its_thread_and_in_a_kernel_but_not_in_another_thread) {
  auto indirect = range(0x100, 1, true, isa::InstrType::kIndirectBranch);
  indirect.context_id = 5;
  indirect.flags |= kElementContextIdValid | kElementElValid;
  const Counts counts = counts_of({indirect, context(5), range(0x200, 1), indirect, context(6),
                                   range(0x300, 1), indirect, context(6, 1), range(0x400, 1),
                                   indirect, context(6), context(5), range(0x500, 1), indirect,
                                   other(ElementKind::kTraceOn), context(5), range(0x600, 1)});
  ASSERT_EQ(counts.edges.size(), 2U);
  EXPECT_EQ(counts.edges[0].to, 0x200U);
  EXPECT_EQ(counts.edges[1].to, 0x400U);
}

TEST(Counter, an_exception_states_where_the_branch_before_it_went) {
  const auto indirect = range(0x100, 1, true, isa::InstrType::kIndirectBranch);
  Element exception = other(ElementKind::kException);
  exception.end = 0x200;
  exception.flags = kElementReturnAddress;
  Element chained = exception;
  chained.flags |= kElementTailChain;
  const Counts counts = counts_of({indirect, exception, range(0x800, 1), indirect, chained,
                                   range(0x800, 1), range(0x200, 1), exception, range(0x800, 1)});
  ASSERT_EQ(counts.edges.size(), 1U);
  EXPECT_EQ(counts.edges[0].to, 0x200U);
  EXPECT_EQ(counts.edges[0].times, 1U);
}

/// The first elements of a part decide on the branch before it.
TEST(Counter, parts_agree_on_a_branch_that_crosses_contexts) {
  auto indirect = range(0x100, 1, true, isa::InstrType::kIndirectBranch);
  indirect.context_id = 5;
  indirect.flags |= kElementContextIdValid | kElementElValid;
  for (const std::uint32_t id : {5U, 6U}) {
    const std::vector<Element> elements = {indirect, context(id), context(5), range(0x200, 1)};
    const Counts whole = counts_of(elements);
    EXPECT_EQ(whole.edges.size(), id == 5 ? 1U : 0U);
    for (std::size_t cut = 1; cut < elements.size(); ++cut) {
      Counter counter;
      Stitcher sum;
      counter.begin_part();
      counter.observe(std::span(elements).first(cut));
      sum.add(counter.take_part());
      counter.begin_part();
      counter.observe(std::span(elements).subspan(cut));
      sum.add(counter.take_part());
      EXPECT_EQ(sum.take(), whole) << "cut " << cut << " id " << id;
    }
  }
}

/// A task for each hundred bytes of trace.
class TaskByPlace final : public image::ImageSelector {
 public:
  [[nodiscard]] const image::Image& image_at(TraceIndex, TraceId, ExecutionContext) const override {
    static const image::Image kNone;
    return kNone;
  }
  [[nodiscard]] Task task_at(TraceIndex index, TraceId, ExecutionContext) const override {
    return {.id = {.thread = 7, .moment = static_cast<std::uint32_t>(index / 100)},
            .begin = index / 100 * 100,
            .end = index / 100 * 100 + 100};
  }
};

TEST(Counter, counts_tasks_apart_though_their_contexts_are_equal) {
  std::vector<Element> elements = {
      other(ElementKind::kException), range(0x100, 3), range(0x100, 3), range(0x100, 3),
      other(ElementKind::kException), range(0x100, 3)};
  elements[2].index = 99;
  elements[3].index = 100;
  elements[4].index = 120;
  elements[5].index = 250;
  const TaskByPlace tasks;
  Counter counter;
  counter.set_tasks(&tasks);
  counter.observe(elements);
  const Counts counts = counter.take();
  ASSERT_EQ(counts.rows.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(counts.rows[i].context.task, (TaskId{.thread = 7, .moment = i}));
  EXPECT_EQ(counts.rows[0].executed, 2U);

  Counter some;
  some.set_tasks(&tasks, [](TaskId task) { return task.moment == 1; });
  some.observe(elements);
  const Counts only = some.take();
  ASSERT_EQ(only.rows.size(), 1U);
  EXPECT_EQ(only.totals().instructions, 3U);
  EXPECT_EQ(only.others[static_cast<std::size_t>(ElementKind::kException)], 1U);
}

TEST(Counter, keeps_what_is_open_when_counts_are_taken) {
  Counter counter;
  const auto feed = [&](const Element& element) { counter.observe({&element, 1}); };
  feed(range(0x100, 1, true, isa::InstrType::kIndirectBranch));
  Counts counts = counter.take();
  EXPECT_EQ(counts.totals().ranges, 1U);
  feed(range(0x200, 1));
  feed(cycles(6));
  const Counts rest = counter.take();
  EXPECT_EQ(rest.totals().ranges, 1U);
  ASSERT_EQ(rest.edges.size(), 1U);
  counts.add(rest);
  EXPECT_EQ(counts.rows[0].cycles, 3U);
  EXPECT_EQ(counts.rows[1].cycles, 3U);
  EXPECT_EQ(counter.take(), Counts{});
}

TEST(Counter, loses_no_instruction_whatever_there_is_too_much_of) {
  Counter counter;
  std::uint64_t instructions = 0;
  for (std::uint32_t i = 0; i < 70'000; ++i) {
    Element element = range(0x1000 + 16 * (i % 1000), 1 + i % 3);
    element.context_id = i;
    element.flags |= kElementContextIdValid;
    instructions += element.count;
    counter.observe({&element, 1});
  }
  for (std::uint64_t i = 0; i < 1'300'000; ++i) {
    const Element element = range(0x1'0000'0000 + 16 * i, 2);
    instructions += 2;
    counter.observe({&element, 1});
  }
  const Counts counts = counter.take();
  EXPECT_EQ(counts.rows.size(), Counts::kMaxRows);
  EXPECT_EQ(counts.totals().ranges, 1'370'000U);
  EXPECT_EQ(counts.totals().instructions, instructions);
  EXPECT_GT(counts.rest.ranges, 0U);
}

// A loop of three blocks, one of them a call, whose program changes.
class CountedLoop : public testing::Test {
 protected:
  void program(std::uint32_t fourth) {
    const std::uint32_t words[] = {0xD503201F, 0x94000004, fourth,
                                   0x54FFFFA0, 0xD503201F, 0xD65F03C0};
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : words)
      for (unsigned shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    if (!image_.regions().empty()) {
      ASSERT_TRUE(image_.remove(0x1000, image::kSpaceAny));
    }
    ASSERT_TRUE(image_.add_buffer(0x1000, bytes));
  }

  std::unique_ptr<Source> source(const SourceOptions& options = {}) {
    etmv4::Config config;
    config.trctraceidr = 1;
    config.trcidr1 = 0x4100F423;
    config.trcidr2 = 0x1088;
    config.trcconfigr = 0;
    config.core = {isa::Arch::kAA64, isa::Profile::kA};
    auto made = etmv4::make_source(config, &image_, options);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }

  static std::vector<std::uint8_t> loops(unsigned rounds, bool begin) {
    std::vector<std::uint8_t> bytes;
    if (begin) {
      bytes.assign(11, 0x00);
      bytes.insert(bytes.end(), {0x80, 0x01, 0x00, 0x85, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0x31});
    }
    // Call and return, the address after the call, and the branch back.
    for (unsigned i = 0; i < rounds; ++i) bytes.insert(bytes.end(), {0xDB, 0x95, 0x02, 0xF7});
    return bytes;
  }

  static void count(Source& source, Counter& counter, Bytes bytes) {
    const frames::Run run{0, 0};
    source.feed({bytes, {&run, 1}});
    source.count(counter);
  }

  image::Image image_;
};

TEST_F(CountedLoop, is_counted_on_its_blocks) {
  program(0xD503201F);
  const auto counted = source();
  Counter counter;
  count(*counted, counter, loops(100, true));
  const Counts counts = counter.take();
  ASSERT_EQ(counts.rows.size(), 3U);
  EXPECT_EQ(counts.rows[0].range.start, 0x1000U);
  EXPECT_EQ(counts.rows[0].calls(), 100U);
  EXPECT_EQ(counts.rows[0].target, 0x1014U);
  EXPECT_EQ(counts.rows[1].range.start, 0x1008U);
  EXPECT_EQ(counts.rows[1].target, 0x1000U);
  EXPECT_EQ(counts.rows[2].range.start, 0x1014U);
  ASSERT_EQ(counts.edges.size(), 1U);
  EXPECT_EQ(counts.edges[0].from, 0x1014U);
  EXPECT_EQ(counts.edges[0].to, 0x1008U);
  EXPECT_EQ(counts.edges[0].times, 100U);
  EXPECT_EQ(counts.totals().instructions, 500U);
  // Only the context and the start need elements.
  EXPECT_LT(counted->statistics().elements, 10U);
  EXPECT_EQ(counted->statistics().packets, 3U + 300U);
}

// The program ends within the second block: each atom there makes a range and an element for what
// is missing, and those after it are lost.
TEST_F(CountedLoop, is_counted_on_its_blocks_where_its_end_is_missing) {
  program(0xD503201F);
  const Bytes whole = image_.read(0x1000, image::kSpaceAny, 1, {});
  const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + 12);
  ASSERT_TRUE(image_.remove(0x1000, image::kSpaceAny));
  ASSERT_TRUE(image_.add_buffer(0x1000, part));
  std::vector<std::uint8_t> trace = loops(1, true);
  // Four atoms at the address where one instruction is left, then to where none is, and back.
  for (int i = 0; i < 50; ++i)
    trace.insert(trace.end(), {0x95, 0x02, 0xDB, 0xDB, 0x95, 0x03, 0xF7, 0x95, 0x00, 0xF7});
  const auto counted = source();
  Counter counter;
  count(*counted, counter, trace);
  const Counts counts = counter.take();
  const auto decoded = source();
  support::PlainCounter plain(true);
  const frames::Run run{0, 0};
  decoded->feed({trace, {&run, 1}});
  std::vector<Element> elements(100);
  while (const std::size_t got = decoded->next(elements))
    plain.add(std::span<const Element>(elements).first(got));
  EXPECT_EQ(support::difference(plain.counts(), counts), "");
  constexpr auto kMissing = static_cast<std::size_t>(ElementKind::kAddrNacc);
  EXPECT_GT(counts.others[kMissing], 100U);
  EXPECT_LT(counted->statistics().elements, 12U);
}

TEST_F(CountedLoop, is_counted_again_when_its_program_has_changed) {
  program(0xD503201F);
  const auto counted = source();
  Counter counter;
  count(*counted, counter, loops(100, true));
  // Now its second half ends one instruction earlier.
  program(0x54000020);
  counted->refresh();
  const Counts before = counter.take();
  const std::uint8_t atoms[] = {0xD8 + 1, 0xF6};
  count(*counted, counter, loops(1, true));
  count(*counted, counter, atoms);
  const Counts counts = counter.take();
  std::uint64_t shorter = 0;
  for (const Row& row : counts.rows)
    if (row.range.start == 0x1008 && row.range.end == 0x100C) shorter += row.times();
  EXPECT_GT(shorter, 0U);
  EXPECT_EQ(before.totals().ranges, 300U);
}

}  // namespace
}  // namespace waymark::count
