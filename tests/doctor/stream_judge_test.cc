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

TEST(StreamJudge, noise_is_no_protocol) {
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

TEST(StreamJudge, no_bytes_are_no_protocol) {
  EXPECT_EQ(judge({}, true).confidence, Confidence::kNone);
}

}  // namespace
}  // namespace waymark::doctor
