// An A-sync after a packet whose end was lost: some or all of its zeros were taken by that packet.
// See etmv3.md 6.2.
#include <gtest/gtest.h>

#include "support/etmv3_bench.h"
#include "support/etmv3_stream.h"

namespace waymark::etmv3 {
namespace {

constexpr const char* kCut =
    "!! The packet before this synchronisation is cut short. Its last bytes are zeros of the "
    "synchronisation, so its content is wrong.\n";

class Etmv3CutPackets : public testing::Test, protected support::Etmv3Bench {
 protected:
  Etmv3CutPackets() { program({kNop, kNop, kNop, kNop}); }

  /// The packets after an A-sync and isync(): `cut`, an A-sync, and a trigger.
  [[nodiscard]] std::string after(const std::vector<std::uint8_t>& cut) const {
    return after_isync(joined({cut, async(), {0x0C}}));
  }
};

TEST_F(Etmv3CutPackets, one_zero_is_taken) {
  EXPECT_EQ(packets(joined({async(), isync(), {0x81}, async(), isync()})),
            "0 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n"
            "6 [08 21 00 10 00 00] I_SYNC : Instruction Packet synchronisation.; (Trace Enable); "
            "Addr=0x00001000; S;  ISA=ARM(32); \n"
            "12 [81 00] BRANCH_ADDRESS : Branch address.; Addr=0x00000000 ~[0x0]; \n"
            "14 [00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n"
            "19 [08 21 00 10 00 00] I_SYNC : Instruction Packet synchronisation.; (Trace Enable); "
            "Addr=0x00001000; S;  ISA=ARM(32); \n");
}

TEST_F(Etmv3CutPackets, all_zeros_are_taken) {
  // The five bytes after the header are zeros: a whole I-sync.
  EXPECT_EQ(after({0x08}),
            "I_SYNC : Instruction Packet synchronisation.; (Periodic); Addr=0x00000000; S;  "
            "ISA=ARM(32); \n"
            "A_SYNC : Alignment Synchronisation.\nTRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3CutPackets, the_last_byte_is_taken_too) {
  // Two bytes of cycles, one of information, and four of an address that ends with the 0x80.
  EXPECT_EQ(after({0x70, 0x8F}),
            "BAD_SEQUENCE : Invalid sequence for packet type.[I_SYNC_CYCLE]\n"
            "A_SYNC : Alignment Synchronisation.\nTRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3CutPackets, zeros_of_a_packet_that_is_bad_count_too) {
  // The fifth byte of a branch is zero, which does not name an instruction set.
  EXPECT_EQ(after({0x81, 0x80, 0x80, 0x80}),
            "BAD_SEQUENCE : Invalid sequence for packet type.[BRANCH_ADDRESS]\n"
            "A_SYNC : Alignment Synchronisation.\nTRIGGER : Trace Trigger Event.\n");
}

TEST_F(Etmv3CutPackets, zeros_before_other_bytes_do_not_count) {
  EXPECT_EQ(packets({0, 0, 0, 0, 0, 0x80, 0x3C, 0x00, 0x0C, 0, 0, 0, 0, 0x80}),
            "0 [00 00 00 00 00 80] A_SYNC : Alignment Synchronisation.\n"
            "6 [3c 00] VMID : VMID change.; VMID=0x0\n"
            "8 [0c] TRIGGER : Trace Trigger Event.\n"
            "9 [00 00 00 00] BAD_SEQUENCE : Invalid sequence for packet type.[A_SYNC]\n"
            "13 [80] NOTSYNC : Trace Stream not synchronised\n");
}

TEST_F(Etmv3CutPackets, the_decoder_reports_it_and_starts_again) {
  EXPECT_EQ(elements(joined({{0x84, 0x81}, async(), isync(), {0x84}}), true),
            "12 INSTR_RANGE(exec range=0x1000:[0x1004] num_i(1) last_sz(4) (ISA=A32) E --- )\n"
            "15 " +
                std::string(kCut) +
                "20 NO_SYNC( [bad-packet])\n"
                "20 TRACE_ON( [begin or filter])\n"
                "20 PE_CONTEXT((ISA=A32) S; 32-bit; )\n"
                "26 INSTR_RANGE(exec range=0x1000:[0x1004] num_i(1) last_sz(4) (ISA=A32) E --- )\n"
                "26 EO_TRACE( [end-of-trace])\n");
}

TEST_F(Etmv3CutPackets, between_an_async_and_its_isync_it_is_only_reported) {
  EXPECT_EQ(raw_elements(joined({async(), {0x42, 0x85}, async(), isync(), {0x84}}), true),
            "0 NO_SYNC( [init-decoder])\n"
            "6 TIMESTAMP( [ TS=0x000000000005]; )\n"
            "9 " +
                std::string(kCut) +
                "14 TRACE_ON( [begin or filter])\n"
                "14 PE_CONTEXT((ISA=A32) S; 32-bit; )\n"
                "20 INSTR_RANGE(exec range=0x1000:[0x1004] num_i(1) last_sz(4) (ISA=A32) E --- )\n"
                "20 EO_TRACE( [end-of-trace])\n");
}

// ---- Every packet, cut at every byte ------------------------------------------------------------

/// The positions after the A-syncs of `bytes`.
std::vector<std::size_t> async_ends(const Config& config, Bytes bytes, std::size_t chunk) {
  std::vector<std::size_t> ends;
  Parser parser(config);
  Packet packet;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    const Bytes part = bytes.subspan(at, std::min(chunk, bytes.size() - at));
    const frames::Run run{.position = 0, .index = at};
    parser.feed({part, {&run, 1}});
    while (parser.next(packet))
      if (packet.type == PacketType::kASync) ends.push_back(packet.index + packet.length);
  }
  return ends;
}

TEST(Etmv3AnyCutPacket, hides_no_async) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    support::Random random(seed);
    const Config config = support::random_etmv3_config(random);
    support::Etmv3Packets packets(random, config);
    std::vector<std::uint8_t> start;
    Packet sync;
    sync.type = PacketType::kASync;
    ASSERT_TRUE(encode(sync, config, start));
    ASSERT_TRUE(encode(packets.isync(), config, start));
    for (unsigned i = 0; i < 20; ++i) {
      std::vector<std::uint8_t> cut;
      const Packet packet = packets.next();
      ASSERT_TRUE(encode(packet, config, cut));
      while (!cut.empty()) {
        cut.pop_back();
        std::vector<std::uint8_t> bytes = start;
        bytes.insert(bytes.end(), cut.begin(), cut.end());
        ASSERT_TRUE(encode(sync, config, bytes));
        const std::size_t end = bytes.size();
        bytes.push_back(0x0C);
        for (const std::size_t chunk : {bytes.size(), std::size_t{1}, std::size_t{5}}) {
          const auto ends = async_ends(config, bytes, chunk);
          ASSERT_EQ(ends.back(), end)
              << "seed " << seed << ", packet type " << static_cast<int>(packet.type) << ", "
              << cut.size() << " bytes, in chunks of " << chunk;
        }
      }
    }
  }
}

}  // namespace
}  // namespace waymark::etmv3
