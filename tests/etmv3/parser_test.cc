#include "waymark/etmv3/parser.h"

#include <gtest/gtest.h>

#include "support/etmv3_bench.h"

namespace waymark::etmv3 {
namespace {

class Etmv3Parser : public testing::Test, protected support::Etmv3Bench {
 protected:
  /// Thumb code at `address`, secure.
  static std::vector<std::uint8_t> thumb(std::uint32_t address) {
    return {0x08,
            0x21,
            static_cast<std::uint8_t>(address | 1),
            static_cast<std::uint8_t>(address >> 8),
            static_cast<std::uint8_t>(address >> 16),
            static_cast<std::uint8_t>(address >> 24)};
  }
  std::string after(const std::vector<std::uint8_t>& first,
                    const std::vector<std::uint8_t>& bytes) const {
    const std::string head = after_async(first);
    return after_async(joined({first, bytes})).substr(head.size());
  }
};

// ---- Branches; etmv3.md 5.5 ---------------------------------------------------------------------

TEST_F(Etmv3Parser, short_branches_keep_the_upper_bits) {
  const auto at = thumb(0xC004F6AC);
  EXPECT_EQ(after(at, {0x2B}), "BRANCH_ADDRESS : Branch address.; Addr=0xC004F6AA ~[0x2A]; \n");
  EXPECT_EQ(after(at, {0x81, 0x6D}),
            "BRANCH_ADDRESS : Branch address.; Addr=0xC004F680 ~[0x3680]; \n");
  EXPECT_EQ(after(at, {0xB7, 0xFD, 0xD6, 0x01}),
            "BRANCH_ADDRESS : Branch address.; Addr=0xC035BEB6 ~[0x35BEB6]; \n");
}

TEST_F(Etmv3Parser, five_bytes_give_the_instruction_set) {
  const auto at = thumb(0x1000);
  EXPECT_EQ(after(at, {0xD7, 0xBA, 0x86, 0xDB, 0x0D}),
            "BRANCH_ADDRESS : Branch address.; Addr=0xB6C33AAC ~[0xB6C33AAC]; ISA=ARM(32); \n");
  EXPECT_EQ(after(at, {0x9B, 0xD8, 0x87, 0x80, 0x08}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x0003D834 ~[0x3D834]; ISA=ARM(32); \n");
  EXPECT_EQ(after_isync({0xFD, 0x9E, 0x80, 0x80, 0x18}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x80000F7C ~[0x80000F7C]; ISA=Thumb2; \n");
  EXPECT_EQ(after_isync({0x83, 0x80, 0x80, 0x80, 0x30}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x80000001 ~[0x80000001]; ISA=Jazelle; \n");
}

TEST_F(Etmv3Parser, exceptions_follow_five_bytes) {
  EXPECT_EQ(after_isync({0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1D}),
            "BRANCH_ADDRESS : Branch address.; Addr=0xFFFF0018 ~[0xFFFF0018]; NS; "
            "Exception=IRQ; \n");
  EXPECT_EQ(after_isync({0x81, 0x80, 0x80, 0x80, 0x48, 0x82, 0x20}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x00000000 ~[0x0]; S; Hyp; "
            "Exception=Debug Halt; \n");
  EXPECT_EQ(after_isync({0x81, 0x80, 0x80, 0x80, 0x48, 0x22}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x00000000 ~[0x0]; S; "
            "Exception=Debug Halt; ; Cancel prev instr\n");
}

TEST_F(Etmv3Parser, deprecated_exceptions_become_those_of_today) {
  EXPECT_EQ(after_isync({0x8D, 0x80, 0xFE, 0xFF, 0xCF}),
            "BRANCH_ADDRESS : Branch address.; Addr=0xFFFF0018 ~[0xFFFF0018]; "
            "Exception=IRQ; ; Cancel prev instr\n");
  EXPECT_EQ(after_isync({0x81, 0x80, 0x80, 0x80, 0x80}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x00000000 ~[0x0]; Exception=PE Reset; \n");
}

TEST_F(Etmv3Parser, the_alternative_encoding_has_its_flag_in_the_last_byte) {
  config.etmidr = 0x411CF250;
  config.core.profile = isa::Profile::kM;
  const auto at = thumb(0x80000400);
  EXPECT_EQ(after(at, {0x85, 0x48, 0x02}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x80000404 ~[0x404]; S; Exception=IRQ1\n");
  const auto base = thumb(0x80000000);
  EXPECT_EQ(after(base, {0x83, 0x40, 0x92, 0x01}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x80000002 ~[0x2]; S; Exception=IRQ9\n");
  EXPECT_EQ(after(base, {0x83, 0x40, 0x84, 0x42}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x80000002 ~[0x2]; S; Exception=IRQ2; "
            "Resume=2\n");
  EXPECT_EQ(after(base, {0x83, 0x40, 0xB0, 0x81, 0x05}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x80000002 ~[0x2]; S; Exception=IRQ8; "
            "Resume=5; Cancel prev instr\n");
}

TEST_F(Etmv3Parser, a_fifth_byte_that_names_no_instruction_set_is_a_bad_sequence) {
  EXPECT_EQ(after_isync({0x81, 0x80, 0x80, 0x80, 0x01, 0x84}),
            "BAD_SEQUENCE : Invalid sequence for packet type.[BRANCH_ADDRESS]\n"
            "NOTSYNC : Trace Stream not synchronised\n");
}

TEST_F(Etmv3Parser, unknown_digits_are_question_marks) {
  EXPECT_EQ(after_async({0x21}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x??????40 (7:0) ~[0x40]; \n");
}

// ---- I-sync; etmv3.md 6.1 -----------------------------------------------------------------------

TEST_F(Etmv3Parser, isync_of_a_capture) {
  EXPECT_EQ(after_async({0x08, 0x01, 0x5D, 0x11, 0x02, 0xC0}),
            "I_SYNC : Instruction Packet synchronisation.; (Periodic); Addr=0xc002115c; S;  "
            "ISA=Thumb2; \n");
  EXPECT_EQ(after_async({0x70, 0x8F, 0x3C, 0x21, 0x99, 0xF6, 0x04, 0xC0}),
            "I_SYNC_CYCLE : Instruction Packet synchronisation with cycle count.; (Trace Enable); "
            "Addr=0xc004f698; S;  ISA=Thumb2; Cycles=7695; \n");
}

TEST_F(Etmv3Parser, isync_with_context_id) {
  config.etmcr = 0x8000;
  EXPECT_EQ(after_async({0x08, 0x34, 0x12, 0x21, 0x01, 0x10, 0x00, 0x80}),
            "I_SYNC : Instruction Packet synchronisation.; (Trace Enable); Addr=0x80001000; S;  "
            "CtxtID=1234; ISA=Thumb2; \n");
}

TEST_F(Etmv3Parser, data_only_isync_has_no_address) {
  config.etmcr = 0x100004;
  EXPECT_EQ(after_async({0x08, 0x21, 0x70, 0x05, 0x21, 0x0C}),
            "I_SYNC : Instruction Packet synchronisation.; (Trace Enable); S;  \n"
            "I_SYNC_CYCLE : Instruction Packet synchronisation with cycle count.; "
            "(Trace Enable); S;  \nTRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3Parser, the_largest_cycle_count) {
  EXPECT_EQ(after_async({0x70, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x41, 0x01, 0x00, 0x00, 0x00}),
            "I_SYNC_CYCLE : Instruction Packet synchronisation with cycle count.; "
            "(Restart Overflow); Addr=0x00000000; S;  ISA=Thumb2; Cycles=4294967295; \n");
}

TEST_F(Etmv3Parser, a_load_in_progress_has_two_addresses) {
  EXPECT_EQ(after_async({0x08, 0xA1, 0x00, 0x10, 0x00, 0x80, 0x11}),
            "I_SYNC : Instruction Packet synchronisation.; (Trace Enable); Data Instr "
            "Addr=0x80001000; Curr Instr Addr=0x80001020; S;  ISA=ARM(32); \n");
}

TEST_F(Etmv3Parser, hyp_needs_the_virtualization_extensions) {
  EXPECT_NE(after_async({0x08, 0x23, 0x00, 0x10, 0x00, 0x00}).find("Hyp"), std::string::npos);
  config.etmccer = 0;
  EXPECT_EQ(after_async({0x08, 0x23, 0x00, 0x10, 0x00, 0x00}).find("Hyp"), std::string::npos);
}

TEST_F(Etmv3Parser, thumbee_needs_version_3_3) {
  EXPECT_NE(after_async({0x08, 0x25, 0x01, 0x10, 0x00, 0x00}).find("ThumbEE"), std::string::npos);
  config.etmidr = 0x4100F220;
  EXPECT_NE(after_async({0x08, 0x25, 0x01, 0x10, 0x00, 0x00}).find("Thumb2"), std::string::npos);
}

TEST_F(Etmv3Parser, thumbee_of_an_isync_holds_for_later_branches) {
  EXPECT_EQ(after({0x08, 0x25, 0x01, 0x10, 0x00, 0x00}, {0x83, 0x81, 0x81, 0x81, 0x18}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x80204082 ~[0x80204082]; \n");
}

// ---- The other packets; etmv3.md 6 and 7 --------------------------------------------------------

TEST_F(Etmv3Parser, timestamps_replace_low_bits) {
  EXPECT_EQ(
      after_async({0x42, 0xBD, 0x9A, 0xC3, 0xCE, 0xAF, 0x90, 0x80, 0x80, 0x00, 0x42, 0x85, 0x2B}),
      "TIMESTAMP : Timestamp Value.; TS=0x82f9d0cd3d (562536959293) \n"
      "TIMESTAMP : Timestamp Value.; TS=0x82f9d0d585 (562536961413) \n");
}

TEST_F(Etmv3Parser, a_timestamp_ends_with_its_last_possible_byte) {
  EXPECT_EQ(after_async({0x46, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0C}),
            "TIMESTAMP : Timestamp Value.; TS=0xffffffffffffffff (18446744073709551615) \n"
            "TRIGGER : Trace Trigger Event.\n");
  config.etmccer = 0;
  EXPECT_EQ(after_async({0x42, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0C}),
            "TIMESTAMP : Timestamp Value.; TS=0xffffffffffff (281474976710655) \n"
            "TRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3Parser, contexts) {
  config.etmcr = 0xC000;
  EXPECT_EQ(after_async({0x6E, 0x78, 0x56, 0x34, 0x12, 0x3C, 0x41}),
            "CONTEXT_ID : Context ID change.; CtxtID=0x12345678\nVMID : VMID change.; "
            "VMID=0x41\n");
}

TEST_F(Etmv3Parser, a_context_id_that_the_registers_deny_is_bad) {
  EXPECT_EQ(after_async({0x6E}),
            "BAD_TRACEMODE : Invalid packet type for this trace mode.[CONTEXT_ID]\n");
}

TEST_F(Etmv3Parser, data_packets_with_values_only) {
  config.etmcr = 4;
  EXPECT_EQ(after_async({0x0E, 0x11, 0x22, 0x33, 0x44, 0x02, 0x06, 0x55, 0x0A, 0x66, 0x77}),
            "NORM_DATA : Data trace packet.; Val=0x44332211\nNORM_DATA : Data trace packet.; "
            "Val=0x0\nNORM_DATA : Data trace packet.; Val=0x55\nNORM_DATA : Data trace packet.; "
            "Val=0x7766\n");
  EXPECT_EQ(after_async({0x48, 0x22, 0x33, 0x54, 0x50, 0x62, 0x6A}),
            "OOO_DATA : Out of Order data value packet.; Val=0x3322; OO_Tag=0x2\n"
            "OOO_ADDR_PLC : Out of Order data address placeholder.; OO_Tag=0x1\n"
            "STORE_FAIL : Data Store Failed.\nDATA_SUPPRESSED : Data trace suppressed.\n"
            "VAL_NOT_TRACED : Data trace value not traced.\n");
}

TEST_F(Etmv3Parser, data_addresses_are_relative_to_the_last_data_address) {
  config.etmcr = 0xC;
  EXPECT_EQ(after_isync({0x2E, 0x80, 0x80, 0x01, 0x11, 0x22, 0x33, 0x44}),
            "NORM_DATA : Data trace packet.; Addr=0x??004000 (20:0) ~[0x4000]; Val=0x44332211\n");
  EXPECT_EQ(after_isync({0x26, 0x80, 0xA0, 0x80, 0x80, 0x02, 0x55, 0x22, 0x04, 0x31}),
            "NORM_DATA : Data trace packet.; Addr=0x20001000 ~[0x20001000]; Val=0x55\n"
            "NORM_DATA : Data trace packet.; Addr=0x20001004 ~[0x4]; Val=0x0\n"
            "BRANCH_ADDRESS : Branch address.; Addr=0x00001060 ~[0x60]; \n");
}

TEST_F(Etmv3Parser, addresses_without_values) {
  config.etmcr = 8;
  EXPECT_EQ(after_async({0x22, 0x08, 0x02, 0x7A, 0x0C, 0x74, 0x10}),
            "NORM_DATA : Data trace packet.; Addr=0x??????08 (6:0) ~[0x8]\n"
            "NORM_DATA : Data trace packet.\n"
            "VAL_NOT_TRACED : Data trace value not traced.; Addr=0x??????0C (6:0) ~[0xC]\n"
            "OOO_ADDR_PLC : Out of Order data address placeholder.; Addr=0x??????10 (6:0) "
            "~[0x10]; OO_Tag=0x1\n");
}

TEST_F(Etmv3Parser, a_data_address_has_five_bytes_at_most) {
  config.etmcr = 8;
  EXPECT_EQ(after_async({0x22, 0x81, 0x81, 0x81, 0x81, 0x81}),
            "BAD_SEQUENCE : Invalid sequence for packet type.[NORM_DATA]\n");
}

TEST_F(Etmv3Parser, data_packets_that_the_registers_deny_are_bad) {
  EXPECT_EQ(after_async({0x02}),
            "BAD_TRACEMODE : Invalid packet type for this trace mode.[NORM_DATA]\n");
  config.etmcr = 8;
  EXPECT_EQ(after_async({0x24}),
            "BAD_TRACEMODE : Invalid packet type for this trace mode.[OOO_DATA]\n");
}

TEST_F(Etmv3Parser, reserved_headers) {
  EXPECT_EQ(after_async({0x12}), "I_RESERVED : Reserved Packet Header\n");
  EXPECT_EQ(after_async({0x92}), "I_RESERVED : Reserved Packet Header\n");
}

// ---- Synchronisation; etmv3.md 6.2 and 8 --------------------------------------------------------

TEST_F(Etmv3Parser, any_number_of_zeros_from_five_on_makes_an_async) {
  EXPECT_EQ(packets({0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x0C}),
            "0 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n"
            "6 [00 00 00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n"
            "14 [0c] TRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3Parser, after_a_bad_packet_the_next_async_is_sought) {
  EXPECT_EQ(packets({0, 0, 0, 0, 0, 0x80, 0, 0, 0x84, 0x84, 0, 0, 0, 0, 0, 0x80, 0x0C}),
            "0 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n"
            "6 [00 00] BAD_SEQUENCE : Invalid sequence for packet type.[A_SYNC]\n"
            "8 [84 84] NOTSYNC : Trace Stream not synchronised\n"
            "10 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n"
            "16 [0c] TRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3Parser, unsynchronised_bytes_come_sixteen_at_a_time) {
  std::vector<std::uint8_t> bytes(20, 0x33);
  bytes.insert(bytes.end(), {0, 0, 0x44, 0, 0, 0, 0, 0, 0x80});
  const std::string text =
      "0 [33 33 33 33 33 33 33 33 33 33 33 33 33 33 33 33] NOTSYNC : Trace Stream not "
      "synchronised\n16 [33 33 33 33] NOTSYNC : Trace Stream not synchronised\n"
      "20 [00 00 44] NOTSYNC : Trace Stream not synchronised\n"
      "23 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n";
  for (const std::size_t chunk : {1U, 2U, 3U, 7U, 16U, 4096U})
    EXPECT_EQ(packets(bytes, chunk), text);
}

TEST_F(Etmv3Parser, a_gap_in_the_capture_ends_a_stretch_of_unsynchronised_bytes) {
  Parser parser(config);
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5};
  const frames::Run runs[] = {{.position = 0, .index = 86, .whole_frames = false},
                              {.position = 3, .index = 96, .whole_frames = false}};
  parser.feed({bytes, runs});
  Packet packet;
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.index, 86U);
  EXPECT_EQ(parser.packet_bytes().size(), 3U);
  EXPECT_FALSE(parser.next(packet));
  ASSERT_TRUE(parser.finish(packet));
  EXPECT_EQ(packet.index, 96U);
  EXPECT_EQ(parser.statistics().unsynced_bytes, 5U);
}

TEST_F(Etmv3Parser, the_end_inside_a_packet_is_reported) {
  EXPECT_EQ(after_isync({0x0C, 0x81, 0x80}),
            "TRIGGER : Trace Trigger Event.\n"
            "INCOMPLETE_EOT : Incomplete packet at end of trace.[BRANCH_ADDRESS]\n");
}

TEST_F(Etmv3Parser, zeros_without_end_are_bad_at_the_longest_packet) {
  std::vector<std::uint8_t> bytes = async();
  bytes.resize(bytes.size() + Parser::kMaxPacketBytes + 10, 0x00);
  Parser parser(config);
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.type, PacketType::kBadSequence);
  EXPECT_EQ(parser.packet_bytes().size(), Parser::kMaxPacketBytes);
  EXPECT_EQ(parser.statistics().bad_sequences, 1U);
}

TEST_F(Etmv3Parser, a_reset_forgets_all) {
  Parser parser(config);
  const std::vector<std::uint8_t> bytes = joined({async(), isync()});
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  while (parser.next(packet)) {
  }
  parser.reset();
  EXPECT_FALSE(parser.synchronised());
  const std::vector<std::uint8_t> more = joined({async(), {0x21}});
  parser.feed({more, {&run, 1}});
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(packet.address.valid_bits, 8);
}

TEST_F(Etmv3Parser, a_withdrawn_rest_is_not_counted) {
  Parser parser(config);
  const std::vector<std::uint8_t> bytes = joined({async(), {0x0C, 0x0C, 0x0C}});
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  ASSERT_TRUE(parser.next(packet));
  ASSERT_TRUE(parser.next(packet));
  EXPECT_EQ(parser.withdraw(), 7U);
  EXPECT_FALSE(parser.next(packet));
  EXPECT_EQ(parser.statistics().total_bytes, 7U);
}

}  // namespace
}  // namespace waymark::etmv3
