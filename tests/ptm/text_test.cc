// The worked examples of ptm.md 5.6.
#include "waymark/ptm/text.h"

#include <gtest/gtest.h>

#include "support/ptm_bench.h"

namespace waymark::ptm {
namespace {

class PtmText : public testing::Test, protected support::PtmBench {
 protected:
  /// The text of a branch after an I-sync to `address` (bit 0: Thumb), without its name.
  [[nodiscard]] std::string branch(std::uint32_t address, std::initializer_list<std::uint8_t> bytes,
                                   std::initializer_list<std::uint8_t> before = {}) const {
    std::vector<std::uint8_t> all = {0, 0, 0, 0, 0, 0x80, 0x08};
    for (unsigned shift = 0; shift < 32; shift += 8)
      all.push_back(static_cast<std::uint8_t>(address >> shift));
    all.push_back(0x01);
    for (unsigned i = 0; i < config.context_id_bytes(); ++i) all.push_back(0);
    all.insert(all.end(), before);
    all.insert(all.end(), bytes);
    Parser parser(config);
    const frames::Run run{0, 0};
    parser.feed({all, {&run, 1}});
    Packet packet;
    while (parser.next(packet)) {
    }
    TextBuffer text;
    write_packet(text, packet, quirks);
    constexpr std::string_view kName = "BRANCH_ADDRESS : Branch address packet; ";
    EXPECT_TRUE(text.view().starts_with(kName));
    return std::string(text.view().substr(kName.size()));
  }
};

TEST_F(PtmText, branches_of_one_byte) {
  EXPECT_EQ(branch(0x80000558, {0x2F}), "Addr=0x8000055C ~[0x5C]; ");
}

TEST_F(PtmText, branches_of_two_bytes) {
  EXPECT_EQ(branch(0x80001BA0, {0xAD, 0x05}), "Addr=0x80000558 ~[0x558]; ");
}

TEST_F(PtmText, five_bytes_change_the_instruction_set) {
  EXPECT_EQ(branch(0x80000000, {0xFD, 0x9E, 0x80, 0x80, 0x18}),
            "Addr=0x80000F7C ~[0x80000F7C]; ISA=Thumb2; ");
  EXPECT_EQ(branch(0, {0x8D, 0x80, 0xFE, 0xFF, 0x20}),
            "Addr=0x07FFC006 ~[0x7FFC006]; ISA=Jazelle; ");
  EXPECT_EQ(branch(0, {0x8D, 0x80, 0xFE, 0xFF, 0x50, 0x40}),
            "Addr=0x0FFF800C ~[0xFFF800C]; ISA=ThumbEE; S; Excep=No Exception [00]; ");
}

TEST_F(PtmText, thumbee_stays_until_an_information_byte_says_otherwise) {
  EXPECT_EQ(branch(0, {0x83, 0x81, 0x81, 0x81, 0x18},
                   {0x8D, 0x80, 0xFE, 0xFF, 0x50, 0x40, 0x08, 0, 0, 0, 0, 0x01}),
            "Addr=0x80204082 ~[0x80204082]; ISA=ThumbEE; ");
}

TEST_F(PtmText, exceptions) {
  EXPECT_EQ(branch(0x80000000, {0x81, 0x80, 0x80, 0x80, 0x48, 0x02}),
            "Addr=0x00000000 ~[0x0]; S; Excep=Debug Halt [01]; ");
  EXPECT_EQ(branch(0x80000000, {0x83, 0x41, 0x82, 0x20}),
            "Addr=0x80000104 ~[0x104]; S; Hyp; Excep=Debug Halt [01]; ");
  EXPECT_EQ(branch(0x80000000, {0x83, 0x41, 0x82, 0x01}),
            "Addr=0x80000104 ~[0x104]; S; Excep=Unknown [11]; ");
}

TEST_F(PtmText, branches_with_cycle_counts) {
  config.etmcr = kCycles;
  EXPECT_EQ(branch(0xC0018001, {0xA3, 0x0B, 0x68, 0x17}), "Addr=0xC00185A2 ~[0x5A2]; Cycles=378; ");
  EXPECT_EQ(branch(0xC0018001, {0xBB, 0xB6, 0xBD, 0x01, 0x04}),
            "Addr=0xC02F5B3A ~[0x2F5B3A]; Cycles=1; ");
  EXPECT_EQ(branch(0xC0010EF4, {0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1D, 0x3C}),
            "Addr=0xFFFF0018 ~[0xFFFF0018]; NS; Excep=IRQ [0e]; Cycles=15; ");
  EXPECT_EQ(branch(0xC0010E00, {0x79, 0x70, 0xA3, 0x8D, 0x09}),
            "Addr=0xC0010EF0 ~[0xF0]; Cycles=2386492; ");
}

TEST_F(PtmText, a_partly_known_address) {
  config.etmcr = kCycles;
  EXPECT_EQ(packets({0xFF, 0x26, 0x04}),
            "BRANCH_ADDRESS : Branch address packet; Addr=0x????137E (12:0) ~[0x137E]; Cycles=1; "
            "\n");
}

TEST_F(PtmText, waypoint_updates) {
  EXPECT_EQ(packets({0x08, 0xF4, 0x0E, 0x01, 0xC0, 0x01, 0x72, 0x79}),
            "ISYNC : Instruction Synchronisation packet; (Periodic); Addr=0xc0010ef4; S;  "
            "ISA=ARM(32); \n"
            "WP_UPDATE : Waypoint update packet; Addr=0xC0010EF0 ~[0xF0]; \n");
  EXPECT_EQ(packets({0x72, 0x8D, 0x80, 0xFE, 0xFF, 0x50, 0x40}),
            "WP_UPDATE : Waypoint update packet; Addr=0x0FFF800C ~[0xFFF800C]; ISA=ThumbEE; \n");
}

TEST_F(PtmText, isyncs) {
  EXPECT_EQ(packets({0x08, 0x58, 0x05, 0x00, 0x80, 0x61}),
            "ISYNC : Instruction Synchronisation packet; (Debug Exit); Addr=0x80000558; S;  "
            "ISA=ARM(32); \n");
  config.etmcr = kCycles;
  EXPECT_EQ(packets({0x08, 0xDF, 0x8D, 0x01, 0xC0, 0x21, 0xCC, 0x03}),
            "ISYNC : Instruction Synchronisation packet; (Trace Enable); Addr=0xc0018dde; S;  "
            "ISA=Thumb2; Cycles=51; \n");
  EXPECT_EQ(packets({0x08, 0x83, 0x8D, 0x01, 0xC0, 0x01}),
            "ISYNC : Instruction Synchronisation packet; (Periodic); Addr=0xc0018d82; S;  "
            "ISA=Thumb2; \n");
  EXPECT_EQ(packets({0x08, 0x28, 0x63, 0x03, 0xC0, 0x29, 0xF0, 0x17}),
            "ISYNC : Instruction Synchronisation packet; (Trace Enable); Addr=0xc0036328; NS;  "
            "ISA=ARM(32); Cycles=380; \n");
  config.etmcr = kCycles | 2U << 14;
  EXPECT_EQ(packets({0x08, 0x00, 0x10, 0x00, 0x80, 0x43, 0x44, 0x01, 0xEF, 0xBE}),
            "ISYNC : Instruction Synchronisation packet; (Restart Overflow); Addr=0x80001000; S; "
            "Hyp; CtxtID=0000beef; ISA=ARM(32); Cycles=17; \n");
}

TEST_F(PtmText, atoms) {
  EXPECT_EQ(packets({0xC8}), "ATOM : Atom packet; EENEE; \n");
  config.etmcr = kCycles;
  EXPECT_EQ(packets({0xE8, 0x20}), "ATOM : Atom packet; E; Cycles=522; \n");
  EXPECT_EQ(packets({0xDE, 0x01}), "ATOM : Atom packet; N; Cycles=23; \n");
  EXPECT_EQ(packets({0xBC}), "ATOM : Atom packet; E; Cycles=15; \n");
  EXPECT_EQ(packets({0x80}), "ATOM : Atom packet; E; Cycles=0; \n");
  EXPECT_EQ(packets({0xC6, 0xFF, 0xFF, 0xFF, 0xFF}),
            "ATOM : Atom packet; N; Cycles=4294967281; \n");
}

TEST_F(PtmText, timestamps) {
  config.etmcr = kCycles;
  EXPECT_EQ(packets({0x42, 0xCC, 0x97, 0xC6, 0xCE, 0xAF, 0x90, 0x80, 0x80, 0x00, 0x00,  //
                     0x46, 0x80, 0x1D, 0x00}),
            "TIMESTAMP : Timestamp packet; TS=0x00000082F9D18BCC ~[0x82F9D18BCC](562537008076); "
            "Cycles=0; \n"
            "TIMESTAMP : Timestamp packet; TS=0x00000082F9D18E80 ~[0xE80](562537008768); "
            "Cycles=0; \n");
  config.etmidr = 0x411CF300;
  EXPECT_EQ(packets({0x42, 0xE7, 0xF0, 0xAE, 0xC8, 0x8E, 0x8B, 0x00, 0x0C}),
            "TIMESTAMP : Timestamp packet; TS=0x00000058E90BB867 ~[0x58E90BB867](381866981479); "
            "Cycles=3; \n");
}

TEST_F(PtmText, context_ids_and_packets_without_payload) {
  config.etmcr = kContextId4;
  EXPECT_EQ(packets({0x6E, 0x78, 0x56, 0x34, 0x12, 0x0C, 0x66, 0x76}),
            "CTXTID : Context ID packet; CtxtID=0x12345678; \n"
            "TRIGGER : Trigger Event packet; \n"
            "IGNORE : Ignore packet; \n"
            "ERET : Exception return packet; \n");
  config.etmcr = 0;
  EXPECT_EQ(packets({0x6E}), "CTXTID : Context ID packet; CtxtID=0x00000000; \n");
}

TEST_F(PtmText, the_reference_shows_a_vmid_as_a_character) {
  EXPECT_EQ(packets({0x3C, 0x41}), "VMID : VM ID packet; VMID=0x41; \n");
  quirks.vmid_as_character = true;
  EXPECT_EQ(packets({0x3C, 0x41}), "VMID : VM ID packet; VMID=0x0A; \n");
}

}  // namespace
}  // namespace waymark::ptm
