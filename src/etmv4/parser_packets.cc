// Packets by their layout: their length and content.
#include <algorithm>
#include <bit>

#include "waymark/base/bits.h"
#include "waymark/base/cursor.h"
#include "waymark/etmv4/parser.h"

namespace waymark::etmv4 {
namespace {

// The end of `count` continued fields that begin at `from` (one past their last byte); 0: not
// within the bytes.  A field that is longer than the longest packet ends there, see
// Parser::not_whole().
std::size_t fields_end(Bytes at, std::size_t from, unsigned count) {
  const std::size_t limit = std::min(at.size(), Parser::kMaxPacketBytes);
  std::size_t end = from;
  while (count != 0 && end < limit)
    if ((at[end++] & 0x80) == 0) --count;
  if (count == 0) return end;
  return at.size() >= Parser::kMaxPacketBytes ? Parser::kMaxPacketBytes + 1 : 0;
}
bool is_whole(std::size_t end) { return end != 0 && end <= Parser::kMaxPacketBytes; }

std::uint32_t continued(Bytes bytes, unsigned most = 5) {
  return static_cast<std::uint32_t>(Cursor(bytes).continued(most));
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

constexpr std::size_t kInstrumentationSize = 10;

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

std::size_t Parser::not_whole(std::size_t end, Packet& packet) {
  if (end == 0) return kIncomplete;
  packet.error_type = packet.type;
  packet.type = PacketType::kBadSequence;
  ++statistics_.bad_sequences;
  lose_sync();
  return kMaxPacketBytes;
}

std::size_t Parser::read(Bytes at, Packet& packet) {
  const Header& header = table_[at[0]];
  packet.begin(header.type, 1);
  std::size_t length = 1;
  switch (header.layout) {
    case Layout::kAddress:
      length = read_address(at, header.bits, header.is, packet);
      if (length != kIncomplete) addresses_.push(packet.address);
      break;
    case Layout::kReservedConfig:
      packet.error_type = packet.type;
      packet.type = PacketType::kReservedConfig;
      ++statistics_.bad_headers;
      lose_sync();
      break;
    case Layout::kReserved:
      packet.type = PacketType::kReserved;
      ++statistics_.bad_headers;
      lose_sync();
      break;
    case Layout::kAtoms:
      copy_atoms(atom_packet(at[0]), packet);
      break;
    case Layout::kSingle:
      break;
    case Layout::kValue:
      packet.value = at[0] & value_mask(packet.type);
      break;
    case Layout::kExtension:
      length = read_extension(at, packet);
      break;
    case Layout::kTraceInfo:
      length = read_trace_info(at, packet);
      break;
    case Layout::kTimestamp:
      length = read_timestamp(at, packet);
      break;
    case Layout::kException:
      length = read_exception(at, packet);
      break;
    case Layout::kInstrumentation:
      if (at.size() < kInstrumentationSize) return kIncomplete;
      packet.instrumentation = {.payload = Cursor(at.subspan(2, 8)).little(8), .el = at[1]};
      length = kInstrumentationSize;
      break;
    case Layout::kCycleCountF1:
      length = read_cycle_count_f1(at, packet);
      break;
    case Layout::kCycleCountF2:
    case Layout::kCycleCountF3:
      length = read_short_cycle_count(at, packet);
      break;
    case Layout::kCommit:
      length = read_count(at, packet.commit, packet);
      break;
    case Layout::kCancelF1:
      length = read_count(at, packet.cancel, packet);
      break;
    case Layout::kMispredict:
    case Layout::kCancelF2:
    case Layout::kCancelF3:
      read_cancel(at[0], packet);
      break;
    case Layout::kCondInstrF1:
    case Layout::kCondInstrF3:
    case Layout::kCondResultF1:
    case Layout::kCondResultF3:
      length = read_conditional(at, packet);
      break;
    case Layout::kContext:
      length = read_context(at, packet);
      break;
    case Layout::kAddressContext:
      length = read_address_context(at, packet);
      break;
    case Layout::kQ:
      length = read_q(at, packet);
      break;
  }
  packet.length = static_cast<std::uint16_t>(length);
  return length;
}

// A field that is the whole packet.
std::size_t Parser::read_count(Bytes at, std::uint32_t& count, Packet& packet) {
  const std::size_t end = fields_end(at, 1, 1);
  if (!is_whole(end)) return not_whole(end, packet);
  count = continued(at.subspan(1, end - 1));
  return end;
}

std::size_t Parser::read_short_cycle_count(Bytes at, Packet& packet) const {
  const std::uint8_t header = at[0];
  packet.has_commit = !config_.commit_mode_1();
  if (packet.type == PacketType::kCycleCountF3) {
    packet.cycle_count = cc_threshold_ + (header & 3U);
    packet.commit = bits<3, 2>(header) + 1U;
    return 1;
  }
  if (at.size() < 2) return kIncomplete;
  packet.cycle_count = cc_threshold_ + (at[1] & 0xFU);
  packet.commit = at[1] >> 4;
  packet.commit += (header & 1) == 0 ? 1 : config_.max_speculation() - 15;
  return 2;
}

void Parser::read_cancel(std::uint8_t header, Packet& packet) {
  struct Choice {
    std::uint32_t atoms;
    std::uint8_t count;
  };
  static constexpr Choice kChoices[] = {{0, 0}, {1, 1}, {3, 2}, {0, 1}};
  if (packet.type == PacketType::kCancelF3) {
    packet.atoms = 1;
    packet.atom_count = header & 1;
    packet.cancel = bits<2, 1>(header) + 2U;
  } else {
    packet.atoms = kChoices[header & 3].atoms;
    packet.atom_count = kChoices[header & 3].count;
    packet.cancel = packet.type == PacketType::kCancelF2 ? 1 : 0;
  }
}

std::size_t Parser::read_conditional(Bytes at, Packet& packet) {
  const std::uint8_t header = at[0];
  Conditional read{};
  std::size_t end = 2;
  if (packet.type == PacketType::kCondResultF3) {
    if (at.size() < 2) return kIncomplete;
    read.tokens = static_cast<std::uint16_t>((header & 0xF) << 8 | at[1]);
  } else if (packet.type == PacketType::kCondInstrF3) {
    if (at.size() < 2) return kIncomplete;
    read.elements = at[1];
  } else if (packet.type == PacketType::kCondInstrF1) {
    end = read_count(at, read.key, packet);
    if (!is_whole(end) || packet.type == PacketType::kBadSequence) return end;
  } else {
    const bool two = (header & 0xFE) != 0x6E;
    end = fields_end(at, 1, two ? 2 : 1);
    if (!is_whole(end)) return not_whole(end, packet);
    const std::size_t first = fields_end(at, 1, 1);
    read.form = header & 7;
    read.results = at[1] & 0xF;
    read.key = conditional_key(at.subspan(1, first - 1));
    if (two) {
      read.results = static_cast<std::uint8_t>(read.results | at[first] << 4);
      read.second_key = conditional_key(at.subspan(first, end - first));
    }
  }
  packet.conditional = read;
  return end;
}

std::size_t Parser::read_extension(Bytes at, Packet& packet) {
  if (at.size() < 2) return kIncomplete;
  switch (at[1]) {
    case 0x03:
      packet.type = PacketType::kDiscard;
      return 2;
    case 0x05:
      packet.type = PacketType::kOverflow;
      return 2;
    case 0x00:
      return quirks_.no_search_after_bad_packet ? read_async_only(at, packet)
                                                : read_async(at, packet);
    default:
      packet.type = PacketType::kBadSequence;
      packet.error_type = PacketType::kExtension;
      lose_sync();
      return 2;
  }
}

// At two zeros or more.  The last eleven before 0x80 count, whatever they belong to.
std::size_t Parser::read_async(Bytes at, Packet& packet) {
  const std::size_t limit = std::min(at.size(), kAsyncSize);
  std::size_t zeros = 2;
  while (zeros < limit && at[zeros] == 0) ++zeros;
  if (zeros == limit && zeros != kAsyncSize) return kIncomplete;
  const bool surplus = zeros == kAsyncSize;
  if (!surplus && at[zeros] == 0x80 && zeros + zeros_in_front(at.data()) >= kAsyncZeros) {
    packet.type = PacketType::kAsync;
    packet.in_packet = zeros != kAsyncZeros;
    return zeros + 1;
  }
  packet.type = PacketType::kBadSequence;
  packet.error_type = PacketType::kAsync;
  lose_sync();
  return surplus ? 1 : zeros + 1;
}

// Quirk no_search_after_bad_packet.
std::size_t Parser::read_async_only(Bytes at, Packet& packet) {
  for (std::size_t i = 2; i < std::min(at.size(), kAsyncSize); ++i) {
    if (at[i] == 0 && i != kAsyncSize - 1) continue;
    packet.type = PacketType::kAsync;
    packet.in_packet = false;
    if (i == kAsyncSize - 1 && at[i] == 0x80) return kAsyncSize;
    packet.error_type = PacketType::kAsync;
    packet.type = PacketType::kBadSequence;
    return i + 1;
  }
  return kIncomplete;
}

std::size_t Parser::read_trace_info(Bytes at, Packet& packet) {
  const std::size_t control_end = fields_end(at, 1, 1);
  if (!is_whole(control_end)) return not_whole(control_end, packet);
  const std::uint8_t control = at[1] & 0x1F;
  const std::size_t end =
      fields_end(at, control_end, static_cast<unsigned>(std::popcount(control)));
  if (!is_whole(end)) return not_whole(end, packet);
  // A section longer than five bytes shifts those after it: each is read from where reading the
  // previous one stopped, not from its end.
  Cursor cursor(at.subspan(control_end, end - control_end));
  const auto section = [&] { return static_cast<std::uint32_t>(cursor.continued(5)); };
  TraceInfo info{};
  info.sections = control;
  if (bit<0>(control)) info.info = section();
  if (bit<1>(control)) info.p0_key = section();
  if (bit<2>(control)) info.spec_depth = section();
  cc_threshold_ = 0;
  if (bit<3>(control)) cc_threshold_ = cc_threshold_shown_ = section();
  if (bit<4>(control)) info.window = section();
  info.initial = !trace_info_seen_ || bit<16>(info.info);
  info.has_spec = bit<2>(control) || bit<17>(info.info);
  packet.trace_info = info;
  packet.cc_threshold = cc_threshold_shown_;
  trace_info_seen_ = true;
  time_.synchronise();
  addresses_.clear();
  return end;
}

std::size_t Parser::read_timestamp(Bytes at, Packet& packet) {
  std::uint64_t value = 0;
  std::size_t length = 1;
  unsigned width = 0;
  while (true) {
    if (length >= at.size()) return kIncomplete;
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
    const std::size_t end = fields_end(at, length, 1);
    if (!is_whole(end)) return not_whole(end, packet);
    packet.cycle_count = continued(at.subspan(length, end - length), 3) &
                         static_cast<std::uint32_t>(low_mask(config_.cycle_count_bits()));
    length = end;
  }
  packet.timestamp_bits = static_cast<std::uint8_t>(time_.take(value, width));
  packet.timestamp = time_.value();
  return length;
}

std::size_t Parser::read_exception(Bytes at, Packet& packet) {
  if (at.size() < 2) return kIncomplete;
  const bool ete = config_.major_version() >= 5;
  const std::uint8_t first = at[1];
  const unsigned low = bits<5, 1>(first);
  const bool extended = bit<7>(first);
  const bool second = extended || (ete && (low == 0x00 || low == 0x18));
  if (second && at.size() < 3) return kIncomplete;
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
    packet.address = Address{};
    addresses_.push(packet.address);
  }
  return second ? 3 : 2;
}

std::size_t Parser::read_cycle_count_f1(Bytes at, Packet& packet) {
  const bool has_commit = !config_.commit_mode_1();
  const bool has_count = (at[0] & 1) == 0;
  const std::size_t end = fields_end(at, 1, (has_commit ? 1U : 0U) + (has_count ? 1U : 0U));
  if (!is_whole(end)) return not_whole(end, packet);
  Cursor cursor(at.subspan(1, end - 1));
  packet.has_count = has_count;
  packet.has_commit = has_commit;
  packet.commit = has_commit ? static_cast<std::uint32_t>(cursor.continued(5)) : 0;
  packet.cycle_count =
      has_count ? cc_threshold_ + static_cast<std::uint32_t>(cursor.continued(3)) : 0;
  return end;
}

std::size_t Parser::read_context(Bytes at, Packet& packet) {
  std::size_t length = 1;
  if ((at[0] & 1) != 0) {
    const std::size_t taken = context_.take(at.subspan(1), config_, true);
    if (taken == 0) return kIncomplete;
    length += taken;
  } else {
    context_.take_same();
  }
  packet.context = context_.value();
  return length;
}

std::size_t Parser::read_address_context(Bytes at, Packet& packet) {
  const Header& header = table_[at[0]];
  const std::size_t address = read_address(at, header.bits, header.is, packet);
  if (address == kIncomplete) return kIncomplete;
  const std::size_t taken = context_.take(at.subspan(address), config_, false);
  if (taken == 0) return kIncomplete;
  addresses_.push(packet.address);
  packet.context = context_.value();
  return address + taken;
}

// Fills packet.address without pushing it: the caller may still find that the packet is incomplete.
std::size_t Parser::read_address(Bytes at, std::uint8_t bits, std::uint8_t is,
                                 Packet& packet) const {
  if (bits == 0) {
    packet.match_index = at[0] & 3;
    packet.address = addresses_.match(packet.match_index);
    return 1;
  }
  if (at.size() < 2) return kIncomplete;
  const std::uint8_t* const b = at.data() + 1;
  std::uint64_t value = std::uint64_t{b[0] & 0x7FU} << (is == 0 ? 2 : 1);
  if (bits < 32) {
    unsigned width = bits;
    std::size_t length = 2;
    if ((b[0] & 0x80) != 0) {
      if (at.size() < 3) return kIncomplete;
      value |= std::uint64_t{b[1]} << width;
      width += 8;
      length = 3;
    }
    packet.address = addresses_.shortened(value, width, low_mask(width), is);
    return length;
  }
  const std::size_t length = bits == 64 ? 9 : 5;
  if (at.size() < length) return kIncomplete;
  value |= is == 0 ? std::uint64_t{b[1] & 0x7FU} << 9 : std::uint64_t{b[1]} << 8;
  value |= std::uint64_t{b[2]} << 16 | std::uint64_t{b[3]} << 24;
  if (bits == 64) {
    value |= Cursor({b + 4, 4}).little(4) << 32;
    packet.address = {.value = value, .update_bits = 64, .is = is};
  } else {
    packet.address =
        addresses_.low_half(static_cast<std::uint32_t>(value), context_.is_64bit(), is);
  }
  return length;
}

std::size_t Parser::read_q(Bytes at, Packet& packet) {
  Q q{};
  q.type = at[0] & 0xF;
  q.has_count = q.type != 0xF;
  std::size_t end = 1;
  if (q.has_address()) {
    const bool t32 = q.type == 0x6 || q.type == 0xB;
    end = read_address(at, q_address_bits(q.type), t32 ? 1 : 0, packet);
  }
  if (end == kIncomplete) return kIncomplete;
  if (q.has_count) {
    const std::size_t from = end;
    end = fields_end(at, from, 1);
    if (!is_whole(end)) return not_whole(end, packet);
    q.count = continued(at.subspan(from, end - from));
  }
  if (q.has_address()) addresses_.push(packet.address);
  packet.q = q;
  return end;
}

}  // namespace waymark::etmv4
