// Data trace packets.  See etmv3.md 7.
#include <algorithm>

#include "waymark/base/cursor.h"
#include "waymark/etmv3/parser.h"

namespace waymark::etmv3 {
namespace {

constexpr std::size_t kIncomplete = 0;
constexpr std::size_t kAddressBytes = 5;

constexpr bool has_value(PacketType type) {
  return type == PacketType::kNormData || type == PacketType::kOooData;
}

/// The SS field: the number of bytes of the value that were sent.
constexpr std::uint8_t value_size(std::uint8_t header) {
  const unsigned code = bits<3, 2>(header);
  return static_cast<std::uint8_t>(code == 3 ? 4 : code);
}

std::uint8_t tag_of(PacketType type, std::uint8_t header) {
  if (type == PacketType::kOooData) return bits<6, 5>(header);
  return type == PacketType::kOooAddress ? bits<3, 2>(header) : std::uint8_t{0};
}

/// The A bit.
bool is_first(PacketType type, std::uint8_t header) {
  switch (type) {
    case PacketType::kNormData:
    case PacketType::kOooAddress:
      return bit<5>(header);
    case PacketType::kValueNotTraced:
      return bit<4>(header);
    default:
      return false;
  }
}

}  // namespace

std::size_t Parser::read_transfer(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::uint8_t header = at[0];
  Transfer transfer;
  transfer.tag = tag_of(packet.type, header);
  transfer.first = is_first(packet.type, header);
  transfer.has_address = transfer.first && config_.data_addresses();
  transfer.has_value = has_value(packet.type) && config_.data_values();
  std::size_t length = 1;
  Address address = state_.data_address;
  address.update_bits = 0;
  if (transfer.has_address) {
    std::uint64_t value = 0;
    unsigned width = 0;
    std::uint8_t byte = 0;
    do {
      if (length == available) return kIncomplete;
      byte = at[length++];
      value |= std::uint64_t{byte & 0x7FU} << width;
      width += 7;
    } while ((byte & 0x80) != 0 && length <= kAddressBytes);
    if ((byte & 0x80) != 0) return bad(packet, PacketType::kBadSequence, packet.type, length);
    if (length > kAddressBytes) {
      transfer.has_endianness = true;
      transfer.big_endian = bit<4>(byte);
      width = 32;
    }
    const auto mask = static_cast<std::uint32_t>(low_mask(width));
    address.value = (address.value & ~mask) | (static_cast<std::uint32_t>(value) & mask);
    address.update_bits = static_cast<std::uint8_t>(width);
    address.valid_bits = std::max(address.valid_bits, address.update_bits);
  }
  if (transfer.has_value) {
    transfer.size = value_size(header);
    if (available - length < transfer.size) return kIncomplete;
    transfer.value =
        static_cast<std::uint32_t>(Cursor({at + length, transfer.size}).little(transfer.size));
    length += transfer.size;
  }
  state_.data_address = address;
  transfer.address = address;
  packet.transfer = transfer;
  return length;
}

// Quirks broken_data_packets and value_not_traced_has_address; etmv3.md 7.2 and 7.5.
std::size_t Parser::read_broken_transfer(const std::uint8_t* at, std::size_t available,
                                         Packet& packet) {
  const std::uint8_t header = at[0];
  const PacketType type = packet.type;
  const std::size_t most = std::min(available, kMaxPacketBytes);
  Transfer transfer;
  transfer.tag = tag_of(type, header);
  transfer.size = has_value(type) ? value_size(header) : std::uint8_t{0};
  transfer.first = type == PacketType::kValueNotTraced && quirks_.value_not_traced_has_address
                       ? true
                       : is_first(type, header);
  transfer.has_address = transfer.first && config_.data_addresses();
  transfer.has_value = has_value(type);
  std::size_t length = 1;
  const auto wait = [&]() -> std::size_t {
    return available >= kMaxPacketBytes
               ? bad(packet, PacketType::kBadSequence, type, kMaxPacketBytes)
               : kIncomplete;
  };
  if (transfer.has_address) {
    if (type == PacketType::kNormData && transfer.size == 0) return wait();
    do {
      if (length == most) return wait();
    } while ((at[length++] & 0x80) != 0);
  }
  if (most - length < transfer.size) return wait();
  length += transfer.size;
  std::size_t read = 1;
  if (transfer.has_address) {
    state_.address.value = (state_.address.value & ~0x7FU) | (at[read++] & 0x7FU);
    state_.address.valid_bits = std::max<std::uint8_t>(state_.address.valid_bits, 7);
  }
  transfer.value =
      static_cast<std::uint32_t>(Cursor({at + read, transfer.size}).little(transfer.size));
  packet.transfer = transfer;
  return length;
}

}  // namespace waymark::etmv3
