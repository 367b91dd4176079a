// Complete captures: several sources, sizes, determinism, damage, and refused options.
#include "waymark/synth/capture.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "support/seed_count.h"
#include "truth_bench.h"

namespace waymark::synth {
namespace {

using testing::HasSubstr;

Program small_program(isa::Isa isa = isa::Isa::kA32) {
  auto program = Program::random({.seed = 7, .isa = isa, .functions = 6});
  EXPECT_TRUE(program);
  return program ? *std::move(program) : Program();
}

UnitOptions unit_of(Protocol protocol, TraceId id) {
  UnitOptions unit;
  unit.protocol = protocol;
  unit.trace_id = id;
  unit.seed = id;
  return unit;
}

TruthBench everything() {
  TruthBench b;
  b.program = small_program();
  b.units = {unit_of(Protocol::kEtmV4, 1), unit_of(Protocol::kEte, 2), unit_of(Protocol::kPtm, 3),
             unit_of(Protocol::kEtmV3, 4), unit_of(Protocol::kStm, 5), unit_of(Protocol::kItm, 6)};
  b.execution.exception_mean = 100;
  b.capture.size = 50'000;
  return b;
}

std::vector<std::uint8_t> all_of(const TruthBench& b) {
  auto maker = b.make(false);
  EXPECT_TRUE(maker);
  std::vector<std::uint8_t> all;
  while (true) {
    const Bytes block = maker->next();
    if (block.empty()) return all;
    all.insert(all.end(), block.begin(), block.end());
  }
}

TEST(SynthCapture, sources_of_all_protocols_in_one_capture_give_what_happened) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(10); ++seed) {
    Random random(seed);
    TruthBench b = everything();
    b.capture.seed = seed;
    b.capture.interleave = random.between(1, 400);
    b.capture.framing = random.coin() ? CaptureFraming::kMemoryAligned : CaptureFraming::kFsync;
    for (UnitOptions& unit : b.units) {
      unit.seed = seed * 100 + unit.trace_id;
      unit.sync_period = random.between(64, 2000);
      unit.timestamp_mean = random.between(0, 20);
      unit.overflow_mean = random.one_in(3) ? 0 : 500;
    }
    ASSERT_EQ(b.check(), "") << "seed " << seed;
    EXPECT_GT(b.instructions, 1000U);
  }
}

TEST(SynthCapture, the_same_seed_gives_the_same_bytes_and_another_one_others) {
  TruthBench b = everything();
  b.capture.damage = {.change_mean = 500, .drop_mean = 5000, .cut = true};
  const std::vector<std::uint8_t> first = all_of(b);
  EXPECT_EQ(first, all_of(b));
  b.capture.seed = 2;
  EXPECT_NE(first, all_of(b));
}

TEST(SynthCapture, the_size_is_reached_and_passed_by_little) {
  for (const std::uint64_t size : {1U, 1000U, 100'000U, 1'000'000U}) {
    for (const CaptureFraming framing :
         {CaptureFraming::kMemoryAligned, CaptureFraming::kFsync, CaptureFraming::kNone}) {
      if (size == 1'000'000U && framing != CaptureFraming::kMemoryAligned) continue;
      TruthBench b;
      b.program = small_program(isa::Isa::kA64);
      b.units = {unit_of(Protocol::kEtmV4, 1)};
      b.capture.size = size;
      b.capture.framing = framing;
      EXPECT_EQ(b.check(), "");
      EXPECT_GE(b.bytes, size);
      EXPECT_LT(b.bytes, size + 40'000) << size;
    }
  }
}

TEST(SynthCapture, sources_that_never_get_their_turn_report_nothing) {
  TruthBench b = everything();
  b.capture.size = 1;
  EXPECT_EQ(b.check(), "");
}

TEST(SynthCapture, damaged_captures_are_decoded_to_their_end) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(10); ++seed) {
    TruthBench b = everything();
    b.capture.seed = seed;
    b.capture.damage = {.change_mean = 300, .drop_mean = 3000, .cut = true};
    EXPECT_NE(b.check(), "") << "seed " << seed;
  }
}

TEST(SynthCapture, options_that_cannot_be_are_refused_with_a_sentence) {
  const Program a64 = small_program(isa::Isa::kA64);
  const auto refusal = [&](const UnitOptions& unit, const Program* program) {
    const auto made = make_unit(unit, program, {}, false);
    EXPECT_FALSE(made);
    return made ? std::string() : made.error().detail;
  };
  UnitOptions unit = unit_of(Protocol::kPtm, 1);
  EXPECT_THAT(refusal(unit, &a64), HasSubstr("A64"));
  unit.speculation = 4;
  EXPECT_THAT(refusal(unit, &a64), HasSubstr("speculate"));
  unit = unit_of(Protocol::kEtmV4, 0x70);
  EXPECT_THAT(refusal(unit, &a64), HasSubstr("0x01 to 0x6f"));
  unit = unit_of(Protocol::kEtmV4, 1);
  EXPECT_THAT(refusal(unit, nullptr), HasSubstr("no program"));
  unit.core = "Cortex-Z9";
  EXPECT_THAT(refusal(unit, &a64), HasSubstr("Cortex-Z9"));
  unit.core = "Cortex-M33";
  EXPECT_THAT(refusal(unit, &a64), HasSubstr("M-profile"));
  unit.core.clear();
  unit.sync_period = 1;
  EXPECT_THAT(refusal(unit, &a64), HasSubstr("64 bytes"));
  unit.sync_period = 4096;
  unit.speculation = 1000;
  EXPECT_THAT(refusal(unit, &a64), HasSubstr("255"));
  unit = unit_of(Protocol::kEtmV3, 1);
  unit.return_stack = true;
  EXPECT_THAT(refusal(unit, &a64), HasSubstr("return stack"));

  TruthBench b = everything();
  b.capture.framing = CaptureFraming::kNone;
  EXPECT_THAT(b.make().error().detail, HasSubstr("one source"));
  b = everything();
  b.units[1].trace_id = b.units[0].trace_id;
  EXPECT_THAT(b.make().error().detail, HasSubstr("0x01"));
  b = everything();
  b.capture.interleave = 0;
  EXPECT_FALSE(b.make());
  b.units.clear();
  EXPECT_FALSE(b.make());
}

TEST(SynthCapture, a_snapshot_in_a_folder_is_checked_against_its_truth) {
  namespace fs = std::filesystem;
  const std::string folder = testing::TempDir() + "waymark_synth_folder";
  fs::remove_all(folder);
  TruthBench b = everything();
  b.capture.size = 300'000;
  auto maker = b.make();
  ASSERT_TRUE(maker);
  const auto written = write_capture(*maker, &b.program, folder);
  ASSERT_TRUE(written) << written.error().detail;
  auto checked = check_capture(folder);
  ASSERT_TRUE(checked) << checked.error().detail;
  ASSERT_EQ(checked->size(), b.units.size());
  for (const CheckedSource& source : *checked) {
    EXPECT_EQ(source.difference, "") << source.device;
    EXPECT_GT(source.totals.events, 100U) << source.device;
  }
  // The ground truth of another run does not match.
  b.execution.seed = 99;
  auto other = b.make();
  ASSERT_TRUE(other);
  ASSERT_TRUE(write_capture(*other, &b.program, folder + "_other"));
  fs::copy_file(folder + "_other/truth/ETM_0.truth", folder + "/truth/ETM_0.truth",
                fs::copy_options::overwrite_existing);
  checked = check_capture(folder);
  ASSERT_TRUE(checked);
  EXPECT_NE(checked->front().difference, "");
  fs::remove(folder + "/truth/ETM_0.truth");
  EXPECT_FALSE(check_capture(folder));
  fs::remove_all(folder);
  fs::remove_all(folder + "_other");
}

TEST(SynthWorkload, synchronises_often_and_hardly_ever) {
  std::uint64_t shortest = ~std::uint64_t{0};
  std::uint64_t longest = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto workload = Workload::random({.seed = seed});
    ASSERT_TRUE(workload);
    for (const UnitOptions& unit : workload->units) {
      shortest = std::min(shortest, unit.sync_period);
      longest = std::max(longest, unit.sync_period);
    }
  }
  EXPECT_LT(shortest, 500U);
  EXPECT_GT(longest, 50'000U);
}

TEST(SynthUnit, an_mtb_is_refused_what_it_does_not_have) {
  const auto program =
      Program::random({.seed = 1, .isa = isa::Isa::kT32, .functions = 3, .m_code = MCode::kAny});
  ASSERT_TRUE(program) << program.error().detail;
  const auto refusal = [&](UnitOptions options, const Program& of) {
    options.protocol = Protocol::kMtb;
    const auto made = make_unit(options, &of, {}, false);
    return made ? "" : made.error().detail;
  };
  EXPECT_EQ(refusal({}, *program), "");
  EXPECT_THAT(refusal({.return_stack = true}, *program), HasSubstr("return stack"));
  EXPECT_THAT(refusal({.cycle_counts = true}, *program), HasSubstr("cycle counts"));
  EXPECT_THAT(refusal({.branch_broadcast = true}, *program), HasSubstr("every taken branch"));
  EXPECT_THAT(refusal({.context_ids = true}, *program), HasSubstr("contexts"));
  EXPECT_THAT(refusal({.event_mean = 1}, *program), HasSubstr("events"));
  EXPECT_THAT(refusal({.overflow_mean = 1}, *program), HasSubstr("overflow"));
  EXPECT_THAT(refusal({.core = "Cortex-A9"}, *program), HasSubstr("not an M-profile core"));
  EXPECT_THAT(refusal({}, small_program()), HasSubstr("T32"));
  EXPECT_FALSE(Program::random({.isa = isa::Isa::kA32, .m_code = MCode::kAny}));
}

TEST(SynthCapture, of_an_mtb_has_no_frames) {
  auto workload = Workload::random({.seed = 3, .protocols = {Protocol::kMtb}});
  ASSERT_TRUE(workload);
  workload->capture.framing = CaptureFraming::kMemoryAligned;
  const auto maker = workload->make(false);
  ASSERT_FALSE(maker);
  EXPECT_THAT(maker.error().detail, HasSubstr("no frames"));
}

TEST(SynthUnit, vmids_beyond_8_bits_are_refused_where_packets_hold_8) {
  const auto program = Program::random({.seed = 1, .isa = isa::Isa::kA32});
  ASSERT_TRUE(program);
  for (const Protocol protocol : {Protocol::kPtm, Protocol::kEtmV3}) {
    UnitOptions options;
    options.protocol = protocol;
    EXPECT_FALSE(make_unit(options, &*program, {.vmids = 256}, false));
    EXPECT_TRUE(make_unit(options, &*program, {.vmids = 255}, false));
  }
}

}  // namespace
}  // namespace waymark::synth
