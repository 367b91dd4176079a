#include "waymark/etmv3/decoder.h"

#include <gtest/gtest.h>

#include "support/etmv3_bench.h"

namespace waymark::etmv3 {
namespace {

class Etmv3Decoder : public testing::Test, protected support::Etmv3Bench {
 protected:
  // 1000 nop  1004 beq 1010  1008 bl 1020  100c nop  1010 bx lr  1014 nop  1018 blx 1028
  Etmv3Decoder() {
    program({kNop, 0x0A000001, 0xEB000004, kNop, 0xE12FFF1E, kNop, 0xFA000002, kNop, kNop, kNop,
             0xBF00BF00, 0xBF004770});
  }
  static std::string range(unsigned index, std::uint32_t start, std::string_view what,
                           unsigned size = 4, std::string_view isa = "A32") {
    return fmt::format(
        "{} INSTR_RANGE(exec range=0x{:x}:[0x{:x}] num_i(1) last_sz({}) (ISA={}) {})\n", index,
        start, start + size, size, isa, what);
  }
};

TEST_F(Etmv3Decoder, waits_for_async_and_isync) {
  EXPECT_EQ(raw_elements({0x84, 0, 0, 0, 0, 0, 0x80, 0x84, 0x42, 0x05, 0x0C}),
            "0 NO_SYNC( [init-decoder])\n8 TIMESTAMP( [ TS=0x000000000005]; )\n");
}

TEST_F(Etmv3Decoder, a_cycle_accurate_trace_counts_before_the_isync_too) {
  config.etmcr = 0x10001000;
  EXPECT_EQ(raw_elements({0, 0, 0, 0, 0, 0x80, 0xA4, 0x84, 0x04, 0x05}),
            "0 NO_SYNC( [init-decoder])\n6 CYCLE_COUNT( [CC=2]; )\n7 CYCLE_COUNT( [CC=1]; )\n"
            "8 CYCLE_COUNT( [CC=5]; )\n");
}

TEST_F(Etmv3Decoder, each_atom_is_an_instruction) {
  EXPECT_EQ(elements({0xC4, 0x84, 0x84, 0x84}, true),
            range(12, 0x1000, "E --- ") + range(12, 0x1004, "N BR   <cond>") +
                range(13, 0x1008, "E BR  b+link ") + range(14, 0x1020, "E --- ") +
                range(15, 0x1024, "E --- ") + "15 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3Decoder, the_last_range_waits_for_the_next_packet) {
  EXPECT_EQ(elements({0x88}), range(12, 0x1000, "E --- "));
  EXPECT_EQ(elements({0x88}, true), range(12, 0x1000, "E --- ") +
                                        range(12, 0x1004, "E BR   <cond>") +
                                        "12 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3Decoder, elements_after_the_last_range_wait_with_it) {
  EXPECT_EQ(elements({0x84, 0x42, 0x05, 0x0C}), "");
  EXPECT_EQ(elements({0x84, 0x42, 0x05, 0x0C, 0xC0}), range(12, 0x1000, "E --- ") +
                                                          "13 TIMESTAMP( [ TS=0x000000000005]; )\n"
                                                          "15 EVENT( Trigger; )\n");
}

TEST_F(Etmv3Decoder, an_indirect_branch_needs_an_address) {
  EXPECT_EQ(elements({0x88, 0x84, 0x84, 0xC0, 0x8B, 0x90, 0x80, 0x80, 0x08, 0x84}, true),
            range(12, 0x1000, "E --- ") + range(12, 0x1004, "E BR   <cond>") +
                range(13, 0x1010, "E iBR V7:impl ret") + "14 ADDR_UNKNOWN()\n" +
                range(21, 0x1014, "E --- ") + "21 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3Decoder, a_missing_image_is_reported_once) {
  EXPECT_EQ(elements({0x81, 0xA0, 0x80, 0x80, 0x08, 0x88, 0x84}),
            "17 ADDR_NACC( 0x2000; Memspace [0x19:Any S] )\n17 ADDR_UNKNOWN()\n");
}

TEST_F(Etmv3Decoder, a_change_by_a_direct_branch_holds) {
  EXPECT_EQ(elements({0x8D, 0x90, 0x80, 0x80, 0x08, 0x84, 0x84, 0x84}, true),
            range(17, 0x1018, "E BR  b+link ") + range(18, 0x1028, "E --- ", 2, "T32") +
                range(19, 0x102A, "E --- ", 2, "T32") + "19 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3Decoder, jazelle_cannot_be_followed_and_is_reported_once) {
  EXPECT_EQ(raw_elements(joined({async(), {0x08, 0x31, 0x00, 0x10, 0x00, 0x00, 0x84, 0x84}})),
            "0 NO_SYNC( [init-decoder])\n6 TRACE_ON( [begin or filter])\n"
            "6 PE_CONTEXT((ISA=Jaz) S; 32-bit; )\n"
            "12 ADDR_NACC( 0x1000; Memspace [0x19:Any S] )\n"
            "12 !! The code is Jazelle or ThumbEE, which cannot be followed.\n"
            "13 ADDR_UNKNOWN()\n");
}

TEST_F(Etmv3Decoder, cycles_are_at_their_atoms) {
  config.etmcr = 0x10001000;
  EXPECT_EQ(elements({0x86, 0xE8, 0xA4, 0x96, 0x80}, true),
            "12 INSTR_RANGE(exec range=0x1000:[0x1004] num_i(1) last_sz(4) (ISA=A32) E ---  "
            "[CC=1]; )\n"
            "12 INSTR_RANGE(exec range=0x1004:[0x1008] num_i(1) last_sz(4) (ISA=A32) N BR   <cond> "
            "[CC=0]; )\n"
            "13 INSTR_RANGE(exec range=0x1008:[0x100c] num_i(1) last_sz(4) (ISA=A32) E BR  b+link "
            " [CC=3]; )\n"
            "14 CYCLE_COUNT( [CC=2]; )\n"
            "15 INSTR_RANGE(exec range=0x1020:[0x1024] num_i(1) last_sz(4) (ISA=A32) N ---  "
            "[CC=0]; )\n"
            "16 CYCLE_COUNT( [CC=1]; )\n16 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3Decoder, an_isync_with_a_count_has_it_at_its_context) {
  config.etmcr = 0x10001000;
  EXPECT_EQ(elements({0x70, 0x8F, 0x3C, 0x41, 0x00, 0x10, 0x00, 0x00}),
            "12 TRACE_ON( [overflow])\n12 PE_CONTEXT((ISA=A32) S; 32-bit;  [CC=7695]; )\n");
}

TEST_F(Etmv3Decoder, a_periodic_isync_gives_a_context_only) {
  EXPECT_EQ(elements({0x08, 0x09, 0x00, 0x10, 0x00, 0x00}),
            "12 PE_CONTEXT((ISA=A32) N; 32-bit; )\n");
}

TEST_F(Etmv3Decoder, contexts_show_the_present_instruction_set) {
  config.etmcr = 0x8000;
  EXPECT_EQ(raw_elements(joined({async(),
                                 {0x08, 0x34, 0x12, 0x2B, 0x01, 0x10, 0x00, 0x00},
                                 {0x6E, 0x78, 0x56, 0x3C, 0x07}})),
            "0 NO_SYNC( [init-decoder])\n6 TRACE_ON( [begin or filter])\n"
            "6 PE_CONTEXT((ISA=T32) EL2N; 32-bit; CTXTID=0x1234; )\n"
            "14 PE_CONTEXT((ISA=T32) EL2N; 32-bit; CTXTID=0x5678; )\n"
            "17 PE_CONTEXT((ISA=T32) EL2N; 32-bit; VMID=0x7; CTXTID=0x5678; )\n");
}

// ---- Exceptions; etmv3.md 9.4 -------------------------------------------------------------------

TEST_F(Etmv3Decoder, an_exception_without_cancel_keeps_the_range) {
  EXPECT_EQ(elements({0x84, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1D}),
            range(12, 0x1000, "E --- ") +
                "13 PE_CONTEXT((ISA=A32) N; 32-bit; )\n"
                "13 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(Etmv3Decoder, a_cancel_takes_back_the_last_range_however_many_came) {
  for (const unsigned count : {1U, 2U, 3U, 4U}) {
    std::vector<std::uint8_t> bytes(count, 0xC0);  // N: the address advances.
    bytes.insert(bytes.end(), {0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C});
    const std::string text = elements(bytes);
    std::size_t ranges = 0;
    for (std::size_t at = 0; (at = text.find("INSTR_RANGE", at)) != std::string::npos; ++at)
      ++ranges;
    EXPECT_EQ(ranges, count - 1);
    EXPECT_TRUE(text.ends_with("EXCEPTION(excep num (0x0e) )\n"));
  }
}

TEST_F(Etmv3Decoder, a_cancel_in_the_same_header_takes_the_last_only) {
  EXPECT_EQ(elements({0xC4, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C}),
            range(12, 0x1000, "E --- ") + "13 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(Etmv3Decoder, a_cancel_reaches_over_cycles_and_times) {
  config.etmcr = 0x10001000;
  EXPECT_EQ(elements({0x84, 0xA4, 0x42, 0x05, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C}),
            "12 CYCLE_COUNT( [CC=1]; )\n"
            "13 CYCLE_COUNT( [CC=2]; )\n14 TIMESTAMP( [ TS=0x000000000005]; )\n"
            "16 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(Etmv3Decoder, a_second_cancel_takes_nothing) {
  EXPECT_EQ(elements({0xC0, 0xC0, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C, 0x8D, 0x80, 0xFE, 0xFF, 0x4F,
                      0x3C}),
            range(12, 0x1000, "N --- ") +
                "14 EXCEPTION(excep num (0x0e) )\n20 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(Etmv3Decoder, number_0_only_changes_the_state) {
  EXPECT_EQ(elements({0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x01}),
            "12 PE_CONTEXT((ISA=A32) N; 32-bit; )\n");
}

TEST_F(Etmv3Decoder, an_exception_return_is_cancelled_with_its_instruction) {
  EXPECT_EQ(elements({0x84, 0x76, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C}),
            "14 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(Etmv3Decoder, on_m_only_the_return_is_cancelled) {
  config.core.profile = isa::Profile::kM;
  EXPECT_EQ(elements({0x84, 0x76, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C}),
            range(12, 0x1000, "E --- ") + "14 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(Etmv3Decoder, on_m_a_return_that_is_not_cancelled_is_shown) {
  config.core.profile = isa::Profile::kM;
  EXPECT_EQ(elements({0x84, 0x76, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1C}),
            range(12, 0x1000, "E --- ") + "13 EXCEPTION_RET()\n14 EXCEPTION(excep num (0x0e) )\n");
}

TEST_F(Etmv3Decoder, a_load_in_progress_is_one_more_instruction) {
  EXPECT_EQ(
      raw_elements(joined({async(), {0x08, 0xA1, 0x00, 0x10, 0x00, 0x00, 0x85, 0x10, 0x84}}), true),
      "0 NO_SYNC( [init-decoder])\n6 TRACE_ON( [begin or filter])\n"
      "6 PE_CONTEXT((ISA=A32) S; 32-bit; )\n" +
          range(6, 0x1000, "E --- ") + range(14, 0x1008, "E BR  b+link ") +
          "14 EO_TRACE( [end-of-trace])\n");
}

// ---- Damage -------------------------------------------------------------------------------------

TEST_F(Etmv3Decoder, a_bad_packet_is_reported_and_decoding_resumes_at_the_next_sync) {
  EXPECT_EQ(elements(joined({{0x84, 0x12, 0x84, 0x84}, async(), isync(), {0x84}}), true),
            range(12, 0x1000, "E --- ") +
                "13 !! A packet header is reserved.\n14 NO_SYNC( [bad-packet])\n"
                "22 TRACE_ON( [begin or filter])\n22 PE_CONTEXT((ISA=A32) S; 32-bit; )\n" +
                range(28, 0x1000, "E --- ") + "28 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3Decoder, a_trace_that_ends_inside_a_packet_says_so) {
  EXPECT_EQ(elements({0x84, 0x81}, true),
            range(12, 0x1000, "E --- ") +
                "13 !! The trace ends inside a packet.\n13 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3Decoder, registers_that_the_bytes_deny_are_named_once) {
  EXPECT_EQ(elements({0x04, 0x05, 0x04, 0x05}),
            "12 CYCLE_COUNT( [CC=5]; )\n12 !! The trace has cycle counts, although ETMCR[12] says "
            "that it is not cycle-accurate.\n14 CYCLE_COUNT( [CC=5]; )\n");
  config.etmcr = 0;
  EXPECT_NE(elements({0x42, 0x05}).find("ETMCR[28]"), std::string::npos);
  config.etmidr = 0x4100F240;
  EXPECT_NE(elements({0x42, 0x05}).find("ETMIDR[7:4]"), std::string::npos);
  EXPECT_NE(elements({0x3C, 0x05}).find("ETMIDR[7:4]"), std::string::npos);
  EXPECT_NE(elements({0x02}).find("ETMCR[3:2]"), std::string::npos);
  EXPECT_NE(elements({0x6E}).find("ETMCR[15:14]"), std::string::npos);
}

// ---- Timestamps; etmv3.md 6.5 and 11 ------------------------------------------------------------

/// The timestamps of a stream: those with unknown upper bits in brackets, and without a value if
/// they have none.
std::string times(const Config& config, const std::vector<std::uint8_t>& bytes,
                  const DecoderQuirks& quirks = {}) {
  const image::Image image;
  Parser parser(config);
  Decoder decoder(config, image, quirks);
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  std::string text;
  Packet packet;
  while (parser.next(packet)) {
    decoder.accept(packet);
    decoder.clear_diagnostics();
    Element element;
    while (decoder.drain({&element, 1}) != 0) {
      if (element.kind != ElementKind::kTimestamp) continue;
      const bool partial = (element.flags & kElementTimeIsPartial) != 0;
      if ((element.flags & kElementHasTimestamp) == 0) {
        text += "[no value] ";
        continue;
      }
      text += fmt::format(fmt::runtime(partial ? "[{:x}] " : "{:x} "), element.timestamp);
    }
  }
  return text;
}

TEST_F(Etmv3Decoder, upper_bits_of_a_time_are_unknown_until_they_were_sent) {
  const std::vector<std::uint8_t> low = {0x42, 0x85, 0x01};
  const std::vector<std::uint8_t> seven = {0x42, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
  const std::vector<std::uint8_t> nine = {0x42, 0x81, 0x80, 0x80, 0x80,
                                          0x80, 0x80, 0x80, 0x80, 0x01};
  const auto all = joined({async(), isync(), low, seven, low, nine, low});
  EXPECT_EQ(times(config, all),
            "[85] [40000000001] [40000000085] 100000000000001 100000000000085 ");
  config.etmccer &= ~(1U << 29);  // 48 bits.
  EXPECT_EQ(times(config, joined({async(), isync(), low, seven, low})),
            "[85] 40000000001 40000000085 ");
  EXPECT_EQ(times(config, joined({async(), isync(), low}), DecoderQuirks::reference()), "85 ");
}

TEST_F(Etmv3Decoder, times_in_gray_code_are_converted_and_have_no_value_until_they_are_whole) {
  const std::vector<std::uint8_t> low = {0x42, 0x0D};
  const std::vector<std::uint8_t> seven = {0x42, 0x86, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
  const auto all = joined({async(), isync(), low, seven, low});
  config.etmccer = 0;
  EXPECT_EQ(times(config, all), "[no value] 4 9 ");
  EXPECT_EQ(times(config, all, {.timestamps_not_converted = true}), "[d] 6 d ");
  config.etmccer = 1U << 28;
  EXPECT_EQ(times(config, all), "[d] 6 d ");
}

TEST_F(Etmv3Decoder, upper_bits_of_a_time_are_unknown_after_a_loss) {
  const std::vector<std::uint8_t> low = {0x42, 0x85, 0x01};
  const std::vector<std::uint8_t> nine = {0x42, 0x81, 0x80, 0x80, 0x80,
                                          0x80, 0x80, 0x80, 0x80, 0x01};
  const auto whole = joined({async(), isync(), nine, low});
  EXPECT_EQ(times(config, joined({whole, {0x12}, async(), isync(), low})),
            "100000000000001 100000000000085 [100000000000085] ");
  EXPECT_EQ(times(config, joined({whole, {0x81}, async(), isync(), low, nine, low})),
            "100000000000001 100000000000085 [100000000000085] 100000000000001 100000000000085 ");
}

TEST_F(Etmv3Decoder, a_reset_begins_again) {
  Decoder decoder(config, image);
  Packet packet;
  packet.type = PacketType::kASync;
  decoder.accept(packet);
  Element element;
  ASSERT_EQ(decoder.drain({&element, 1}), 1U);
  EXPECT_EQ(element.reason, static_cast<std::uint8_t>(UnsyncReason::kInitDecoder));
  decoder.reset();
  decoder.accept(packet);
  ASSERT_EQ(decoder.drain({&element, 1}), 1U);
  EXPECT_EQ(element.reason, static_cast<std::uint8_t>(UnsyncReason::kResetDecoder));
}

}  // namespace
}  // namespace waymark::etmv3
