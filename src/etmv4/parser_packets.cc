// Packets by their layout: their length and content.
#include <algorithm>

#include "waymark/base/bits.h"
#include "waymark/base/cursor.h"
#include "waymark/etmv4/parser.h"

namespace waymark::etmv4 {
namespace {

// The end of the continued field that begins at `from` (one past its last byte); 0: not within
// `available`.  A field that is longer than the longest packet ends there, see Parser::too_long.
std::size_t field_end(const std::uint8_t* at, std::size_t available, std::size_t from) {
  const std::size_t limit = std::min(available, Parser::kMaxPacketBytes);
  for (std::size_t i = from; i < limit; ++i)
    if ((at[i] & 0x80) == 0) return i + 1;
  return available >= Parser::kMaxPacketBytes ? Parser::kMaxPacketBytes + 1 : 0;
}

// The key in a payload of conditional result format 1: three bits in its first byte, seven in each
// other byte.
std::uint32_t conditional_key(Bytes payload) {
  const std::uint64_t rest = payload.size() > 1 ? Cursor(payload.subspan(1)).continued(5) : 0;
  return static_cast<std::uint32_t>((payload[0] >> 4 & 7U) | rest << 3);
}

// The number of low address bits that the low nibble of a Q header announces; 0: an exact match.
std::uint8_t q_address_bits(std::uint8_t q_type) {
  if (q_type == 0x5) return 9;
  if (q_type == 0x6) return 8;
  return q_type == 0xA || q_type == 0xB ? 32 : 0;
}

/// The bits of a header with Layout::kValue that hold the value.
constexpr std::uint8_t value_mask(PacketType type) {
  switch (type) {
    case PacketType::kEvent:
      return 0xF;
    case PacketType::kCondResultF2:
    case PacketType::kNumberedDataSync:
    case PacketType::kUnnumberedDataSync:
      return 7;
    default:
      return 3;
  }
}

}  // namespace

std::size_t Parser::too_long(Packet& packet) {
  packet.error_type = packet.type;
  packet.type = PacketType::kBadSequence;
  packet.length = kMaxPacketBytes;
  ++statistics_.bad_sequences;
  return kMaxPacketBytes;
}

std::size_t Parser::read(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::uint8_t header = *at;
  packet.type = table_[header].type;
  packet.error_type = PacketType::kNoErrorType;
  packet.atom_count = 0;
  packet.monitor_only = false;
  std::size_t length = 1;
  switch (table_[header].layout) {
    case Layout::kAddress:
      length = read_address(at, available, table_[header].bits, table_[header].is, packet);
      if (length != kIncomplete) push(packet.address);
      break;
    case Layout::kReserved:
      packet.type = PacketType::kReserved;
      ++statistics_.bad_headers;
      break;
    case Layout::kReservedConfig:
      packet.error_type = packet.type;
      packet.type = PacketType::kReservedConfig;
      ++statistics_.bad_headers;
      break;
    case Layout::kAtoms:
      copy_atoms(atom_packet(header), packet);
      break;
    case Layout::kExtension:
      length = read_extension(at, available, packet);
      break;
    case Layout::kTraceInfo:
      length = read_trace_info(at, available, packet);
      break;
    case Layout::kTimestamp:
      length = read_timestamp(at, available, packet);
      break;
    case Layout::kException:
      length = read_exception(at, available, packet);
      break;
    case Layout::kSingle:
      break;
    case Layout::kInstrumentation:
      if (available < 10) return kIncomplete;
      packet.value = at[1];
      packet.timestamp = Cursor({at + 2, 8}).little(8);
      length = 10;
      break;
    case Layout::kCycleCountF1:
      length = read_cycle_count_f1(at, available, packet);
      break;
    case Layout::kCycleCountF2:
      if (available < 2) return kIncomplete;
      packet.cycle_count = cc_threshold_ + (at[1] & 0xFU);
      packet.has_commit = !config_.commit_mode_1();
      packet.commit = at[1] >> 4;
      if ((header & 1) == 0) {
        ++packet.commit;
      } else {
        packet.commit += config_.max_speculation() - 15;
      }
      length = 2;
      break;
    case Layout::kCycleCountF3:
      packet.cycle_count = cc_threshold_ + (header & 3U);
      packet.has_commit = !config_.commit_mode_1();
      packet.commit = bits<3, 2>(header) + 1U;
      break;
    case Layout::kValue:
      packet.value = header & value_mask(packet.type);
      break;
    case Layout::kCommit:
    case Layout::kCancelF1: {
      const std::size_t end = field_end(at, available, 1);
      if (end == 0) return kIncomplete;
      if (end > kMaxPacketBytes) return too_long(packet);
      const auto count = static_cast<std::uint32_t>(Cursor({at + 1, end - 1}).continued(5));
      (packet.type == PacketType::kCommit ? packet.commit : packet.cancel) = count;
      length = end;
      break;
    }
    case Layout::kMispredict:
    case Layout::kCancelF2: {
      struct Choice {
        std::uint32_t atoms;
        std::uint8_t count;
      };
      static constexpr Choice kChoices[] = {{0, 0}, {1, 1}, {3, 2}, {0, 1}};
      packet.atoms = kChoices[header & 3].atoms;
      packet.atom_count = kChoices[header & 3].count;
      packet.cancel = packet.type == PacketType::kCancelF2 ? 1 : 0;
      break;
    }
    case Layout::kCancelF3:
      packet.atoms = 1;
      packet.atom_count = header & 1;
      packet.cancel = bits<2, 1>(header) + 2U;
      break;
    case Layout::kCondResultF1: {
      const bool two = (header & 0xFE) != 0x6E;
      const std::size_t first = field_end(at, available, 1);
      std::size_t end = first;
      if (end != 0 && end <= kMaxPacketBytes && two) end = field_end(at, available, end);
      if (end == 0) return kIncomplete;
      if (end > kMaxPacketBytes) return too_long(packet);
      packet.match_index = header & 7;
      packet.value = at[1] & 0xF;
      packet.cycle_count = conditional_key({at + 1, first - 1});
      packet.commit = 0;
      if (two) {
        packet.value = static_cast<std::uint8_t>(packet.value | at[first] << 4);
        packet.commit = conditional_key({at + first, end - first});
      }
      length = end;
      break;
    }
    case Layout::kCondInstrF1: {
      const std::size_t end = field_end(at, available, 1);
      if (end == 0) return kIncomplete;
      if (end > kMaxPacketBytes) return too_long(packet);
      packet.cycle_count = static_cast<std::uint32_t>(Cursor({at + 1, end - 1}).continued(5));
      length = end;
      break;
    }
    case Layout::kCondResultF3:
    case Layout::kCondInstrF3:
      if (available < 2) return kIncomplete;
      packet.value = at[1];
      packet.cycle_count = (header & 0xFU) << 8 | at[1];
      length = 2;
      break;
    case Layout::kContext:
      if ((header & 1) != 0) {
        length = read_context(at, available, 1, packet);
        if (length == kIncomplete) return kIncomplete;
      } else {
        context_.updated = context_.updated_context_id = context_.updated_vmid = false;
      }
      context_seen_ = true;
      packet.context = context_;
      break;
    case Layout::kAddressContext: {
      const std::size_t address =
          read_address(at, available, table_[header].bits, table_[header].is, packet);
      if (address == kIncomplete) return kIncomplete;
      length = read_context(at, available, address, packet);
      if (length == kIncomplete) return kIncomplete;
      push(packet.address);
      context_seen_ = true;
      packet.context = context_;
      break;
    }
    case Layout::kQ:
      length = read_q(at, available, packet);
      break;
  }
  packet.length = static_cast<std::uint16_t>(length);
  return length;
}

std::size_t Parser::read_extension(const std::uint8_t* at, std::size_t available, Packet& packet) {
  if (available < 2) return kIncomplete;
  switch (at[1]) {
    case 0x03:
      packet.type = PacketType::kDiscard;
      return 2;
    case 0x05:
      packet.type = PacketType::kOverflow;
      return 2;
    case 0x00:
      for (std::size_t i = 2; i < std::min(available, kAsyncSize); ++i) {
        if (at[i] == 0 && i != kAsyncSize - 1) continue;
        packet.type = PacketType::kAsync;
        if (i == kAsyncSize - 1 && at[i] == 0x80) return kAsyncSize;
        packet.error_type = PacketType::kAsync;
        packet.type = PacketType::kBadSequence;
        return i + 1;
      }
      return kIncomplete;
    default:
      packet.type = PacketType::kBadSequence;
      packet.error_type = PacketType::kExtension;
      return 2;
  }
}

std::size_t Parser::read_trace_info(const std::uint8_t* at, std::size_t available, Packet& packet) {
  const std::size_t control_end = field_end(at, available, 1);
  if (control_end == 0) return kIncomplete;
  if (control_end > kMaxPacketBytes) return too_long(packet);
  const std::uint8_t control = at[1];
  std::size_t end = control_end;
  for (unsigned section = 0; section < 5; ++section) {
    if ((control >> section & 1) == 0) continue;
    end = field_end(at, available, end);
    if (end == 0) return kIncomplete;
    if (end > kMaxPacketBytes) return too_long(packet);
  }
  // A section longer than five bytes shifts those after it: each is read from where reading the
  // previous one stopped, not from its end.
  Cursor cursor({at + control_end, end - control_end});
  packet.value = control & 0x1F;
  packet.info = 0;
  packet.spec_depth = 0;
  cc_threshold_ = 0;
  if (bit<0>(control)) packet.info = static_cast<std::uint32_t>(cursor.continued(5));
  if (bit<1>(control)) packet.cycle_count = static_cast<std::uint32_t>(cursor.continued(5));
  if (bit<2>(control)) packet.spec_depth = static_cast<std::uint32_t>(cursor.continued(5));
  if (bit<3>(control)) {
    cc_threshold_ = static_cast<std::uint32_t>(cursor.continued(5));
    cc_threshold_shown_ = cc_threshold_;
  }
  if (bit<4>(control)) packet.commit = static_cast<std::uint32_t>(cursor.continued(5));
  packet.cc_threshold = cc_threshold_shown_;
  packet.initial = initial_pending_ || bit<16>(packet.info);
  packet.has_spec = bit<2>(control) || bit<17>(packet.info);
  initial_pending_ = false;
  trace_info_seen_ = true;
  timestamp_valid_ = false;
  base_ = Address{};
  history_.fill(base_);
  return end;
}

std::size_t Parser::read_timestamp(const std::uint8_t* at, std::size_t available, Packet& packet) {
  std::uint64_t value = 0;
  std::size_t length = 1;
  unsigned width = 0;
  while (true) {
    if (length >= available) return kIncomplete;
    const std::uint8_t byte = at[length++];
    if (length == 10) {
      value |= std::uint64_t{byte} << 56;
      width = 64;
      break;
    }
    value |= std::uint64_t{byte & 0x7FU} << width;
    width += 7;
    if ((byte & 0x80) == 0) break;
  }
  packet.has_count = (at[0] & 1) != 0;
  packet.cycle_count = 0;
  if (packet.has_count) {
    const std::size_t end = field_end(at, available, length);
    if (end == 0) return kIncomplete;
    if (end > kMaxPacketBytes) return too_long(packet);
    const std::uint64_t count = Cursor({at + length, end - length}).continued(3);
    packet.cycle_count = static_cast<std::uint32_t>(count & low_mask(config_.cycle_count_bits()));
    length = end;
  }
  // The first timestamp after a trace info is absolute.
  if (trace_info_seen_ && !timestamp_valid_) width = 64;
  timestamp_ = (timestamp_ & ~low_mask(width)) | value;
  timestamp_valid_ = true;
  packet.timestamp = timestamp_;
  packet.timestamp_bits = static_cast<std::uint8_t>(width);
  return length;
}

std::size_t Parser::read_exception(const std::uint8_t* at, std::size_t available, Packet& packet) {
  if (available < 2) return kIncomplete;
  const bool ete = config_.major_version() >= 5;
  const std::uint8_t first = at[1];
  const unsigned low = bits<5, 1>(first);
  const bool extended = bit<7>(first);
  const bool second = extended || (ete && (low == 0x00 || low == 0x18));
  if (second && available < 3) return kIncomplete;
  unsigned number = low;
  packet.fault_pending = false;
  if (extended) {
    number |= unsigned{bits<4, 0>(at[2])} << 5;
    packet.fault_pending = bit<5>(at[2]);
  }
  packet.exception = static_cast<std::uint16_t>(number);
  packet.exception_address =
      static_cast<ExceptionAddress>(static_cast<unsigned>(bit<6>(first)) << 1U | bit<0>(first));
  if (ete && (number == 0x00 || number == 0x18)) {
    packet.type = number == 0 ? PacketType::kPeReset : PacketType::kTransactionFail;
    push(Address{});
    packet.address = base_;
  }
  return second ? 3 : 2;
}

std::size_t Parser::read_cycle_count_f1(const std::uint8_t* at, std::size_t available,
                                        Packet& packet) {
  const bool has_commit = !config_.commit_mode_1();
  const bool has_count = (at[0] & 1) == 0;
  std::size_t end = 1;
  for (const bool present : {has_commit, has_count}) {
    if (!present) continue;
    end = field_end(at, available, end);
    if (end == 0) return kIncomplete;
    if (end > kMaxPacketBytes) return too_long(packet);
  }
  Cursor cursor({at + 1, end - 1});
  packet.has_count = has_count;
  packet.has_commit = has_commit;
  packet.commit = has_commit ? static_cast<std::uint32_t>(cursor.continued(5)) : 0;
  packet.cycle_count =
      has_count ? cc_threshold_ + static_cast<std::uint32_t>(cursor.continued(3)) : 0;
  return end;
}

// `offset` is that of the INFO byte.
std::size_t Parser::read_context(const std::uint8_t* at, std::size_t available, std::size_t offset,
                                 Packet& packet) {
  if (available <= offset) return kIncomplete;
  const std::uint8_t info = at[offset];
  const unsigned vmid_bytes = bit<6>(info) ? config_.vmid_bytes() : 0;
  const unsigned cid_bytes = bit<7>(info) ? config_.context_id_bytes() : 0;
  // Quirk of etmv4-ete.md 2.8: a context packet (not address and context) that announces fields of
  // size zero takes one more byte.
  const bool extra =
      packet.type == PacketType::kContext && (info & 0xC0) != 0 && vmid_bytes + cid_bytes == 0;
  const std::size_t length = offset + 1 + vmid_bytes + cid_bytes + (extra ? 1 : 0);
  if (available < length) return kIncomplete;
  Cursor cursor({at + offset + 1, available - offset - 1});
  context_.el = bits<1, 0>(info);
  context_.nse = bit<3>(info);
  context_.sf = bit<4>(info);
  context_.ns = bit<5>(info);
  context_.updated = true;
  context_.updated_vmid = vmid_bytes != 0;
  context_.updated_context_id = cid_bytes != 0;
  if (vmid_bytes != 0) context_.vmid = static_cast<std::uint32_t>(cursor.little(vmid_bytes));
  if (cid_bytes != 0) context_.context_id = static_cast<std::uint32_t>(cursor.little(cid_bytes));
  return length;
}

// Fills packet.address without pushing it: the caller may still find that the packet is incomplete.
std::size_t Parser::read_address(const std::uint8_t* at, std::size_t available, std::uint8_t bits,
                                 std::uint8_t is, Packet& packet) {
  if (bits == 0) {
    packet.match_index = at[0] & 3;
    packet.address = history(packet.match_index);
    return 1;
  }
  if (available < 2) return kIncomplete;
  const std::uint8_t* b = at + 1;
  std::uint64_t value = std::uint64_t{b[0] & 0x7FU} << (is == 0 ? 2 : 1);
  Address address = base_;
  address.is = is;
  if (bits < 32) {
    unsigned width = bits;
    std::size_t length = 2;
    if ((b[0] & 0x80) != 0) {
      if (available < 3) return kIncomplete;
      value |= std::uint64_t{b[1]} << width;
      width += 8;
      length = 3;
    }
    address.value = (base_.value & ~low_mask(width)) | value;
    address.update_bits = static_cast<std::uint8_t>(width);
    address.valid_bits = std::max(base_.valid_bits, address.update_bits);
    packet.address = address;
    return length;
  }
  const std::size_t length = bits == 64 ? 9 : 5;
  if (available < length) return kIncomplete;
  value |= is == 0 ? std::uint64_t{b[1] & 0x7FU} << 9 : std::uint64_t{b[1]} << 8;
  value |= std::uint64_t{b[2]} << 16 | std::uint64_t{b[3]} << 24;
  address.update_bits = bits;
  if (bits == 64) {
    address.value = value | Cursor({b + 4, 4}).little(4) << 32;
    address.size_bits = address.valid_bits = 64;
  } else {
    const bool keeps_upper_half = context_seen_ && context_.sf;
    address.value = (keeps_upper_half ? base_.value & ~low_mask(32) : 0) | value;
    address.size_bits = keeps_upper_half ? 64 : 32;
    address.valid_bits = std::max<std::uint8_t>(base_.valid_bits, 32);
  }
  packet.address = address;
  return length;
}

std::size_t Parser::read_q(const std::uint8_t* at, std::size_t available, Packet& packet) {
  packet.q_type = at[0] & 0xF;
  packet.has_count = packet.q_type != 0xF;
  packet.cycle_count = 0;
  std::size_t end = 1;
  const bool has_address = packet.q_type != 0xC && packet.q_type != 0xF;
  if (has_address) {
    const bool t32 = packet.q_type == 0x6 || packet.q_type == 0xB;
    end = read_address(at, available, q_address_bits(packet.q_type), t32 ? 1 : 0, packet);
  }
  if (end == kIncomplete) return kIncomplete;
  if (packet.has_count) {
    const std::size_t from = end;
    end = field_end(at, available, from);
    if (end == 0) return kIncomplete;
    if (end > kMaxPacketBytes) return too_long(packet);
    packet.cycle_count = static_cast<std::uint32_t>(Cursor({at + from, end - from}).continued(5));
  }
  if (has_address) push(packet.address);
  return end;
}

}  // namespace waymark::etmv4
