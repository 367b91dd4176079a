#include "waymark/syst/splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "support/random.h"
#include "support/seed_count.h"
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
    const std::string both = kText1 + reserved;
    EXPECT_THAT(plain(std::string(both).append(kText2)),
                ElementsAre("0 whole " + kText1, "9 whole " + reserved, "18 whole " + kText2));
    EXPECT_THAT(plain(both), ElementsAre("0 whole " + kText1, "9 whole " + reserved));
  }
  const std::string subtype = "425241040300616100";
  EXPECT_THAT(plain(subtype + kText2), ElementsAre("0 whole " + subtype, "9 whole " + kText2));
}

TEST(SystSplitter, bytes_outside_messages_are_kept_together) {
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

const std::string kBad = "42564101020061000BADC0DE";  // A wrong checksum.

std::string repeat(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

/// The number of frames with these bytes.
std::size_t count_of(const std::vector<std::string>& frames, const std::string& bytes) {
  return static_cast<std::size_t>(std::ranges::count_if(
      frames, [&](const std::string& frame) { return frame.ends_with(" whole " + bytes); }));
}

TEST(SystSplitter, good_messages_between_bad_ones_are_found) {
  const auto frames = plain(kText1 + kBad + kText2 + kText2 + kBad + repeat(kText1, 5));
  EXPECT_EQ(frames.size(), 10U);
  EXPECT_EQ(count_of(frames, kText1), 6U);
  EXPECT_EQ(count_of(frames, kText2), 2U);
  const auto mixed = plain(repeat(kBad + kText1 + kBad + kBad, 50));
  EXPECT_EQ(mixed.size(), 200U);
  EXPECT_EQ(count_of(mixed, kText1), 50U);
  // One bad message before a short one, one before one without a length, and one before noise.
  EXPECT_EQ(count_of(plain(kBad + kShort + kText1), kShort), 1U);
  EXPECT_EQ(count_of(plain(kBad + "425041016100" + repeat(kText1, 4)), kText1), 4U);
  EXPECT_EQ(count_of(plain(kBad + "FFFFFF" + kBad + repeat(kText1, 5)), kText1), 5U);
}

TEST(SystSplitter, bytes_after_the_nul_of_a_text_cost_no_other_message) {
  const std::string zeros = "42524101040061610000";
  const std::string rest = "4252410105006161004142";
  for (const std::string& padded : {zeros, rest}) {
    const auto frames = plain(repeat(padded + kText1, 40));
    EXPECT_EQ(frames.size(), 80U);
    EXPECT_EQ(count_of(frames, kText1), 40U);
  }
  EXPECT_EQ(plain(zeros).size(), 1U);
}

TEST(SystSplitter, short_messages_alone_are_found_after_noise) {
  const auto frames = plain("FFFFFFFF" + repeat(kShort, 10));
  EXPECT_EQ(frames.size(), 11U);
  EXPECT_EQ(count_of(frames, kShort), 10U);
  EXPECT_EQ(count_of(plain("FFFFFFFF" + repeat(kShort, 20000)), kShort), 20000U);
}

TEST(SystSplitter, a_bad_message_is_given_as_soon_as_the_next_one_is_there) {
  StreamSplitter splitter;
  Frame frame;
  const auto bytes = hex(kBad + kText1);
  splitter.feed(bytes);
  ASSERT_TRUE(splitter.next(frame));
  EXPECT_EQ(told(frame), "0 whole 42564101020061000badc0de");
  EXPECT_TRUE(splitter.next(frame));
  // Noise, and the messages after it.
  const auto noise = hex("FFFFFFFF" + repeat(kText1, 14));
  splitter.feed(noise);
  EXPECT_TRUE(splitter.next(frame));
  EXPECT_EQ(frame.bytes.size(), 4U);
}

TEST(SystSplitter, noise_of_any_length_ends) {
  for (const std::size_t size : {1000U, 65000U, 140000U, 300000U}) {
    std::vector<std::uint8_t> bytes(size, 0xFF);
    for (int i = 0; i < 4; ++i) {
      const auto text = hex(kText1);
      bytes.insert(bytes.end(), text.begin(), text.end());
    }
    EXPECT_EQ(count_of(split<StreamSplitter>(bytes, 0), kText1), 4U) << size;
    EXPECT_EQ(count_of(split<StreamSplitter>(bytes, 5000), kText1), 4U) << size;
  }
}

/// Checks the cost of a stream, apart from the parsing of its frames.
void expect_bounded_work(Bytes bytes, std::size_t chunk) {
  StreamSplitter splitter;
  Frame frame;
  std::size_t size = 0;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    splitter.feed(bytes.subspan(at, std::min(chunk, bytes.size() - at)));
    while (splitter.next(frame)) size += frame.bytes.size();
  }
  while (splitter.finish(frame)) size += frame.bytes.size();
  EXPECT_EQ(size, bytes.size());
  EXPECT_LE(splitter.work(), SearchCredit::kFirst + SearchCredit::kPerByte * bytes.size());
}

TEST(SystSplitter, hostile_bytes_take_bounded_work) {
  // Messages within messages, all with the longest payload and a wrong checksum.
  std::vector<std::uint8_t> hostile;
  const auto add = [&](std::string_view text, std::size_t count) {
    const auto one = hex(text);
    for (std::size_t i = 0; i < count; ++i) hostile.insert(hostile.end(), one.begin(), one.end());
  };
  for (int i = 0; i < 10; ++i) {
    add("06060000000000000000", 1000);
    add("06060000FFFF", 12000);
  }
  expect_bounded_work(hostile, hostile.size());
  expect_bounded_work(hostile, 997);
  hostile.clear();
  add("4252410100F0", 100000);
  expect_bounded_work(hostile, hostile.size());
  support::Random random(7);
  for (std::uint8_t& byte : hostile) byte = random.byte();
  expect_bounded_work(hostile, 4096);
}

TEST(SystSplitter, no_message_is_lost_between_damaged_ones) {
  // Every second message has a wrong checksum, and every third has an extra byte after its text.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    support::Random random(seed);
    std::string text;
    std::size_t good = 0;
    for (int i = 0; i < 100; ++i) {
      switch (random.below(4)) {
        case 0:
          text += kBad;
          break;
        case 1:
          text += "4252410104006161000A";
          break;
        case 2:
          text += kShort;
          break;
        default:
          text += kText1;
          ++good;
      }
    }
    EXPECT_EQ(count_of(plain(text), kText1), good) << seed;
    EXPECT_EQ(plain(text, 1), plain(text)) << seed;
  }
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

TEST(SystSplitter, a_message_without_a_length_waits_for_its_fixed_fields) {
  const std::string stream = "062c00204d0016631b00000000631b0000";
  const auto whole = plain(stream);
  EXPECT_EQ(whole.size(), 1U);
  for (std::size_t chunk = 1; chunk < stream.size() / 2; ++chunk)
    EXPECT_EQ(plain(stream, chunk), whole) << chunk;
}

/// Bytes, headers, zeros, texts and messages.
std::vector<std::uint8_t> fragments(support::Random& random) {
  constexpr std::uint8_t kCommon[] = {0,    1,    2,    3,    6,    8,    9,
                                      0x20, 0x41, 0x42, 0x52, 0x54, 0x5F, 0x61};
  std::vector<std::uint8_t> bytes;
  const unsigned size = random.between(1, 120);
  const unsigned mode = random.below(3);
  const auto add = [&](const std::vector<std::uint8_t>& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  while (bytes.size() < size) {
    switch (mode == 2 ? random.below(6) : mode) {
      case 0:
        bytes.push_back(random.byte());
        break;
      case 1:
        bytes.push_back(kCommon[random.below(std::size(kCommon))]);
        break;
      case 2:
        add({static_cast<std::uint8_t>(random.below(16)), random.byte(),
             static_cast<std::uint8_t>(random.below(4)),
             static_cast<std::uint8_t>(random.below(8))});
        break;
      case 3:
        bytes.insert(bytes.end(), random.below(16), 0);
        break;
      case 4:
        add(hex("6100"));
        break;
      default:
        add(hex(random.coin() ? kText1 : kShort));
        break;
    }
  }
  return bytes;
}

TEST(SystSplitter, chunks_of_any_size_make_no_difference_to_any_bytes) {
  for (std::uint64_t seed = 0; seed < support::seed_count(4000); ++seed) {
    support::Random random(seed);
    const std::vector<std::uint8_t> bytes = fragments(random);
    const auto whole = split<StreamSplitter>(bytes, 0);
    for (const std::size_t chunk : {1U, 2U, 3U, 5U, 6U, 11U})
      ASSERT_EQ(split<StreamSplitter>(bytes, chunk), whole) << to_hex(bytes) << ' ' << chunk;
    for (std::size_t cut = 1; cut < bytes.size(); cut += 1 + cut / 16)
      ASSERT_EQ(split_at<StreamSplitter>(bytes, {cut}), whole) << to_hex(bytes) << ' ' << cut;
    const std::size_t first = random.below(static_cast<std::uint32_t>(bytes.size()));
    const std::size_t second = first + random.below(12);
    ASSERT_EQ(split_at<StreamSplitter>(bytes, {first, second}), whole)
        << to_hex(bytes) << ' ' << first << ' ' << second;
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
  // At most the damaged message is lost, and sometimes a neighbour if it was a short one.
  EXPECT_LE(lost, kRounds * 3 / 2);
}

TEST(SystPlainFacts, a_cut_at_the_end_does_not_count_as_doubtful) {
  EXPECT_TRUE(plain_facts(hex(kText1 + kText2 + "42524101FFFF6363")).plausible());
  EXPECT_FALSE(plain_facts(hex("42524101FFFF6363")).plausible());
}

TEST(SystPlainFacts, random_bytes_are_not_taken_for_messages) {
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

TEST(SystPlainFacts, zeros_are_not_taken_for_messages) {
  const std::vector<std::uint8_t> zeros(4096);
  EXPECT_EQ(plain_facts(zeros).messages, 0U);
  EXPECT_FALSE(
      plain_facts(hex(repeat("00000000", 16) + repeat("FFFFFFFF" + kText1, 1))).plausible());
}

}  // namespace
}  // namespace waymark::syst
