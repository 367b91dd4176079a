// Captures of cores of the M profile: decoding gives what was executed, and the exceptions are
// those of the profile.
#include "waymark/synth/m_profile.h"

#include <gmock/gmock.h>

#include <set>

#include "support/seed_count.h"
#include "truth_bench.h"
#include "waymark/element/exception_names.h"

namespace waymark::synth {
namespace {

using testing::HasSubstr;

constexpr std::string_view kCores[] = {"Cortex-M3",  "Cortex-M4",  "Cortex-M7",
                                       "Cortex-M33", "Cortex-M55", "Cortex-M85"};

class MProfileTruth : public testing::TestWithParam<std::string_view> {};

TEST_P(MProfileTruth, decoding_gives_what_happened) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(100); ++seed) {
    TruthBench bench;
    auto drawn = Workload::random({.seed = seed, .m_core = std::string(GetParam())});
    ASSERT_TRUE(drawn) << drawn.error().detail;
    static_cast<Workload&>(bench) = *std::move(drawn);
    ASSERT_EQ(bench.check(), "") << "seed " << seed;
    EXPECT_GT(bench.instructions, 0U) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MProfileTruth, testing::ValuesIn(kCores), [](const auto& core) {
  return std::string(core.param.substr(core.param.find('-') + 1));
});

Workload workload_of(std::string_view core, std::uint64_t exceptions) {
  auto drawn = Workload::random({.seed = 5, .size = 60'000, .m_core = std::string(core)});
  EXPECT_TRUE(drawn);
  drawn->execution.exception_mean = exceptions;
  drawn->execution.secure = false;
  return *std::move(drawn);
}

struct Seen {
  std::set<std::string> exceptions;
  std::set<unsigned> levels;
  bool secure = false;
  bool non_secure = false;
  unsigned tail_chains = 0;
  unsigned returns = 0;
};

Seen decode(const Workload& workload) {
  auto made = make_in_memory(workload);
  EXPECT_TRUE(made) << made.error().detail;
  DecodeTree tree(made->maker.frame_options());
  for (auto& source : made->sources()) EXPECT_TRUE(tree.add(std::move(source)));
  const auto numbers = workload.units.front().protocol == Protocol::kEtmV3
                           ? ExceptionNumbers::kEtmV3M
                           : ExceptionNumbers::kEtmV4M;
  Seen seen;
  std::vector<Element> elements(256);
  const auto drain = [&] {
    while (const std::size_t count = tree.next(elements))
      for (const Element& element : std::span(elements).first(count)) {
        if (element.kind == ElementKind::kException) {
          seen.exceptions.insert(exception_name(numbers, element.number));
          if ((element.flags & kElementTailChain) != 0) ++seen.tail_chains;
        }
        if (element.kind == ElementKind::kExceptionReturn) ++seen.returns;
        if (element.kind != ElementKind::kInstrRange) continue;
        EXPECT_EQ(element.isa, isa::Isa::kT32);
        if ((element.flags & kElementElValid) != 0) seen.levels.insert(element.exception_level);
        (element.security == Security::kSecure ? seen.secure : seen.non_secure) = true;
      }
  };
  EXPECT_TRUE(tree.feed(0, made->bytes));
  drain();
  tree.finish();
  drain();
  return seen;
}

TEST(MProfile, all_its_exceptions_are_traced) {
  for (const std::string_view core : kCores) {
    const Seen seen = decode(workload_of(core, 30));
    for (const std::string_view name :
         {"Reset", "NMI", "HardFault", "MemManage", "BusFault", "UsageFault", "DebugMonitor",
          "PendSV", "SysTick", "IRQ0", "IRQ1", "IRQ7", "IRQ8", "IRQ40", "IRQ239"})
      EXPECT_TRUE(seen.exceptions.contains(std::string(name))) << core << ' ' << name;
    const bool v8 = m_core(core)->code >= MCode::kV8;
    EXPECT_EQ(seen.exceptions.contains("SecureFault"), v8) << core;
    EXPECT_FALSE(seen.exceptions.contains("")) << core;
    EXPECT_GT(seen.returns, 100U) << core;
  }
}

TEST(MProfile, an_etmv4_states_modes_and_tail_chains) {
  for (const std::string_view core : {"Cortex-M7", "Cortex-M33", "Cortex-M85"}) {
    const Seen seen = decode(workload_of(core, 30));
    EXPECT_EQ(seen.levels, (std::set<unsigned>{0, 3})) << core;
    EXPECT_GT(seen.tail_chains, 10U) << core;
  }
}

TEST(MProfile, the_security_state_changes_with_the_extension) {
  const Seen without = decode(workload_of("Cortex-M7", 30));
  EXPECT_TRUE(without.secure);
  EXPECT_FALSE(without.non_secure);
  const Seen with = decode(workload_of("Cortex-M33", 30));
  EXPECT_TRUE(with.secure);
  EXPECT_TRUE(with.non_secure);
}

constexpr std::string_view kGraph = R"(isa T32
at 0x20000
function main
  work 3
  supervisor_call
  work 2
end
handler SVCall
  call helper
  work 1
end
handler IRQ12
  work 1
end
function helper
  work 2
end
)";

TEST(MProfile, a_supervisor_call_takes_its_exception) {
  auto program = Program::described(kGraph, Program::kMaxCode, MCode::kV7);
  ASSERT_TRUE(program) << program.error().detail;
  EXPECT_TRUE(program->vector_table().has_value());
  EXPECT_TRUE(program->handler_of_vector(11).has_value());
  EXPECT_TRUE(program->handler_of_vector(28).has_value());
  EXPECT_FALSE(program->handler_of_vector(15).has_value());
  for (const std::string_view core : {"Cortex-M4", "Cortex-M7"}) {
    Workload workload = workload_of(core, 0);
    workload.program = *program;
    workload.units.front().overflow_mean = 0;
    EXPECT_EQ(decode(workload).exceptions, std::set<std::string>{"SVCall"});
    TruthBench bench;
    static_cast<Workload&>(bench) = std::move(workload);
    EXPECT_EQ(bench.check(), "");
  }
}

TEST(MProfile, handlers_have_the_names_of_exceptions) {
  const auto refusal = [](const std::string& text, MCode code) {
    const auto made = Program::described(text, Program::kMaxCode, code);
    return made ? std::string() : made.error().detail;
  };
  const std::string main = "isa T32\nfunction main\nwork 1\nend\n";
  EXPECT_EQ(refusal(main + "handler SysTick\nend\n", MCode::kV7), "");
  EXPECT_THAT(refusal(main + "handler irq\nend\n", MCode::kV7), HasSubstr("IRQ0 to IRQ239"));
  EXPECT_THAT(refusal(main + "handler Reset\nend\n", MCode::kV7), HasSubstr("Reset"));
  EXPECT_THAT(refusal(main + "handler IRQ240\nend\n", MCode::kV7), HasSubstr("IRQ240"));
  EXPECT_THAT(refusal(main + "handler SecureFault\nend\n", MCode::kV7), HasSubstr("SecureFault"));
  EXPECT_EQ(refusal(main + "handler SecureFault\nend\n", MCode::kV8), "");
  EXPECT_THAT(refusal("function main\nwork 1\nend\n", MCode::kV8), HasSubstr("isa T32"));
  EXPECT_THAT(refusal("function main\nsupervisor_call\nend\n", MCode::kNone),
              HasSubstr("supervisor calls"));
}

TEST(MProfile, a_core_is_refused_what_it_does_not_have) {
  const auto program = [](MCode code) {
    return *Program::random({.seed = 1, .isa = isa::Isa::kT32, .functions = 3, .m_code = code});
  };
  const Program v7 = program(MCode::kV7);
  const Program v8_1 = program(MCode::kV8_1);
  const auto refusal = [](UnitOptions options, const Program& of, ExecutionOptions runs = {}) {
    const auto made = make_unit(options, &of, runs, false);
    return made ? std::string() : made.error().detail;
  };
  UnitOptions m4{.protocol = Protocol::kEtmV3, .core = "Cortex-M4"};
  UnitOptions m55{.protocol = Protocol::kEtmV4, .core = "Cortex-M55"};
  EXPECT_EQ(refusal(m4, v7), "");
  EXPECT_EQ(refusal(m55, v7), "");
  EXPECT_EQ(refusal(m55, v8_1), "");
  EXPECT_THAT(refusal(m4, v8_1), HasSubstr("does not have"));
  EXPECT_THAT(refusal(m4, program(MCode::kAny)), HasSubstr("no vectors"));
  EXPECT_THAT(refusal(m4, v7, {.context_ids = 2}), HasSubstr("no context IDs"));
  m4.protocol = Protocol::kEtmV4;
  EXPECT_THAT(refusal(m4, v7), HasSubstr("--protocol etmv3"));
  m55.q_mean = 100;
  EXPECT_THAT(refusal(m55, v8_1), HasSubstr("no Q elements"));
  EXPECT_THAT(refusal({.core = "Cortex-M0"}, v7), HasSubstr("has no ETM"));
  EXPECT_THAT(refusal({.core = "Cortex-A53"}, v7), HasSubstr("not a core of"));
  const Program a64 = *Program::random({.seed = 1, .functions = 3});
  EXPECT_THAT(refusal({.core = "Cortex-M33"}, a64), HasSubstr("only executes T32"));
  EXPECT_FALSE(Workload::random({.m_core = "Cortex-M0"}));
}

}  // namespace
}  // namespace waymark::synth
