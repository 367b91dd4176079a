#include "waymark/etmv4/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "waymark/base/bits.h"
#include "waymark/etmv4/text.h"

namespace waymark::etmv4 {
namespace {

using Buffer = std::vector<std::uint8_t>;

/// An atom header for one fixed pattern.
struct AtomPattern {
  std::uint8_t header;
  std::uint8_t atoms;
};
constexpr AtomPattern kFormat4[] = {{0xDC, 0b1110}, {0xDD, 0b0000}, {0xDE, 0b1010}, {0xDF, 0b0101}};
constexpr AtomPattern kFormat5[] = {
    {0xD5, 0b00000}, {0xD6, 0b01010}, {0xD7, 0b10101}, {0xF5, 0b11110}};

// Format 6: `leading` E atoms and then one of either kind.
constexpr unsigned kMinLeading = 3;
constexpr unsigned kMaxLeading = 23;

// Bits of PLCTL; etmv4-ete.md 2.3.
enum Section : std::uint8_t { kInfo = 1, kKey = 2, kSpec = 4, kThreshold = 8, kWindow = 16 };

// The reserved second byte of ETE exceptions that need none, as hardware writes it.
constexpr std::uint8_t kExceptionPadding = 0x70;

std::unexpected<Error> bad(const Packet& packet, std::string_view field, std::uint64_t value,
                           std::string_view allowed) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} cannot be encoded: {} is {:#x}, allowed is {}.",
                          packet_name(packet.type), field, value, allowed),
              packet.index);
}

/// Collects the bytes of one packet and the first field that did not fit.
class Writer {
 public:
  Writer(const Packet& packet, Buffer& out) : packet_(packet), out_(out) {}

  void byte(unsigned value) { out_.push_back(static_cast<std::uint8_t>(value)); }

  void little(std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) byte(static_cast<unsigned>(value >> (8 * i) & 0xFF));
  }

  /// Writes 7 bits per byte with a continuation bit, in as few bytes as possible, at most
  /// `max_bytes`.
  void continued(std::string_view field, std::uint64_t value, unsigned max_bytes) {
    require(value <= low_mask(7 * max_bytes), field, value, "what its bytes hold");
    while (value >= 0x80) {
      byte(0x80U | static_cast<unsigned>(value & 0x7F));
      value >>= 7;
    }
    byte(static_cast<unsigned>(value));
  }

  void require(bool holds, std::string_view field, std::uint64_t value, std::string_view allowed) {
    if (!holds && result_) result_ = bad(packet_, field, value, allowed);
  }

  [[nodiscard]] Result<void> result() const { return result_; }

 private:
  const Packet& packet_;
  Buffer& out_;
  Result<void> result_;
};

void write_fixed(Writer& writer, const Packet& packet, std::span<const AtomPattern> patterns,
                 unsigned count) {
  for (const AtomPattern& pattern : patterns) {
    if (packet.atom_count == count && packet.atoms == pattern.atoms) {
      writer.byte(pattern.header);
      return;
    }
  }
  writer.require(false, "atoms", packet.atoms, "one of the four patterns of the format");
}

void write_plain(Writer& writer, const Packet& packet, unsigned header, unsigned count) {
  writer.require(packet.atom_count == count, "the number of atoms", packet.atom_count,
                 "that of the format");
  writer.require(packet.atoms <= low_mask(count), "atoms", packet.atoms, "a bit for each atom");
  writer.byte(header | packet.atoms);
}

void write_format6(Writer& writer, const Packet& packet) {
  const unsigned leading = packet.atom_count - 1U;
  const auto expected = static_cast<std::uint32_t>(low_mask(leading));
  const bool shape = packet.atom_count > kMinLeading && leading <= kMaxLeading &&
                     (packet.atoms & expected) == expected && packet.atoms >> leading <= 1;
  writer.require(shape, "atoms", packet.atoms, "3 to 23 times E and then E or N");
  if (!shape) return;
  writer.byte(0xC0 | (packet.atoms >> leading == 0 ? 0x20U : 0U) | (leading - kMinLeading));
}

/// The low two header bits of mispredict and cancel format 2: none, E, EE, N.
void write_few_atoms(Writer& writer, const Packet& packet, unsigned header) {
  switch (unsigned{packet.atom_count} << 4 | packet.atoms) {
    case 0x00:
      writer.byte(header);
      return;
    case 0x11:
      writer.byte(header | 1);
      return;
    case 0x23:
      writer.byte(header | 2);
      return;
    case 0x10:
      writer.byte(header | 3);
      return;
    default:
      writer.require(false, "atoms", packet.atoms, "none, E, EE or N");
  }
}

/// Payload of a short form whose first byte begins at address bit `low`.
void write_short(Writer& writer, const Address& address, unsigned low) {
  const unsigned first = low + 7;
  const std::uint64_t value = address.value;
  writer.require((value & low_mask(low)) == 0, "the address", value, "an aligned one");
  writer.require(address.update_bits <= first + 8, "the width of the address", address.update_bits,
                 "what a short form carries");
  const bool two = address.update_bits > first;
  writer.byte(static_cast<unsigned>(value >> low & 0x7F) | (two ? 0x80U : 0U));
  if (two) writer.byte(static_cast<unsigned>(value >> first & 0xFF));
}

void write_long(Writer& writer, const Address& address, unsigned low, unsigned bytes) {
  const std::uint64_t value = address.value;
  writer.require((value & low_mask(low)) == 0, "the address", value, "an aligned one");
  writer.byte(static_cast<unsigned>(value >> low & 0x7F));
  writer.byte(low == 2 ? static_cast<unsigned>(value >> 9 & 0x7F)
                       : static_cast<unsigned>(value >> 8 & 0xFF));
  writer.little(value >> 16, bytes - 2);
}

/// INFO, VMID and context ID; etmv4-ete.md 2.8.
void write_context(Writer& writer, const Context& context, const Config& config) {
  const unsigned vmid_bytes = context.updated_vmid ? config.vmid_bytes() : 0;
  const unsigned cid_bytes = context.updated_context_id ? config.context_id_bytes() : 0;
  writer.require(!context.updated_vmid || vmid_bytes != 0, "the VMID", context.vmid,
                 "none with the VMIDSIZE of TRCIDR2");
  writer.require(!context.updated_context_id || cid_bytes != 0, "the context ID",
                 context.context_id, "none with the CIDSIZE of TRCIDR2");
  writer.require(context.vmid <= low_mask(8 * vmid_bytes) || vmid_bytes == 0, "the VMID",
                 context.vmid, "what the VMIDSIZE of TRCIDR2 holds");
  writer.require(context.el <= 3, "the exception level", context.el, "0 to 3");
  writer.byte((context.el & 3U) | (context.nse ? 0x08U : 0U) | (context.sf ? 0x10U : 0U) |
              (context.ns ? 0x20U : 0U) | (vmid_bytes != 0 ? 0x40U : 0U) |
              (cid_bytes != 0 ? 0x80U : 0U));
  writer.little(context.vmid, vmid_bytes);
  writer.little(context.context_id, cid_bytes);
}

void write_trace_info(Writer& writer, const Packet& packet) {
  const unsigned sections = packet.value | (packet.has_spec ? unsigned{kSpec} : 0U);
  writer.require(sections <= 0x1F, "the section mask", sections, "five bits");
  writer.byte(0x01);
  writer.byte(sections);
  const struct {
    std::string_view name;
    std::uint32_t value;
    Section section;
  } fields[] = {{"INFO", packet.info, kInfo},
                {"KEY", packet.cycle_count, kKey},
                {"SPEC", packet.spec_depth, kSpec},
                {"CYCT", packet.cc_threshold, kThreshold},
                {"WNDW", packet.commit, kWindow}};
  for (const auto& field : fields)
    if ((sections & field.section) != 0) writer.continued(field.name, field.value, 5);
}

void write_timestamp(Writer& writer, const Packet& packet) {
  unsigned bytes = packet.timestamp_bits / 7U;
  if (packet.timestamp_bits == 0)
    bytes = std::max((static_cast<unsigned>(std::bit_width(packet.timestamp)) + 6) / 7, 1U);
  bytes = std::min(bytes, 9U);
  writer.require(
      packet.timestamp_bits == 64 || (packet.timestamp_bits % 7 == 0 && packet.timestamp_bits < 64),
      "the width of the timestamp", packet.timestamp_bits, "a multiple of 7, or 64");
  writer.byte(0x02U | (packet.has_count ? 1U : 0U));
  for (unsigned i = 0; i < bytes; ++i) {
    const auto rest = packet.timestamp >> (7 * i);
    if (i == 8) {
      writer.byte(static_cast<unsigned>(rest & 0xFF));
    } else {
      writer.byte(static_cast<unsigned>(rest & 0x7F) | (i + 1 < bytes ? 0x80U : 0U));
    }
  }
  if (packet.has_count) writer.continued("the cycle count", packet.cycle_count, 3);
}

void write_exception(Writer& writer, const Packet& packet, const Config& config) {
  const bool ete = config.major_version() >= 5;
  unsigned number = packet.exception;
  bool padded = false;
  if (packet.type != PacketType::kException) {
    number = packet.type == PacketType::kPeReset ? 0x00 : 0x18;
    padded = true;
  } else {
    writer.require(!ete || (number != 0x00 && number != 0x18), "the exception number", number,
                   "neither 0x0 nor 0x18 for ETE, where these are packet types of their own");
  }
  writer.require(number <= 0x3FF, "the exception number", number, "10 bits");
  const bool extended = number >= 0x20 || (packet.fault_pending && !padded);
  const auto address = static_cast<unsigned>(packet.exception_address);
  writer.byte(0x06);
  writer.byte((address & 1) | (number & 0x1F) << 1 | (address & 2) << 5 | (extended ? 0x80U : 0U));
  if (extended) {
    writer.byte((number >> 5 & 0x1F) | (packet.fault_pending ? 0x20U : 0U));
  } else if (padded) {
    writer.byte(kExceptionPadding);
  }
}

void write_cycle_count(Writer& writer, const Packet& packet, const Config& config) {
  const bool commits = !config.commit_mode_1();
  const std::uint32_t count = packet.cycle_count - packet.cc_threshold;
  const bool counted = packet.type != PacketType::kCycleCountF1 || packet.has_count;
  writer.require(!counted || packet.cycle_count >= packet.cc_threshold, "the cycle count",
                 packet.cycle_count, "not below the threshold");
  if (packet.type == PacketType::kCycleCountF1) {
    writer.byte(packet.has_count ? 0x0E : 0x0F);
    if (commits) writer.continued("the commit count", packet.commit, 5);
    if (packet.has_count) writer.continued("the cycle count", count, 3);
    return;
  }
  if (packet.type == PacketType::kCycleCountF2) {
    const std::uint32_t field0 = packet.commit - 1;
    const std::uint32_t field1 = packet.commit - (config.max_speculation() - 15);
    const bool second = commits && field0 > 0xF;
    const std::uint32_t chosen = second ? field1 : field0;
    const std::uint32_t field = commits ? chosen : 0;
    writer.require(count <= 0xF, "the cycle count", packet.cycle_count,
                   "0 to 15 above the threshold");
    writer.require(field <= 0xF, "the commit count", packet.commit,
                   "1 to 16, or up to 15 below MAXSPEC");
    writer.byte(second ? 0x0D : 0x0C);
    writer.byte((field & 0xF) << 4 | (count & 0xF));
    return;
  }
  const std::uint32_t field = commits ? packet.commit - 1 : 0;
  writer.require(count <= 3, "the cycle count", packet.cycle_count, "0 to 3 above the threshold");
  writer.require(field <= 3, "the commit count", packet.commit, "1 to 4");
  writer.byte(0x10 | (field & 3) << 2 | (count & 3));
}

void write_q(Writer& writer, const Packet& packet) {
  writer.byte(0xA0U | (packet.q_type & 0xFU));
  switch (packet.q_type) {
    case 0x0:
    case 0x1:
    case 0x2:
    case 0xC:
      break;
    case 0x5:
      write_short(writer, packet.address, 2);
      break;
    case 0x6:
      write_short(writer, packet.address, 1);
      break;
    case 0xA:
      write_long(writer, packet.address, 2, 4);
      break;
    case 0xB:
      write_long(writer, packet.address, 1, 4);
      break;
    case 0xF:
      return;
    default:
      writer.require(false, "the Q type", packet.q_type, "0, 1, 2, 5, 6, A, B, C or F");
      return;
  }
  writer.continued("the instruction count", packet.cycle_count, 5);
}

void write_conditional_result_f1(Writer& writer, const Packet& packet) {
  const unsigned low = packet.match_index;
  writer.require(low <= 3 || low == 6 || low == 7, "the header's low bits", low, "0 to 3, 6 or 7");
  writer.byte(0x68 | (low & 7));
  const unsigned payloads = low <= 3 ? 2 : 1;
  const std::array<std::uint32_t, 2> keys = {packet.cycle_count, packet.commit};
  for (unsigned i = 0; i < payloads; ++i) {
    std::uint32_t rest = keys[i] >> 3;
    writer.byte((packet.value >> (4 * i) & 0xFU) | (keys[i] & 7) << 4 | (rest != 0 ? 0x80U : 0U));
    if (rest != 0) writer.continued("the key", rest, 5);
  }
}

/// A header whose low bits are Packet::value.
void write_value(Writer& writer, const Packet& packet, unsigned header, unsigned first,
                 unsigned last) {
  writer.require(packet.value >= first && packet.value <= last, "the value", packet.value,
                 "what its header bits hold");
  writer.byte(header | packet.value);
}

void write_any(Writer& writer, const Packet& packet, const Config& config) {
  const auto base = static_cast<unsigned>(packet.type);
  switch (packet.type) {
    case PacketType::kAtomF1:
      write_plain(writer, packet, 0xF6, 1);
      return;
    case PacketType::kAtomF2:
      write_plain(writer, packet, 0xD8, 2);
      return;
    case PacketType::kAtomF3:
      write_plain(writer, packet, 0xF8, 3);
      return;
    case PacketType::kAtomF4:
      write_fixed(writer, packet, kFormat4, 4);
      return;
    case PacketType::kAtomF5:
      write_fixed(writer, packet, kFormat5, 5);
      return;
    case PacketType::kAtomF6:
      write_format6(writer, packet);
      return;
    case PacketType::kAsync:
      writer.little(0, 8);
      writer.little(0, 3);
      writer.byte(0x80);
      return;
    case PacketType::kDiscard:
    case PacketType::kOverflow:
      writer.byte(0x00);
      writer.byte(base & 0xFF);
      return;
    case PacketType::kTraceInfo:
      write_trace_info(writer, packet);
      return;
    case PacketType::kTimestamp:
      write_timestamp(writer, packet);
      return;
    case PacketType::kTraceOn:
    case PacketType::kFunctionReturn:
    case PacketType::kExceptionReturn:
    case PacketType::kTransactionStart:
    case PacketType::kTransactionCommit:
    case PacketType::kCondFlush:
    case PacketType::kIgnore:
    case PacketType::kTimestampMarker:
      writer.byte(base);
      return;
    case PacketType::kException:
    case PacketType::kPeReset:
    case PacketType::kTransactionFail:
      write_exception(writer, packet, config);
      return;
    case PacketType::kInstrumentation:
      writer.byte(base);
      writer.byte(packet.value);
      writer.little(packet.timestamp, 8);
      return;
    case PacketType::kCycleCountF1:
    case PacketType::kCycleCountF2:
    case PacketType::kCycleCountF3:
      write_cycle_count(writer, packet, config);
      return;
    case PacketType::kNumberedDataSync:
      write_value(writer, packet, base, 0, 7);
      return;
    case PacketType::kUnnumberedDataSync:
      write_value(writer, packet, base, 0, 4);
      return;
    case PacketType::kCommit:
      writer.byte(base);
      writer.continued("the commit count", packet.commit, 5);
      return;
    case PacketType::kCancelF1:
    case PacketType::kCancelF1Mispredict:
      writer.byte(base);
      writer.continued("the cancel count", packet.cancel, 5);
      return;
    case PacketType::kMispredict:
      write_few_atoms(writer, packet, base);
      return;
    case PacketType::kCancelF2:
      writer.require(packet.cancel == 1, "the cancel count", packet.cancel, "1");
      write_few_atoms(writer, packet, base);
      return;
    case PacketType::kCancelF3:
      writer.require(packet.cancel >= 2 && packet.cancel <= 5, "the cancel count", packet.cancel,
                     "2 to 5");
      writer.require(packet.atom_count == 0 || (packet.atom_count == 1 && packet.atoms == 1),
                     "atoms", packet.atoms, "none or E");
      writer.byte(base | (packet.cancel - 2) << 1 | packet.atom_count);
      return;
    case PacketType::kCondInstrF1:
      writer.byte(base);
      writer.continued("the key", packet.cycle_count, 5);
      return;
    case PacketType::kCondInstrF2:
    case PacketType::kCondResultF4:
      write_value(writer, packet, base, 0, 2);
      return;
    case PacketType::kCondInstrF3:
      writer.byte(base);
      writer.byte(packet.value);
      return;
    case PacketType::kCondResultF1:
      write_conditional_result_f1(writer, packet);
      return;
    case PacketType::kCondResultF2:
      writer.require((packet.value & 3) != 3, "the token", packet.value & 3U, "0 to 2");
      write_value(writer, packet, base, 0, 6);
      return;
    case PacketType::kCondResultF3:
      writer.require(packet.cycle_count <= 0xFFF, "the token string", packet.cycle_count,
                     "12 bits");
      writer.byte(base | (packet.cycle_count >> 8 & 0xF));
      writer.byte(packet.cycle_count & 0xFF);
      return;
    case PacketType::kEvent:
      write_value(writer, packet, 0x70, 1, 15);
      return;
    case PacketType::kContext:
      writer.byte(packet.context.updated ? 0x81 : 0x80);
      if (packet.context.updated) write_context(writer, packet.context, config);
      return;
    case PacketType::kAddressMatch:
    case PacketType::kSourceMatch:
      writer.require(packet.match_index <= 2, "the match index", packet.match_index, "0 to 2");
      writer.byte(base | (packet.match_index & 3U));
      return;
    case PacketType::kAddressShortIs0:
    case PacketType::kSourceShortIs0:
      writer.byte(base);
      write_short(writer, packet.address, 2);
      return;
    case PacketType::kAddressShortIs1:
    case PacketType::kSourceShortIs1:
      writer.byte(base);
      write_short(writer, packet.address, 1);
      return;
    case PacketType::kAddress32Is0:
    case PacketType::kSource32Is0:
      writer.byte(base);
      write_long(writer, packet.address, 2, 4);
      return;
    case PacketType::kAddress32Is1:
    case PacketType::kSource32Is1:
      writer.byte(base);
      write_long(writer, packet.address, 1, 4);
      return;
    case PacketType::kAddress64Is0:
    case PacketType::kSource64Is0:
      writer.byte(base);
      write_long(writer, packet.address, 2, 8);
      return;
    case PacketType::kAddress64Is1:
    case PacketType::kSource64Is1:
      writer.byte(base);
      write_long(writer, packet.address, 1, 8);
      return;
    case PacketType::kAddressContext32Is0:
    case PacketType::kAddressContext32Is1:
    case PacketType::kAddressContext64Is0:
    case PacketType::kAddressContext64Is1: {
      const bool is0 = packet.type == PacketType::kAddressContext32Is0 ||
                       packet.type == PacketType::kAddressContext64Is0;
      const bool wide = packet.type == PacketType::kAddressContext64Is0 ||
                        packet.type == PacketType::kAddressContext64Is1;
      writer.byte(base);
      write_long(writer, packet.address, is0 ? 2 : 1, wide ? 8 : 4);
      write_context(writer, packet.context, config);
      return;
    }
    case PacketType::kQ:
      write_q(writer, packet);
      return;
    case PacketType::kExtension:
    case PacketType::kNotSync:
    case PacketType::kIncompleteEot:
    case PacketType::kNoErrorType:
    case PacketType::kBadSequence:
    case PacketType::kBadTraceMode:
    case PacketType::kReserved:
    case PacketType::kReservedConfig:
      break;
  }
  writer.require(false, "the type", base, "a packet of the protocol");
}

bool is_one_of(std::span<const AtomPattern> patterns, std::uint32_t atoms, unsigned count) {
  return std::ranges::any_of(patterns, [&](const AtomPattern& pattern) {
    return pattern.atoms == (atoms & low_mask(count));
  });
}

}  // namespace

Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out) {
  const std::size_t before = out.size();
  Writer writer(packet, out);
  write_any(writer, packet, config);
  Result<void> result = writer.result();
  if (!result) out.resize(before);
  return result;
}

Packet longest_atom_packet(std::uint32_t atoms, unsigned count) {
  Packet packet;
  const auto take = [&](PacketType type, unsigned taken) {
    packet.type = type;
    packet.atom_count = static_cast<std::uint8_t>(taken);
    packet.atoms = atoms & static_cast<std::uint32_t>(low_mask(taken));
    return packet;
  };
  const unsigned ones = std::min(static_cast<unsigned>(std::countr_one(atoms)), count);
  const unsigned leading = std::min({ones, count - 1, unsigned{kMaxLeading}});
  if (leading >= kMinLeading) return take(PacketType::kAtomF6, leading + 1);
  if (count >= 5 && is_one_of(kFormat5, atoms, 5)) return take(PacketType::kAtomF5, 5);
  if (count >= 4 && is_one_of(kFormat4, atoms, 4)) return take(PacketType::kAtomF4, 4);
  if (count >= 3) return take(PacketType::kAtomF3, 3);
  return count == 2 ? take(PacketType::kAtomF2, 2) : take(PacketType::kAtomF1, 1);
}

}  // namespace waymark::etmv4
