#include "waymark/syst/splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "support/random.h"
#include "waymark/syst/instrument.h"
#include "waymark/syst/parser.h"
#include "waymark/syst/sinks.h"

namespace waymark::syst {
namespace {

using testing::ElementsAre;

const std::string kText1 = "425241010300616100";  // "aa"
const std::string kText2 = "425241010300626200";  // "bb"
const std::string kShort = "71563412";

std::vector<std::string> plain(const std::string& text, std::size_t chunk = 0) {
  return split<StreamSplitter>(hex(text), chunk);
}

TEST(SystSplitter, messages_that_say_where_they_end) {
  EXPECT_THAT(plain(kText1 + kShort + kText2),
              ElementsAre("0 whole " + kText1, "9 whole " + kShort, "13 whole " + kText2));
}

TEST(SystSplitter, a_wrong_checksum_costs_no_other_message) {
  const std::string bad = "42564101020061000BADC0DE";
  EXPECT_THAT(
      plain(kText1 + bad + kText2),
      ElementsAre("0 whole " + kText1, "9 whole 42564101020061000badc0de", "21 whole " + kText2));
}

TEST(SystSplitter, a_wrong_length_costs_no_other_message) {
  const std::string long_one = "425241010F00636300";
  EXPECT_THAT(plain(kText1 + long_one + kText2 + kText1),
              ElementsAre("0 whole " + kText1, "9 whole 425241010f00636300", "18 whole " + kText2,
                          "27 whole " + kText1));
}

TEST(SystSplitter, an_unknown_type_is_one_message_if_its_length_makes_sense) {
  for (const std::string type : {"44", "45", "4a", "4f"}) {
    const std::string reserved = type + "5241010300616100";
    EXPECT_THAT(plain(kText1 + reserved + kText2),
                ElementsAre("0 whole " + kText1, "9 whole " + reserved, "18 whole " + kText2));
    EXPECT_THAT(plain(kText1 + reserved), ElementsAre("0 whole " + kText1, "9 whole " + reserved));
  }
  const std::string subtype = "425241040300616100";
  EXPECT_THAT(plain(subtype + kText2), ElementsAre("0 whole " + subtype, "9 whole " + kText2));
}

TEST(SystSplitter, bytes_that_are_no_message_are_kept_together) {
  EXPECT_THAT(plain(kText1 + "4F4F4F4F4F" + kText2),
              ElementsAre("0 whole " + kText1, "9 no_message 4f4f4f4f4f", "14 whole " + kText2));
}

TEST(SystSplitter, without_a_length_the_end_is_guessed) {
  const std::string open = "42504101616100";
  EXPECT_THAT(plain(open + kText2 + kText1),
              ElementsAre("0 guessed " + open, "7 whole " + kText2, "16 whole " + kText1));
  EXPECT_THAT(plain(open), ElementsAre("0 guessed " + open));
}

TEST(SystSplitter, a_cut_message_at_the_end) {
  EXPECT_THAT(plain(kText1 + "42524101"),
              ElementsAre("0 whole " + kText1, "9 end_of_input 42524101"));
  EXPECT_THAT(plain(kText1 + "425241010900414141"),
              ElementsAre("0 whole " + kText1, "9 end_of_input 425241010900414141"));
}

/// A stream of messages of all kinds with lengths.
std::vector<std::uint8_t> stream(support::Random& random, unsigned count) {
  std::vector<std::uint8_t> bytes;
  instrument::PlainSink sink([&](std::span<const std::uint8_t> message) {
    bytes.insert(bytes.end(), message.begin(), message.end());
  });
  const instrument::Handle handle(sink, instrument::Origin::module_unit(3, 4),
                                  {.length = true, .checksum = true, .timestamp = false});
  for (unsigned i = 0; i < count; ++i) {
    switch (random.below(4)) {
      case 0:
        handle.printf(instrument::Level::kInfo, "value %d of %s", i, "x");
        break;
      case 1:
        handle.short32(i);
        break;
      case 2:
        handle.catalog32(instrument::Level::kDebug, i, std::uint64_t{i});
        break;
      default:
        handle.text(instrument::Level::kError, "a text");
        break;
    }
  }
  return bytes;
}

TEST(SystSplitter, chunks_make_no_difference_whatever_the_damage) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    support::Random random(seed);
    std::vector<std::uint8_t> bytes = stream(random, 40);
    for (unsigned i = random.below(6); i > 0; --i) {
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = random.byte();
    }
    const auto whole = split<StreamSplitter>(bytes, 0);
    for (const std::size_t chunk : {1U, 7U, 100U})
      EXPECT_EQ(split<StreamSplitter>(bytes, chunk), whole) << seed << ' ' << chunk;
  }
}

TEST(SystSplitter, one_damaged_byte_costs_few_messages) {
  std::size_t lost = 0;
  constexpr std::uint64_t kRounds = 200;
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    support::Random random(seed);
    std::vector<std::uint8_t> bytes = stream(random, 40);
    const auto whole = split<StreamSplitter>(bytes, 0);
    std::uint8_t& hit = bytes[random.below(static_cast<std::uint32_t>(bytes.size()))];
    hit = static_cast<std::uint8_t>(hit ^ (random.byte() | 1U));
    const auto damaged = split<StreamSplitter>(bytes, 0);
    for (const std::string& frame : whole)
      lost += std::ranges::find(damaged, frame) == damaged.end() ? 1 : 0;
  }
  // The one that is damaged; where it was a short one, its neighbour at times.
  EXPECT_LE(lost, kRounds * 3 / 2);
}

TEST(SystPlainFacts, a_cut_at_the_end_is_no_doubt) {
  EXPECT_TRUE(plain_facts(hex(kText1 + kText2 + "42524101FFFF6363")).plausible());
  EXPECT_FALSE(plain_facts(hex("42524101FFFF6363")).plausible());
}

TEST(SystPlainFacts, random_bytes_are_no_messages) {
  unsigned taken = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    support::Random random(seed);
    std::vector<std::uint8_t> bytes(300);
    for (std::uint8_t& byte : bytes) byte = random.byte();
    taken += plain_facts(bytes).plausible() ? 1 : 0;
  }
  EXPECT_EQ(taken, 0U);
  support::Random random(1);
  EXPECT_TRUE(plain_facts(stream(random, 5)).plausible());
}

}  // namespace
}  // namespace waymark::syst
