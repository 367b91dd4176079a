#include "waymark/itm/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "waymark/base/bits.h"
#include "waymark/itm/text.h"

namespace waymark::itm {
namespace {

constexpr std::size_t kAsyncSize = 6;
constexpr std::uint8_t kGlobal1Header = 0x94;
constexpr std::uint8_t kGlobal2Header = 0xB4;
constexpr std::uint8_t kOverflowHeader = 0x70;
constexpr unsigned kShortTimestamps = 7;  // 1..6: 0 and 7 are other packets.
constexpr unsigned kGlobal1Bits = 26;

std::unexpected<Error> bad(const Packet& packet, std::string_view field, std::uint64_t value,
                           std::string_view allowed) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} cannot be encoded: {} is {:#x}; allowed: {}.",
                          packet_name(packet.type), field, value, allowed),
              packet.index);
}

unsigned groups_for(std::uint64_t value) {
  unsigned count = 1;
  while (value >> (7 * count) != 0) ++count;
  return count;
}

void put_groups(std::vector<std::uint8_t>& out, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    out.push_back(
        static_cast<std::uint8_t>((value >> (7 * i) & 0x7F) | (i + 1 < count ? 0x80 : 0)));
}

Result<void> encode_data(const Packet& packet, std::vector<std::uint8_t>& out) {
  if (packet.source > 31) return bad(packet, "source", packet.source, "up to 31");
  if (packet.size != 1 && packet.size != 2 && packet.size != 4)
    return bad(packet, "size", packet.size, "1, 2 or 4");
  if (packet.value > low_mask(8U * packet.size))
    return bad(packet, "value", packet.value, "what fits its size");
  const unsigned code = packet.size == 4 ? 3U : packet.size;
  const unsigned kind = packet.type == PacketType::kHardware ? 4U : 0U;
  out.push_back(static_cast<std::uint8_t>(unsigned{packet.source} << 3 | kind | code));
  for (unsigned i = 0; i < packet.size; ++i)
    out.push_back(static_cast<std::uint8_t>(packet.value >> (8 * i)));
  return {};
}

Result<void> encode_local(const Packet& packet, std::vector<std::uint8_t>& out) {
  if (packet.source > 3) return bad(packet, "tc", packet.source, "up to 3");
  if (packet.size == 0) {
    if (packet.source != 0 || packet.value == 0 || packet.value >= kShortTimestamps)
      return bad(packet, "value", packet.value, "1 to 6 with tc 0 in the short form");
    out.push_back(static_cast<std::uint8_t>(packet.value << 4));
    return {};
  }
  if (packet.size > 4) return bad(packet, "size", packet.size, "up to 4");
  if (packet.value > low_mask(7U * packet.size))
    return bad(packet, "value", packet.value, "what fits its size");
  out.push_back(static_cast<std::uint8_t>(0xC0 | packet.source << 4));
  put_groups(out, packet.value, packet.size);
  return {};
}

Result<void> encode_global1(const Packet& packet, std::vector<std::uint8_t>& out) {
  if (packet.size == 0 || packet.size > 4) return bad(packet, "size", packet.size, "1 to 4");
  if (packet.source > (kClockChange | kClockWrap) || (packet.source != 0 && packet.size != 4))
    return bad(packet, "flags", packet.source, "only in 4 payload bytes");
  if (packet.value > low_mask(std::min(7U * packet.size, kGlobal1Bits)))
    return bad(packet, "value", packet.value, "what fits its size");
  out.push_back(kGlobal1Header);
  put_groups(out, packet.value | std::uint64_t{packet.source} << kGlobal1Bits, packet.size);
  return {};
}

Result<void> encode_global2(const Packet& packet, std::vector<std::uint8_t>& out) {
  if (packet.size == 0 || packet.size > 6) return bad(packet, "size", packet.size, "1 to 6");
  if (packet.value > low_mask(7U * packet.size))
    return bad(packet, "value", packet.value, "what fits its size");
  out.push_back(kGlobal2Header);
  put_groups(out, packet.value, packet.size);
  return {};
}

Result<void> encode_extension(const Packet& packet, std::vector<std::uint8_t>& out) {
  if (packet.size > 4) return bad(packet, "size", packet.size, "up to 4");
  if (packet.value > low_mask(3 + 7U * packet.size))
    return bad(packet, "value", packet.value, "what fits its size");
  out.push_back(static_cast<std::uint8_t>(0x08 | (packet.value & 7) << 4 |
                                          ((packet.source & kExtensionHardware) != 0 ? 4 : 0) |
                                          (packet.size != 0 ? 0x80 : 0)));
  put_groups(out, packet.value >> 3, packet.size);
  return {};
}

}  // namespace

Result<void> encode(const Packet& packet, std::vector<std::uint8_t>& out) {
  switch (packet.type) {
    case PacketType::kAsync: {
      const std::size_t length = packet.length == 0 ? kAsyncSize : packet.length;
      if (length < kAsyncSize) return bad(packet, "length", length, "6 or more");
      out.insert(out.end(), length - 1, 0x00);
      out.push_back(0x80);
      return {};
    }
    case PacketType::kOverflow:
      out.push_back(kOverflowHeader);
      return {};
    case PacketType::kSoftware:
    case PacketType::kHardware:
      return encode_data(packet, out);
    case PacketType::kLocalTimestamp:
      return encode_local(packet, out);
    case PacketType::kGlobalTimestamp1:
      return encode_global1(packet, out);
    case PacketType::kGlobalTimestamp2:
      return encode_global2(packet, out);
    case PacketType::kExtension:
      return encode_extension(packet, out);
    default:
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} is not a packet that can be encoded.", packet_name(packet.type)),
                  packet.index);
  }
}

std::uint8_t least_size(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kSoftware:
    case PacketType::kHardware:
      if (packet.value > 0xFFFF) return 4;
      return packet.value > 0xFF ? 2 : 1;
    case PacketType::kLocalTimestamp:
      if (packet.source == 0 && packet.value != 0 && packet.value < kShortTimestamps) return 0;
      return static_cast<std::uint8_t>(groups_for(packet.value));
    case PacketType::kGlobalTimestamp1:
      return packet.source != 0 ? 4 : static_cast<std::uint8_t>(groups_for(packet.value));
    case PacketType::kGlobalTimestamp2:
      // The sizes of the two forms: 48 bits and 64 bits.
      return packet.value <= low_mask(28) ? 4 : 6;
    case PacketType::kExtension:
      return packet.value <= 7 ? 0 : static_cast<std::uint8_t>(groups_for(packet.value >> 3));
    default:
      return 0;
  }
}

}  // namespace waymark::itm
