#include "waymark/shard/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace waymark::shard {
namespace {

Plan example() {
  return {.version = "1.2",
          .what = "counts",
          .format = "counts",
          .folder = "/a \"b\"\n",
          .options = {"--symfs=\x01\\x"},
          .inputs = {{"one", 10, 1}, {"two", 20, 2}, {"three\x7f", 30, ~std::uint64_t{0}}},
          .shards = {{0, 1}, {1, 2}}};
}

TEST(Plan, text_and_back) {
  const auto plan = read_plan(text_of(example()));
  ASSERT_TRUE(plan) << plan.error().detail;
  EXPECT_EQ(*plan, example());
}

TEST(Plan, every_changed_byte_is_noticed) {
  const std::string text = text_of(example());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(read_plan(changed)) << i;
    EXPECT_FALSE(read_plan(text.substr(0, i))) << i;
  }
}

TEST(Plan, the_digest_tells_jobs_apart) {
  Plan other = example();
  other.inputs[0].digest = 7;
  EXPECT_NE(digest_of(example()), digest_of(other));
}

TEST(Plan, shards_must_have_each_input_once) {
  for (const std::vector<Shard>& shards :
       {std::vector<Shard>{{0, 1}}, {{0, 2}, {1, 2}}, {{1, 2}, {0, 1}}, {{0, 4}}, {}}) {
    Plan plan = example();
    plan.shards = shards;
    EXPECT_FALSE(read_plan(text_of(plan)));
  }
}

/// Its second input is cut into three slices.
Plan cut_example() {
  Plan plan = example();
  plan.cuts = {{.input = 1,
                .trace = "two/trace.bin",
                .trace_bytes = 40,
                .slice_bytes = 16,
                .id_bytes = {{0x10, 30}},
                .digests = {1, 2, 3, 4, 5, 6, 7}}};
  plan.shards = {{0, 1}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {2, 1}};
  return plan;
}

TEST(Plan, slices_as_text_and_back) {
  const auto plan = read_plan(text_of(cut_example()));
  ASSERT_TRUE(plan) << plan.error().detail;
  EXPECT_EQ(*plan, cut_example());
  EXPECT_EQ(plan->cut_of(0), nullptr);
  ASSERT_EQ(plan->cut_of(3), plan->cuts.data());
  EXPECT_EQ(plan->payload_of(2), Payload::kSlice);
  EXPECT_EQ(plan->payload_of(4), Payload::kProfile);
  EXPECT_EQ(plan->bytes_of(1), 16U);
  EXPECT_EQ(plan->bytes_of(3), 8U);
}

TEST(Plan, what_and_format_must_fit) {
  Plan plan = example();
  plan.what.clear();
  EXPECT_FALSE(read_plan(text_of(plan)));
  plan.what = "coverage";
  EXPECT_FALSE(read_plan(text_of(plan)));
  plan.format = "lcov";
  EXPECT_TRUE(read_plan(text_of(plan)));
  // Findings are not made of slices.
  plan = cut_example();
  plan.what = "findings";
  plan.format = "findings";
  EXPECT_FALSE(read_plan(text_of(plan)));
}

TEST(Plan, slices_must_be_complete) {
  for (const std::vector<Shard>& shards :
       {std::vector<Shard>{{0, 1}, {1, 2}},
        {{0, 1}, {1, 1, 0}, {1, 1, 1}, {2, 1}},
        {{0, 1}, {1, 1, 0}, {1, 1, 2}, {1, 1, 1}, {2, 1}},
        {{0, 1}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {1, 1, 3}, {2, 1}},
        {{0, 1, 0}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}, {2, 1}}}) {
    Plan plan = cut_example();
    plan.shards = shards;
    EXPECT_FALSE(read_plan(text_of(plan)));
  }
  Plan plan = cut_example();
  plan.cuts[0].digests.pop_back();
  EXPECT_FALSE(read_plan(text_of(plan)));
  plan = cut_example();
  plan.cuts.push_back(plan.cuts[0]);
  EXPECT_FALSE(read_plan(text_of(plan)));
  plan = cut_example();
  for (const std::uint64_t wrong : {0U, 15U, 17U}) {
    plan.cuts[0].slice_bytes = wrong;
    EXPECT_FALSE(read_plan(text_of(plan)));
  }
}

TEST(Cut, all_that_a_shard_reads_is_compared) {
  constexpr std::size_t kSlice = 100'000;
  std::vector<std::uint8_t> trace(5 * kSlice);
  for (std::size_t i = 0; i < trace.size(); ++i) trace[i] = static_cast<std::uint8_t>(i * i >> 7);
  Cut cut{.trace_bytes = trace.size(), .slice_bytes = kSlice};
  ASSERT_TRUE(cut.look_at(trace));
  // The start, the quarter before the slice, and the slice.
  for (const auto& [at, differs] : {std::pair<std::size_t, bool>{5, true},
                                    {70'000, false},
                                    {kSlice * 2 - 1, false},
                                    {kSlice * 3 - kSlice / 5, true},
                                    {kSlice * 3, true},
                                    {kSlice * 4 - 1, true},
                                    {kSlice * 4, false}}) {
    trace[at] ^= 1;
    EXPECT_EQ(*SliceCheck(cut, 3, trace).is_same(), !differs) << at;
    // The same while it is read.
    SliceCheck check(cut, 3, trace);
    for (std::size_t to = 0; to < trace.size(); to += 33'333) check.read_to(to);
    EXPECT_EQ(*check.is_same(), !differs) << at;
    trace[at] ^= 1;
  }
  EXPECT_TRUE(*SliceCheck(cut, 0, trace).is_same());
  EXPECT_TRUE(*SliceCheck(cut, 4, trace).is_same());
  EXPECT_FALSE(*SliceCheck(cut, 0, Bytes(trace).first(trace.size() - 16)).is_same());
  EXPECT_TRUE(was_stopped(SliceCheck(cut, 0, trace).is_same([] { return true; }).error()));
}

TEST(Plan, ranges) {
  const std::size_t numbers[] = {0, 3, 7, 8, 9, 11};
  EXPECT_EQ(ranges_of(numbers), "0,3,7-9,11");
  EXPECT_EQ(ranges_of({}), "");
}

class PlannedInputs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "waymark_plan_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/f");
    std::ofstream(folder_ + "/f/small") << "x";
    for (std::size_t i = 0; i < 10; ++i)
      std::ofstream(folder_ + "/" + std::to_string(i)) << std::string(100 * (i + 1), 'x');
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] Plan plan(Job job) const {
    job.what = job.format = "counts";
    job.inputs = {"[0-9]"};
    return *make_plan(job, folder_, "1");
  }
  std::string folder_;
};

TEST_F(PlannedInputs, shards_by_number_and_by_size) {
  EXPECT_EQ(plan({}).shards.size(), 10U);
  EXPECT_EQ(plan({.inputs_per_shard = 4}).shards, (std::vector<Shard>{{0, 4}, {4, 4}, {8, 2}}));
  EXPECT_EQ(plan({.inputs_per_shard = ~std::uint64_t{0}}).shards.size(), 1U);
  EXPECT_EQ(plan({.shards = 1}).shards.size(), 1U);
  EXPECT_LE(plan({.shards = 64}).shards.size(), 10U);
  const Plan halves = plan({.shards = 2});
  ASSERT_EQ(halves.shards.size(), 2U);
  EXPECT_NEAR(static_cast<double>(halves.bytes_of(0)), static_cast<double>(halves.bytes_of(1)),
              1000);
  EXPECT_EQ(plan({.bytes_per_shard = 1}).shards.size(), 10U);
}

TEST_F(PlannedInputs, changed_inputs_are_named) {
  const Plan planned = plan({});
  EXPECT_TRUE(check_inputs(planned, 3));
  std::ofstream(folder_ + "/3") << std::string(400, 'y');
  const auto changed = check_inputs(planned, 3);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(changed.error().detail.starts_with("3 has changed since the job was planned"));
  std::filesystem::remove(folder_ + "/4");
  EXPECT_EQ(check_inputs(planned, 4).error().code, ErrorCode::kNotFound);
}

TEST_F(PlannedInputs, a_folder_is_all_its_files_and_their_names) {
  const auto before = look_at("f", folder_, Check::kContent);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->bytes, 1U);
  std::filesystem::rename(folder_ + "/f/small", folder_ + "/f/other");
  EXPECT_NE(look_at("f", folder_, Check::kContent)->digest, before->digest);
}

TEST_F(PlannedInputs, inputs_that_are_cut_have_shards_of_their_own) {
  Job job{.what = "counts", .format = "counts", .inputs = {"[0-9]"}, .shards = 2, .slices = 2};
  const Plan planned =
      *make_plan(job, folder_, "1", {},
                 [](const Plan&, const std::string& path) -> Result<std::optional<Cut>> {
                   if (path != "3" && path != "4") return std::nullopt;
                   return Cut{.trace = path, .trace_bytes = 400, .slice_bytes = 208};
                 });
  ASSERT_EQ(planned.cuts.size(), 2U);
  EXPECT_EQ(planned.cuts[1].input, 4U);
  const std::vector<Shard> slices = {{3, 1, 0}, {3, 1, 1}, {4, 1, 0}, {4, 1, 1}};
  const auto at = std::ranges::find(planned.shards, slices[0]);
  EXPECT_TRUE(std::equal(slices.begin(), slices.end(), at));
  EXPECT_TRUE(read_plan(text_of(planned)));
  // The bytes of the trace are compared by slice.
  const auto shard = static_cast<std::size_t>(at - planned.shards.begin());
  std::ofstream(folder_ + "/3") << std::string(400, 'y');
  EXPECT_TRUE(check_inputs(planned, shard));
  std::ofstream(folder_ + "/3") << std::string(401, 'y');
  EXPECT_FALSE(check_inputs(planned, shard));
}

TEST_F(PlannedInputs, reading_stops) {
  const auto stopped = look_at("1", folder_, Check::kContent, [] { return true; });
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(was_stopped(stopped.error()));
}

}  // namespace
}  // namespace waymark::shard
