#include "waymark/inputs/diagnosis.h"

#include <gtest/gtest.h>

namespace waymark::inputs {
namespace {

SourceFacts source(std::uint64_t bytes, std::uint64_t sync_points, std::uint64_t unsynced = 0) {
  SourceFacts facts;
  facts.counts.total_bytes = bytes;
  facts.counts.sync_points = sync_points;
  facts.counts.unsynced_bytes = unsynced;
  return facts;
}

std::vector<Finding> findings(const std::vector<SourceFacts>& facts,
                              const CaptureFacts& capture = {.has_image = true}) {
  return diagnose(facts, notable_sources(facts, false), capture);
}

using Findings = std::vector<Finding>;

TEST(Diagnosis, a_good_source_has_no_findings) {
  EXPECT_EQ(findings({source(1000, 3, 500)}), Findings{});
}

TEST(Diagnosis, a_source_without_bytes_was_off) {
  EXPECT_EQ(findings({source(1000, 3), source(0, 0)}),
            (Findings{{.problem = SourceProblem::kNoBytes, .source = 1}}));
}

TEST(Diagnosis, a_cpu_without_bytes_in_a_recording_is_usual) {
  EXPECT_EQ(findings({source(0, 0)}, {.recording = true}), Findings{});
}

TEST(Diagnosis, bytes_without_a_sync_point_cannot_be_decoded) {
  EXPECT_EQ(findings({source(1000, 0, 1000)}),
            (Findings{{.problem = SourceProblem::kNoSyncPoint, .source = 0, .bytes = 1000}}));
}

TEST(Diagnosis, a_source_that_starts_in_sync_needs_no_sync_point) {
  SourceFacts facts = source(1000, 0);
  facts.starts_in_sync = true;
  EXPECT_EQ(findings({facts}), Findings{});
}

TEST(Diagnosis, more_than_half_before_the_first_sync_point_is_late) {
  EXPECT_EQ(
      findings({source(1000, 1, 501)}),
      (Findings{
          {.problem = SourceProblem::kLateSyncPoint, .source = 0, .bytes = 1000, .count = 501}}));
}

TEST(Diagnosis, every_record_of_damage_counts) {
  SourceFacts facts = source(1000, 1);
  facts.counts.diagnostics = 5;
  EXPECT_EQ(
      findings({facts}),
      (Findings{{.problem = SourceProblem::kDamage, .source = 0, .bytes = 1000, .count = 5}}));
}

TEST(Diagnosis, instructions_need_an_image) {
  const std::vector<SourceFacts> facts = {source(1000, 1)};
  EXPECT_EQ(findings(facts, {.needs_image = true}),
            (Findings{{.problem = SourceProblem::kNoImage}}));
  EXPECT_EQ(findings(facts, {.needs_image = true, .has_image = true}), Findings{});
  // The memory of a recording is that of its processes.
  EXPECT_EQ(findings(facts, {.recording = true, .needs_image = true}), Findings{});
}

TEST(Diagnosis, of_many_ids_those_that_look_like_damage_are_summed_up) {
  std::vector<SourceFacts> facts(17, source(1, 0));
  facts[3] = source(1000, 2);
  facts[5] = source(500, 0);  // More than 1 % of the bytes.
  const NotableSources notable = notable_sources(facts, false);
  EXPECT_EQ(notable.sources, (std::vector<std::size_t>{3, 5}));
  EXPECT_EQ(notable.others, 15);
  EXPECT_EQ(notable.other_bytes, 15);
  EXPECT_EQ(diagnose(facts, notable, {}),
            (Findings{{.problem = SourceProblem::kNoSyncPoint, .source = 5, .bytes = 500},
                      {.problem = SourceProblem::kManyIds, .bytes = 15, .count = 15}}));
  EXPECT_EQ(notable_sources(facts, true).sources.size(), 17U);
}

TEST(Diagnosis, sixteen_sources_are_not_many) {
  EXPECT_EQ(notable_sources(std::vector<SourceFacts>(16, source(0, 0)), false).others, 0U);
}

}  // namespace
}  // namespace waymark::inputs
