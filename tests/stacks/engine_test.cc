#include "waymark/stacks/engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace waymark::stacks {
namespace {

using isa::InstrSubtype;
using isa::InstrType;

/// Folded stacks: "main;leaf" and its own instructions.
std::map<std::string, std::uint64_t> folded(const Tree& tree) {
  std::map<std::string, std::uint64_t> lines;
  for (NodeId id = 1; id < tree.nodes().size(); ++id) {
    if (tree.node(id).instructions == 0) continue;
    std::string path;
    for (NodeId at = id; at != kRootNode; at = tree.node(at).parent) {
      path.insert(0, path.empty() ? "" : ";");
      path.insert(0, name_of(tree.code(tree.node(at).code)));
    }
    lines[path] += tree.node(id).instructions;
  }
  return lines;
}

using Folded = std::map<std::string, std::uint64_t>;

/// Writes what happens on stacks, one word each.
class Log final : public Sink {
 public:
  explicit Log(std::string& text) : text_(text) {}
  const Tree* tree = nullptr;

  void on_track(TrackId track, TraceId, std::uint64_t thread) override {
    text_ += fmt::format("track{}={:x} ", track, thread);
  }
  void on_switch(TraceId, TrackId track, std::uint64_t position) override {
    text_ += fmt::format("{}:to{} ", position, track);
  }
  void on_enter(TrackId track, std::uint64_t position, CodeId code, Opening opening) override {
    ++depth[track];
    const char mark = "+>?=^"[static_cast<unsigned>(opening)];
    text_ += fmt::format("{}:{}{} ", position, mark, name_of(tree->code(code)));
  }
  void on_leave(TrackId track, std::uint64_t position) override {
    EXPECT_GT(depth[track]--, 0);
    text_ += fmt::format("{}:- ", position);
  }
  void on_instant(TrackId, std::uint64_t position, Instant what) override {
    text_ += fmt::format("{}:!{} ", position, "gmur"[static_cast<unsigned>(what)]);
  }
  void on_gap(TraceId, std::uint64_t position) override {
    text_ += fmt::format("{}:gap ", position);
  }
  void on_timestamp(TraceId, std::uint64_t position, std::uint64_t time) override {
    text_ += fmt::format("{}:t{} ", position, time);
  }
  void on_cycles(TraceId, std::uint64_t position, std::uint64_t cycles) override {
    text_ += fmt::format("{}:c{} ", position, cycles);
  }

  std::map<TrackId, int> depth;

 private:
  std::string& text_;
};

/// An engine for functions that are 0x100 bytes each, and elements of instructions of 4 bytes.
class Bench {
 public:
  explicit Bench(std::vector<std::string> names, Options options = {}) {
    std::vector<program::Function> functions;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint64_t start = 0x1000 + 0x100 * i;
      if (!names[i].empty()) functions.push_back({start, start + 0xff, names[i]});
    }
    program_ = program::Program::of(std::move(functions), "/bin/test");
    options.places = [program = program_](const Element&, std::uint64_t address) {
      return program::Place{program.get(), address};
    };
    log_ = std::make_unique<Log>(text_);
    options.sink = log_.get();
    engine_ = std::make_unique<Engine>(std::move(options));
    log_->tree = &engine_->tree();
  }

  /// The address in function `index` of the names, so many instructions from its start.
  [[nodiscard]] std::uint64_t at(unsigned index, unsigned instruction = 0) const {
    return 0x1000 + 0x100 * std::uint64_t{index} + 4 * std::uint64_t{instruction};
  }

  void range(std::uint64_t start, std::uint32_t count, InstrType type = InstrType::kOther,
             InstrSubtype subtype = InstrSubtype::kNone, bool executed = true) {
    Element element = context_;
    element.kind = ElementKind::kInstrRange;
    element.isa = isa::Isa::kA64;
    element.start = start;
    element.end = start + 4 * std::uint64_t{count};
    element.count = count;
    element.last_size = 4;
    element.last_type = type;
    element.last_subtype = subtype;
    element.flags |= executed ? kElementExecuted : 0;
    add(element);
  }
  void call(std::uint64_t start, std::uint32_t count) {
    range(start, count, InstrType::kBranch, InstrSubtype::kBranchLink);
  }
  void ret(std::uint64_t start, std::uint32_t count) {
    range(start, count, InstrType::kIndirectBranch, InstrSubtype::kV8Return);
  }
  void branch(std::uint64_t start, std::uint32_t count) { range(start, count, InstrType::kBranch); }
  void indirect(std::uint64_t start, std::uint32_t count) {
    range(start, count, InstrType::kIndirectBranch);
  }
  void plain(std::uint64_t start, std::uint32_t count) { range(start, count); }
  void eret(std::uint64_t start, std::uint32_t count) {
    range(start, count, InstrType::kIndirectBranch, InstrSubtype::kV8ExceptionReturn);
  }
  void exception(std::uint32_t number, std::uint64_t back) {
    Element element = context_;
    element.kind = ElementKind::kException;
    element.number = number;
    if (back != kNoAddress) {
      element.end = back;
      element.flags |= kElementReturnAddress;
    }
    add(element);
  }
  void other(ElementKind kind, std::uint8_t reason = 0) {
    Element element = context_;
    element.kind = kind;
    element.reason = reason;
    add(element);
  }
  void timestamp(std::uint64_t time) {
    Element element = context_;
    element.kind = ElementKind::kTimestamp;
    element.timestamp = time;
    element.flags |= kElementHasTimestamp;
    add(element);
  }
  void cycles(std::uint32_t count) {
    Element element = context_;
    element.kind = ElementKind::kCycleCount;
    element.cycle_count = count;
    element.flags |= kElementHasCycleCount;
    add(element);
  }
  void context(std::uint32_t id, unsigned el = 0) {
    context_.context_id = id;
    context_.exception_level = static_cast<std::uint8_t>(el);
    context_.flags = kElementContextIdValid | kElementElValid;
    other(ElementKind::kPeContext);
  }
  void add(const Element& element) { engine_->observe({&element, 1}); }

  Folded finish() {
    engine_->finish();
    for (const auto& [track, depth] : log_->depth) EXPECT_EQ(depth, 0);
    return folded(engine_->tree());
  }
  Engine& engine() { return *engine_; }
  [[nodiscard]] Quality quality() const { return engine_->quality(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::shared_ptr<const program::Program> program_;
  std::string text_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Engine> engine_;
  Element context_{};
};

TEST(StackEngine, calls_and_returns) {
  Bench bench({"main", "mid", "leaf"});
  bench.call(bench.at(0), 3);
  bench.call(bench.at(1), 2);
  bench.branch(bench.at(2), 1);
  bench.ret(bench.at(2, 4), 5);
  bench.ret(bench.at(1, 2), 1);
  bench.plain(bench.at(0, 3), 10);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 13}, {"main;mid", 3}, {"main;mid;leaf", 6}}));
  EXPECT_EQ(bench.quality().matches, 2U);
  EXPECT_EQ(bench.quality().calls, 2U);
  EXPECT_EQ(bench.quality().instructions, 22U);
  EXPECT_EQ(bench.text(), "track0=0 0:to0 0:?main 3:+mid 5:+leaf 11:- 12:- 22:- ");
}

TEST(StackEngine, recursion_closes_one_frame) {
  Bench bench({"main", "f"});
  bench.call(bench.at(0), 1);
  for (int i = 0; i < 3; ++i) bench.call(bench.at(1), 2);
  bench.ret(bench.at(1), 1);
  for (int i = 0; i < 3; ++i) bench.ret(bench.at(1, 2), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(
      bench.finish(),
      (Folded{
          {"main", 2}, {"main;f", 3}, {"main;f;f", 3}, {"main;f;f;f", 3}, {"main;f;f;f;f", 1}}));
  EXPECT_EQ(bench.quality().matches, 4U);
}

TEST(StackEngine, an_indirect_branch_to_the_return_address_is_a_return) {
  Bench bench({"main", "f"});
  bench.call(bench.at(0), 1);
  bench.indirect(bench.at(1), 2);
  bench.plain(bench.at(0, 1), 4);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 5}, {"main;f", 2}}));
  EXPECT_EQ(bench.quality().branch_returns, 1U);
}

TEST(StackEngine, tail_calls_are_kept) {
  Bench bench({"main", "f", "g", "h"});
  bench.call(bench.at(0), 1);
  bench.branch(bench.at(1), 2);
  bench.indirect(bench.at(2), 3);
  bench.ret(bench.at(3), 4);
  bench.plain(bench.at(0, 1), 5);
  EXPECT_EQ(bench.finish(),
            (Folded{{"main", 6}, {"main;f", 2}, {"main;f;g", 3}, {"main;f;g;h", 4}}));
  EXPECT_EQ(bench.quality().tail_calls, 2U);
  EXPECT_EQ(bench.quality().matches, 1U);
}

TEST(StackEngine, tail_calls_replace) {
  Bench bench({"main", "f", "g", "h"}, {.tail_calls = TailCalls::kReplace});
  bench.call(bench.at(0), 1);
  bench.branch(bench.at(1), 2);
  bench.indirect(bench.at(2), 3);
  bench.ret(bench.at(3), 4);
  bench.plain(bench.at(0, 1), 5);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 6}, {"main;f", 2}, {"main;g", 3}, {"main;h", 4}}));
}

std::uint64_t calls_of(const Tree& tree, std::string_view name) {
  std::uint64_t calls = 0;
  for (NodeId id = 1; id < tree.nodes().size(); ++id)
    if (name_of(tree.code(tree.node(id).code)) == name) calls += tree.node(id).calls;
  return calls;
}

TEST(StackEngine, tail_calls_that_replace_count_as_those_that_are_kept) {
  for (const TailCalls how : {TailCalls::kKeep, TailCalls::kReplace}) {
    Bench bench({"main", "f", "g"}, {.tail_calls = how});
    for (unsigned i = 0; i < 3; ++i) {
      bench.call(bench.at(0, i), 1);
      bench.branch(bench.at(1), 2);
      bench.ret(bench.at(2), 1);
    }
    bench.plain(bench.at(0, 3), 1);
    bench.finish();
    EXPECT_EQ(calls_of(bench.engine().tree(), "f"), 3U);
    EXPECT_EQ(calls_of(bench.engine().tree(), "g"), 3U);
    EXPECT_EQ(bench.quality().tail_calls, 3U);
  }
}

TEST(StackEngine, code_that_falls_through_or_jumps_into_a_function_calls_nothing) {
  Bench bench({"main", "f", "g"});
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(1, 63), 1);
  bench.plain(bench.at(2), 1);
  bench.branch(bench.at(2, 1), 1);
  bench.ret(bench.at(1, 5), 1);
  bench.plain(bench.at(0, 1), 1);
  bench.finish();
  EXPECT_EQ(calls_of(bench.engine().tree(), "f"), 1U);
  EXPECT_EQ(calls_of(bench.engine().tree(), "g"), 0U);
  EXPECT_EQ(bench.quality().tail_calls, 0U);
}

TEST(StackEngine, a_range_that_goes_on_into_the_next_function_is_divided) {
  Bench bench({"main", "f", "g", "h", "", "i"});
  bench.call(bench.at(0), 1);
  // Six instructions of f, all of g, one of h, which calls main.
  bench.call(bench.at(1, 58), 6 + 64 + 1);
  bench.ret(bench.at(0), 2);
  // The rest of h, all of the code without a name, and two instructions of i.
  bench.ret(bench.at(3, 1), 63 + 64 + 2);
  bench.plain(bench.at(0, 1), 5);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 6},
                                    {"main;f", 6},
                                    {"main;g", 64},
                                    {"main;h", 64},
                                    {"main;h;main", 2},
                                    {"main;[unknown in test]", 64},
                                    {"main;i", 2}}));
  EXPECT_EQ(bench.quality().matches, 2U);
  EXPECT_EQ(bench.quality().tail_calls, 0U);
  for (const std::string_view name : {"g", "h", "i"})
    EXPECT_EQ(calls_of(bench.engine().tree(), name), 0U);
}

TEST(StackEngine, code_without_a_name_is_divided_from_the_function_after_it) {
  Bench bench({"", "f"});
  bench.plain(bench.at(0, 60), 7);
  bench.plain(bench.at(1, 3), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"[unknown in test]", 4}, {"f", 4}}));
}

TEST(StackEngine, thumb_code_is_read_to_divide_it) {
  for (const bool readable : {true, false}) {
    Options options;
    options.halfword = [readable](const Element&, std::uint64_t address) {
      return readable ? std::optional<std::uint16_t>(address % 8 == 4 ? 0xF000 : 0xB500)
                      : std::nullopt;
    };
    Bench bench({"f", "g"}, options);
    Element element;
    element.kind = ElementKind::kInstrRange;
    element.isa = isa::Isa::kT32;
    // At +f8: 2, 2, 4; at +100: 2, 2, 4.
    element.start = bench.at(1) - 8;
    element.end = bench.at(1) + 8;
    element.count = 6;
    element.last_size = 4;
    bench.add(element);
    EXPECT_EQ(bench.finish(), readable ? (Folded{{"f", 3}, {"g", 3}}) : (Folded{{"f", 6}}));
  }
}

/// Direct branches go to the start of the next function.
Options with_targets() {
  return {.direct_target = [](const Element& range) {
    return (range.end - 4) / 0x100 * 0x100 + 0x100;
  }};
}

TEST(StackEngine, a_direct_call_before_a_gap_or_the_end_counts) {
  Bench bench({"main", "f"}, with_targets());
  bench.call(bench.at(0), 2);
  bench.other(ElementKind::kTraceOn);
  bench.ret(bench.at(1), 3);
  bench.call(bench.at(0, 2), 1);
  bench.other(ElementKind::kTraceOn);
  bench.call(bench.at(0, 3), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 4}, {"main;f", 3}}));
  EXPECT_EQ(calls_of(bench.engine().tree(), "f"), 3U);
  EXPECT_EQ(bench.quality().matches, 1U);
}

TEST(StackEngine, a_direct_call_before_an_exception_counts_wherever_the_handler_returns) {
  for (const bool goes_on : {true, false}) {
    Bench bench({"main", "f", "handler", "other"}, with_targets());
    bench.call(bench.at(0), 2);
    bench.exception(5, kNoAddress);
    bench.eret(bench.at(2), 4);
    bench.plain(goes_on ? bench.at(1) : bench.at(3), 8);
    const Folded stacks = bench.finish();
    EXPECT_EQ(calls_of(bench.engine().tree(), "f"), 1U);
    EXPECT_EQ(calls_of(bench.engine().tree(), "other"), 0U);
    EXPECT_EQ(stacks.count("main;f"), goes_on ? 1U : 0U);
  }
}

/// Ranges of two sources in one batch, each of which ends with a call before a gap.
TEST(StackEngine, a_direct_call_before_a_gap_counts_beside_other_sources) {
  Options options = with_targets();
  const auto program = program::Program::of({{0x1000, 0x10ff, "main"}, {0x1100, 0x11ff, "f"}});
  options.places = [program](const Element&, std::uint64_t address) {
    return program::Place{program.get(), address};
  };
  Engine engine(std::move(options));
  std::vector<Element> elements;
  const auto add = [&](TraceId id, ElementKind kind, std::uint64_t start) {
    Element& element = elements.emplace_back();
    element.kind = kind;
    element.trace_id = id;
    element.start = start;
    element.end = start + 4;
    element.count = 1;
    element.last_size = 4;
    element.last_type = InstrType::kBranch;
    element.last_subtype = InstrSubtype::kBranchLink;
    element.flags = kElementExecuted;
  };
  // The second range of each source is one that only passes, as in long runs.
  for (const std::uint64_t start : {0x1000U, 0x1010U})
    for (const TraceId id : {TraceId{1}, TraceId{2}}) add(id, ElementKind::kInstrRange, start);
  for (Element& element : std::span(elements).first(2)) {
    element.last_type = InstrType::kOther;
    element.last_subtype = InstrSubtype::kNone;
  }
  for (const TraceId id : {TraceId{1}, TraceId{2}}) add(id, ElementKind::kTraceOn, 0);
  engine.observe(elements);
  engine.finish();
  EXPECT_EQ(calls_of(engine.tree(), "f"), 2U);
}

TEST(StackEngine, a_thread_may_end_where_no_element_shows_it) {
  Options options;
  options.owner = [](const Element& element) -> Owner {
    return {.thread = element.index < 3 || element.index >= 6 ? 1U : 2U,
            .until = element.index < 3   ? 3
                     : element.index < 6 ? 6
                                         : kNoIndex};
  };
  Bench bench({"main", "f", "other", "g"}, options);
  const auto range = [&](TraceIndex index, std::uint64_t start, std::uint32_t count, bool call) {
    Element element;
    element.kind = ElementKind::kInstrRange;
    element.index = index;
    element.isa = isa::Isa::kA64;
    element.start = start;
    element.end = start + 4 * std::uint64_t{count};
    element.count = count;
    element.last_size = 4;
    if (call) {
      element.last_type = InstrType::kBranch;
      element.last_subtype = InstrSubtype::kBranchLink;
      element.flags = kElementExecuted;
    }
    return element;
  };
  const std::vector<Element> elements{
      range(0, bench.at(0), 2, true),     range(1, bench.at(1), 1, false),
      range(2, bench.at(1, 1), 4, false), range(3, bench.at(2), 1, true),
      range(4, bench.at(3), 8, false),    range(6, bench.at(1, 5), 16, false)};
  bench.engine().observe(elements);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}, {"main;f", 21}, {"other", 1}, {"other;g", 8}}));
  EXPECT_EQ(bench.quality().switches, 2U);
}

TEST(StackEngine, frames_of_a_thread_are_open_only_while_it_runs) {
  Bench bench({"main", "f", "other"}, with_targets());
  bench.context(1);
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(1), 1);
  bench.context(2);
  bench.plain(bench.at(2), 5);
  bench.context(1);
  bench.ret(bench.at(1, 1), 1);
  bench.plain(bench.at(0, 1), 1);
  bench.context(2);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}, {"main;f", 2}, {"other", 5}}));
  EXPECT_EQ(
      bench.text(),
      "track0=1 0:to0 0:?main 1:+f 2:- 2:- track1=2 2:to1 2:?other 7:- 7:to0 7:=main 7:=f 8:- "
      "9:- 9:to1 ");
}

TEST(StackEngine, trees_begin_with_what_owns_the_frames) {
  Options options = with_targets();
  options.root_name = [](const Owner& owner) {
    return owner.thread == 3 ? "" : fmt::format("p{}", owner.thread);
  };
  Bench bench({"main", "f"}, std::move(options));
  for (const std::uint32_t id : {1U, 2U, 3U}) {
    bench.context(id);
    bench.call(bench.at(0), id);
    bench.ret(bench.at(1), 1);
    bench.plain(bench.at(0, id), 1);
  }
  EXPECT_EQ(bench.finish(), (Folded{{"p1;main", 2},
                                    {"p1;main;f", 1},
                                    {"p2;main", 3},
                                    {"p2;main;f", 1},
                                    {"main", 4},
                                    {"main;f", 1}}));
}

TEST(StackEngine, tail_calls_in_a_circle_do_not_grow) {
  Bench bench({"main", "f", "g"});
  bench.call(bench.at(0), 1);
  for (int i = 0; i < 100; ++i) {
    bench.branch(bench.at(1), 1);
    bench.branch(bench.at(2), 1);
  }
  bench.ret(bench.at(1), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}, {"main;f", 101}, {"main;f;g", 100}}));
  EXPECT_EQ(bench.quality().matches, 1U);
}

TEST(StackEngine, a_chain_of_tail_calls_is_bounded) {
  std::vector<std::string> names{"main"};
  for (int i = 0; i < 100; ++i) names.push_back(fmt::format("f{}", i));
  Bench bench(names);
  bench.call(bench.at(0), 1);
  for (unsigned i = 1; i <= 100; ++i) bench.branch(bench.at(i), 1);
  bench.ret(bench.at(100, 1), 1);
  bench.plain(bench.at(0, 1), 1);
  const Folded lines = bench.finish();
  EXPECT_EQ(lines.at("main"), 2U);
  for (const auto& [path, count] : lines) EXPECT_LT(std::ranges::count(path, ';'), 40) << path;
}

TEST(StackEngine, parts_of_a_function_have_its_frame) {
  Bench bench({"main", "f", "f.cold", "g"});
  bench.call(bench.at(0), 1);
  bench.branch(bench.at(1), 2);
  bench.call(bench.at(2), 3);
  bench.ret(bench.at(3), 1);
  bench.branch(bench.at(2, 3), 1);
  bench.ret(bench.at(1, 8), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}, {"main;f", 7}, {"main;f;g", 1}}));
  EXPECT_EQ(bench.quality().tail_calls, 0U);
}

TEST(StackEngine, a_single_copy_of_a_missing_function_keeps_its_name) {
  Bench bench({"main", "f.constprop.0", "g.isra.0", "g.part.1"});
  bench.call(bench.at(0), 1);
  bench.ret(bench.at(1), 2);
  bench.call(bench.at(0, 1), 1);
  bench.branch(bench.at(2), 3);
  bench.ret(bench.at(3), 4);
  bench.plain(bench.at(0, 2), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 3}, {"main;f.constprop.0", 2}, {"main;g", 7}}));
  EXPECT_EQ(bench.quality().tail_calls, 0U);
}

TEST(StackEngine, veneers_and_entries_of_a_plt_have_no_frame) {
  Bench bench({"main", "f@plt", "f", "__g_veneer", "g"});
  bench.call(bench.at(0), 1);
  bench.indirect(bench.at(1), 4);
  bench.call(bench.at(2), 2);
  bench.branch(bench.at(3), 1);
  bench.ret(bench.at(4), 5);
  bench.branch(bench.at(2, 2), 1);
  bench.branch(bench.at(3), 1);
  bench.ret(bench.at(4), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 6}, {"main;f", 5}, {"main;f;g", 6}}));
  EXPECT_EQ(bench.quality().matches, 2U);
}

TEST(StackEngine, longjmp_closes_frames_down_to_the_function) {
  Bench bench({"main", "f", "g", "longjmp"});
  bench.call(bench.at(0), 1);
  bench.call(bench.at(1), 1);
  bench.call(bench.at(2), 1);
  bench.indirect(bench.at(3), 1);
  bench.ret(bench.at(0, 9), 1);
  EXPECT_EQ(bench.finish().at("main"), 2U);
  EXPECT_EQ(bench.quality().unwinds, 1U);
}

TEST(StackEngine, a_return_to_a_deeper_caller_closes_all_above) {
  Bench bench({"main", "f", "g"});
  bench.call(bench.at(0), 1);
  bench.call(bench.at(1), 1);
  bench.ret(bench.at(2), 1);
  bench.plain(bench.at(0, 1), 7);
  EXPECT_EQ(bench.finish().at("main"), 8U);
  EXPECT_EQ(bench.quality().deeper, 1U);
}

TEST(StackEngine, a_return_from_where_the_trace_began) {
  Bench bench({"main", "f"});
  bench.ret(bench.at(1, 3), 2);
  bench.plain(bench.at(0, 1), 7);
  EXPECT_EQ(bench.finish(), (Folded{{"f", 2}, {"main", 7}}));
  EXPECT_EQ(bench.quality().empty, 1U);
}

TEST(StackEngine, a_return_to_an_unknown_call_begins_again) {
  Bench bench({"main", "f", "g"});
  bench.call(bench.at(0), 1);
  bench.ret(bench.at(1), 2);
  bench.plain(bench.at(2, 5), 7);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 1}, {"main;f", 2}, {"g", 7}}));
  EXPECT_EQ(bench.quality().resyncs, 1U);
  EXPECT_TRUE(bench.engine().lacks_contexts());
}

TEST(StackEngine, a_return_instruction_that_is_a_jump) {
  Options options;
  options.follows_call = [](const Element&, std::uint64_t) { return false; };
  Bench bench({"main", "f", "g"}, std::move(options));
  bench.call(bench.at(0), 1);
  bench.ret(bench.at(1), 2);
  bench.ret(bench.at(2, 5), 7);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}, {"main;f", 2}, {"main;g", 7}}));
  EXPECT_EQ(bench.quality().mismatch, 1U);
  EXPECT_EQ(bench.quality().matches, 1U);
}

TEST(StackEngine, exceptions_are_barriers) {
  Bench bench({"main", "f", "vector", "handler"});
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(1), 2);
  bench.exception(14, bench.at(1, 2));
  bench.call(bench.at(2), 1);
  bench.ret(bench.at(3), 5);
  bench.eret(bench.at(2, 1), 1);
  bench.ret(bench.at(1, 2), 3);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2},
                                    {"main;f", 5},
                                    {"main;f;[exception 14];vector", 2},
                                    {"main;f;[exception 14];vector;handler", 5}}));
  EXPECT_EQ(bench.quality().matches, 2U);
  EXPECT_EQ(bench.quality().exception_returns, 1U);
  EXPECT_EQ(bench.quality().lost_returns, 0U);
}

TEST(StackEngine, exceptions_apart_from_what_they_interrupt) {
  Options options;
  options.exceptions_apart = true;
  options.exception_name = [](TraceId, std::uint32_t) { return std::string("IRQ"); };
  Bench bench({"main", "vector"}, std::move(options));
  bench.plain(bench.at(0), 2);
  bench.exception(14, bench.at(0, 2));
  bench.eret(bench.at(1), 3);
  bench.plain(bench.at(0, 2), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 3}, {"[IRQ];vector", 3}}));
}

TEST(StackEngine, an_exception_at_the_target_of_a_call) {
  Bench bench({"main", "f", "vector"});
  bench.call(bench.at(0), 1);
  bench.exception(14, bench.at(1));
  bench.eret(bench.at(2), 1);
  bench.ret(bench.at(1), 2);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(),
            (Folded{{"main", 2}, {"main;f", 2}, {"main;f;[exception 14];vector", 1}}));
}

TEST(StackEngine, an_exception_without_a_return_address_keeps_the_branch) {
  Bench bench({"main", "f", "vector"});
  bench.call(bench.at(0), 1);
  bench.other(ElementKind::kException);
  bench.eret(bench.at(2), 1);
  bench.ret(bench.at(1), 2);
  bench.plain(bench.at(0, 1), 1);
  const Folded lines = bench.finish();
  EXPECT_EQ(lines.at("main"), 2U);
  EXPECT_EQ(lines.at("main;f"), 2U);
}

TEST(StackEngine, a_tail_chained_handler_replaces_the_last) {
  Bench bench({"main", "first", "second"});
  bench.engine().set_source(0, {.profile = isa::Profile::kM});
  bench.plain(bench.at(0), 2);
  bench.exception(16, bench.at(0, 2));
  bench.ret(bench.at(1), 1);
  bench.exception(17, 0xFFFFFFF9);
  bench.ret(bench.at(2), 1);
  bench.plain(bench.at(0, 2), 5);
  EXPECT_EQ(
      bench.finish(),
      (Folded{{"main", 7}, {"main;[exception 16];first", 1}, {"main;[exception 17];second", 1}}));
}

TEST(StackEngine, a_signal_and_the_return_from_it) {
  Bench bench({"main", "vector", "on_signal", "__kernel_rt_sigreturn"});
  bench.context(7);
  bench.plain(bench.at(0), 2);
  bench.exception(14, bench.at(0, 2));
  bench.eret(bench.at(1), 3);
  bench.ret(bench.at(2), 4);
  bench.plain(bench.at(3), 2);
  bench.exception(2, bench.at(3, 2));
  bench.eret(bench.at(1), 3);
  bench.plain(bench.at(0, 2), 1);
  const Folded lines = bench.finish();
  EXPECT_EQ(lines.at("main"), 3U);
  EXPECT_EQ(lines.at("main;[signal];on_signal"), 4U);
  EXPECT_EQ(bench.quality().lost_returns, 0U);
}

TEST(StackEngine, threads_have_their_own_stacks) {
  Bench bench({"main", "f", "g"});
  bench.context(1);
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(1), 2);
  bench.context(2);
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(2), 3);
  bench.context(1);
  bench.ret(bench.at(1, 2), 1);
  bench.plain(bench.at(0, 1), 1);
  bench.context(2);
  bench.ret(bench.at(2, 3), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 4}, {"main;f", 3}, {"main;g", 4}}));
  EXPECT_EQ(bench.quality().matches, 2U);
  EXPECT_EQ(bench.quality().gaps, 0U);
}

TEST(StackEngine, a_kernel_switches_threads_in_cpu_switch_to) {
  Bench bench({"user_a", "vector", "schedule", "cpu_switch_to", "user_b"});
  const auto interrupt = [&](unsigned user) {
    bench.plain(bench.at(user), 1);
    bench.exception(14, bench.at(user, 1));
    bench.call(bench.at(1), 1);
  };
  const auto back = [&](unsigned user) {
    bench.ret(bench.at(2, 2), 1);
    bench.eret(bench.at(1, 1), 1);
    bench.plain(bench.at(user, 1), 1);
  };
  bench.context(1);
  interrupt(0);
  // From 1 to 2, which has no stack yet.
  bench.plain(bench.at(2), 1);
  bench.context(2, 1);
  bench.call(bench.at(2, 1), 1);
  bench.ret(bench.at(3), 10);
  back(4);
  bench.exception(14, bench.at(4, 2));
  bench.call(bench.at(1), 1);
  bench.plain(bench.at(2), 1);
  bench.context(1, 1);
  bench.call(bench.at(2, 1), 1);
  bench.ret(bench.at(3), 20);
  back(0);
  const Folded lines = bench.finish();
  EXPECT_EQ(lines.at("user_a"), 2U);
  EXPECT_EQ(lines.at("user_a;[exception 14];vector;schedule;cpu_switch_to"), 10U);
  EXPECT_EQ(lines.at("user_a;[exception 14];vector;schedule"), 3U);
  EXPECT_EQ(bench.quality().switches, 2U);
  EXPECT_EQ(bench.quality().mismatch, 0U);
}

TEST(StackEngine, trace_that_goes_on_has_no_gap) {
  Bench bench({"main", "f"});
  bench.call(bench.at(0), 1);
  bench.other(ElementKind::kTraceOn);
  bench.call(bench.at(0, 1), 1);
  bench.plain(bench.at(1), 1);
  bench.exception(2, bench.at(1, 1));
  bench.other(ElementKind::kTraceOn);
  bench.ret(bench.at(1, 1), 1);
  bench.plain(bench.at(0, 2), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 3}, {"main;f", 2}}));
  EXPECT_EQ(bench.quality().gaps, 0U);
  EXPECT_EQ(bench.quality().matches, 1U);
}

TEST(StackEngine, after_a_gap_the_same_function_goes_on) {
  Bench bench({"main", "f"});
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(1), 1);
  bench.other(ElementKind::kTraceOn, 1);
  bench.timestamp(50);
  bench.ret(bench.at(1, 9), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}, {"main;f", 2}}));
  EXPECT_EQ(bench.quality().confirmed, 1U);
  EXPECT_EQ(bench.text(),
            "track0=0 0:to0 0:?main 1:+f 2:!g 2:- 2:- 2:gap 2:=main 2:=f 2:t50 3:- 4:- ");
}

TEST(StackEngine, after_a_gap_a_return_confirms_the_caller) {
  Bench bench({"main", "f", "g"});
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(1), 1);
  bench.other(ElementKind::kNoSync, 3);
  bench.ret(bench.at(2, 3), 2);
  bench.plain(bench.at(0, 1), 5);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 6}, {"main;f", 1}, {"g", 2}}));
  EXPECT_EQ(bench.quality().confirmed, 1U);
}

TEST(StackEngine, after_a_gap_another_return_closes_the_suspects) {
  Bench bench({"main", "f", "g", "h"});
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(1), 1);
  bench.other(ElementKind::kNoSync, 3);
  bench.ret(bench.at(2, 3), 2);
  bench.plain(bench.at(3, 1), 5);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 1}, {"main;f", 1}, {"g", 2}, {"h", 5}}));
  EXPECT_EQ(bench.quality().empty, 1U);
  EXPECT_EQ(bench.quality().confirmed, 0U);
}

TEST(StackEngine, missing_code_that_returns_leaves_the_stack) {
  Bench bench({"main", "f"});
  bench.call(bench.at(0), 1);
  bench.call(bench.at(1), 1);
  bench.other(ElementKind::kAddrNacc);
  bench.ret(bench.at(1, 1), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}, {"main;f", 2}}));
  EXPECT_EQ(bench.quality().missing_code, 1U);
  EXPECT_EQ(bench.quality().gaps, 0U);
}

TEST(StackEngine, after_missing_code_callers_are_not_made_up) {
  Bench bench({"main", "f", "g"});
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(1), 1);
  bench.other(ElementKind::kAddrNacc);
  bench.plain(bench.at(2, 1), 4);
  EXPECT_EQ(bench.finish(),
            (Folded{{"main", 1}, {"main;f", 1}, {"[callers not known: code is missing];g", 4}}));
}

TEST(StackEngine, deep_recursion_is_bounded) {
  Options options;
  options.most_frames = 1000;
  options.most_nodes = 500;
  Bench bench({"main", "f"}, std::move(options));
  constexpr int kDepth = 5000;
  bench.call(bench.at(0), 1);
  for (int i = 0; i < kDepth; ++i) bench.call(bench.at(1), 1);
  bench.ret(bench.at(1, 1), 1);
  for (int i = 0; i < kDepth; ++i) bench.ret(bench.at(1, 1), 1);
  bench.plain(bench.at(0, 1), 1);
  Folded lines = bench.finish();
  EXPECT_EQ(lines.at("main"), 2U);
  EXPECT_EQ(bench.engine().tree().whole().instructions, 2U * kDepth + 3U);
  EXPECT_GT(bench.quality().folded, 3999U);
  EXPECT_LE(bench.engine().tree().nodes().size(), 500U);
  EXPECT_GT(bench.engine().tree().folded_calls(), 0U);
}

TEST(StackEngine, code_without_names_has_the_address_of_its_call) {
  Bench bench({"main", "", ""});
  bench.call(bench.at(0), 1);
  bench.branch(bench.at(1), 1);
  bench.call(bench.at(1, 5), 2);
  bench.ret(bench.at(2), 3);
  bench.ret(bench.at(1, 7), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}, {"main;0x1100", 4}, {"main;0x1100;0x1200", 3}}));
  EXPECT_EQ(bench.quality().unnamed, 7U);
}

TEST(StackEngine, without_any_names) {
  Engine engine({});
  const auto add = [&](std::uint64_t start, InstrSubtype subtype) {
    Element element;
    element.kind = ElementKind::kInstrRange;
    element.start = start;
    element.end = start + 8;
    element.count = 2;
    element.flags = kElementExecuted;
    element.last_size = 4;
    element.last_type = InstrType::kIndirectBranch;
    element.last_subtype = subtype;
    engine.observe({&element, 1});
  };
  add(0x100, InstrSubtype::kBranchLink);
  add(0x200, InstrSubtype::kNone);
  add(0x300, InstrSubtype::kV8Return);
  add(0x108, InstrSubtype::kNone);
  engine.finish();
  EXPECT_EQ(folded(engine.tree()), (Folded{{"[unknown]", 4}, {"[unknown];0x200", 4}}));
}

TEST(StackEngine, cycles_go_to_the_instructions_before_them) {
  Bench bench({"main", "f"});
  bench.call(bench.at(0), 1);
  bench.ret(bench.at(1), 3);
  bench.plain(bench.at(0, 1), 1);
  bench.cycles(50);
  bench.plain(bench.at(0, 2), 1);
  bench.cycles(7);
  bench.finish();
  const Tree& tree = bench.engine().tree();
  EXPECT_EQ(tree.whole().cycles, 57U);
  for (const Node& node : tree.nodes()) {
    const std::string name = name_of(tree.code(node.code));
    if (name == "main" || name == "f") {
      EXPECT_EQ(node.cycles, name == "main" ? 10U + 10U + 7U : 30U);
    }
  }
}

TEST(StackEngine, a_call_to_the_next_instruction_opens_nothing) {
  Bench bench({"main"});
  bench.call(bench.at(0), 1);
  bench.plain(bench.at(0, 1), 1);
  EXPECT_EQ(bench.finish(), (Folded{{"main", 2}}));
  EXPECT_EQ(bench.quality().calls, 0U);
}

TEST(StackEngine, ranges_and_sites_for_source_lines) {
  Options options;
  options.sites = options.ranges = true;
  Bench bench({"main", "f"}, std::move(options));
  for (unsigned i = 0; i < 2; ++i) {
    bench.call(bench.at(0, i), 1);
    bench.ret(bench.at(1), 3);
  }
  bench.plain(bench.at(0, 2), 1);
  bench.finish();
  const Tree& tree = bench.engine().tree();
  EXPECT_EQ(tree.nodes().size(), 4U);
  std::uint64_t sum = 0;
  for (const auto& [key, range] : tree.ranges()) sum += range.times * range.count;
  EXPECT_EQ(sum, tree.whole().instructions);
  EXPECT_EQ(tree.node(2).site, bench.at(0));
  EXPECT_EQ(tree.node(3).site, bench.at(0, 1));
}

}  // namespace
}  // namespace waymark::stacks
