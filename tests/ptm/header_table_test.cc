#include "../../src/ptm/header_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "waymark/ptm/atoms.h"

namespace waymark::ptm {
namespace {

TEST(PtmHeaders, odd_bytes_are_branches_and_even_ones_from_0x80_atoms) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(kHeaderTypes[byte] == PacketType::kBranchAddress, (byte & 1) == 1);
    EXPECT_EQ(kHeaderTypes[byte] == PacketType::kAtom, (byte & 0x81) == 0x80);
  }
}

TEST(PtmHeaders, ten_others_have_a_meaning) {
  EXPECT_EQ(std::ranges::count(kHeaderTypes, PacketType::kReserved), 256 - 128 - 64 - 10);
}

// See ptm.md 4.1.
TEST(PtmAtoms, the_oldest_is_the_highest_bit_and_zero_is_executed) {
  const auto letters = [](std::uint8_t header) {
    const AtomPacket& packet = atom_packet(header);
    std::string text;
    for (unsigned i = 0; i < packet.atom_count; ++i)
      text += (packet.atoms >> i & 1) != 0 ? 'E' : 'N';
    return text;
  };
  EXPECT_EQ(letters(0x80), "E");
  EXPECT_EQ(letters(0x84), "E");
  EXPECT_EQ(letters(0x86), "N");
  EXPECT_EQ(letters(0x88), "EE");
  EXPECT_EQ(letters(0x8E), "NN");
  EXPECT_EQ(letters(0x94), "ENE");
  EXPECT_EQ(letters(0x9C), "NNE");
  EXPECT_EQ(letters(0xBC), "NNNE");
  EXPECT_EQ(letters(0xC0), "EEEEE");
  EXPECT_EQ(letters(0xC8), "EENEE");
  EXPECT_EQ(letters(0xD0), "ENEEE");
  EXPECT_EQ(letters(0xE2), "NEEEN");
  EXPECT_EQ(letters(0xF0), "NNEEE");
  EXPECT_EQ(letters(0xDC), "ENNNE");
  EXPECT_EQ(letters(0xFE), "NNNNN");
}

}  // namespace
}  // namespace waymark::ptm
