#include "waymark/stm/decoder.h"

#include <gtest/gtest.h>

#include "support/stm_bench.h"

namespace waymark::stm {
namespace {

using support::StmBench;

const std::string kStart = std::string(support::kStmAsync) + "F003";

StmBench bench() { return {}; }

// The examples of stm-itm.md 7.
TEST(StmDecoder, data_before_and_after_the_first_master) {
  EXPECT_EQ(bench().elements(kStart + "FE 140 F30480 FA01021010 0"),
            "0 NO_SYNC( [init-decoder])\n"
            "13 SWTRACE( (Ma:0x00; Ch:0x00) +Mrk )\n"
            "18 SWTRACE( (Ma:0x40; Ch:0x480) 0x01021010; +Mrk )\n"
            "23 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, a_timestamp_belongs_to_its_packet) {
  EXPECT_EQ(bench().elements(kStart + "140 8AA1B EE00000003AEB284C9 F0111 F07550 0"),
            "0 NO_SYNC( [init-decoder])\n"
            "14 SWTRACE( (Ma:0x40; Ch:0x00) 0xaa; +Mrk  [ TS=0x00000000000b]; )\n"
            "17 SWTRACE( (Ma:0x40; Ch:0x00) +Mrk  [ TS=0x0003aeb284c9]; )\n"
            "26 SWTRACE( (Ma:0x40; Ch:0x00)  [ TS=0x0003aeb284c1]; )\n"
            "28 SWTRACE( (Ma:0x40; Ch:0x00) 0x55; Trig  [ TS=0x0003aeb284c1]; )\n"
            "31 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, global_error_sets_master_and_channel_to_zero) {
  EXPECT_EQ(bench().elements(kStart + "141 305 F277 411 142 412"),
            "0 NO_SYNC( [init-decoder])\n"
            "16 SWTRACE({Global Error.})\n"
            "18 SWTRACE( (Ma:0x00; Ch:0x00) 0x11; )\n"
            "21 SWTRACE( (Ma:0x42; Ch:0x00) 0x12; )\n"
            "22 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, master_error_resets_the_channel) {
  EXPECT_EQ(bench().elements(kStart + "141 305 277 411"),
            "0 NO_SYNC( [init-decoder])\n"
            "16 SWTRACE( (Ma:0x41; Ch:0x00) 0x77; {Master Error.})\n"
            "17 SWTRACE( (Ma:0x41; Ch:0x00) 0x11; )\n"
            "17 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, version_sets_master_and_channel_to_zero) {
  EXPECT_EQ(bench().elements(kStart + "141 305 F003 411 0"),
            "0 NO_SYNC( [init-decoder])\n"
            "18 SWTRACE( (Ma:0x00; Ch:0x00) 0x11; )\n"
            "19 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, frequency_and_what_coresight_does_not_send) {
  EXPECT_EQ(bench().elements(kStart + "F080124F800 F11234 F0A17 F022ABC F0F32C F0F00003938700"),
            "0 NO_SYNC( [init-decoder])\n"
            "13 SWTRACE( (Ma:0x00; Ch:0x00) 0x0124f800; Freq)\n"
            "21 SWTRACE( (Ma:0x1234; Ch:0x00) 0x17; XSync )\n"
            "24 SWTRACE( (Ma:0x1234; Ch:0x00) 0xabc; User )\n"
            "27 SWTRACE( (Ma:0x1234; Ch:0x00) 0x2c; {Channel Error.})\n"
            "30 SWTRACE( (Ma:0x1234; Ch:0x00) 0x0003938700; Freq)\n"
            "37 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, unsynchronised_start) {
  EXPECT_EQ(bench().elements("12" + kStart + "411 0"),
            "0 NO_SYNC( [init-decoder])\n"
            "14 SWTRACE( (Ma:0x00; Ch:0x00) 0x11; )\n"
            "15 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, bad_packet_is_recorded_and_decoding_goes_on) {
  EXPECT_EQ(
      bench().elements(kStart + "141 411 F4AAF 4" + kStart + "412 0"),
      "0 NO_SYNC( [init-decoder])\n"
      "14 SWTRACE( (Ma:0x41; Ch:0x00) 0x11; )\n"
      "! The length nibble of the timestamp is F, which is not a valid length. Decoding resumes at "
      "the next ASYNC.\n"
      "18 NO_SYNC( [bad-packet])\n"
      "32 SWTRACE( (Ma:0x00; Ch:0x00) 0x12; )\n"
      "33 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, async_within_a_packet_is_recorded) {
  const std::string text = bench().elements(kStart + "141 4A" + kStart + "412 0");
  EXPECT_NE(text.find("! This ASYNC begins inside the previous packet"), std::string::npos) << text;
  EXPECT_NE(text.find("SWTRACE( (Ma:0x00; Ch:0x00) 0x12; )"), std::string::npos) << text;
}

TEST(StmDecoder, reference_ends_at_a_bad_packet) {
  StmBench reference;
  reference.quirks = Quirks::reference();
  EXPECT_EQ(reference.elements(kStart + "141 411 F11234 412 0"),
            "0 NO_SYNC( [init-decoder])\n"
            "15 SWTRACE( (Ma:0x41; Ch:0x00) 0x11; )\n"
            "16 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, registers_that_contradict_the_trace_are_named_once) {
  StmBench bench;
  bench.config.stmtcsr = 0x00200001;
  bench.config.stmdevid = 0x3F;
  bench.config.stmspfeat3r = 0x80;
  const std::string text = bench.elements(kStart + "141 141 37F 380 F30100 E11 E12 E0 0");
  const auto count = [&](std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("! This packet has a timestamp, although STMTCSR.TSEN is 0"), 1U) << text;
  EXPECT_EQ(count("! STMDEVID names"), 1U) << text;
  EXPECT_EQ(count("! STMSPFEAT3R names"), 1U) << text;
}

TEST(StmDecoder, data_before_any_version_has_its_payload_and_no_time) {
  // D8MTS, FLAG_TS and NULL_TS, a D8 without a timestamp, then with VERSION a short timestamp, of
  // which the upper bits are not known, and a whole one.
  EXPECT_EQ(StmBench().elements(std::string(support::kStmAsync) +
                                "141 8AAC123456789ABC E15 F01217 4BB F003 1 41 8CC18 0"),
            "0 NO_SYNC( [init-decoder])\n"
            "! There are timestamps before the first VERSION packet, which states their encoding. "
            "Data before it has no time.\n"
            "12 SWTRACE( (Ma:0x41; Ch:0x00) 0xaa; +Mrk )\n"
            "20 SWTRACE( (Ma:0x41; Ch:0x00) +Mrk )\n"
            "25 SWTRACE( (Ma:0x41; Ch:0x00) 0xbb; )\n"
            "30 SWTRACE( (Ma:0x41; Ch:0x00) 0xcc; +Mrk  [ TS=0x000000000008]; )\n"
            "32 EO_TRACE( [end-of-trace])\n");
}

TEST(StmDecoder, a_time_after_timestamps_that_were_left_out_is_partial) {
  Decoder decoder{Config{}};
  std::vector<std::uint16_t> flags;
  StmBench().parse(
      support::nibbles(std::string(support::kStmAsync) +
                       "8AAC123456789ABC F003 8CC18 8CCE0000000000000009 0"),
      4096, [&](const Parser&, const Packet& packet) {
        decoder.accept(packet);
        Element element;
        while (decoder.busy()) {
          decoder.clear_diagnostics();
          if (decoder.drain({&element, 1}) != 0 && element.kind == ElementKind::kSwTrace)
            flags.push_back(element.flags);
        }
      });
  EXPECT_EQ(flags, (std::vector<std::uint16_t>{0, kElementHasTimestamp | kElementTimeIsPartial,
                                               kElementHasTimestamp}));
}

TEST(StmDecoder, empty_timestamps_contradict_nothing) {
  StmBench bench;
  bench.config.stmtcsr = 0x00200001;
  EXPECT_EQ(bench.elements(kStart + "E0 0 ").find('!'), std::string::npos);
}

TEST(StmDecoder, put_gives_what_accept_gives) {
  Decoder one{Config{}};
  Decoder other{Config{}};
  std::vector<Element> direct;
  std::vector<Element> drained;
  const auto drain = [](Decoder& decoder, std::vector<Element>& into) {
    Element element;
    while (decoder.busy()) {
      decoder.clear_diagnostics();
      if (decoder.drain({&element, 1}) != 0) into.push_back(element);
    }
  };
  StmBench().parse(support::nibbles(kStart + "141 411 8AA1B FE F4AAF" + kStart + "412 0"), 4096,
                   [&](const Parser&, const Packet& packet) {
                     Element element;
                     if (one.put(packet, &element, &element + 1) != &element)
                       direct.push_back(element);
                     drain(one, direct);
                     other.accept(packet);
                     drain(other, drained);
                   });
  ASSERT_EQ(direct.size(), drained.size());
  for (std::size_t i = 0; i < direct.size(); ++i) {
    EXPECT_EQ(direct[i].index, drained[i].index);
    EXPECT_EQ(direct[i].start, drained[i].start);
    EXPECT_EQ(direct[i].timestamp, drained[i].timestamp);
  }
}

/// For each element with a time: 'w' whole, 'p' without its upper bits.
std::string time_marks(const std::vector<Packet>& packets) {
  Decoder decoder{Config{}};
  std::string marks;
  std::array<Element, 4> out;
  for (const Packet& packet : packets) {
    decoder.accept(packet);
    while (decoder.busy()) {
      decoder.clear_diagnostics();
      for (const Element& element : std::span(out).first(decoder.drain(out))) {
        if ((element.extra & kSwTimestamp) == 0) continue;
        const bool known = (element.flags & kElementHasTimestamp) != 0;
        const char whole_or_part = (element.flags & kElementTimeIsPartial) != 0 ? 'p' : 'w';
        marks += known ? whole_or_part : '?';
      }
    }
  }
  return marks;
}

TEST(StmDecoder, times_are_whole_from_the_start_or_once_all_bits_were_sent) {
  const auto packet = [](PacketType type, std::uint64_t payload = 0) {
    Packet made;
    made.type = type;
    made.payload = payload;
    made.payload_bits = 4;
    return made;
  };
  const auto data = [&](std::uint8_t timestamp_bits) {
    Packet made = packet(PacketType::kD8);
    made.has_timestamp = true;
    made.timestamp_bits = timestamp_bits;
    return made;
  };
  using enum PacketType;
  EXPECT_EQ(time_marks({packet(kAsync), packet(kVersion, 3), data(0), data(8), data(0)}), "?ww");
  EXPECT_EQ(
      time_marks({packet(kNotSync), packet(kAsync), packet(kVersion, 3), data(8), data(64), data(4),
                  packet(kReserved), packet(kAsync), data(8), data(56), data(64), data(0)}),
      "pwwppww");
  EXPECT_EQ(time_marks({packet(kNotSync), packet(kAsync), packet(kVersion, 4), data(8), data(64)}),
            "?w")
      << "Gray code";
  EXPECT_EQ(time_marks({packet(kAsync), packet(kVersion, 2), data(8), packet(kReserved),
                        packet(kAsync), data(64)}),
            "wp")
      << "differences";
}

}  // namespace
}  // namespace waymark::stm
