#include "waymark/doctor/stream_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "doctor/streams.h"

namespace waymark::doctor {
namespace {

std::optional<std::uint32_t> stated(const Verdict& verdict, std::string_view field) {
  const auto found = std::ranges::find(verdict.known, field, &KnownField::field);
  if (found == verdict.known.end()) return std::nullopt;
  return found->number();
}

TEST(StreamJudge, etmv4_is_sure) {
  const Verdict verdict = judge(etmv4_stream(), false);
  EXPECT_EQ(verdict.protocol, "etmv4");
  EXPECT_EQ(verdict.confidence, Confidence::kSure);
  EXPECT_FALSE(verdict.ete_or_etm);  // It has exception returns.
  EXPECT_EQ(verdict.trial.syncs, 24U);
  EXPECT_EQ(verdict.trial.bad, 0U);
}

TEST(StreamJudge, trace_info_states_registers) {
  EXPECT_EQ(stated(judge(etmv4_stream(), false), "CCI"), 0U);
  const Verdict verdict = judge(etmv4_stream(0x31, {}, 0x01), false);
  EXPECT_EQ(stated(verdict, "CCI"), 1U);
  EXPECT_EQ(stated(verdict, "COND"), 0U);
}

TEST(StreamJudge, sizes_of_contexts_are_those_that_can_be_read) {
  // VMID of one byte, then a context ID.
  const Verdict narrow = judge(etmv4_stream(0xF1, {0x08, 0x34, 0x12, 0x08, 0x63}), false);
  EXPECT_EQ(stated(narrow, "VMIDSIZE"), 1U);
  EXPECT_EQ(stated(narrow, "CIDSIZE"), 4U);
  EXPECT_EQ(stated(narrow, "CID"), 1U);
  EXPECT_EQ(stated(narrow, "VMID"), 1U);
}

TEST(StreamJudge, nothing_is_stated_of_contexts_that_do_not_occur) {
  const Verdict verdict = judge(etmv4_stream(), false);
  EXPECT_EQ(stated(verdict, "CIDSIZE"), std::nullopt);
  EXPECT_EQ(stated(verdict, "CID"), std::nullopt);
  EXPECT_EQ(stated(verdict, "RS"), std::nullopt);
}

const UnknownField* unknown(const Verdict& verdict, std::string_view field) {
  const auto found = std::ranges::find(verdict.unknown, field, &UnknownField::field);
  return found == verdict.unknown.end() ? nullptr : &*found;
}

/// Synchronisation, an address, and then `bytes` repeatedly.
Stream etmv4_rounds(const Stream& bytes) {
  Stream stream;
  for (unsigned round = 0; round < 24; ++round) {
    append(stream, Stream(11, 0));
    append(stream, {0x80, 0x01, 0x01, 0x00, 0x04, 0x85});
    append(stream, {0x10, 0x20, 0x30, 0x00, 0x00, 0x80, 0xFF, 0xFF, 0x31});
    for (unsigned i = 0; i < 20; ++i) append(stream, bytes);
  }
  return stream;
}

TEST(StreamJudge, the_return_stack_must_be_given) {
  const Verdict verdict = judge(etmv4_stream(), false);
  EXPECT_NE(std::ranges::find(verdict.open, "RS", &OpenField::field), verdict.open.end());
}

TEST(StreamJudge, branch_broadcast_is_never_known) {
  // E, a timestamp, a short address: the timestamp does not separate them.
  const Verdict stated_targets = judge(etmv4_rounds({0xF7, 0x02, 0x05, 0x95, 0x10}), false);
  EXPECT_EQ(stated_targets.trial.taken.stated, stated_targets.trial.taken.all);
  EXPECT_GE(stated_targets.trial.taken.all, 24U * 20U);
  EXPECT_TRUE(
      unknown(stated_targets, "BB")->why.contains("an address follows each of 480 E atoms"));
  EXPECT_EQ(stated(stated_targets, "BB"), std::nullopt);
  // E, E, a short address.  What follows the last E of a round is a synchronisation.
  const Verdict bare = judge(etmv4_rounds({0xF7, 0xF7, 0x95, 0x10}), false);
  EXPECT_EQ(bare.trial.taken.all, 2U * 24U * 20U);
  EXPECT_TRUE(unknown(bare, "BB")->why.contains("no address follows 480 of 960 E atoms"));
}

TEST(StreamJudge, a_synchronisation_or_an_exception_is_not_the_target_of_an_atom) {
  const Verdict verdict =
      judge(etmv4_rounds({0xF6, 0xF7, 0x06, 0x03, 0x95, 0x10, 0x95, 0x20, 0xF6, 0xF7}), false);
  // After the last E of a round or before the exception, nothing is known.
  EXPECT_EQ(verdict.trial.taken.stated, 0U);
  EXPECT_EQ(verdict.trial.taken.all, 24U * 19U);
}

TEST(StreamJudge, versions_are_bounds) {
  const Verdict none = judge(etmv4_stream(), false);
  EXPECT_TRUE(none.least.empty());
  EXPECT_TRUE(unknown(none, "TRCARCHMIN")->why.contains("no packet occurs"));
  const Verdict ignore = judge(etmv4_rounds({0xF7, 0x70, 0x07, 0xF6, 0x95, 0x10}), false);
  ASSERT_EQ(ignore.least.size(), 1U);
  EXPECT_EQ(ignore.least[0].field, "TRCARCHMIN");
  EXPECT_EQ(ignore.least[0].least, 3U);
  EXPECT_EQ(unknown(ignore, "TRCARCHMIN"), nullptr);
  const Verdict marker = judge(etmv4_rounds({0xF7, 0x88, 0x07, 0xF6, 0x95, 0x10}), false);
  ASSERT_EQ(marker.least.size(), 1U);
  EXPECT_EQ(marker.least[0].least, 6U);
}

TEST(StreamJudge, wide_vmids_need_a_later_version) {
  const Verdict wide =
      judge(etmv4_stream(0xF1, {0x08, 0x09, 0x0A, 0x0B, 0x8F, 0x8F, 0x8F, 0x8F}), false);
  ASSERT_EQ(stated(wide, "VMIDSIZE"), 4U);
  ASSERT_EQ(wide.least.size(), 1U);
  EXPECT_EQ(wide.least[0].least, 1U);
}

TEST(StreamJudge, swo_after_one_synchronisation_is_itm_and_not_ptm) {
  const Verdict verdict = judge(swo_stream(), false);
  EXPECT_EQ(verdict.protocol, "itm");
  EXPECT_GE(verdict.confidence, Confidence::kLikely);
  EXPECT_EQ(stated(verdict, "TSENA"), 1U);
}

TEST(StreamJudge, swo_without_synchronisation_is_never_sure) {
  const Stream stream = swo_stream();
  const Verdict verdict = judge(Bytes(stream).subspan(6), false);
  EXPECT_EQ(verdict.protocol, "itm");
  EXPECT_TRUE(verdict.starts_in_sync);
  EXPECT_LT(verdict.confidence, Confidence::kSure);
}

TEST(StreamJudge, noise_matches_no_protocol) {
  std::mt19937 random(3);
  Stream stream(20000);
  for (std::uint8_t& byte : stream) byte = static_cast<std::uint8_t>(random());
  EXPECT_LT(judge(stream, false).confidence, Confidence::kLikely);
}

TEST(StreamJudge, damage_and_a_cut_end_are_counted) {
  Stream stream = etmv4_stream();
  stream[stream.size() / 2] = 0x8F;  // Reserved.
  stream.push_back(0x9D);
  const Verdict verdict = judge(stream, false);
  EXPECT_EQ(verdict.protocol, "etmv4");
  EXPECT_GE(verdict.trial.bad, 1U);
  EXPECT_TRUE(verdict.trial.cut);
}

TEST(StreamJudge, an_empty_stream_matches_no_protocol) {
  EXPECT_EQ(judge({}, true).confidence, Confidence::kNone);
}

}  // namespace
}  // namespace waymark::doctor
