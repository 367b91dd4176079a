// Registers that belong to another trace, when packets are listed and nothing is decoded.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/stm_bench.h"
#include "waymark/etmv3/register_check.h"
#include "waymark/etmv3/source.h"
#include "waymark/frames/stream.h"
#include "waymark/itm/source.h"
#include "waymark/protocol/source.h"
#include "waymark/ptm/source.h"
#include "waymark/stm/source.h"

namespace waymark {
namespace {

class Listener final : public Observer {
 public:
  explicit Listener(bool wants_packets) : wants_packets_(wants_packets) {}
  [[nodiscard]] bool wants_packets() const override { return wants_packets_; }
  void on_diagnostic(const Diagnostic& record) override {
    if (record.fault != Fault::kUnsupportedConfig) return;
    EXPECT_EQ(record.severity, Severity::kWarning);
    EXPECT_EQ(record.stage, Stage::kPackets);
    sentences.emplace_back(describe(record));
  }
  std::vector<std::string> sentences;

 private:
  bool wants_packets_;
};

using Sentences = std::vector<std::string>;

/// The reports about the registers; the same whether the client sees packets or only counts them.
Sentences said(Source& source, const std::vector<std::uint8_t>& bytes) {
  const frames::Run run;
  std::vector<Sentences> all;
  for (const bool wants_packets : {true, false}) {
    const auto copy = source.clone();
    Listener listener(wants_packets);
    copy->set_observer(&listener, copy->trace_id());
    copy->feed({bytes, {&run, 1}});
    std::vector<Element> out(4);
    while (copy->next(out) != 0) {
    }
    copy->finish();
    while (copy->next(out) != 0) {
    }
    all.push_back(listener.sentences);
  }
  EXPECT_EQ(all[0], all[1]);
  return all[0];
}

template <class Made>
Sentences said(const Made& made, const std::vector<std::uint8_t>& bytes) {
  EXPECT_TRUE(made.has_value());
  return said(**made, bytes);
}

SourceOptions packets_only() {
  SourceOptions options;
  options.decode = false;
  return options;
}

void expect_one(const Sentences& sentences, std::string_view register_name) {
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_NE(sentences[0].find(register_name), std::string::npos) << sentences[0];
}

std::vector<std::uint8_t> joined(std::initializer_list<std::vector<std::uint8_t>> parts) {
  std::vector<std::uint8_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

etmv3::Config etmv3_config(std::uint32_t etmcr, std::uint32_t etmidr = 0x410CF240) {
  etmv3::Config config;
  config.etmcr = etmcr;
  config.etmidr = etmidr;
  return config;
}

const std::vector<std::uint8_t> kEtmv3Sync = {0, 0, 0, 0, 0, 0x80, 0x08, 0x20, 0, 0x10, 0, 0};

TEST(RegisterContradictions, etmv3_cycle_counts) {
  const auto made = etmv3::make_source(etmv3_config(0, 0x410CF250), nullptr, packets_only());
  expect_one(said(made, joined({kEtmv3Sync, {0x04, 0x05, 0x84, 0x04, 0x05}})), "ETMCR[12]");
}

TEST(RegisterContradictions, etmv3_no_cycle_counts) {
  const auto made = etmv3::make_source(etmv3_config(1U << 12, 0x410CF250), nullptr, packets_only());
  std::vector<std::uint8_t> bytes = kEtmv3Sync;
  for (int i = 0; i < 9; ++i) bytes.insert(bytes.end(), kEtmv3Sync.begin() + 6, kEtmv3Sync.end());
  expect_one(said(made, bytes), "ETMCR[12]");
}

TEST(RegisterContradictions, etmv3_version) {
  const auto made = etmv3::make_source(etmv3_config(1U << 28), nullptr, packets_only());
  expect_one(said(made, joined({kEtmv3Sync, {0x42, 0x05, 0x42, 0x05}})), "ETMIDR[7:4]");
}

TEST(RegisterContradictions, etmv3_data_that_should_not_be) {
  const auto made = etmv3::make_source(etmv3_config(0), nullptr, packets_only());
  expect_one(said(made, joined({kEtmv3Sync, {0x02}, kEtmv3Sync, {0x02}})), "ETMCR[3:2]");
}

TEST(RegisterContradictions, etmv3_data_that_should_be) {
  const auto made = etmv3::make_source(etmv3_config(0b1100), nullptr, packets_only());
  const std::vector<std::uint8_t> many(etmv3::RegisterCheck::kManyPackets, 0x84);
  expect_one(said(made, joined({kEtmv3Sync, many})), "ETMCR[3:2]");
  EXPECT_TRUE(said(made, joined({kEtmv3Sync, many, {0x02}})).empty());
}

TEST(RegisterContradictions, etmv3_the_reference_reports_nothing) {
  SourceOptions options = packets_only();
  options.quirks = kReferenceQuirks;
  const auto made = etmv3::make_source(etmv3_config(0), nullptr, options);
  EXPECT_TRUE(said(made, joined({kEtmv3Sync, {0x04, 0x05}})).empty());
}

const std::vector<std::uint8_t> kPtmContextIds = {0, 0, 0, 0,    0,    0x80, 0x08, 0,    0x10,
                                                  0, 0, 0, 0x6E, 0x6E, 0x6E, 0x6E, 0x6E, 0x6E};
const std::vector<std::uint8_t> kItmTimestamps = {0, 0, 0, 0, 0, 0x80, 0x05, 0x01, 0x20, 0x20};

std::vector<std::uint8_t> stm_stream() {
  return support::nibbles(std::string(support::kStmAsync) +
                          "F003 141 141 37F 380 F30100 E11 E12 E0 0");
}

TEST(RegisterContradictions, ptm) {
  ptm::Config config;
  config.etmcr = 0;
  const auto made = ptm::make_source(config, nullptr, packets_only());
  expect_one(said(made, kPtmContextIds), "ETMCR[15:14]");
}

TEST(RegisterContradictions, registers_that_were_not_given_contradict_nothing) {
  for (const bool decode : {false, true}) {
    SourceOptions options;
    options.decode = decode;
    itm::Config itm;
    itm.itm_tcr = RegisterValue::assumed(0x0020'0000);  // The ID only.
    EXPECT_TRUE(said(itm::make_source(itm, options), kItmTimestamps).empty());
    stm::Config stm;
    stm.stmtcsr = RegisterValue::assumed(0x0020'0000);
    EXPECT_TRUE(said(stm::make_source(stm, options), stm_stream()).empty());
    const image::Image image;
    EXPECT_TRUE(said(ptm::make_source({}, &image, options), kPtmContextIds).empty());
    EXPECT_TRUE(said(etmv3::make_source({}, &image, options),
                     joined({kEtmv3Sync, {0x04, 0x05, 0x42, 0x05, 0x02}, kEtmv3Sync, {0x02}}))
                    .empty());
  }
}

// A value of 0 is a value.
TEST(RegisterContradictions, a_register_that_was_given_as_0_counts) {
  itm::Config itm;
  itm.itm_tcr = 0;
  expect_one(said(itm::make_source(itm, packets_only()), kItmTimestamps), "ITM_TCR");
  stm::Config stm;
  stm.stmtcsr = 0;
  expect_one(said(stm::make_source(stm, packets_only()), stm_stream()), "STMTCSR");
}

TEST(RegisterContradictions, itm) {
  itm::Config config;
  config.itm_tcr = 0x0020'0009;  // On, with DWT; no timestamps.
  const auto made = itm::make_source(config, packets_only());
  expect_one(said(made, kItmTimestamps), "ITM_TCR");
}

TEST(RegisterContradictions, stm) {
  stm::Config config;
  config.stmtcsr = 0x00200001;
  config.stmdevid = 0x3F;
  config.stmspfeat3r = 0x80;
  const auto made = stm::make_source(config, packets_only());
  const Sentences sentences = said(made, stm_stream());
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_NE(sentences[0].find("STMDEVID"), std::string::npos) << sentences[0];
  EXPECT_NE(sentences[1].find("STMSPFEAT3R"), std::string::npos) << sentences[1];
  EXPECT_NE(sentences[2].find("STMTCSR"), std::string::npos) << sentences[2];
}

TEST(RegisterContradictions, stm_timestamps_before_any_version) {
  const auto made = stm::make_source({}, packets_only());
  const std::string stream = std::string(support::kStmAsync) + "8AA15 8AB16 F003 8AC17 0";
  const Sentences sentences = said(made, support::nibbles(stream));
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_NE(sentences[0].find("VERSION"), std::string::npos) << sentences[0];
}

}  // namespace
}  // namespace waymark
