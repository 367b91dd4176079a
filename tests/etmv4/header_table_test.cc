// The header map of etmv4-ete.md 2.1, compared with how the parser reads each byte.
#include <gtest/gtest.h>

#include "waymark/etmv4/parser.h"

namespace waymark::etmv4 {
namespace {

using Type = PacketType;

struct Range {
  unsigned first;
  unsigned last;
  PacketType type;
};

// Bytes outside all ranges are reserved.
constexpr Range kCommon[] = {
    {0x01, 0x01, Type::kTraceInfo},
    {0x02, 0x03, Type::kTimestamp},
    {0x04, 0x04, Type::kTraceOn},
    {0x06, 0x06, Type::kException},
    {0x0C, 0x0D, Type::kCycleCountF2},
    {0x0E, 0x0F, Type::kCycleCountF1},
    {0x10, 0x1F, Type::kCycleCountF3},
    {0x20, 0x27, Type::kNumberedDataSync},
    {0x28, 0x2C, Type::kUnnumberedDataSync},
    {0x2D, 0x2D, Type::kCommit},
    {0x2E, 0x2E, Type::kCancelF1},
    {0x2F, 0x2F, Type::kCancelF1Mispredict},
    {0x30, 0x33, Type::kMispredict},
    {0x34, 0x37, Type::kCancelF2},
    {0x38, 0x3F, Type::kCancelF3},
    {0x40, 0x42, Type::kCondInstrF2},
    {0x43, 0x43, Type::kCondFlush},
    {0x44, 0x46, Type::kCondResultF4},
    {0x48, 0x4A, Type::kCondResultF2},
    {0x4C, 0x4E, Type::kCondResultF2},
    {0x50, 0x5F, Type::kCondResultF3},
    {0x68, 0x6B, Type::kCondResultF1},
    {0x6C, 0x6C, Type::kCondInstrF1},
    {0x6D, 0x6D, Type::kCondInstrF3},
    {0x6E, 0x6F, Type::kCondResultF1},
    {0x70, 0x70, Type::kIgnore},
    {0x71, 0x7F, Type::kEvent},
    {0x80, 0x81, Type::kContext},
    {0x82, 0x82, Type::kAddressContext32Is0},
    {0x83, 0x83, Type::kAddressContext32Is1},
    {0x85, 0x85, Type::kAddressContext64Is0},
    {0x86, 0x86, Type::kAddressContext64Is1},
    {0x88, 0x88, Type::kTimestampMarker},
    {0x90, 0x92, Type::kAddressMatch},
    {0x95, 0x95, Type::kAddressShortIs0},
    {0x96, 0x96, Type::kAddressShortIs1},
    {0x9A, 0x9A, Type::kAddress32Is0},
    {0x9B, 0x9B, Type::kAddress32Is1},
    {0x9D, 0x9D, Type::kAddress64Is0},
    {0x9E, 0x9E, Type::kAddress64Is1},
    {0xA0, 0xA2, Type::kQ},
    {0xA5, 0xA6, Type::kQ},
    {0xAA, 0xAC, Type::kQ},
    {0xAF, 0xAF, Type::kQ},
    {0xC0, 0xD4, Type::kAtomF6},
    {0xD5, 0xD7, Type::kAtomF5},
    {0xD8, 0xDB, Type::kAtomF2},
    {0xDC, 0xDF, Type::kAtomF4},
    {0xE0, 0xF4, Type::kAtomF6},
    {0xF5, 0xF5, Type::kAtomF5},
    {0xF6, 0xF7, Type::kAtomF1},
    {0xF8, 0xFF, Type::kAtomF3},
};
constexpr Range kEtmOnly[] = {
    {0x05, 0x05, Type::kFunctionReturn},
    {0x07, 0x07, Type::kExceptionReturn},
};
constexpr Range kEteOnly[] = {
    {0x07, 0x07, Type::kReservedConfig},   {0x09, 0x09, Type::kInstrumentation},
    {0x0A, 0x0A, Type::kTransactionStart}, {0x0B, 0x0B, Type::kTransactionCommit},
    {0xB0, 0xB2, Type::kSourceMatch},      {0xB4, 0xB4, Type::kSourceShortIs0},
    {0xB5, 0xB5, Type::kSourceShortIs1},   {0xB6, 0xB6, Type::kSource32Is0},
    {0xB7, 0xB7, Type::kSource32Is1},      {0xB8, 0xB8, Type::kSource64Is0},
    {0xB9, 0xB9, Type::kSource64Is1},
};

PacketType expected(unsigned header, std::span<const Range> own) {
  for (const std::span<const Range> ranges : {own, std::span<const Range>(kCommon)})
    for (const Range& range : ranges)
      if (header >= range.first && header <= range.last) return range.type;
  return Type::kReserved;
}

// All gates are open: the newest version, conditional and data trace, Q.
Config open_config(bool ete) {
  Config config = ete ? Config::ete_default() : Config{};
  config.trcdevarch = 0x47735A13;
  if (!ete) {
    config.trcidr1 = 0x4100F463;
    config.core = {isa::Arch::kV8, isa::Profile::kM};
  }
  config.trcidr0 = 3U << 15 | 1U << 6 | 3U << 3;
  config.trcconfigr = 7U << 8 | 1U << 16 | 1U << 1;
  return config;
}

PacketType type_of(const Config& config, unsigned header) {
  std::vector<std::uint8_t> bytes(11, 0x00);
  bytes.insert(bytes.end(), {0x80, static_cast<std::uint8_t>(header)});
  bytes.resize(64, 0x03);  // Not an exception with a type of its own, and no endless field.
  Parser parser(config);
  const frames::Run run{.position = 0, .index = 0};
  parser.feed({bytes, {&run, 1}});
  Packet packet;
  parser.next(packet);
  EXPECT_TRUE(parser.next(packet));
  return packet.type;
}

TEST(Etmv4HeaderTable, every_byte_of_etmv4_matches_the_specification) {
  for (unsigned header = 1; header < 256; ++header)
    EXPECT_EQ(type_of(open_config(false), header), expected(header, kEtmOnly)) << header;
}

TEST(Etmv4HeaderTable, every_byte_of_ete_matches_the_specification) {
  for (unsigned header = 1; header < 256; ++header)
    EXPECT_EQ(type_of(open_config(true), header), expected(header, kEteOnly)) << header;
}

TEST(Etmv4HeaderTable, atoms_of_every_header_byte_follow_their_format) {
  for (unsigned header = 0xC0; header < 256; ++header) {
    const AtomPacket atoms = atom_packet(static_cast<std::uint8_t>(header));
    if (atoms.type != Type::kAtomF6) {
      EXPECT_LE(atoms.atom_count, 5U);
      continue;
    }
    const unsigned leading = (header & 0x1F) + 3;
    const std::uint32_t last = (header & 0x20) == 0 ? 1U : 0U;
    EXPECT_EQ(atoms.atom_count, leading + 1) << header;
    EXPECT_EQ(atoms.atoms, ((1U << leading) - 1) | last << leading) << header;
  }
}

}  // namespace
}  // namespace waymark::etmv4
