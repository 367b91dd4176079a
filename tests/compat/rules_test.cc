// Rules of the reference in corners where several quirks work together.
#include <gtest/gtest.h>

#include <string>

#include "quirk_traces.h"

namespace waymark::compat {
namespace {

using enum QuirkTrace;

// ---- ETMv4 --------------------------------------------------------------------------------------

TEST(ReferenceRules, an_error_loses_exceptions_back_to_a_context_packet_of_its_own) {
  QuirkRow row{.trace = kEtmV4,
               .registers = {0, 0, 8},
               .code = "D503201F D503201F D503201F D503201F",
               .bytes = "AS 0605 9502 0605 9503 2d05"};
  std::string listing = quirk_listing(row);
  EXPECT_EQ(listing.find("EXCEPTION("), std::string::npos) << listing;
  EXPECT_NE(listing.find("TrcIdx=28; CS ID=01; Not enough elements to commit"), std::string::npos)
      << listing;
  row.bytes = "AS 0605 9502 8131 0605 9503 2d05";
  listing = quirk_listing(row);
  EXPECT_NE(listing.find("E 24 EXCEPTION(pref ret addr:0x1008"), std::string::npos) << listing;
  EXPECT_EQ(listing.find("E 30 EXCEPTION("), std::string::npos) << listing;
}

// ---- ETMv3 --------------------------------------------------------------------------------------

TEST(ReferenceRules, a_second_address_of_an_isync_that_does_not_begin_is_an_error_in_the_packet) {
  const std::string listing =
      quirk_listing({.trace = kEtmV3, .bytes = "AS 08a110000040 84", .packets_only = true});
  EXPECT_NE(listing.find("L PKTP_ETMV3 : 0x0013 (OCSD_ERR_BAD_PACKET_SEQ) [Bad packet sequence]; "
                         "TrcIdx=12; CS ID=01; Malformed Packet - oversized packet.\n"
                         "P 12 [08a110000040] I_SYNC : Instruction Packet synchronisation.; "
                         "(Trace Enable); Addr=0x40000010; S;  ISA=ARM(32); \n"),
            std::string::npos)
      << listing;
}

TEST(ReferenceRules, a_bad_header_after_a_bad_sequence_has_the_code_of_headers) {
  const std::string listing =
      quirk_listing({.trace = kEtmV3, .bytes = "AS 006c 0c", .packets_only = true});
  EXPECT_NE(listing.find("L PKTP_ETMV3 : 0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet "
                         "header]; TrcIdx=13; CS ID=01; Invalid data trace header (out of order "
                         "data) - not tracing data values.\n"
                         "P 13 [6c] BAD_TRACEMODE : Invalid packet type for this trace "
                         "mode.[BAD_SEQUENCE]\n"),
            std::string::npos)
      << listing;
}

TEST(ReferenceRules, an_unfinished_isync_gives_the_element_of_its_slot) {
  // The queue has eight slots: the ninth element is in that of the second one.
  std::string listing = quirk_listing({.trace = kEtmV3, .bytes = "AS 84 84 84 88 0800 E"});
  EXPECT_NE(listing.find("E 16 TRACE_ON( [begin or filter])\n"
                         "E 16 TRACE_ON( [begin or filter])\n"
                         "E 16 EO_TRACE( [end-of-trace])\n"),
            std::string::npos)
      << listing;
  listing = quirk_listing({.trace = kEtmV3, .bytes = "AS 84 84 84 88 428181818181810 1 0800 E"});
  EXPECT_NE(listing.find("E 24 TRACE_ON( [begin or filter])\n"
                         "E 24 PE_CONTEXT((ISA=A32) S; 32-bit; )\n"
                         "E 24 EO_TRACE( [end-of-trace])\n"),
            std::string::npos)
      << listing;
}

TEST(ReferenceRules, an_unfinished_isync_in_an_unused_slot_is_unknown) {
  const std::string listing = quirk_listing({.trace = kEtmV3, .bytes = "AS 84 0800 E"});
  EXPECT_NE(listing.find("E 13 TRACE_ON( [begin or filter])\nE 13 UNKNOWN()\n"), std::string::npos)
      << listing;
}

TEST(ReferenceRules, an_unfinished_first_isync_gives_a_context) {
  const std::string listing = quirk_listing({.trace = kEtmV3, .bytes = "A 0c 0800 E"});
  EXPECT_NE(listing.find("E 7 TRACE_ON( [begin or filter])\n"
                         "E 7 PE_CONTEXT((ISA=Unk) S; 32-bit; )\n"),
            std::string::npos)
      << listing;
}

TEST(ReferenceRules, zeros_that_are_left_at_the_end_have_no_type) {
  EXPECT_EQ(quirk_listing({.trace = kEtmV3, .bytes = "000066 E", .packets_only = true}),
            "P 0 [000066] I_RESERVED : Reserved Packet Header\n");
}

// ---- Bytes beyond the end of a segment ----------------------------------------------------------

TEST(ReferenceRules, unsynchronised_bytes_of_ptm_run_on_to_the_size_of_the_segment) {
  const std::string listing =
      quirk_listing({.trace = kPtm,
                     .bytes = "2311101110111011101110111011007e 2022222424262628282a2a2c2c2e2eff",
                     .framed = true,
                     .packets_only = true});
  EXPECT_EQ(listing,
            "P 0 [11111111111111111111111111] NOTSYNC : PTM Not Synchronised; \n"
            "P 13 [00] NOTSYNC : PTM Not Synchronised; \n"
            "P 14 [2122232425262728292a2b2c2d2e2f0f] NOTSYNC : PTM Not Synchronised; \n");
}

}  // namespace
}  // namespace waymark::compat
