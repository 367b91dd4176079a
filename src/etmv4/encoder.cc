#include "waymark/etmv4/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "type_slots.h"
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
              fmt::format("{} cannot be encoded: {} is {:#x}; allowed: {}.",
                          packet_name(packet.type), field, value, allowed),
              packet.index);
}

/// Collects the bytes of one packet and the first field that did not fit.
struct Writer {
  const Packet& packet;
  const Config& config;
  Buffer& out;
  Result<void> result;

  void byte(unsigned value) { out.push_back(static_cast<std::uint8_t>(value)); }
  /// The header whose variable bits are 0, with these.
  void header(unsigned bits = 0) { byte((static_cast<unsigned>(packet.type) & 0xFF) | bits); }

  void little(std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) byte(static_cast<unsigned>(value >> (8 * i) & 0xFF));
  }

  /// Writes 7 bits per byte with a continuation bit, in as few bytes as possible, at most
  /// `max_bytes`.
  void continued(std::string_view field, std::uint64_t value, unsigned max_bytes) {
    require(value <= low_mask(7 * max_bytes), field, value, "what fits its bytes");
    while (value >= 0x80) {
      byte(0x80U | static_cast<unsigned>(value & 0x7F));
      value >>= 7;
    }
    byte(static_cast<unsigned>(value));
  }

  void require(bool holds, std::string_view field, std::uint64_t value, std::string_view allowed) {
    if (!holds && result) result = bad(packet, field, value, allowed);
  }
};

// -- One function for the packets of one form. ----------------------------------------------------

void write_single(Writer& w) { w.header(); }

void write_extension(Writer& w) {
  w.byte(0x00);
  w.header();
}

void write_async(Writer& w) {
  w.little(0, 8);
  w.little(0, 3);
  w.byte(0x80);
}

template <unsigned kCount>
void write_fixed(Writer& w, std::span<const AtomPattern> patterns) {
  for (const AtomPattern& pattern : patterns) {
    if (w.packet.atom_count == kCount && w.packet.atoms == pattern.atoms) {
      w.byte(pattern.header);
      return;
    }
  }
  w.require(false, "atoms", w.packet.atoms, "one of the four patterns of the format");
}

void write_format4(Writer& w) { write_fixed<4>(w, kFormat4); }
void write_format5(Writer& w) { write_fixed<5>(w, kFormat5); }

template <unsigned kCount>
void write_plain(Writer& w) {
  const Packet& packet = w.packet;
  w.require(packet.atom_count == kCount, "the number of atoms", packet.atom_count,
            "that of the format");
  w.require(packet.atoms <= low_mask(kCount), "atoms", packet.atoms, "a bit for each atom");
  w.header(packet.atoms);
}

void write_format6(Writer& w) {
  const Packet& packet = w.packet;
  const unsigned leading = packet.atom_count - 1U;
  const auto expected = static_cast<std::uint32_t>(low_mask(leading));
  const bool shape = packet.atom_count > kMinLeading && leading <= kMaxLeading &&
                     (packet.atoms & expected) == expected && packet.atoms >> leading <= 1;
  w.require(shape, "atoms", packet.atoms, "3 to 23 times E and then E or N");
  if (!shape) return;
  w.header((packet.atoms >> leading == 0 ? 0x20U : 0U) | (leading - kMinLeading));
}

/// The low two header bits of mispredict and cancel format 2: none, E, EE, N.
void write_few_atoms(Writer& w) {
  constexpr unsigned kChoices[] = {0x00, 0x11, 0x23, 0x10};
  const unsigned atoms = unsigned{w.packet.atom_count} << 4 | w.packet.atoms;
  const auto* const found = std::ranges::find(kChoices, atoms);
  w.require(found != std::end(kChoices), "atoms", w.packet.atoms, "none, E, EE or N");
  w.header(static_cast<unsigned>(found - kChoices) & 3);
}

void write_cancel_f2(Writer& w) {
  w.require(w.packet.cancel == 1, "the cancel count", w.packet.cancel, "1");
  write_few_atoms(w);
}

void write_cancel_f3(Writer& w) {
  const Packet& packet = w.packet;
  w.require(packet.cancel >= 2 && packet.cancel <= 5, "the cancel count", packet.cancel, "2 to 5");
  w.require(packet.atom_count == 0 || (packet.atom_count == 1 && packet.atoms == 1), "atoms",
            packet.atoms, "none or E");
  w.header((packet.cancel - 2) << 1 | packet.atom_count);
}

void write_cancel_f1(Writer& w) {
  w.header();
  w.continued("the cancel count", w.packet.cancel, 5);
}

void write_commit(Writer& w) {
  w.header();
  w.continued("the commit count", w.packet.commit, 5);
}

/// Payload of a short form whose first byte begins at address bit `low`.
void write_short(Writer& w, unsigned low) {
  const Address& address = w.packet.address;
  const unsigned first = low + 7;
  const std::uint64_t value = address.value;
  w.require((value & low_mask(low)) == 0, "the address", value, "an aligned one");
  w.require(address.update_bits <= first + 8, "the width of the address", address.update_bits,
            "what a short form carries");
  const bool two = address.update_bits > first;
  w.byte(static_cast<unsigned>(value >> low & 0x7F) | (two ? 0x80U : 0U));
  if (two) w.byte(static_cast<unsigned>(value >> first & 0xFF));
}

void write_long(Writer& w, unsigned low, unsigned bytes) {
  const std::uint64_t value = w.packet.address.value;
  w.require((value & low_mask(low)) == 0, "the address", value, "an aligned one");
  w.byte(static_cast<unsigned>(value >> low & 0x7F));
  w.byte(low == 2 ? static_cast<unsigned>(value >> 9 & 0x7F)
                  : static_cast<unsigned>(value >> 8 & 0xFF));
  w.little(value >> 16, bytes - 2);
}

/// INFO, VMID and context ID; etmv4-ete.md 2.8.
void write_context_fields(Writer& w) {
  const Context& context = w.packet.context;
  const unsigned vmid_bytes = context.updated_vmid ? w.config.vmid_bytes() : 0;
  const unsigned cid_bytes = context.updated_context_id ? w.config.context_id_bytes() : 0;
  w.require(!context.updated_vmid || vmid_bytes != 0, "the VMID", context.vmid,
            "none with the VMIDSIZE of TRCIDR2");
  w.require(!context.updated_context_id || cid_bytes != 0, "the context ID", context.context_id,
            "none with the CIDSIZE of TRCIDR2");
  w.require(context.vmid <= low_mask(8 * vmid_bytes) || vmid_bytes == 0, "the VMID", context.vmid,
            "what fits the VMIDSIZE of TRCIDR2");
  w.require(context.el <= 3, "the exception level", context.el, "0 to 3");
  w.byte((context.el & 3U) | (context.nse ? 0x08U : 0U) | (context.sf ? 0x10U : 0U) |
         (context.ns ? 0x20U : 0U) | (vmid_bytes != 0 ? 0x40U : 0U) |
         (cid_bytes != 0 ? 0x80U : 0U));
  w.little(context.vmid, vmid_bytes);
  w.little(context.context_id, cid_bytes);
}

void write_context(Writer& w) {
  w.header(w.packet.context.updated ? 1 : 0);
  if (w.packet.context.updated) write_context_fields(w);
}

void write_match(Writer& w) {
  w.require(w.packet.match_index <= 2, "the match index", w.packet.match_index, "0 to 2");
  w.header(w.packet.match_index & 3U);
}

/// `kLow`: the lowest address bit, 2 for IS0 and 1 for IS1.
template <unsigned kLow>
void write_short_address(Writer& w) {
  w.header();
  write_short(w, kLow);
}
template <unsigned kLow, unsigned kBytes>
void write_address(Writer& w) {
  w.header();
  write_long(w, kLow, kBytes);
}
template <unsigned kLow, unsigned kBytes>
void write_address_context(Writer& w) {
  write_address<kLow, kBytes>(w);
  write_context_fields(w);
}

void write_trace_info(Writer& w) {
  const TraceInfo& info = w.packet.trace_info;
  const unsigned sections = info.sections | (info.has_spec ? unsigned{kSpec} : 0U);
  w.require(sections <= 0x1F, "the section mask", sections, "five bits");
  w.header();
  w.byte(sections);
  const struct {
    std::string_view name;
    std::uint32_t value;
    Section section;
  } fields[] = {{"INFO", info.info, kInfo},
                {"KEY", info.p0_key, kKey},
                {"SPEC", info.spec_depth, kSpec},
                {"CYCT", w.packet.cc_threshold, kThreshold},
                {"WNDW", info.window, kWindow}};
  for (const auto& field : fields)
    if ((sections & field.section) != 0) w.continued(field.name, field.value, 5);
}

void write_timestamp(Writer& w) {
  const Packet& packet = w.packet;
  const unsigned width = packet.timestamp_bits;
  const std::uint64_t value = packet.timestamp;
  unsigned bytes = width / 7U;
  if (width == 0) bytes = std::max((static_cast<unsigned>(std::bit_width(value)) + 6) / 7, 1U);
  bytes = std::min(bytes, 9U);
  w.require(width == 64 || (width % 7 == 0 && width < 64), "the width of the timestamp", width,
            "a multiple of 7, or 64");
  w.header(packet.has_count ? 1 : 0);
  for (unsigned i = 0; i < bytes; ++i) {
    const std::uint64_t rest = value >> (7 * i);
    if (i == 8) {
      w.byte(static_cast<unsigned>(rest & 0xFF));
    } else {
      w.byte(static_cast<unsigned>(rest & 0x7F) | (i + 1 < bytes ? 0x80U : 0U));
    }
  }
  if (packet.has_count) w.continued("the cycle count", packet.cycle_count, 3);
}

void write_exception(Writer& w) {
  const Packet& packet = w.packet;
  const bool ete = w.config.major_version() >= 5;
  unsigned number = packet.exception;
  bool padded = false;
  if (packet.type != PacketType::kException) {
    number = packet.type == PacketType::kPeReset ? 0x00 : 0x18;
    padded = true;
  } else {
    w.require(!ete || (number != 0x00 && number != 0x18), "the exception number", number,
              "neither 0x0 nor 0x18 for ETE, where these are packet types of their own");
  }
  w.require(number <= 0x3FF, "the exception number", number, "10 bits");
  const bool extended = number >= 0x20 || (packet.fault_pending && !padded);
  const auto address = static_cast<unsigned>(packet.exception_address);
  w.byte(0x06);
  w.byte((address & 1) | (number & 0x1F) << 1 | (address & 2) << 5 | (extended ? 0x80U : 0U));
  if (extended) {
    w.byte((number >> 5 & 0x1F) | (packet.fault_pending ? 0x20U : 0U));
  } else if (padded) {
    w.byte(kExceptionPadding);
  }
}

void write_instrumentation(Writer& w) {
  w.header();
  w.byte(w.packet.instrumentation.el);
  w.little(w.packet.instrumentation.payload, 8);
}

/// The cycle count above the threshold.
std::uint32_t count_of(Writer& w) {
  const Packet& packet = w.packet;
  w.require(packet.cycle_count >= packet.cc_threshold, "the cycle count", packet.cycle_count,
            "not below the threshold");
  return packet.cycle_count - packet.cc_threshold;
}

void write_cycle_count_f1(Writer& w) {
  const Packet& packet = w.packet;
  const std::uint32_t count = packet.has_count ? count_of(w) : 0;
  w.header(packet.has_count ? 0 : 1);
  if (!w.config.commit_mode_1()) w.continued("the commit count", packet.commit, 5);
  if (packet.has_count) w.continued("the cycle count", count, 3);
}

void write_cycle_count_f2(Writer& w) {
  const Packet& packet = w.packet;
  const bool commits = !w.config.commit_mode_1();
  const std::uint32_t count = count_of(w);
  const std::uint32_t field0 = packet.commit - 1;
  const std::uint32_t field1 = packet.commit - (w.config.max_speculation() - 15);
  const bool second = commits && field0 > 0xF;
  const std::uint32_t chosen = second ? field1 : field0;
  const std::uint32_t field = commits ? chosen : 0;
  w.require(count <= 0xF, "the cycle count", packet.cycle_count, "0 to 15 above the threshold");
  w.require(field <= 0xF, "the commit count", packet.commit, "1 to 16, or up to 15 below MAXSPEC");
  w.header(second ? 1 : 0);
  w.byte((field & 0xF) << 4 | (count & 0xF));
}

void write_cycle_count_f3(Writer& w) {
  const Packet& packet = w.packet;
  const std::uint32_t count = count_of(w);
  const std::uint32_t field = w.config.commit_mode_1() ? 0 : packet.commit - 1;
  w.require(count <= 3, "the cycle count", packet.cycle_count, "0 to 3 above the threshold");
  w.require(field <= 3, "the commit count", packet.commit, "1 to 4");
  w.header((field & 3) << 2 | (count & 3));
}

void write_q(Writer& w) {
  const Q& q = w.packet.q;
  w.header(q.type & 0xFU);
  switch (q.type) {
    case 0x0:
    case 0x1:
    case 0x2:
    case 0xC:
      break;
    case 0x5:
    case 0x6:
      write_short(w, q.type == 0x5 ? 2 : 1);
      break;
    case 0xA:
    case 0xB:
      write_long(w, q.type == 0xA ? 2 : 1, 4);
      break;
    case 0xF:
      return;
    default:
      w.require(false, "the Q type", q.type, "0, 1, 2, 5, 6, A, B, C or F");
      return;
  }
  w.continued("the instruction count", q.count, 5);
}

/// A header whose low bits are Packet::value.
template <unsigned kFirst, unsigned kLast>
void write_value(Writer& w) {
  const unsigned value = w.packet.value;
  w.require(value >= kFirst && value <= kLast, "the value", value, "what fits its header bits");
  w.header(value);
}

void write_result_f1(Writer& w) {
  const Conditional& conditional = w.packet.conditional;
  const unsigned low = conditional.form;
  w.require(low <= 3 || low == 6 || low == 7, "the header's low bits", low, "0 to 3, 6 or 7");
  w.header(low & 7);
  const unsigned payloads = low <= 3 ? 2 : 1;
  const std::array<std::uint32_t, 2> keys = {conditional.key, conditional.second_key};
  for (unsigned i = 0; i < payloads; ++i) {
    const std::uint32_t rest = keys[i] >> 3;
    w.byte((conditional.results >> (4 * i) & 0xFU) | (keys[i] & 7) << 4 | (rest != 0 ? 0x80U : 0U));
    if (rest != 0) w.continued("the key", rest, 5);
  }
}

void write_result_f2(Writer& w) {
  w.require((w.packet.value & 3) != 3, "the token", w.packet.value & 3U, "0 to 2");
  write_value<0, 6>(w);
}

void write_result_f3(Writer& w) {
  const unsigned tokens = w.packet.conditional.tokens;
  w.require(tokens <= 0xFFF, "the token string", tokens, "12 bits");
  w.header(tokens >> 8 & 0xF);
  w.byte(tokens & 0xFF);
}

void write_conditional_f1(Writer& w) {
  w.header();
  w.continued("the key", w.packet.conditional.key, 5);
}

void write_conditional_f3(Writer& w) {
  w.header();
  w.byte(w.packet.conditional.elements);
}

// The value of the type is that of `ignore`, 0x70, plus the lowest event.
void write_event(Writer& w) {
  w.require(w.packet.value >= 1 && w.packet.value <= 15, "the value", w.packet.value,
            "what fits its header bits");
  w.byte(0x70U | w.packet.value);
}

struct Row {
  PacketType type;
  void (*write)(Writer& writer);
};

constexpr Row kRows[] = {
    {PacketType::kAtomF1, write_plain<1>},
    {PacketType::kAtomF2, write_plain<2>},
    {PacketType::kAtomF3, write_plain<3>},
    {PacketType::kAtomF4, write_format4},
    {PacketType::kAtomF5, write_format5},
    {PacketType::kAtomF6, write_format6},
    {PacketType::kAsync, write_async},
    {PacketType::kDiscard, write_extension},
    {PacketType::kOverflow, write_extension},
    {PacketType::kTraceInfo, write_trace_info},
    {PacketType::kTimestamp, write_timestamp},
    {PacketType::kTraceOn, write_single},
    {PacketType::kFunctionReturn, write_single},
    {PacketType::kExceptionReturn, write_single},
    {PacketType::kTransactionStart, write_single},
    {PacketType::kTransactionCommit, write_single},
    {PacketType::kCondFlush, write_single},
    {PacketType::kIgnore, write_single},
    {PacketType::kTimestampMarker, write_single},
    {PacketType::kException, write_exception},
    {PacketType::kPeReset, write_exception},
    {PacketType::kTransactionFail, write_exception},
    {PacketType::kInstrumentation, write_instrumentation},
    {PacketType::kCycleCountF1, write_cycle_count_f1},
    {PacketType::kCycleCountF2, write_cycle_count_f2},
    {PacketType::kCycleCountF3, write_cycle_count_f3},
    {PacketType::kNumberedDataSync, write_value<0, 7>},
    {PacketType::kUnnumberedDataSync, write_value<0, 4>},
    {PacketType::kCommit, write_commit},
    {PacketType::kCancelF1, write_cancel_f1},
    {PacketType::kCancelF1Mispredict, write_cancel_f1},
    {PacketType::kMispredict, write_few_atoms},
    {PacketType::kCancelF2, write_cancel_f2},
    {PacketType::kCancelF3, write_cancel_f3},
    {PacketType::kCondInstrF1, write_conditional_f1},
    {PacketType::kCondInstrF2, write_value<0, 2>},
    {PacketType::kCondInstrF3, write_conditional_f3},
    {PacketType::kCondResultF1, write_result_f1},
    {PacketType::kCondResultF2, write_result_f2},
    {PacketType::kCondResultF3, write_result_f3},
    {PacketType::kCondResultF4, write_value<0, 2>},
    {PacketType::kEvent, write_event},
    {PacketType::kContext, write_context},
    {PacketType::kAddressMatch, write_match},
    {PacketType::kAddressShortIs0, write_short_address<2>},
    {PacketType::kAddressShortIs1, write_short_address<1>},
    {PacketType::kAddress32Is0, write_address<2, 4>},
    {PacketType::kAddress32Is1, write_address<1, 4>},
    {PacketType::kAddress64Is0, write_address<2, 8>},
    {PacketType::kAddress64Is1, write_address<1, 8>},
    {PacketType::kSourceMatch, write_match},
    {PacketType::kSourceShortIs0, write_short_address<2>},
    {PacketType::kSourceShortIs1, write_short_address<1>},
    {PacketType::kSource32Is0, write_address<2, 4>},
    {PacketType::kSource32Is1, write_address<1, 4>},
    {PacketType::kSource64Is0, write_address<2, 8>},
    {PacketType::kSource64Is1, write_address<1, 8>},
    {PacketType::kAddressContext32Is0, write_address_context<2, 4>},
    {PacketType::kAddressContext32Is1, write_address_context<1, 4>},
    {PacketType::kAddressContext64Is0, write_address_context<2, 8>},
    {PacketType::kAddressContext64Is1, write_address_context<1, 8>},
    {PacketType::kQ, write_q},
};
constexpr auto kSlots = row_slots(kRows);
static_assert(kSlots[kSlotCount] == std::size(kRows), "a packet type has no slot");

bool is_one_of(std::span<const AtomPattern> patterns, std::uint32_t atoms, unsigned count) {
  return std::ranges::any_of(patterns, [&](const AtomPattern& pattern) {
    return pattern.atoms == (atoms & low_mask(count));
  });
}

}  // namespace

Result<void> encode(const Packet& packet, const Config& config, std::vector<std::uint8_t>& out) {
  const std::size_t before = out.size();
  Writer writer{packet, config, out, {}};
  const std::size_t row = kSlots[slot_of(packet.type)];
  if (row < std::size(kRows)) {
    kRows[row].write(writer);
  } else {
    writer.require(false, "the type", static_cast<unsigned>(packet.type),
                   "a packet of the protocol");
  }
  if (!writer.result) out.resize(before);
  return writer.result;
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
