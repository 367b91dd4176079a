// Branch and I-sync packets.  See etmv3.md 5 and 6.1.
#include <algorithm>

#include "header_table.h"
#include "waymark/base/cursor.h"
#include "waymark/etmv3/parser.h"

namespace waymark::etmv3 {
namespace {

using isa::Isa;

constexpr std::size_t kIncomplete = 0;
constexpr std::size_t kAddressBytes = 5;    ///< The most of one address.
constexpr std::size_t kExceptionBytes = 3;  ///< The most of the exception information.
constexpr std::uint8_t kSyncWithCycles = 0x70;

/// The low bits of an address in up to four bytes; etmv3.md 5.1.
struct LowBits {
  std::uint32_t value = 0;
  unsigned count = 0;
};

LowBits low_bits(Bytes bytes, bool alternative) {
  LowBits low{bytes[0] >> 1 & 0x3FU, 6};
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    // The last byte of the alternative encoding has a flag in bit 6.
    const bool short_byte = alternative && (bytes[i] & 0x80) == 0;
    const unsigned count = short_byte ? 6 : 7;
    low.value |= (bytes[i] & ((1U << count) - 1)) << low.count;
    low.count += count;
  }
  return low;
}

void set_low(Address& address, std::uint32_t value, unsigned width) {
  const auto mask = static_cast<std::uint32_t>(low_mask(width));
  address.value = (address.value & ~mask) | (value & mask);
  address.update_bits = static_cast<std::uint8_t>(width);
  address.valid_bits = std::max(address.valid_bits, address.update_bits);
}

/// The position of the last byte of an A-sync; 0: none.  Only an I-sync is long enough to contain a
/// whole one.
std::size_t async_inside(Bytes bytes) {
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == 0x80 && zeros >= 5) return i;
    zeros = bytes[i] == 0 ? zeros + 1 : 0;
  }
  return 0;
}

Isa isa_of_sync(bool jazelle, bool thumb, bool alt) {
  if (jazelle) return Isa::kJazelle;
  if (!thumb) return Isa::kA32;
  return alt ? Isa::kThumbEE : Isa::kT32;
}

}  // namespace

/// The ends of the parts of a branch packet; all 0: more bytes are needed.
struct Parser::BranchFrame {
  std::size_t address = 0;
  std::size_t length = 0;
  bool malformed = false;
};

Parser::BranchFrame Parser::frame_branch(const std::uint8_t* at, std::size_t available) const {
  const bool alternative = config_.alternative_branches();
  const bool endless = quirks_.endless_continuation;
  const std::size_t most = std::min(available, kMaxPacketBytes);
  std::size_t n = 0;
  bool exception = false;
  while (true) {
    if (n == most) return n < available ? BranchFrame{n, n, true} : BranchFrame{};
    const std::uint8_t byte = at[n++];
    if ((byte & 0x80) == 0) {
      exception = (byte & 0x40) != 0 && n > 1 && (alternative || n == kAddressBytes);
      break;
    }
    if (n < kAddressBytes) continue;
    if (!alternative) break;  // The deprecated form.
    if (!endless) return {n, n, true};
  }
  BranchFrame frame{std::min(n, kAddressBytes), n, false};
  if (!exception) return frame;
  while (true) {
    if (n == most) return n < available ? BranchFrame{n, n, true} : BranchFrame{};
    const std::uint8_t byte = at[n++];
    frame.length = n;
    if ((byte & 0x80) == 0) return frame;
    if (n - frame.address == kExceptionBytes && !endless) return {frame.address, n, true};
  }
}

// See etmv3.md 5.4.
void Parser::read_exception(Bytes bytes, Packet& packet) {
  Exception& exception = packet.exception;
  Context& context = state_.context;
  const std::uint8_t first = bytes[0];
  exception.present = true;
  exception.cancel = bit<5>(first);
  exception.number = bits<4, 1>(first);
  context.ns = bit<0>(first);
  context.alt_isa = bit<6>(first);
  std::size_t next = 1;
  if (next < bytes.size() && !bit<6>(bytes[next])) {
    const std::uint8_t second = bytes[next++];
    exception.has_hyp = true;
    context.hyp = bit<5>(second);
    if (config_.v7m())
      exception.number = static_cast<std::uint16_t>(exception.number | bits<4, 0>(second) << 4);
  }
  if (next < bytes.size()) exception.resume = bits<3, 0>(bytes[next]);
}

// The address bytes of a branch; the last of five gives the instruction set.  False: there is no
// such instruction set.
bool Parser::update_address(Bytes bytes, Packet& packet) {
  const bool alternative = config_.alternative_branches();
  if (bytes.size() < kAddressBytes) {
    const LowBits low = low_bits(bytes, alternative);
    const unsigned shift = address_shift(state_.isa);
    set_low(state_.address, low.value << shift, low.count + shift);
    return true;
  }
  const std::uint8_t last = bytes[kAddressBytes - 1];
  const LowBits low = low_bits(bytes.first(kAddressBytes - 1), false);
  std::uint32_t high = 0;
  if ((last & 0x80) != 0) {
    state_.isa = Isa::kA32;
    high = last & 7U;
    Exception& exception = packet.exception;
    exception.present = exception.deprecated = true;
    exception.number = bits<5, 3>(last);
    if (!quirks_.deprecated_numbers_kept)
      exception.number = kDeprecatedExceptions[exception.number];
    exception.cancel = bit<6>(last);
  } else if ((last & 0xB8) == 0x08) {
    state_.isa = Isa::kA32;
    high = last & 7U;
  } else if ((last & 0xB0) == 0x10) {
    state_.isa = state_.context.alt_isa ? Isa::kThumbEE : Isa::kT32;
    high = last & 15U;
  } else if ((last & 0xA0) == 0x20) {
    state_.isa = Isa::kJazelle;
    high = last & 31U;
  } else {
    return false;
  }
  set_low(state_.address, (low.value | high << low.count) << address_shift(state_.isa), 32);
  return true;
}

std::size_t Parser::read_branch(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const BranchFrame frame = frame_branch(at, available);
  if (frame.length == 0) return kIncomplete;
  if (frame.malformed)
    return bad(packet, PacketType::kBadSequence, PacketType::kBranchAddress, frame.length);
  packet.exception = {};
  packet.previous_isa = state_.isa;
  const State before = state_;
  const std::size_t rest = frame.address < frame.length && (at[frame.address - 1] & 0x80) == 0
                               ? frame.length - frame.address
                               : 0;
  if (rest != 0) read_exception({at + frame.address, rest}, packet);
  if (!update_address({at, frame.address}, packet)) {
    if (!quirks_.keeps_sync) {
      state_ = before;
      return bad(packet, PacketType::kBadSequence, PacketType::kBranchAddress, frame.length);
    }
    note_bad_sequence(packet);
    state_.address.update_bits = 0;
  }
  packet.address = state_.address;
  packet.isa = state_.isa;
  state_.context.updated_context_id = false;
  packet.context = state_.context;
  return frame.length;
}

/// The parts of an I-sync packet before the second address.
struct Parser::SyncFrame {
  std::size_t body = 0;    ///< Where the context ID begins.
  std::size_t length = 0;  ///< 0: more bytes are needed.
  std::uint32_t cycles = 0;
};

Parser::SyncFrame Parser::frame_isync(const std::uint8_t* at, std::size_t available) const {
  SyncFrame frame{.body = 1};
  const bool counted = at[0] == kSyncWithCycles;
  if (counted) {
    Cursor cursor({at + 1, available - 1});
    frame.cycles = static_cast<std::uint32_t>(cursor.continued(5));
    if (cursor.overrun()) return {};
    frame.body += cursor.position();
  }
  const unsigned id_size = config_.context_id_bytes();
  frame.length = frame.body + id_size + (config_.data_only() ? 1 : 5);
  if (config_.data_only() && counted && quirks_.data_only_length)
    frame.length = std::max<std::size_t>(2 + id_size, frame.body + 1);
  return frame;
}

// The address of an instruction in progress, after `length` bytes of an I-sync.
Parser::BranchFrame Parser::frame_second_address(const std::uint8_t* at, std::size_t length,
                                                 std::size_t available) const {
  std::size_t size = 0;
  do {
    if (length + size == available) return {};
    const bool too_long =
        size == kAddressBytes ? !quirks_.endless_continuation : length + size == kMaxPacketBytes;
    if (too_long) return {size, length + size, true};
  } while ((at[length + size++] & 0x80) != 0);
  return {size, length + size, false};
}

std::size_t Parser::read_isync(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const auto [body, length, cycles] = frame_isync(at, available);
  if (length == 0) return kIncomplete;
  if (!quirks_.async_needs_own_zeros) {
    if (const std::size_t end = async_inside({at, std::min(available, length)}); end != 0)
      return bad(packet, PacketType::kBadSequence, packet.type, end);
  }
  if (available < length) return kIncomplete;

  Cursor cursor({at + body, length - body});
  const State before = state_;
  State next = state_;
  next.context.updated_context_id = false;
  next.address.update_bits = 0;
  packet.cycle_count = cycles;
  packet.has_cycle_count = at[0] == kSyncWithCycles;
  packet.lsip = false;
  packet.no_address = false;
  packet.previous_isa = state_.isa;
  const unsigned id_size = config_.context_id_bytes();
  if (cursor.remaining() < id_size) {  // Quirk data_only_length.
    note_bad_sequence(packet);
    settle_isync(next, packet);
    return length;
  }
  if (id_size != 0) {
    next.context.context_id = static_cast<std::uint32_t>(cursor.little(id_size));
    next.context.updated_context_id = true;
  }
  const std::uint8_t info = cursor.u8();
  next.reason = static_cast<SyncReason>(bits<6, 5>(info));
  next.context.ns = bit<3>(info);
  if (config_.has_virtualization()) next.context.hyp = bit<1>(info);
  const bool data_only = config_.data_only();
  packet.no_address = data_only;
  const bool has_second =
      bit<7>(info) && (quirks_.lsip_hidden ? (at[length - 1] & 0x80) != 0 : !data_only);
  BranchFrame second{0, length, false};
  if (has_second) {
    second = frame_second_address(at, length, available);
    if (second.length == 0) return kIncomplete;
    if (second.malformed) return bad(packet, PacketType::kBadSequence, packet.type, second.length);
  }
  if (data_only) {
    settle_isync(next, packet);
    return second.length;
  }
  read_sync_address(info, static_cast<std::uint32_t>(cursor.little(4)), next);
  settle_isync(next, packet);
  if (!has_second) {
    // The reference still expects the second address.
    if (bit<7>(info)) note_bad_sequence(packet);
    return length;
  }
  if (read_second_address({at + length, second.address}, packet)) return second.length;
  state_ = before;
  return bad(packet, PacketType::kBadSequence, packet.type, second.length);
}

void Parser::read_sync_address(std::uint8_t info, std::uint32_t word, State& next) const {
  const bool alt = bit<2>(info) && config_.minor_version() >= 3;
  const bool jazelle = bit<4>(info);
  if (!quirks_.sync_alt_isa_forgotten) next.context.alt_isa = alt;
  next.isa = isa_of_sync(jazelle, bit<0>(word), alt);
  const bool keeps_bit0 = jazelle && !quirks_.jazelle_sync_is_even;
  next.address = {keeps_bit0 ? word : word & ~1U, 32, 0};
}

void Parser::settle_isync(const State& next, Packet& packet) {
  state_ = next;
  packet.reason = state_.reason;
  packet.isa = state_.isa;
  packet.address = state_.address;
  packet.context = state_.context;
}

// False: it is malformed.
bool Parser::read_second_address(Bytes bytes, Packet& packet) {
  packet.lsip = !quirks_.lsip_hidden;
  packet.data_instruction = packet.address.value;
  packet.data_isa = packet.isa;
  const std::size_t size = bytes.size();
  const bool flagged = bit<6>(bytes.back()) &&
                       (size == kAddressBytes ||
                        (config_.alternative_branches() && size > 1 && size < kAddressBytes));
  const bool understood =
      !flagged && update_address(bytes.first(std::min(size, kAddressBytes)), packet);
  if (!understood && !quirks_.lsip_hidden) return false;
  if (!understood)
    note_bad_sequence(packet, flagged ? PacketType::kBadSequence : PacketType::kBranchAddress);
  packet.address = state_.address;
  packet.isa = state_.isa;
  state_.address.update_bits = 0;
  return true;
}

}  // namespace waymark::etmv3
