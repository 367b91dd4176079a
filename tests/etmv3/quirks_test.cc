// Each deviation of the reference, switched on; quirks.h gives its bytes.
#include "waymark/etmv3/quirks.h"

#include <gtest/gtest.h>

#include "support/etmv3_bench.h"
#include "waymark/etmv3/source.h"

namespace waymark::etmv3 {
namespace {

class Etmv3Quirks : public testing::Test, protected support::Etmv3Bench {
 protected:
  Etmv3Quirks() { reference(); }
};

// ---- Parser -------------------------------------------------------------------------------------

TEST_F(Etmv3Quirks, blocks_end_unsynchronised_bytes) {
  EXPECT_EQ(packets({0x11, 0x22, 0x00, 0x33, 0x44, 0, 0, 0, 0, 0, 0x80}, 4),
            "0 [11 22] NOTSYNC : Trace Stream not synchronised\n"
            "4 [00 33 44] NOTSYNC : Trace Stream not synchronised\n"
            "5 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n");
}

TEST_F(Etmv3Quirks, first_zeros_have_no_type) {
  std::vector<std::uint8_t> bytes(14, 0x00);
  bytes.push_back(0x80);
  EXPECT_EQ(packets(bytes),
            "0 [00 00 00 00 00 00 00 00] I_RESERVED : Reserved Packet Header\n"
            "8 [00] NOTSYNC : Trace Stream not synchronised\n"
            "9 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n");
}

TEST_F(Etmv3Quirks, zeros_too_many_are_bad_one_by_one) {
  EXPECT_EQ(packets({0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x80}),
            "0 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n"
            "6 [00] BAD_SEQUENCE : Invalid sequence for packet type.[A_SYNC]\n"
            "7 [00] BAD_SEQUENCE : Invalid sequence for packet type.[A_SYNC]\n"
            "8 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n");
}

TEST_F(Etmv3Quirks, zeros_that_a_cut_packet_took_are_none_of_the_async) {
  EXPECT_EQ(after_isync({0x81, 0, 0, 0, 0, 0, 0x80, 0x0C}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x00000000 ~[0x0]; \n"
            "BAD_SEQUENCE : Invalid sequence for packet type.[A_SYNC]\n"
            "P_HDR : Atom P-header.; \nTRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3Quirks, a_byte_at_a_time_they_are_the_same) {
  const std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x0C};
  EXPECT_EQ(packets(bytes, 1), packets(bytes));
}

TEST_F(Etmv3Quirks, bad_packets_do_not_lose_synchronisation) {
  EXPECT_EQ(after_isync({0x00, 0x84, 0x12, 0x84}),
            "BAD_SEQUENCE : Invalid sequence for packet type.[A_SYNC]\n"
            "P_HDR : Atom P-header.; E\nI_RESERVED : Reserved Packet Header\n"
            "P_HDR : Atom P-header.; E\n");
}

TEST_F(Etmv3Quirks, invalid_p_headers_have_no_atoms) {
  config.etmcr = 0x1000;
  EXPECT_EQ(after_isync({0x80, 0xA2, 0xD2}),
            "P_HDR : Atom P-header.; \nP_HDR : Atom P-header.; \nP_HDR : Atom P-header.; E\n");
}

TEST_F(Etmv3Quirks, exception_bytes_go_on_while_bit_7_is_set) {
  EXPECT_EQ(after_isync({0x81, 0x80, 0x80, 0x80, 0x48, 0x82, 0x80, 0x80, 0x81, 0x01, 0x84}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x00000000 ~[0x0]; S; "
            "Exception=Debug Halt; \nP_HDR : Atom P-header.; E\n");
}

TEST_F(Etmv3Quirks, timestamps_go_on_while_bit_7_is_set) {
  const std::string text = packets({0, 0, 0, 0, 0, 0x80, 0x46, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                    0xFF, 0xFF, 0xFF, 0x42, 0x0C});
  EXPECT_NE(text.find("ff ff ff 42] TIMESTAMP"), std::string::npos) << text;
  EXPECT_NE(text.find("17 [0c]"), std::string::npos);
}

TEST_F(Etmv3Quirks, the_second_address_of_an_isync_hides_the_first) {
  EXPECT_EQ(after_async({0x08, 0xA1, 0x00, 0x10, 0x00, 0x80, 0x11}),
            "I_SYNC : Instruction Packet synchronisation.; (Trace Enable); Addr=0x80001020; S;  "
            "ISA=ARM(32); \n");
  EXPECT_EQ(after_async({0x08, 0xA1, 0x00, 0x10, 0x00, 0x00, 0x11}),
            "I_SYNC : Instruction Packet synchronisation.; (Trace Enable); Addr=0x00001000; S;  "
            "ISA=ARM(32); \nBRANCH_ADDRESS : Branch address.; Addr=0x00001020 ~[0x20]; \n");
}

TEST_F(Etmv3Quirks, thumbee_of_an_isync_is_forgotten) {
  EXPECT_NE(after_async({0x08, 0x25, 0x01, 0x10, 0x00, 0x00, 0x83, 0x81, 0x81, 0x81, 0x18})
                .find("ISA=Thumb2"),
            std::string::npos);
}

TEST_F(Etmv3Quirks, a_context_id_without_bytes_takes_one) {
  EXPECT_EQ(after_async({0x6E, 0x55, 0x0C}),
            "CONTEXT_ID : Context ID change.; CtxtID=0x0\nTRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3Quirks, a_vmid_is_printed_as_a_character) {
  EXPECT_EQ(after_async({0x3C, 0x41}), "VMID : VMID change.; VMID=0xA\n");
}

TEST_F(Etmv3Quirks, data_addresses_are_broken) {
  config.etmcr = 0xC;
  EXPECT_EQ(after_isync({0x2E, 0x80, 0x80, 0x01, 0x11, 0x22, 0x33, 0x44}),
            "NORM_DATA : Data trace packet.; Addr=0x????????0 (-1:0); Val=0x22110180\n");
  EXPECT_EQ(after_isync({0x26, 0x85, 0x05, 0x44, 0x03}),
            "NORM_DATA : Data trace packet.; Addr=0x????????0 (-1:0); Val=0x5\n"
            "BRANCH_ADDRESS : Branch address.; Addr=0x00001004 ~[0x4]; \n");
  EXPECT_EQ(after_isync({0x22, 0x01, 0x0C, 0x0C}), "NORM_DATA : Data trace packet.\n");
  EXPECT_EQ(after_isync({0x6A, 0x01, 0x0C}),
            "VAL_NOT_TRACED : Data trace value not traced.; Addr=0x????????0 (-1:0)\n"
            "TRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3Quirks, a_bad_mode_names_the_packet_before_it) {
  EXPECT_EQ(after_isync({0x0C, 0x02}),
            "TRIGGER : Trace Trigger Event.\n"
            "BAD_TRACEMODE : Invalid packet type for this trace mode.[TRIGGER]\n");
}

TEST_F(Etmv3Quirks, what_is_unfinished_is_a_packet_of_its_type) {
  EXPECT_EQ(after_isync({0x81, 0x80}), "BRANCH_ADDRESS : Branch address.; Addr=0x00001000; \n");
  EXPECT_EQ(after_isync({0x42, 0x33, 0x42, 0x81}),
            "TIMESTAMP : Timestamp Value.; TS=0x33 (51) \n"
            "TIMESTAMP : Timestamp Value.; TS=0x33 (51) \n");
}

TEST_F(Etmv3Quirks, deprecated_numbers_are_taken_for_others) {
  EXPECT_EQ(after_isync({0x8D, 0x80, 0xFE, 0xFF, 0xCF}),
            "BRANCH_ADDRESS : Branch address.; Addr=0xFFFF0018 ~[0xFFFF0018]; "
            "Exception=Debug Halt; ; Cancel prev instr\n");
}

TEST_F(Etmv3Quirks, a_malformed_branch_keeps_its_type_and_the_address) {
  EXPECT_EQ(after_isync({0x81, 0x80, 0x80, 0x80, 0x01}),
            "BRANCH_ADDRESS : Branch address.; Addr=0x00001000; \n");
}

// ---- Decoder ------------------------------------------------------------------------------------

TEST_F(Etmv3Quirks, only_a_lone_range_can_be_cancelled) {
  program({kNop, kNop, kNop, kNop, kNop, kNop});
  const std::vector<std::uint8_t> cancelling = {0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C};
  const auto ranges = [&](unsigned count) {
    std::vector<std::uint8_t> bytes(count, 0x84);
    bytes.insert(bytes.end(), cancelling.begin(), cancelling.end());
    const std::string text = elements(bytes, true);
    unsigned found = 0;
    for (std::size_t at = 0; (at = text.find("INSTR_RANGE", at)) != std::string::npos; ++at)
      ++found;
    return found;
  };
  EXPECT_EQ(ranges(5), 4U);
  EXPECT_EQ(ranges(4), 4U);
}

TEST_F(Etmv3Quirks, what_follows_a_cancel_is_held_in_its_place) {
  program({kNop, kNop});
  EXPECT_EQ(elements({0x84, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C}), "");
  EXPECT_EQ(elements({0x84, 0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x3C, 0x0C}),
            "13 EXCEPTION(excep num (0x0e) )\n19 EVENT( Trigger; )\n");
}

TEST_F(Etmv3Quirks, a_change_by_a_direct_branch_is_lost_at_the_end_of_the_header) {
  program({0xFA000000, kNop, 0xBF00BF00, kNop});  // blx 0x1008
  EXPECT_EQ(elements({0x88, 0x84, 0x0C}),
            "12 INSTR_RANGE(exec range=0x1000:[0x1004] num_i(1) last_sz(4) (ISA=A32) E BR  b+link "
            ")\n12 INSTR_RANGE(exec range=0x1008:[0x100a] num_i(1) last_sz(2) (ISA=T32) E --- )\n"
            "13 INSTR_RANGE(exec range=0x100a:[0x100e] num_i(1) last_sz(4) (ISA=A32) E ---  "
            "<cond>)\n14 EVENT( Trigger; )\n");
}

TEST_F(Etmv3Quirks, contexts_show_a_stale_instruction_set) {
  config.etmcr = 0x8000;
  const std::vector<std::uint8_t> thumb = {0x08, 0x05, 0x00, 0x21, 0x01, 0x10, 0x00, 0x00};
  EXPECT_NE(raw_elements(joined({async(), thumb, {0x6E, 0x78, 0x56}}))
                .find("PE_CONTEXT((ISA=A32) S; 32-bit; CTXTID=0x5678; )"),
            std::string::npos);
}

// A range and an exception return are held while the next header adds seven ranges: the queue of
// eight grows, and the stale slots after it are new.
TEST_F(Etmv3Quirks, the_queue_grows_where_atoms_come_in_a_row_too) {
  config.etmcr = 0x8000;
  program({0xBF00BF00, 0xBF00BF00, 0xBF00BF00, 0xBF00BF00, 0xBF00BF00, 0xBF00BF00, 0xBF00BF00,
           0xBF00BF00, 0xBF00BF00, 0xBF00BF00, 0xBF00BF00, 0xBF00BF00});
  const std::vector<std::uint8_t> thumb = {0x08, 0x05, 0x00, 0x21, 0x01, 0x10, 0x00, 0x00};
  const std::vector<std::uint8_t> bytes =
      joined({async(), thumb, {0x90, 0x90, 0x84, 0x76, 0x9C, 0x6E, 0x78, 0x56}});
  const std::string text = raw_elements(bytes);
  EXPECT_NE(text.find("PE_CONTEXT((ISA=A32) S; 32-bit; CTXTID=0x5678; )"), std::string::npos)
      << text;
  auto source = make_source(config, &image, {.quirks = kReferenceQuirks});
  ASSERT_TRUE(source) << source.error().detail;
  std::vector<Element> elements;
  support::feed(**source, 0, bytes, 0, 1024, elements);
  std::string in_a_row;
  for (const Element& element : elements)
    in_a_row += std::to_string(element.index) + " " + support::text_of(element);
  EXPECT_NE(in_a_row.find("PE_CONTEXT((ISA=A32) S; 32-bit; CTXTID=0x5678; )"), std::string::npos)
      << in_a_row;
}

TEST_F(Etmv3Quirks, code_that_cannot_be_followed_gives_stale_ranges) {
  program({kNop, kNop});
  EXPECT_NE(raw_elements(joined({async(), {0x08, 0x31, 0x00, 0x10, 0x00, 0x00, 0x84, 0x0C}}))
                .find("INSTR_RANGE(exec range=0x0:[0x0] num_i(0) last_sz(0) (ISA=A32) N --- )"),
            std::string::npos);
}

TEST_F(Etmv3Quirks, a_bad_packet_is_fatal) {
  program({kNop, kNop});
  EXPECT_EQ(elements({0x88, 0x12, 0x0C}, true),
            "12 INSTR_RANGE(exec range=0x1000:[0x1004] num_i(1) last_sz(4) (ISA=A32) E --- )\n"
            "12 INSTR_RANGE(exec range=0x1004:[0x1008] num_i(1) last_sz(4) (ISA=A32) E --- )\n"
            "13 fatal: A packet header is reserved.\n");
  EXPECT_EQ(elements({0x02}), "12 fatal: There is a data packet, but the registers allow none.\n");
  EXPECT_EQ(elements({0x00, 0x84}),
            "12 fatal: A run of zeros looks like an A-sync, but its end is missing.\n");
}

TEST_F(Etmv3Quirks, empty_p_headers_give_an_element) {
  program({kNop, kNop});
  config.etmcr = 0x1000;
  EXPECT_EQ(elements({0x80, 0xA2}), "12 CYCLE_COUNT( [CC=1]; )\n13 CYCLE_COUNT( [CC=1]; )\n");
}

TEST_F(Etmv3Quirks, an_unfinished_isync_gives_an_element_of_no_kind) {
  program({kNop, kNop});
  EXPECT_EQ(elements({0x08}, true),
            "12 TRACE_ON( [begin or filter])\n12 UNKNOWN()\n12 EO_TRACE( [end-of-trace])\n");
}

}  // namespace
}  // namespace waymark::etmv3
