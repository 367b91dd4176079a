#include "waymark/etmv3/encoder.h"

#include <gtest/gtest.h>

namespace waymark::etmv3 {
namespace {

using Out = std::vector<std::uint8_t>;

class Etmv3Encoder : public testing::Test {
 protected:
  Config config{
      .etmcr = 0, .etmidr = 0x410CF250, .etmccer = 0x344008F2, .etmtraceidr = 1, .core = {}};

  Out bytes(const Packet& packet) const {
    Out out;
    const auto done = encode(packet, config, out);
    EXPECT_TRUE(done) << done.error().detail;
    return out;
  }
  std::string refusal(const Packet& packet) const {
    Out out = {0x55};
    const auto done = encode(packet, config, out);
    EXPECT_EQ(out, Out{0x55});
    return done ? "" : done.error().detail;
  }
  static Packet branch(std::uint32_t address, isa::Isa isa, std::uint8_t bits) {
    Packet packet;
    packet.type = PacketType::kBranchAddress;
    packet.isa = isa;
    packet.address = {address, 32, bits};
    return packet;
  }
};

// Bytes of etmv3.md 5.5.
TEST_F(Etmv3Encoder, branches) {
  EXPECT_EQ(bytes(branch(0xC004F6AA, isa::Isa::kT32, 7)), (Out{0x2B}));
  EXPECT_EQ(bytes(branch(0xC004F680, isa::Isa::kT32, 14)), (Out{0x81, 0x6D}));
  EXPECT_EQ(bytes(branch(0xC035BEB6, isa::Isa::kT32, 28)), (Out{0xB7, 0xFD, 0xD6, 0x01}));
  EXPECT_EQ(bytes(branch(0xB6C33AAC, isa::Isa::kA32, 0)), (Out{0xD7, 0xBA, 0x86, 0xDB, 0x0D}));
  EXPECT_EQ(bytes(branch(0x80000F7C, isa::Isa::kT32, 32)), (Out{0xFD, 0x9E, 0x80, 0x80, 0x18}));
}

TEST_F(Etmv3Encoder, exceptions) {
  Packet packet = branch(0xFFFF0018, isa::Isa::kA32, 32);
  packet.exception.present = true;
  packet.exception.number = 14;
  packet.context.ns = true;
  EXPECT_EQ(bytes(packet), (Out{0x8D, 0x80, 0xFE, 0xFF, 0x4F, 0x1D}));
  packet.exception.number = 16;
  EXPECT_EQ(refusal(packet), "The exception number 16 has more than 4 bits.");
}

TEST_F(Etmv3Encoder, alternative_exceptions) {
  config.etmidr = 0x411CF250;
  config.core.profile = isa::Profile::kM;
  Packet packet = branch(0x80000002, isa::Isa::kT32, 13);
  packet.exception.present = packet.exception.cancel = true;
  packet.exception.number = 24;
  packet.exception.resume = 5;
  EXPECT_EQ(bytes(packet), (Out{0x83, 0x40, 0xB0, 0x81, 0x05}));
  packet.exception.cancel = false;
  packet.exception.number = 2;
  packet.exception.resume = 2;
  EXPECT_EQ(bytes(packet), (Out{0x83, 0x40, 0x84, 0x42}));
}

TEST_F(Etmv3Encoder, the_deprecated_form) {
  Packet packet = branch(0xFFFF0018, isa::Isa::kA32, 32);
  packet.exception = {.number = 14,
                      .resume = 0,
                      .present = true,
                      .cancel = true,
                      .has_hyp = false,
                      .deprecated = true};
  EXPECT_EQ(bytes(packet), (Out{0x8D, 0x80, 0xFE, 0xFF, 0xCF}));
  packet.exception.number = 11;
  EXPECT_NE(refusal(packet), "");
}

TEST_F(Etmv3Encoder, what_is_not_aligned_is_refused) {
  EXPECT_EQ(refusal(branch(0x1002, isa::Isa::kA32, 32)),
            "0x1002 is not aligned for its instruction set.");
}

TEST_F(Etmv3Encoder, p_headers) {
  Packet packet;
  packet.type = PacketType::kPHeader;
  packet.atoms = 0b011;
  packet.atom_count = 3;
  EXPECT_EQ(bytes(packet), Out{0xC8});
  packet.atoms = 0b101;
  EXPECT_EQ(refusal(packet), "No P-header of this mode has these atoms and cycles.");
  packet.atoms = 0b10;
  packet.atom_count = 2;
  EXPECT_EQ(bytes(packet), Out{0x8A});
  config.etmcr = 0x1000;
  packet.cycle_count = 1;
  EXPECT_EQ(bytes(packet), Out{0x8A});
  packet.atom_count = 0;
  packet.atoms = 0;
  EXPECT_EQ(bytes(packet), Out{0x80});
  packet.format = 3;
  EXPECT_EQ(bytes(packet), Out{0xA0});
}

TEST_F(Etmv3Encoder, the_longest_p_header) {
  EXPECT_EQ(longest_p_header(0xFFFF, 16, false).atom_count, 15);
  EXPECT_EQ(longest_p_header(0x7FFF, 16, false).atom_count, 16);
  EXPECT_EQ(longest_p_header(0b10, 2, false).atom_count, 2);
  EXPECT_EQ(longest_p_header(0b10, 2, true).atom_count, 1);
  EXPECT_EQ(longest_p_header(0xFF, 8, true).atom_count, 7);
}

TEST_F(Etmv3Encoder, data) {
  config.etmcr = 0xC;
  Packet packet;
  packet.type = PacketType::kNormData;
  packet.transfer.first = packet.transfer.has_address = true;
  packet.transfer.address = {0x20001000, 32, 0};
  packet.transfer.value = 0x55;
  packet.transfer.size = 1;
  EXPECT_EQ(bytes(packet), (Out{0x26, 0x80, 0xA0, 0x80, 0x80, 0x02, 0x55}));
  packet.transfer.big_endian = true;
  EXPECT_EQ(bytes(packet), (Out{0x26, 0x80, 0xA0, 0x80, 0x80, 0x12, 0x55}));
  packet.transfer.size = 3;
  EXPECT_EQ(refusal(packet), "A value has 0, 1, 2 or 4 bytes, not 3.");
  packet.transfer.size = 0;
  EXPECT_EQ(refusal(packet), "0x55 does not fit 0 bytes.");
  packet.type = PacketType::kOooAddress;
  EXPECT_EQ(refusal(packet), "A tag is 1, 2 or 3, not 0.");
}

TEST_F(Etmv3Encoder, timestamps) {
  Packet packet;
  packet.type = PacketType::kTimestamp;
  packet.timestamp = 0x82F9D0CD3D;
  packet.timestamp_bits = 64;
  EXPECT_EQ(bytes(packet), (Out{0x42, 0xBD, 0x9A, 0xC3, 0xCE, 0xAF, 0x90, 0x80, 0x80, 0x00}));
  packet.timestamp = 0x5;
  packet.timestamp_bits = 0;
  packet.frequency_change = true;
  EXPECT_EQ(bytes(packet), (Out{0x46, 0x05}));
  config.etmccer = 0;
  packet.timestamp = std::uint64_t{1} << 48;
  EXPECT_EQ(refusal(packet), "A timestamp of this trace unit has 48 bits.");
}

TEST_F(Etmv3Encoder, parser_states_are_not_encoded) {
  Packet packet;
  packet.type = PacketType::kNotSync;
  EXPECT_EQ(refusal(packet), "NOTSYNC is not a packet of the protocol.");
}

}  // namespace
}  // namespace waymark::etmv3
