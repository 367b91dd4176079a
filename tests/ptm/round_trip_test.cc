// The parser reads what the encoder writes: every type, every field.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/ptm_stream.h"
#include "waymark/base/bits.h"
#include "waymark/ptm/encoder.h"
#include "waymark/ptm/fields.h"
#include "waymark/ptm/parser.h"

namespace waymark::ptm {
namespace {

std::string fields_of_packet(const Packet& packet) {
  TextBuffer out;
  out.put(packet_keyword(packet.type));
  for_each_field(packet, [&](const FieldValue& field) {
    out.put(' ');
    out.put(field.name);
    out.put('=');
    write_field(out, field);
  });
  return std::string(out.view());
}

/// The packet that the parser must give after an I-sync to address 0 in its instruction set.
Packet expected(const Packet& sent, const Config& config) {
  Packet packet = sent;
  const bool has_address =
      sent.type == PacketType::kBranchAddress || sent.type == PacketType::kWaypointUpdate;
  if (has_address) {
    const bool a32 = sent.isa == isa::Isa::kA32;
    // All bits of the bytes that are needed for the requested bits.
    constexpr unsigned kThumb[] = {7, 13, 20, 27, 32};
    unsigned width = 32;
    for (const unsigned thumb : kThumb) {
      const unsigned here = std::min(a32 ? thumb + 1 : thumb, 32U);
      if (sent.address.update_bits == 0 || here < sent.address.update_bits) continue;
      width = here;
      break;
    }
    packet.address.update_bits = static_cast<std::uint8_t>(width);
    packet.address.value &= static_cast<std::uint32_t>(low_mask(width));
    if (sent.info_bytes == 0 && sent.isa == isa::Isa::kThumbEE) packet.isa = isa::Isa::kT32;
  }
  if (sent.type == PacketType::kIsync)
    packet.context.updated_context_id = config.context_id_bytes() != 0;
  if (sent.type == PacketType::kContextId) packet.context.updated_context_id = true;
  return packet;
}

TEST(PtmRoundTrip, fields_survive_encoding_and_parsing) {
  support::Random random(7);
  for (const PacketType type : support::kAllPtmPacketTypes) {
    for (unsigned round = 0; round < 500; ++round) {
      const Config config = support::random_ptm_config(random);
      const Packet sent = support::random_ptm_packet(random, config, type);
      Packet isync;
      isync.type = PacketType::kIsync;
      isync.isa = sent.isa == isa::Isa::kT32 ? isa::Isa::kT32 : isa::Isa::kA32;
      std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80};
      ASSERT_TRUE(encode(isync, config, bytes));
      const std::size_t before = bytes.size();
      const auto encoded = encode(sent, config, bytes);
      ASSERT_TRUE(encoded) << fields_of_packet(sent) << ": " << encoded.error().detail;
      Parser parser(config);
      const frames::Run run{0, 0};
      parser.feed({bytes, {&run, 1}});
      Packet packet;
      ASSERT_TRUE(parser.next(packet));
      ASSERT_TRUE(parser.next(packet));
      packet = Packet{};
      ASSERT_TRUE(parser.next(packet)) << fields_of_packet(sent);
      ASSERT_EQ(packet.length, bytes.size() - before);
      ASSERT_EQ(packet.type, type);
      ASSERT_EQ(fields_of_packet(packet), fields_of_packet(expected(sent, config)));
      ASSERT_FALSE(parser.next(packet));
    }
  }
}

}  // namespace
}  // namespace waymark::ptm
