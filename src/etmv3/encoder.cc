#include "waymark/etmv3/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "header_table.h"
#include "waymark/etmv3/p_header.h"
#include "waymark/etmv3/text.h"

namespace waymark::etmv3 {
namespace {

using isa::Isa;
using Out = std::vector<std::uint8_t>;

constexpr std::size_t kAddressBytes = 5;

void put(Out& out, std::uint64_t byte) { out.push_back(static_cast<std::uint8_t>(byte)); }

void put_little(Out& out, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) put(out, value >> (8 * i) & 0xFF);
}

std::unexpected<Error> invalid(std::string detail) {
  return fail(ErrorCode::kInvalidArgument, std::move(detail));
}

// -- Branch addresses; etmv3.md 5.1 and 5.2. ------------------------------------------------------

/// The low bits that `count` bytes carry, before the shift.
unsigned carried_bits(unsigned count, bool alternative) {
  if (count == 1) return 6;
  return 6 + 7 * (count - 1) - (alternative ? 1 : 0);
}

/// The fifth byte, without its exception flag.
std::uint8_t fifth_byte(std::uint32_t address, Isa isa) {
  switch (isa) {
    case Isa::kT32:
    case Isa::kThumbEE:
      return static_cast<std::uint8_t>(0x10 | address >> 28);
    case Isa::kJazelle:
      return static_cast<std::uint8_t>(0x20 | address >> 27);
    default:
      return static_cast<std::uint8_t>(0x08 | address >> 29);
  }
}

/// The address bytes, the last with bit 7 clear.
Result<void> put_address(Out& out, const Address& address, Isa isa, bool alternative,
                         bool flagged) {
  const unsigned shift = address_shift(isa);
  const std::uint32_t value = address.value >> shift;
  if ((address.value & ((1U << shift) - 1)) != 0)
    return invalid(fmt::format("0x{:x} is not aligned for its instruction set.", address.value));
  const unsigned wanted =
      address.update_bits == 0 ? 32 : std::max<unsigned>(address.update_bits, shift + 1) - shift;
  // Standard encoding: the exception flag is in the fifth byte only.
  unsigned count = 1;
  if (flagged) count = alternative ? 2 : kAddressBytes;
  while (count < kAddressBytes && carried_bits(count, alternative) < wanted) ++count;
  put(out, (count > 1 ? 0x80U : 0U) | (value & 0x3F) << 1 | 1U);
  unsigned at = 6;
  for (unsigned i = 1; i < std::min<unsigned>(count, 4); ++i) {
    const bool last = i + 1 == count;
    const unsigned width = last && alternative ? 6 : 7;
    put(out,
        (last ? 0U : 0x80U) | (value >> at & ((1U << width) - 1)) | (last && flagged ? 0x40U : 0U));
    at += width;
  }
  if (count == kAddressBytes) put(out, fifth_byte(address.value, isa) | (flagged ? 0x40U : 0U));
  return {};
}

Result<void> put_exception(Out& out, const Packet& packet, const Config& config) {
  const Exception& exception = packet.exception;
  const bool v7m = config.v7m();
  if (exception.number > (v7m ? 0x1FF : 0xF))
    return invalid(fmt::format("The exception number {} has more than {} bits.", exception.number,
                               v7m ? 9 : 4));
  if (exception.resume > 0xF)
    return invalid(fmt::format("The resume count {} has more than 4 bits.", exception.resume));
  const bool second = exception.has_hyp || exception.number > 0xF;
  const bool third = exception.resume != 0;
  put(out, (second || third ? 0x80U : 0U) | (packet.context.alt_isa ? 0x40U : 0U) |
               (exception.cancel ? 0x20U : 0U) | (exception.number & 0xFU) << 1 |
               (packet.context.ns ? 1U : 0U));
  if (second)
    put(out, (third ? 0x80U : 0U) | (packet.context.hyp ? 0x20U : 0U) | exception.number >> 4);
  // After the first byte, bit 6 distinguishes the third byte from the second.
  if (third) put(out, (second ? 0U : 0x40U) | exception.resume);
  return {};
}

Result<void> encode_branch(Out& out, const Packet& packet, const Config& config) {
  const bool alternative = config.alternative_branches();
  const Exception& exception = packet.exception;
  if (!exception.present || !exception.deprecated) {
    WAYMARK_TRY(put_address(out, packet.address, packet.isa, alternative, exception.present));
    return exception.present ? put_exception(out, packet, config) : Result<void>{};
  }
  const auto* const code = std::ranges::find(kDeprecatedExceptions, exception.number);
  if (code == kDeprecatedExceptions.end() || packet.isa != Isa::kA32 || alternative)
    return invalid("The deprecated form has eight exceptions, in A32 and the standard encoding.");
  WAYMARK_TRY(put_address(out, {packet.address.value, 32, 32}, packet.isa, false, false));
  out.back() =
      static_cast<std::uint8_t>(0x80U | (exception.cancel ? 0x40U : 0U) |
                                static_cast<unsigned>(code - kDeprecatedExceptions.begin()) << 3 |
                                packet.address.value >> 29);
  return {};
}

void put_cycles(Out& out, std::uint32_t count) {
  for (unsigned i = 0; i < 4 && count >= 0x80; ++i) {
    put(out, 0x80 | (count & 0x7F));
    count >>= 7;
  }
  put(out, count & 0x7F);
}

// -- I-sync; etmv3.md 6.1. ------------------------------------------------------------------------

Result<void> encode_isync(Out& out, const Packet& packet, const Config& config) {
  const bool counted = packet.type == PacketType::kISyncCycle;
  put(out, counted ? 0x70 : 0x08);
  if (counted) put_cycles(out, packet.cycle_count);
  put_little(out, packet.context.context_id, config.context_id_bytes());
  const Isa isa = config.data_only() ? Isa::kA32 : packet.isa;
  const bool thumb = isa == Isa::kT32 || isa == Isa::kThumbEE;
  put(out, (packet.lsip ? 0x80U : 0U) | static_cast<unsigned>(packet.reason) << 5 |
               (isa == Isa::kJazelle ? 0x10U : 0U) | (packet.context.ns ? 8U : 0U) |
               (isa == Isa::kThumbEE ? 4U : 0U) | (packet.context.hyp ? 2U : 0U) | 1U);
  if (config.data_only()) return {};
  const std::uint32_t first = packet.lsip ? packet.data_instruction : packet.address.value;
  if (isa != Isa::kJazelle && (first & 1) != 0)
    return invalid(fmt::format("0x{:x} is not aligned for its instruction set.", first));
  put_little(out, first | (thumb ? 1U : 0U), 4);
  if (!packet.lsip) return {};
  return put_address(out, packet.address, isa, config.alternative_branches(), false);
}

// -- P-headers; etmv3.md 4. -----------------------------------------------------------------------

Result<void> encode_p_header(Out& out, const Packet& packet, const Config& config) {
  const std::array<PHeader, 256>& headers = p_headers(config.cycle_accurate(), false);
  const bool one_cycle = packet.atom_count == 0 && packet.cycle_count == 1;
  for (unsigned byte = 0x80; byte < 256; byte += 2) {
    const PHeader& header = headers[byte];
    if (!header.valid || header.atom_count != packet.atom_count || header.atoms != packet.atoms)
      continue;
    if (header.cycle_count != packet.cycle_count) continue;
    if (header.format != packet.format && (packet.format != 0 || one_cycle)) continue;
    put(out, byte);
    return {};
  }
  return invalid("No P-header of this mode has these atoms and cycles.");
}

// -- Data; etmv3.md 7. ----------------------------------------------------------------------------

void put_data_address(Out& out, const Transfer& transfer) {
  const unsigned bits = transfer.address.update_bits == 0 ? 32 : transfer.address.update_bits;
  const unsigned count = std::min<unsigned>((bits + 6) / 7, kAddressBytes);
  for (unsigned i = 0; i < count; ++i) {
    std::uint64_t byte = transfer.address.value >> (7 * i) & 0x7F;
    if (i + 1 < count) byte |= 0x80;
    if (i + 1 == kAddressBytes) byte = (byte & 0xF) | (transfer.big_endian ? 0x10 : 0);
    put(out, byte);
  }
}

Result<void> encode_transfer(Out& out, const Packet& packet, const Config& config) {
  const Transfer& transfer = packet.transfer;
  const bool out_of_order =
      packet.type == PacketType::kOooData || packet.type == PacketType::kOooAddress;
  if (transfer.size > 4 || transfer.size == 3)
    return invalid(fmt::format("A value has 0, 1, 2 or 4 bytes, not {}.", transfer.size));
  if (out_of_order && (transfer.tag < 1 || transfer.tag > 3))
    return invalid(fmt::format("A tag is 1, 2 or 3, not {}.", transfer.tag));
  const bool valued = config.data_values() &&
                      (packet.type == PacketType::kNormData || packet.type == PacketType::kOooData);
  if (valued && transfer.size < 4 && transfer.value >> (8 * transfer.size) != 0)
    return invalid(fmt::format("0x{:x} does not fit {} bytes.", transfer.value, transfer.size));
  const unsigned size = valued ? (transfer.size == 4 ? 3U : unsigned{transfer.size}) << 2 : 0U;
  switch (packet.type) {
    case PacketType::kNormData:
      put(out, 0x02 | (transfer.first ? 0x20U : 0U) | size);
      break;
    case PacketType::kOooAddress:
      put(out, 0x50U | (transfer.first ? 0x20U : 0U) | unsigned{transfer.tag} << 2);
      break;
    case PacketType::kOooData:
      put(out, unsigned{transfer.tag} << 5 | size);
      break;
    default:
      put(out, transfer.first ? 0x7A : 0x6A);
      break;
  }
  if (transfer.first && packet.type != PacketType::kOooData && config.data_addresses())
    put_data_address(out, transfer);
  if (valued) put_little(out, transfer.value, transfer.size);
  return {};
}

Result<void> encode_timestamp(Out& out, const Packet& packet, const Config& config) {
  const unsigned most = config.timestamp_bytes();
  const unsigned width = config.timestamp_bits();
  const unsigned bits = packet.timestamp_bits != 0
                            ? packet.timestamp_bits
                            : static_cast<unsigned>(std::bit_width(packet.timestamp));
  if (bits > width || packet.timestamp > low_mask(width))
    return invalid(fmt::format("A timestamp of this trace unit has {} bits.", width));
  const unsigned count = std::clamp((bits + 6) / 7, 1U, most);
  // After all others, the last byte has more or fewer bits.
  const unsigned last_bits = count < most ? 7 : width - 7 * (most - 1);
  put(out, packet.frequency_change ? 0x46 : 0x42);
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t rest = packet.timestamp >> (7 * i);
    const bool last = i + 1 == count;
    put(out, last ? rest & low_mask(last_bits) : 0x80 | (rest & 0x7F));
  }
  return {};
}

Result<void> encode_packet(Out& out, const Packet& packet, const Config& config) {
  switch (packet.type) {
    case PacketType::kBranchAddress:
      return encode_branch(out, packet, config);
    case PacketType::kASync:
      put_little(out, 0, 5);
      put(out, 0x80);
      return {};
    case PacketType::kCycleCount:
      put(out, 0x04);
      put_cycles(out, packet.cycle_count);
      return {};
    case PacketType::kISync:
    case PacketType::kISyncCycle:
      return encode_isync(out, packet, config);
    case PacketType::kPHeader:
      return encode_p_header(out, packet, config);
    case PacketType::kOooData:
    case PacketType::kOooAddress:
    case PacketType::kNormData:
    case PacketType::kValueNotTraced:
      return encode_transfer(out, packet, config);
    case PacketType::kContextId:
      put(out, 0x6E);
      put_little(out, packet.context.context_id, config.context_id_bytes());
      return {};
    case PacketType::kVmid:
      put(out, 0x3C);
      put(out, packet.context.vmid);
      return {};
    case PacketType::kTimestamp:
      return encode_timestamp(out, packet, config);
    case PacketType::kTrigger:
      put(out, 0x0C);
      return {};
    case PacketType::kStoreFailed:
      put(out, 0x50);
      return {};
    case PacketType::kDataSuppressed:
      put(out, 0x62);
      return {};
    case PacketType::kIgnore:
      put(out, 0x66);
      return {};
    case PacketType::kExceptionEntry:
      put(out, 0x7E);
      return {};
    case PacketType::kExceptionExit:
      put(out, 0x76);
      return {};
    default:
      return invalid(fmt::format("{} is not a packet of the protocol.", packet_name(packet.type)));
  }
}

}  // namespace

Result<void> encode(const Packet& packet, const Config& config, Out& out) {
  const std::size_t before = out.size();
  Result<void> done = encode_packet(out, packet, config);
  if (!done) out.resize(before);
  return done;
}

Packet longest_p_header(std::uint32_t atoms, unsigned count, bool cycle_accurate) {
  Packet packet;
  packet.type = PacketType::kPHeader;
  const unsigned most = cycle_accurate ? 7 : 15;
  unsigned executed = 0;
  while (executed < std::min(count, most) && (atoms >> executed & 1) != 0) ++executed;
  const bool failed = executed < count && (atoms >> executed & 1) == 0;
  const unsigned taken = executed + (failed ? 1U : 0U);
  packet.format = 1;
  packet.atom_count = static_cast<std::uint8_t>(taken);
  packet.atoms = static_cast<std::uint16_t>((1U << executed) - 1);
  // One atom, or the second of two, can be anything in format 2.
  if (!cycle_accurate && taken == 1 && failed && count >= 2) {
    packet.format = 2;
    packet.atom_count = 2;
    packet.atoms = static_cast<std::uint16_t>(atoms & 3);
  }
  packet.cycle_count = cycle_accurate ? packet.atom_count : 0;
  return packet;
}

}  // namespace waymark::etmv3
