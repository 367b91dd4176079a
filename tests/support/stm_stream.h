// Random STM streams, legal or damaged.
#pragma once

#include <cstdlib>
#include <vector>

#include "support/random.h"
#include "waymark/stm/encoder.h"
#include "waymark/stm/fields.h"

namespace waymark::support {

/// A packet with fields that the encoder can all encode.
inline stm::Packet random_stm_packet(Random& random) {
  using enum stm::PacketType;
  const auto keywords = stm::packet_keywords();
  const auto index = random.below(static_cast<std::uint32_t>(keywords.size()));
  stm::Packet packet = *stm::packet_of_keyword(keywords[index]);
  unsigned width = 0;
  switch (packet.type) {
    case kD4:
      width = 4;
      break;
    case kD8:
    case kM8:
    case kC8:
    case kMerr:
    case kGerr:
    case kTrig:
    case kXsync:
    case kCerr:
      width = 8;
      break;
    case kD16:
    case kM16:
    case kC16:
      width = 16;
      break;
    case kD32:
    case kFreq:
      width = 32;
      break;
    case kFreq40:
      width = 40;
      break;
    case kD64:
      width = 64;
      break;
    case kUser:
      packet.payload_bits = static_cast<std::uint8_t>(4 * random.between(1, 16));
      width = packet.payload_bits;
      break;
    default:
      break;
  }
  packet.payload = random.value(width);
  if (packet.type == kVersion) {
    packet.payload = random.between(2, 4);
    if (random.one_in(4)) {
      packet.payload = (packet.payload | 8) << 8 | random.between(1, 3);
      if (random.coin()) packet.payload |= 0x80;
      packet.payload_bits = 12;
    }
  }
  if (packet.has_timestamp) {
    packet.timestamp = random.value(64);
    constexpr std::uint8_t kSizes[] = {0, 4, 8, 20, 32, 48, 56, 64, stm::Encoder::kFewestBits};
    packet.timestamp_bits = kSizes[random.below(std::size(kSizes))];
  }
  return packet;
}

/// ASYNC, VERSION, then packets; with `damage`, one nibble in this number is changed.
inline std::vector<std::uint8_t> random_stm_stream(Random& random, std::uint32_t packets,
                                                   std::uint32_t damage) {
  std::vector<std::uint8_t> bytes;
  stm::Encoder encoder(random.coin() ? stm::NibbleOrder::kMostFirst
                                     : stm::NibbleOrder::kLeastFirst);
  const auto put = [&](const stm::Packet& packet) {
    if (!encoder.encode(packet, bytes)) std::abort();
  };
  const auto start = [&] {
    stm::Packet packet;
    packet.type = stm::PacketType::kAsync;
    put(packet);
    packet.type = stm::PacketType::kVersion;
    packet.payload = random.between(2, 4);
    put(packet);
  };
  for (unsigned i = random.below(50); i-- > 0;) encoder.raw_nibble(random.below(16), bytes);
  start();
  for (std::uint32_t i = 0; i < packets; ++i) {
    if (random.one_in(16)) start();
    if (damage != 0 && random.one_in(damage)) encoder.raw_nibble(random.below(16), bytes);
    put(random_stm_packet(random));
  }
  return bytes;
}

}  // namespace waymark::support
