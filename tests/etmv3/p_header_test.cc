#include "waymark/etmv3/p_header.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::etmv3 {
namespace {

/// "EEN cycles 1 format 2", or "invalid".
std::string text(unsigned byte, bool cycle_accurate, bool tolerant = false) {
  const PHeader& h = p_headers(cycle_accurate, tolerant)[byte];
  if (!h.valid) return "invalid";
  std::string atoms;
  for (unsigned i = 0; i < h.atom_count; ++i) atoms += (h.atoms >> i & 1) != 0 ? 'E' : 'N';
  return atoms + " cycles " + std::to_string(h.cycle_count) + " format " + std::to_string(h.format);
}

// See etmv3.md 4.1.
TEST(Etmv3PHeader, plain) {
  EXPECT_EQ(text(0x80, false), " cycles 0 format 1");
  EXPECT_EQ(text(0x84, false), "E cycles 0 format 1");
  EXPECT_EQ(text(0xC0, false), "N cycles 0 format 1");
  EXPECT_EQ(text(0xFC, false), "EEEEEEEEEEEEEEEN cycles 0 format 1");
  EXPECT_EQ(text(0x82, false), "EE cycles 0 format 2");
  EXPECT_EQ(text(0x86, false), "EN cycles 0 format 2");
  EXPECT_EQ(text(0x8A, false), "NE cycles 0 format 2");
  EXPECT_EQ(text(0x8E, false), "NN cycles 0 format 2");
}

TEST(Etmv3PHeader, reserved_plain_forms) {
  for (const unsigned byte : {0x92U, 0xB2U, 0xF2U}) {
    EXPECT_EQ(text(byte, false), "invalid");
    EXPECT_EQ(text(byte, false, true), "EE cycles 0 format 2");
  }
}

// See etmv3.md 4.2, with its bytes from a capture.
TEST(Etmv3PHeader, cycle_accurate) {
  EXPECT_EQ(text(0x84, true), "E cycles 1 format 1");
  EXPECT_EQ(text(0x82, true), "EE cycles 1 format 2");
  EXPECT_EQ(text(0x86, true), "EN cycles 1 format 2");
  EXPECT_EQ(text(0x8A, true), "NE cycles 1 format 2");
  EXPECT_EQ(text(0x9C, true), "EEEEEEE cycles 7 format 1");
  EXPECT_EQ(text(0xC0, true), "N cycles 1 format 1");
  EXPECT_EQ(text(0xC8, true), "EEN cycles 3 format 1");
  EXPECT_EQ(text(0xA0, true), " cycles 1 format 3");
  EXPECT_EQ(text(0xBC, true), " cycles 8 format 3");
  EXPECT_EQ(text(0xFC, true), "E cycles 8 format 3");
  EXPECT_EQ(text(0x92, true), "E cycles 0 format 4");
  EXPECT_EQ(text(0x96, true), "N cycles 0 format 4");
  EXPECT_EQ(text(0x80, true), " cycles 1 format 0");
}

TEST(Etmv3PHeader, reserved_cycle_accurate_forms) {
  for (const unsigned byte : {0xA2U, 0xB2U, 0xD2U, 0x9AU, 0xC2U})
    EXPECT_EQ(text(byte, true), "invalid");
  EXPECT_EQ(text(0xD2, true, true), "E cycles 0 format 4");
  EXPECT_EQ(text(0x9A, true, true), "E cycles 0 format 4");
  EXPECT_EQ(text(0x80, true, true), "invalid");
  EXPECT_EQ(text(0xA2, true, true), "invalid");
}

TEST(Etmv3PHeader, cycles_of_atoms_add_up) {
  for (const PHeader& h : p_headers(true, false)) {
    if (!h.valid || h.atom_count == 0) continue;
    EXPECT_EQ(h.first_cycles + (h.atom_count - 1) * h.other_cycles, h.cycle_count);
  }
}

}  // namespace
}  // namespace waymark::etmv3
