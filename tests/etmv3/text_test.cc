#include "waymark/etmv3/text.h"

#include <gtest/gtest.h>

#include <string>

#include "waymark/etmv3/p_header.h"

namespace waymark::etmv3 {
namespace {

std::string name_of(std::uint32_t number, isa::Profile profile) {
  TextBuffer out;
  write_exception_name(out, number, profile);
  return std::string(out.view());
}

TEST(Etmv3Text, exceptions_of_a) {
  EXPECT_EQ(name_of(0, isa::Profile::kA), "No Exception");
  EXPECT_EQ(name_of(3, isa::Profile::kA), "Hyp");
  EXPECT_EQ(name_of(8, isa::Profile::kA), "PE Reset");
  EXPECT_EQ(name_of(15, isa::Profile::kR), "FIQ");
}

TEST(Etmv3Text, exceptions_of_m) {
  EXPECT_EQ(name_of(1, isa::Profile::kM), "IRQ1");
  EXPECT_EQ(name_of(7, isa::Profile::kM), "IRQ7");
  EXPECT_EQ(name_of(8, isa::Profile::kM), "IRQ0");
  EXPECT_EQ(name_of(9, isa::Profile::kM), "usage Fault");
  EXPECT_EQ(name_of(19, isa::Profile::kM), "HardFault");
  EXPECT_EQ(name_of(24, isa::Profile::kM), "IRQ8");
  EXPECT_EQ(name_of(511, isa::Profile::kM), "IRQ495");
}

TEST(Etmv3Text, every_type_has_a_name) {
  for (unsigned type = 0; type < kPacketTypeCount; ++type) {
    Packet packet;
    packet.type = static_cast<PacketType>(type);
    TextBuffer out;
    write_packet(out, packet, {});
    EXPECT_TRUE(out.view().starts_with(packet_name(packet.type)));
    EXPECT_FALSE(packet_name(packet.type).empty());
  }
  EXPECT_EQ(packet_name(static_cast<PacketType>(200)), "I_RESERVED");
}

TEST(Etmv3Text, p_headers_of_a_capture) {
  const auto text = [](std::uint8_t byte) {
    Packet packet;
    copy_atoms(p_headers(true, false)[byte], packet);
    TextBuffer out;
    write_packet(out, packet, {});
    return std::string(out.view().substr(23));
  };
  EXPECT_EQ(text(0x84), " WE; Cycles=1");
  EXPECT_EQ(text(0x82), " WEE; Cycles=1");
  EXPECT_EQ(text(0x8E), " WNN; Cycles=1");
  EXPECT_EQ(text(0x88), " WEWE; Cycles=2");
  EXPECT_EQ(text(0xC8), " WEWEWN; Cycles=3");
  EXPECT_EQ(text(0xA8), " WWW; Cycles=3");
  EXPECT_EQ(text(0xFC), " WWWWWWWWE; Cycles=8");
  EXPECT_EQ(text(0xE0), " WE; Cycles=1");
  EXPECT_EQ(text(0x96), " N");
  EXPECT_EQ(text(0x80), " W; Cycles=1");
}

}  // namespace
}  // namespace waymark::etmv3
