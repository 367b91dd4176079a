// No valid packet counts as bad, whether this decoder has a use for it or not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/etmv3_stream.h"
#include "support/etmv4_stream.h"
#include "support/itm_bench.h"
#include "support/ptm_stream.h"
#include "support/stm_bench.h"
#include "support/stm_stream.h"
#include "waymark/etmv3/source.h"
#include "waymark/etmv4/source.h"
#include "waymark/etmv4data/source.h"
#include "waymark/frames/stream.h"
#include "waymark/itm/encoder.h"
#include "waymark/itm/source.h"
#include "waymark/ptm/source.h"
#include "waymark/stm/source.h"

namespace waymark {
namespace {

using support::Random;
using Data = std::vector<std::uint8_t>;

constexpr SourceOptions kPacketsOnly{.decode = false};
constexpr std::uint64_t kSeeds = 100;

/// The bad packets after the first synchronisation.
class BadPackets final : public Observer {
 public:
  explicit BadPackets(const Source& source) : source_(source) {}
  [[nodiscard]] bool wants_packets() const override { return true; }
  void on_packet(const PacketRef& packet) override {
    line_.clear();
    source_.write_packet(line_, packet);
    const std::string line(line_.view());
    ++packets;
    if (packet.bad && synced_) text += std::to_string(packet.index) + ' ' + line + '\n';
    synced_ = synced_ || (!packet.bad && line.find("NOT") == std::string::npos);
  }
  std::string text;
  unsigned packets = 0;

 private:
  const Source& source_;
  TextBuffer line_;
  bool synced_ = false;
};

template <class Made>
std::string bad_packets(const Made& made, const Data& bytes) {
  EXPECT_TRUE(made.has_value());
  Source& source = **made;
  BadPackets bad(source);
  source.set_observer(&bad, source.trace_id());
  const frames::Run run;
  source.feed({bytes, {&run, 1}});
  Element out;
  while (source.next({&out, 1}) != 0) {
  }
  source.finish();
  while (source.next({&out, 1}) != 0) {
  }
  EXPECT_GT(bad.packets, 1U);
  return bad.text;
}

TEST(ValidPackets, of_etmv4_and_ete_are_not_bad) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const etmv4::Config config = support::random_config(random);
    // Their streams have function returns, which only ARMv8-M has.
    if (config.core.profile == isa::Profile::kM) continue;
    const Data bytes = support::StreamMaker(random, config).make(100, 0);
    EXPECT_EQ(bad_packets(etmv4::make_source(config, nullptr, kPacketsOnly), bytes), "") << seed;
  }
}

TEST(ValidPackets, of_ptm_are_not_bad) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const ptm::Config config = support::random_ptm_config(random);
    const Data bytes = support::PtmStreamMaker(random, config).make(100, 0, false);
    EXPECT_EQ(bad_packets(ptm::make_source(config, nullptr, kPacketsOnly), bytes), "") << seed;
  }
  Data zeros(16, 0);
  zeros.push_back(0x80);
  zeros.push_back(0x66);
  EXPECT_EQ(bad_packets(ptm::make_source({}, nullptr, kPacketsOnly), zeros), "");
}

TEST(ValidPackets, of_etmv3_are_not_bad) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const etmv3::Config config = support::random_etmv3_config(random);
    const Data bytes = support::etmv3_stream(random, config, 100, 0);
    EXPECT_EQ(bad_packets(etmv3::make_source(config, nullptr, kPacketsOnly), bytes), "") << seed;
  }
}

TEST(ValidPackets, of_itm_are_not_bad) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    Data bytes = support::ItmBench::async();
    for (unsigned i = 0; i < 100; ++i)
      ASSERT_TRUE(itm::encode(support::random_itm_packet(random), bytes));
    EXPECT_EQ(bad_packets(itm::make_source({}, kPacketsOnly), bytes), "") << seed;
  }
}

TEST(ValidPackets, of_stm_are_not_bad) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const Data bytes = support::random_stm_stream(random, 100, 0);
    EXPECT_EQ(bad_packets(stm::make_source({}, kPacketsOnly), bytes), "") << seed;
  }
}

TEST(ValidPackets, of_unknown_length_are_not_bad) {
  for (const char* const opcode : {"F04", "F05", "FF1", "FF2"}) {
    const Data bytes = support::nibbles(std::string(support::kStmAsync) + opcode + "12345670");
    EXPECT_EQ(bad_packets(stm::make_source({}, kPacketsOnly), bytes), "") << opcode;
  }
  const Data data = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x44, 0x55, 0x66};
  EXPECT_EQ(bad_packets(etmv4data::make_source({}, kPacketsOnly), data), "");
}

}  // namespace
}  // namespace waymark
