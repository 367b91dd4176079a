#include "waymark/ptm/encoder.h"

#include <fmt/format.h>

#include <array>

#include "waymark/base/bits.h"

namespace waymark::ptm {
namespace {

using isa::Isa;

std::unexpected<Error> refuse(std::string detail) {
  return fail(ErrorCode::kInvalidArgument, std::move(detail));
}

std::uint8_t byte_of(std::uint64_t value) { return static_cast<std::uint8_t>(value); }

/// Collects one packet; the caller gets nothing before the whole packet is valid.
class Writer {
 public:
  void put(std::uint64_t byte) { bytes_[size_++] = byte_of(byte); }
  void little(std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) put(value >> (8 * i) & 0xFF);
  }

  /// `base` has the bits of the first byte that do not belong to the count.
  void cycle_count(std::uint32_t count, unsigned base) {
    std::uint32_t rest = count >> 4;
    put(base | (count & 0xF) << 2 | (rest != 0 ? 0x40U : 0U));
    while (rest != 0) {
      put((rest & 0x7F) | (rest >> 7 != 0 ? 0x80U : 0U));
      rest >>= 7;
    }
  }

  void append_to(std::vector<std::uint8_t>& out) const {
    out.insert(out.end(), bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
  }

 private:
  std::array<std::uint8_t, 32> bytes_{};
  std::size_t size_ = 0;
};

/// The value in the Thumb view, from bit 1 on; ptm.md 5.2.
std::uint64_t thumb_view(const Packet& packet) {
  const std::uint64_t value = packet.address.value;
  if (packet.isa == Isa::kA32) return value >> 1;
  return packet.isa == Isa::kJazelle ? value << 1 : value;
}

/// The number of address bytes that carry the bits of the packet.
unsigned address_bytes(const Packet& packet) {
  const unsigned wanted = packet.address.update_bits;
  if (wanted == 0) return 5;
  constexpr std::array<unsigned, 4> kThumbWidths = {7, 13, 20, 27};
  for (unsigned i = 0; i < kThumbWidths.size(); ++i) {
    unsigned width = kThumbWidths[i];
    if (packet.isa == Isa::kA32) ++width;
    if (packet.isa == Isa::kJazelle) --width;
    if (wanted <= width) return i + 1;
  }
  return 5;
}

/// `flag` is bit 6 of the last byte, if that bit is free.
Result<void> put_address(Writer& out, const Packet& packet, unsigned count, bool flag) {
  const std::uint32_t value = packet.address.value;
  if ((packet.isa == Isa::kA32 && (value & 3) != 0) ||
      (packet.isa != Isa::kA32 && packet.isa != Isa::kJazelle && (value & 1) != 0))
    return refuse(fmt::format("The address 0x{:x} is not aligned for its instruction set.", value));
  const std::uint64_t view = thumb_view(packet);
  for (unsigned i = 0; i < count && i < 4; ++i) {
    const bool last = i + 1 == count;
    const std::uint64_t field = view >> (7 * i);
    if (i == 0) {
      out.put((field & 0x7E) | 1 | (last ? 0U : 0x80U));
    } else if (last) {
      out.put((field & 0x3F) | (flag ? 0x40U : 0U));
    } else {
      out.put((field & 0x7F) | 0x80);
    }
  }
  if (count < 5) return {};
  const std::uint64_t top = view >> 28;
  const unsigned more = flag ? 0x40 : 0;
  switch (packet.isa) {
    case Isa::kA32:
      out.put((top & 0x07) | 0x08 | more);
      return {};
    case Isa::kT32:
    case Isa::kThumbEE:
      out.put((top & 0x0F) | 0x10 | more);
      return {};
    case Isa::kJazelle:
      out.put((top & 0x1F) | 0x20 | more);
      return {};
    default:
      return refuse(
          "An address of five bytes names its instruction set: a32, t32, tee or jazelle.");
  }
}

Result<void> put_branch(Writer& out, const Packet& packet, bool cycles) {
  const unsigned count = address_bytes(packet);
  const unsigned info_bytes = packet.info_bytes;
  if (info_bytes > 2) return refuse("A branch has at most two bytes of exception information.");
  if (info_bytes != 0 && count < 2)
    return refuse("Exception information needs at least two address bytes: give more bits.");
  if (info_bytes != 0 && packet.exception >> (info_bytes == 1 ? 4 : 9) != 0)
    return refuse(fmt::format("The exception number {} does not fit {} byte{}.", packet.exception,
                              info_bytes, info_bytes == 1 ? "" : "s"));
  WAYMARK_TRY(put_address(out, packet, count, info_bytes != 0));
  if (info_bytes != 0)
    out.put((info_bytes == 2 ? 0x80U : 0U) | (packet.context.alt_isa ? 0x40U : 0U) |
            (packet.exception & 0xFU) << 1 | (packet.context.ns ? 1U : 0U));
  if (info_bytes == 2) out.put((packet.context.hyp ? 0x20U : 0U) | (packet.exception >> 4 & 0x1FU));
  if (cycles) out.cycle_count(packet.cycle_count, 0);
  return {};
}

Result<void> put_waypoint_update(Writer& out, const Packet& packet) {
  const unsigned count = address_bytes(packet);
  if (packet.info_bytes > 1 || (packet.info_bytes == 1 && count != 5))
    return refuse("A waypoint update has one information byte at most, after five address bytes.");
  out.put(0x72);
  WAYMARK_TRY(put_address(out, packet, count, packet.info_bytes != 0));
  if (packet.info_bytes != 0) out.put(packet.context.alt_isa ? 0x40 : 0);
  return {};
}

Result<void> put_isync(Writer& out, const Packet& packet, const Config& config) {
  const bool thumb = packet.isa == Isa::kT32 || packet.isa == Isa::kThumbEE;
  if (!thumb && packet.isa != Isa::kA32)
    return refuse("An I-sync is in one of the instruction sets a32, t32 and tee.");
  if (thumb && packet.context.alt_isa != (packet.isa == Isa::kThumbEE))
    return refuse("An I-sync is in ThumbEE when alt_isa is set, and else in T32.");
  if ((packet.address.value & 1) != 0)
    return refuse(fmt::format("The address 0x{:x} is not aligned.", packet.address.value));
  const auto reason = static_cast<unsigned>(packet.reason);
  out.put(0x08);
  out.little(packet.address.value | (thumb ? 1U : 0U), 4);
  out.put(1U | (packet.context.hyp ? 2U : 0U) | (packet.context.alt_isa ? 4U : 0U) |
          (packet.context.ns ? 8U : 0U) | (reason & 3) << 5);
  // The unit sets bit 7 of this count's first byte.
  if (config.cycle_accurate() && packet.reason != IsyncReason::kPeriodic)
    out.cycle_count(packet.cycle_count, 0x80);
  out.little(packet.context.context_id, config.context_id_bytes());
  return {};
}

Result<void> put_atoms(Writer& out, const Packet& packet, const Config& config) {
  const unsigned count = packet.atom_count;
  if (config.cycle_accurate()) {
    if (count != 1) return refuse("A cycle-accurate atom packet has one atom.");
    out.cycle_count(packet.cycle_count, 0x80U | ((packet.atoms & 1) == 0 ? 2U : 0U));
    return {};
  }
  constexpr std::array<unsigned, 6> kHeaders = {0, 0x84, 0x88, 0x90, 0xA0, 0xC0};
  if (count == 0 || count >= kHeaders.size())
    return refuse(fmt::format("{} atoms: an atom packet has one to five.", count));
  unsigned header = kHeaders[count];
  for (unsigned i = 0; i < count; ++i)
    if ((packet.atoms >> i & 1) == 0) header |= 1U << (count - i);
  out.put(header);
  return {};
}

Result<void> put_timestamp(Writer& out, const Packet& packet, const Config& config) {
  const bool wide = config.timestamp_bits() == 64;
  const unsigned most = wide ? 9 : 7;
  const unsigned most_bits = config.timestamp_bits();
  if (packet.timestamp_bits > most_bits)
    return refuse(fmt::format("A timestamp of this trace has {} bits.", most_bits));
  if (packet.timestamp_bits == 0 && (packet.timestamp & ~low_mask(most_bits)) != 0)
    return refuse(fmt::format("0x{:x} does not fit a timestamp, which has {} bits.",
                              packet.timestamp, most_bits));
  unsigned count = packet.timestamp_bits == most_bits ? most : (packet.timestamp_bits + 6U) / 7;
  if (count == 0)
    for (count = 1; count < most && packet.timestamp >> (7 * count) != 0;) ++count;
  out.put(packet.clock_changed ? 0x46 : 0x42);
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t field = packet.timestamp >> (7 * i);
    const bool last = i + 1 == count;
    if (i + 1 == most) {
      out.put(field & (wide ? 0xFF : 0x3F));
    } else {
      out.put((field & 0x7F) | (last ? 0U : 0x80U));
    }
  }
  if (config.cycle_accurate()) out.cycle_count(packet.cycle_count, 0);
  return {};
}

Result<void> put(Writer& out, const Packet& packet, const Config& config) {
  switch (packet.type) {
    case PacketType::kBranchAddress:
      return put_branch(out, packet, config.cycle_accurate());
    case PacketType::kWaypointUpdate:
      return put_waypoint_update(out, packet);
    case PacketType::kIsync:
      return put_isync(out, packet, config);
    case PacketType::kAtom:
      return put_atoms(out, packet, config);
    case PacketType::kTimestamp:
      return put_timestamp(out, packet, config);
    case PacketType::kAsync: {
      const unsigned length = packet.length == 0 ? 6U : packet.length;
      if (length < 6 || length > 16) return refuse("An A-sync has 5 to 15 zeros.");
      for (unsigned i = 1; i < length; ++i) out.put(0);
      out.put(0x80);
      return {};
    }
    case PacketType::kContextId:
      out.put(0x6E);
      out.little(packet.context.context_id, config.context_id_bytes());
      return {};
    case PacketType::kVmid:
      out.put(0x3C);
      out.put(packet.context.vmid);
      return {};
    case PacketType::kTrigger:
      out.put(0x0C);
      return {};
    case PacketType::kExceptionReturn:
      out.put(0x76);
      return {};
    case PacketType::kIgnore:
      out.put(0x66);
      return {};
    default:
      return refuse("Only packets of the protocol have bytes.");
  }
}

}  // namespace

Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out) {
  Writer writer;
  WAYMARK_TRY(put(writer, packet, config));
  writer.append_to(out);
  return {};
}

}  // namespace waymark::ptm
