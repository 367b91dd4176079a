#include "waymark/mtb/encoder.h"

#include <gmock/gmock.h>

#include <vector>

#include "support/mtb_stream.h"
#include "waymark/mtb/parser.h"

namespace waymark::mtb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint8_t> bytes_of(const Packet& packet) {
  std::vector<std::uint8_t> bytes;
  EXPECT_TRUE(encode(packet, bytes));
  return bytes;
}

std::string refusal_of(const Packet& packet) {
  std::vector<std::uint8_t> bytes;
  const auto done = encode(packet, bytes);
  EXPECT_TRUE(bytes.empty());
  return done ? "" : done.error().detail;
}

TEST(MtbEncoder, writes_the_words_of_a_record) {
  EXPECT_THAT(
      bytes_of({.source = 0x102, .destination = 0x10C, .type = PacketType::kBranch, .start = true}),
      ElementsAre(0x02, 0x01, 0, 0, 0x0D, 0x01, 0, 0));
  EXPECT_THAT(
      bytes_of({.source = 0xFFFF'FFF9, .destination = 6, .type = PacketType::kExceptionReturn}),
      ElementsAre(0xF9, 0xFF, 0xFF, 0xFF, 6, 0, 0, 0));
}

TEST(MtbEncoder, what_it_writes_is_read_again) {
  support::Random random(1);
  for (unsigned i = 0; i < 2000; ++i) {
    const auto type = static_cast<PacketType>(random.below(5));
    const Packet packet = support::random_mtb_packet(random, type);
    const std::vector<std::uint8_t> bytes = bytes_of(packet);
    ASSERT_EQ(bytes.size(), kRecordBytes);
    Packet again;
    read_record(bytes, again);
    EXPECT_EQ(again.type, packet.type);
    EXPECT_EQ(again.source, packet.source);
    EXPECT_EQ(again.destination, packet.destination);
    EXPECT_EQ(again.start, packet.start);
    EXPECT_EQ(again.ones, packet.ones);
  }
}

TEST(MtbEncoder, refuses_what_would_be_read_as_another_record) {
  EXPECT_THAT(refusal_of({.source = 1, .destination = 2, .type = PacketType::kBranch}),
              HasSubstr("odd"));
  EXPECT_THAT(refusal_of({.source = 2, .destination = 1, .type = PacketType::kException}),
              HasSubstr("odd"));
  EXPECT_THAT(refusal_of({.type = PacketType::kBranch}), HasSubstr("never written"));
  EXPECT_THAT(refusal_of({.source = 0xFF00'0000, .destination = 2, .type = PacketType::kException}),
              HasSubstr("EXC_RETURN"));
  EXPECT_THAT(refusal_of({.source = 0x100, .type = PacketType::kExceptionReturn}),
              HasSubstr("EXC_RETURN"));
  EXPECT_THAT(refusal_of({.source = 0x100, .type = PacketType::kFunctionReturn}),
              HasSubstr("FNC_RETURN"));
  EXPECT_THAT(refusal_of({.source = 0xFFFF'FFFF,
                          .destination = 0xFFFF'FFFE,
                          .type = PacketType::kExceptionReturn,
                          .start = true}),
              HasSubstr("erased"));
  EXPECT_THAT(refusal_of({.type = PacketType::kIncompleteEot}), HasSubstr("whole"));
}

}  // namespace
}  // namespace waymark::mtb
