#include "waymark/etmv4data/encoder.h"

#include <fmt/format.h>

#include "waymark/base/bits.h"
#include "waymark/etmv4data/text.h"

namespace waymark::etmv4data {
namespace {

constexpr unsigned kMaxTimestampBytes = 9;

Result<void> encode_timestamp(const Packet& packet, std::vector<std::uint8_t>& out) {
  const bool given = packet.timestamp_bits != 0;
  unsigned count = packet.timestamp_bits == 64 ? kMaxTimestampBytes : packet.timestamp_bits / 7U;
  if (given && packet.timestamp_bits != 64 && packet.timestamp_bits % 7 != 0)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("D_TIMESTAMP cannot be encoded: {} bits are not whole bytes.",
                            packet.timestamp_bits));
  if (!given) {
    count = 1;
    while (count < kMaxTimestampBytes && packet.timestamp >> (7 * count) != 0) ++count;
  }
  out.push_back(0x02);
  for (unsigned i = 0; i < count; ++i) {
    const auto byte = static_cast<std::uint8_t>(packet.timestamp >> (7 * i));
    const bool last = i + 1 == count;
    if (i + 1 == kMaxTimestampBytes) {
      out.push_back(byte);
    } else {
      out.push_back(static_cast<std::uint8_t>((byte & 0x7FU) | (last ? 0 : 0x80U)));
    }
  }
  return {};
}

}  // namespace

Result<void> encode(const Packet& packet, std::vector<std::uint8_t>& out) {
  switch (packet.type) {
    case PacketType::kAsync:
      out.insert(out.end(), 11, 0x00);
      out.push_back(0x80);
      return {};
    case PacketType::kUnnumberedMarker:
    case PacketType::kSuppression:
      out.push_back(static_cast<std::uint8_t>(packet.type));
      return {};
    case PacketType::kDiscard:
    case PacketType::kOverflow:
      out.insert(out.end(), {0x00, static_cast<std::uint8_t>(packet.type)});
      return {};
    case PacketType::kNumberedMarker:
      if (packet.marker > 7)
        return fail(
            ErrorCode::kInvalidArgument,
            fmt::format("D_NUM_DS_MKR cannot be encoded: its number is {}; at most 7 is allowed.",
                        packet.marker));
      out.insert(out.end(), {0x00, static_cast<std::uint8_t>(0x11 | packet.marker << 1)});
      return {};
    case PacketType::kTimestamp:
      return encode_timestamp(packet, out);
    default:
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("{} cannot be encoded: its layout is not known.", packet_name(packet.type)));
  }
}

}  // namespace waymark::etmv4data
