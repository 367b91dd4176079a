#include "waymark/stm/parser.h"

#include <algorithm>
#include <cstring>

#include "opcodes.h"
#include "waymark/base/bits.h"

namespace waymark::stm {
namespace {

constexpr unsigned kIncomplete = 0;
constexpr std::size_t kMaxPacketNibbles = 2 * Parser::kMaxPacketBytes;

constexpr unsigned kExtendedVersion = 8;  // This bit of the VERSION nibble announces another byte.

}  // namespace

Parser::Parser(const Config& config, const Quirks& quirks)
    : headers_(quirks.coresight_packets_only ? &kCoresightHeaders : &kAllHeaders),
      quirks_(quirks),
      wanted_order_(config.order) {
  begin_order();
  carry_.bytes.reserve(2 * kReadAhead);
  shown_.reserve(2 * kReadAhead);
}

/// As configured, or as far as the evidence shows.
void Parser::begin_order() {
  settle_order(evidence_.verdict().value_or(wanted_order_));
  gathering_ = wanted_order_ == NibbleOrder::kAuto && !evidence_.verdict();
  order_stated_ = false;
}

void Parser::settle_order(NibbleOrder order) {
  least_first_ = order == NibbleOrder::kLeastFirst;
  gathering_ = false;
}

/// Corrects what was read in the other order, as far as it still applies.
void Parser::apply_verdict(Packet& packet) {
  const auto order = evidence_.verdict();
  if (!order) return;
  const bool was_least_first = least_first_;
  settle_order(*order);
  if (least_first_ == was_least_first) return;
  const auto turned = [](unsigned value, unsigned nibbles) {
    return static_cast<std::uint16_t>(field_value(value, nibbles, false));
  };
  master_ = turned(master_, sent_.wide_master ? 4 : 2);
  sent_.c16 = turned(sent_.c16, 4);
  const unsigned low = channel_ & 0xFFU;
  channel_ = sent_.c16;
  if (sent_.has_c8) channel_ = static_cast<std::uint16_t>((sent_.c16 & 0xFF00) | turned(low, 2));
  timestamp_ = evidence_.time(least_first_);
  packet.master = master_;
  packet.channel = channel_;
  packet.timestamp = timestamp_;
  const bool first = last_type_ == PacketType::kVersion || last_type_ == PacketType::kAsync;
  if (!first) packet.defect = Defect::kOrderFound;
}

void Parser::feed(const frames::StreamBlock& block) {
  begin_block(block);
  at_ = 0;
  remembered_ = false;
  statistics_.total_bytes += size_;
}

void Parser::reset() {
  leave_block();
  at_ = 0;
  synced_ = false;
  encoding_ = TimestampEncoding::kUnknown;
  last_type_ = PacketType::kNotSync;
  master_ = channel_ = 0;
  sent_ = {};
  timestamp_ = 0;
  evidence_ = {};
  begin_order();
  carry_.reset();
  history_.size = 0;
  search_.reset();
  remembered_ = false;
  block_fs_ = 0;
  async_.clear();
}

void Parser::jump() {
  leave_block();
  at_ = 0;
  synced_ = false;
  carry_.reset();
  history_.size = 0;
  search_.reset();
  remembered_ = false;
}

void ParserState::Search::reset() {
  size = due = 0;
  upper = async_due = false;
  fs = 0;
}

void ParserState::Search::clear_rest() {
  const auto rest = static_cast<std::ptrdiff_t>(size);
  std::fill(held.begin() + rest, held.end(), std::uint8_t{0});
  std::fill(indexes.begin() + rest, indexes.end(), TraceIndex{0});
  if (size == 0) upper = false;
  if (!async_due) due = 0;
}

// The state without leftovers that no longer have a meaning.
ParserState Parser::settled_state() const {
  ParserState state = *this;
  if (!carry_.active) state.carry_ = {};
  std::fill(state.history_.bytes.begin() + static_cast<std::ptrdiff_t>(history_.size),
            state.history_.bytes.end(), std::uint8_t{0});
  if (synced_) {
    state.search_.size = 0;
    state.search_.fs = 0;
  }
  state.search_.clear_rest();
  return state;
}

std::size_t Parser::withdraw() {
  const std::size_t used = position();
  statistics_.total_bytes -= size_ - used;
  // The rest of a byte in which a packet ends belongs to this block.
  if ((at_ & 1) != 0) {
    const TraceIndex index = index_at(at_);
    size_ = used;
    if (synced_ || search_.async_due) {
      carry_from(at_, index);
      carry_.index_due = quirks_.index_of_next_byte && synced_;
    } else if (!quirks_.unsynced_by_block) {
      search_byte();
    }
  }
  if (synced_ && !carry_.active && !remembered_) remember(data_, used);
  size_ = used;
  at_ = 2 * used;
  return used;
}

bool Parser::next(Packet& packet) {
  if (!synced_) [[unlikely]]
    return !quirks_.unsynced_by_block          ? next_unsynced(packet)
           : quirks_.unsynced_bytes_miscounted ? next_unsynced_block(packet)
                                               : next_unsynced_segment(packet);
  if (carry_.active) [[unlikely]]
    return next_carried(packet);
  return next_in_block(packet);
}

std::size_t Parser::next(std::span<Packet> out) {
  struct Store {
    static consteval protocol::VisitorTakes takes() { return {.own_packet = true}; }
    Packet* at;
    Packet* end;
    [[nodiscard]] Packet& place() const { return *at; }
    bool on_packet(const Packet& /*packet*/) { return ++at != end; }
  };
  if (out.empty()) return 0;
  Store store{out.data(), out.data() + out.size()};
  parse(store);
  return static_cast<std::size_t>(store.at - out.data());
}

bool Parser::next_in_block(Packet& packet) {
  if (at_ >= 2 * size_) {
    if (!remembered_) remember(data_, size_);
    return false;
  }
  packet.index = index_at(at_);
  const std::size_t byte = at_ / 2;
  const std::size_t left = size_ - byte;
  unsigned nibbles = 0;
  if (left >= kReadAhead) [[likely]] {
    nibbles = read(data_, at_, 2 * size_, packet);
  } else {
    std::array<std::uint8_t, 2 * kReadAhead> tail{};
    std::memcpy(tail.data(), data_ + byte, left);
    nibbles = read(tail.data(), at_ & 1, 2 * left, packet);
  }
  if (nibbles == kIncomplete) {
    carry_from(at_, packet.index);
    return false;
  }
  const std::size_t at = at_;
  at_ += nibbles;
  took(data_, at, packet);
  return true;
}

void Parser::took(const std::uint8_t* bytes, std::size_t at, Packet& packet) {
  const bool can_be_bad = packet.defect != Defect::kNone && packet.defect != Defect::kOrderFound;
  if (can_be_bad && !lacks_time(packet)) [[unlikely]]
    search_after(bytes, at, packet);
  raw_ = bytes + at / 2;
  raw_size_ = packet.length();
  raw_upper_ = packet.upper;
  last_type_ = packet.type;
}

/// A bad packet at `at`, or one of unknown length: it is the rest of an ASYNC, or the next one is
/// searched for.
void Parser::search_after(const std::uint8_t* bytes, std::size_t at, Packet& packet) {
  const std::size_t end = at + packet.nibbles;
  if (packet.defect == Defect::kBadAsync && nibble_at(bytes, end - 1) == 0 &&
      fs_before(bytes, end - 1) == kAsyncFs) {
    begin(packet, PacketType::kAsync, packet.nibbles);
    if (!quirks_.no_search_after_bad_packet) packet.defect = Defect::kAsyncInPacket;
    --statistics_.bad_sequences;
    return;
  }
  if (quirks_.no_search_after_bad_packet) return;
  search_.fs = fs_before(bytes, end);
  synced_ = false;
}

void Parser::carry_from(std::size_t at, TraceIndex index) {
  const std::size_t byte = at / 2;
  remember(data_, byte);
  carry_.bytes.assign(data_ + byte, data_ + size_);
  carry_.index = index;
  carry_.upper = (at & 1) != 0;
  carry_.index_due = false;
  carry_.active = true;
  at_ = 2 * size_;
}

bool Parser::next_carried(Packet& packet) {
  if (carry_.index_due && at_ == 0 && size_ != 0) {
    carry_.index = BlockReader::index_at(0);
    carry_.index_due = false;
  }
  packet.index = carry_.index;
  std::size_t position = at_ / 2;
  const Completed whole =
      complete(carry_.bytes, position, [&] { return read_carried(packet); }, kReadAhead);
  at_ = 2 * position;
  if (!whole) return false;
  carry_.active = false;
  const std::size_t at = carry_.upper ? 1 : 0;
  took(carry_.bytes.data(), at, packet);
  // A single nibble that withdraw() left may be a packet, which then ends before the block.
  const std::size_t end = at + packet.nibbles;
  at_ += end > 2 * whole.before ? end - 2 * whole.before : 0;
  remember(carry_.bytes.data(), whole.before);
  remembered_ = false;
  return true;
}

unsigned Parser::read_carried(Packet& packet) {
  const std::size_t size = carry_.bytes.size();
  carry_.bytes.resize(size + kReadAhead);
  const unsigned nibbles = read(carry_.bytes.data(), carry_.upper ? 1 : 0, 2 * size, packet);
  carry_.bytes.resize(size);
  return nibbles;
}

// The bytes before a position in the block are in the block and, before that, in history_.bytes.
void Parser::remember(const std::uint8_t* bytes, std::size_t count) {
  remembered_ = true;
  if (count >= kHistory) {
    std::memcpy(history_.bytes.data(), bytes + count - kHistory, kHistory);
    history_.size = kHistory;
    return;
  }
  const std::size_t keep = std::min(history_.size, kHistory - count);
  std::memmove(history_.bytes.data(), history_.bytes.data() + history_.size - keep, keep);
  if (count != 0) std::memcpy(history_.bytes.data() + keep, bytes, count);
  history_.size = keep + count;
}

unsigned Parser::fs_before(const std::uint8_t* bytes, std::size_t at) const {
  unsigned count = 0;
  while (count < kAsyncFs && at != 0) {
    if (nibble_at(bytes, --at) != 0xF) return count;
    ++count;
  }
  std::size_t before = 2 * history_.size;
  while (count < kAsyncFs && before != 0) {
    if (nibble_at(history_.bytes.data(), --before) != 0xF) return count;
    ++count;
  }
  return count;
}

bool Parser::finish(Packet& packet) {
  remembered_ = true;  // Nothing follows, and the block may be gone.
  if (!synced_) {
    if (quirks_.unsynced_by_block || search_.size == 0) return false;
    if (search_.async_due) {
      give_found_async(packet);
      return true;
    }
    give_held(packet, PacketType::kNotSync, 2 * search_.size - (search_.upper ? 1 : 0));
    search_.fs = 0;
    return true;
  }
  if (!carry_.active) return false;
  carry_.active = false;
  // The reference reads the half of a byte that an answer left only with what follows it.
  if (carry_.index_due) return false;
  const std::size_t size = carry_.bytes.size();
  const std::size_t at = carry_.upper ? 1 : 0;
  carry_.bytes.resize(size + kReadAhead);
  packet.index = carry_.index;
  // A single nibble that withdraw() left may be a packet of its own.
  if (read(carry_.bytes.data(), at, 2 * size, packet) == kIncomplete)
    give_incomplete(at, static_cast<unsigned>(2 * size - at), packet);
  carry_.bytes.resize(size);
  took(carry_.bytes.data(), at, packet);
  return true;
}

void Parser::give_incomplete(std::size_t at, unsigned nibbles, Packet& packet) const {
  const std::uint64_t head = load_nibbles(carry_.bytes.data(), at);
  const Header* row = nullptr;
  if ((head & 0xFF) == 0x0F) {
    if (nibbles > 2) row = &headers_->third[head >> 8 & 0xF];
  } else if ((head & 0xF) != 0xF || nibbles > 1) {
    row = &headers_->first[head & 0xFF];
  }
  begin(packet, PacketType::kIncompleteEot, nibbles);
  packet.upper = at != 0;
  if (row != nullptr && row->layout != Layout::kExtension) {
    packet.error_type = row->type;
    packet.marker = row->marker;
  } else if (quirks_.stale_error_type) {
    packet.error_type = last_type_;
  } else if ((head & 0xFF) == 0xFF) {
    packet.error_type = PacketType::kAsync;
  }
}

Bytes Parser::packet_bytes() const {
  if (!raw_upper_ || raw_size_ == 0) return {raw_, raw_size_};
  shown_.assign(raw_, raw_ + raw_size_);
  shown_.front() &= 0xF0;
  return shown_;
}

// -- One packet. ----------------------------------------------------------------------------------
// Nothing changes before it is certain that the packet is complete.

void Parser::begin(Packet& packet, PacketType type, unsigned nibbles) const {
  packet.payload = 0;
  packet.timestamp = timestamp_;
  packet.master = master_;
  packet.channel = channel_;
  packet.nibbles = static_cast<std::uint16_t>(nibbles);
  packet.type = type;
  packet.error_type = PacketType::kNoErrorType;
  packet.defect = Defect::kNone;
  packet.payload_bits = 0;
  packet.timestamp_bits = 0;
  packet.has_timestamp = false;
  packet.marker = false;
}

unsigned Parser::bad(Packet& packet, PacketType type, Defect defect, unsigned nibbles) {
  const PacketType reading = packet.type;
  const bool marker = packet.marker;
  begin(packet, type, nibbles);
  packet.defect = defect;
  if (type == PacketType::kBadSequence) {
    packet.error_type = reading;
    packet.marker = marker;
    ++statistics_.bad_sequences;
  } else {
    ++statistics_.bad_headers;
  }
  return nibbles;
}

unsigned Parser::read(const std::uint8_t* bytes, std::size_t at, std::size_t end, Packet& packet) {
  packet.upper = (at & 1) != 0;
  const Header& header = headers_->first[load_nibbles(bytes, at) & 0xFF];
  if (header.opcode == 1 && header.layout != Layout::kExtension) [[likely]]
    return read_whole(header, bytes, at, end, packet);
  if (at + 1 >= end) return kIncomplete;
  if (header.layout != Layout::kExtension) [[likely]]
    return read_whole(header, bytes, at, end, packet);
  return read_extension(bytes, at, end, packet);
}

unsigned Parser::read_extension(const std::uint8_t* bytes, std::size_t at, std::size_t end,
                                Packet& packet) {
  const std::uint64_t head = load_nibbles(bytes, at);
  if ((head & 0xFF) == 0xFF) return read_async(bytes, at, end, packet);
  if (at + 2 >= end) return kIncomplete;
  const Header& third = headers_->third[head >> 8 & 0xF];
  if (third.layout != Layout::kExtension) return read_whole(third, bytes, at, end, packet);
  if (at + 3 >= end) return kIncomplete;
  return read_whole(headers_->fourth[head >> 12 & 0xF], bytes, at, end, packet);
}

unsigned Parser::read_whole(const Header& header, const std::uint8_t* bytes, std::size_t at,
                            std::size_t end, Packet& packet) {
  const unsigned timestamp_at = header.opcode + header.payload;
  unsigned nibbles = timestamp_at;
  bool bad_length = false;
  if (header.timestamp && header.layout != Layout::kUser) {
    if (at + timestamp_at >= end) return kIncomplete;
    const unsigned length = nibble_at(bytes, at + timestamp_at);
    bad_length = length == kBadTimestampLength;
    nibbles += 1U + kTimestampNibbles[length];
  }
  if (at + nibbles > end) return kIncomplete;
  begin(packet, header.type, nibbles);
  packet.marker = header.marker;

  std::uint64_t raw = 0;
  if (header.payload != 0) {
    raw = load_nibbles(bytes, at + header.opcode);
    packet.payload = field_value(raw, header.payload, least_first_);
    packet.payload_bits = static_cast<std::uint8_t>(4 * header.payload);
  }
  if (bad_length) [[unlikely]]
    return bad(packet, PacketType::kBadSequence, Defect::kTimestampSize, nibbles);

  switch (header.layout) {
    case Layout::kPayload:
      if (gathering_ && (header.type == PacketType::kFreq || header.type == PacketType::kFreq40))
          [[unlikely]] {
        evidence_.frequency(raw, header.payload);
        apply_verdict(packet);
        packet.payload = field_value(raw, header.payload, least_first_);
      }
      break;
    case Layout::kEmpty:
      break;
    case Layout::kMaster:
      packet.master = master_ = static_cast<std::uint16_t>(packet.payload);
      sent_.wide_master = header.payload == 4;
      packet.channel = channel_ = sent_.c16 = 0;
      sent_.has_c8 = false;
      return nibbles;
    case Layout::kChannel8:
      packet.channel = channel_ = static_cast<std::uint16_t>((channel_ & 0xFF00) | packet.payload);
      sent_.has_c8 = true;
      return nibbles;
    case Layout::kChannel16:
      packet.channel = channel_ = sent_.c16 = static_cast<std::uint16_t>(packet.payload);
      sent_.has_c8 = false;
      return nibbles;
    case Layout::kGlobalError:
      packet.master = master_ = 0;
      [[fallthrough]];
    case Layout::kMasterError:
      packet.channel = channel_ = sent_.c16 = 0;
      sent_.has_c8 = false;
      return nibbles;
    case Layout::kVersion:
      return read_version(bytes, at, end, packet);
    case Layout::kUser:
      return read_user(header, bytes, at, end, packet);
    case Layout::kUnknownLayout:
      packet.defect = Defect::kUnknownLayout;
      return nibbles;
    case Layout::kReserved:
    case Layout::kExtension:
      return bad(packet, PacketType::kReserved, Defect::kReservedHeader, nibbles);
  }
  if (!header.timestamp) return nibbles;
  return read_timestamp(bytes, at + timestamp_at, packet);
}

/// The timestamp field of a complete packet; stm-itm.md 3.
unsigned Parser::read_timestamp(const std::uint8_t* bytes, std::size_t at, Packet& packet) {
  if (encoding_ == TimestampEncoding::kUnknown && quirks_.coresight_packets_only) [[unlikely]]
    return bad(packet, PacketType::kBadSequence, Defect::kTimestampEncoding, packet.nibbles);
  const unsigned count = kTimestampNibbles[nibble_at(bytes, at)];
  packet.has_timestamp = true;
  if (encoding_ == TimestampEncoding::kUnknown && count != 0) [[unlikely]] {
    packet.defect = Defect::kTimestampEncoding;
    return packet.nibbles;
  }
  packet.timestamp_bits = static_cast<std::uint8_t>(4 * count);
  if (count == 0) return packet.nibbles;
  const std::uint64_t raw = load_nibbles(bytes, at + 1);
  if (gathering_) [[unlikely]] {
    evidence_.timestamp(raw, count, encoding_);
    apply_verdict(packet);
    if (packet.payload_bits != 0)
      packet.payload = field_value(load_nibbles(bytes, at - packet.payload_bits / 4),
                                   packet.payload_bits / 4U, least_first_);
  }
  update_timestamp(raw, count);
  packet.timestamp = timestamp_;
  return packet.nibbles;
}

/// See stm-itm.md 4.
unsigned Parser::read_version(const std::uint8_t* bytes, std::size_t at, std::size_t end,
                              Packet& packet) {
  const auto nibble = static_cast<unsigned>(packet.payload);
  const bool extended = (nibble & kExtendedVersion) != 0 && !quirks_.coresight_packets_only;
  unsigned byte = 0;
  if (extended) {
    packet.nibbles = static_cast<std::uint16_t>(packet.nibbles + 2);
    if (at + packet.nibbles > end) return kIncomplete;
    // This field is always sent with the most significant nibble first.
    byte = static_cast<unsigned>(field_value(load_nibbles(bytes, at + 4), 2, false));
    packet.payload = nibble << 8 | byte;
    packet.payload_bits = 12;
  }
  const unsigned encoding = extended ? nibble & 7 : nibble;
  const bool natural_or_gray = encoding == 3 || encoding == 4;
  if (!natural_or_gray && (encoding != 2 || quirks_.coresight_packets_only))
    return bad(packet, PacketType::kBadSequence, Defect::kVersion, packet.nibbles);
  encoding_ = static_cast<TimestampEncoding>(encoding);
  // A version that does not state an order cancels the statement of an earlier one.
  if (order_stated_) begin_order();
  if (extended) {
    settle_order((byte & 0x80) != 0 ? NibbleOrder::kLeastFirst : NibbleOrder::kMostFirst);
    order_stated_ = true;
  }
  packet.master = master_ = 0;
  packet.channel = channel_ = sent_.c16 = 0;
  sent_.has_c8 = false;
  return packet.nibbles;
}

unsigned Parser::read_user(const Header& header, const std::uint8_t* bytes, std::size_t at,
                           std::size_t end, Packet& packet) {
  if (at + header.opcode >= end) return kIncomplete;
  const unsigned payload_at = header.opcode + 1U;
  const unsigned count = nibble_at(bytes, at + header.opcode) + 1;
  unsigned nibbles = payload_at + count;
  unsigned length = 0;
  if (header.timestamp) {
    if (at + nibbles >= end) return kIncomplete;
    length = nibble_at(bytes, at + nibbles);
    nibbles += 1U + kTimestampNibbles[length];
  }
  if (at + nibbles > end) return kIncomplete;
  packet.nibbles = static_cast<std::uint16_t>(nibbles);
  if (length == kBadTimestampLength)
    return bad(packet, PacketType::kBadSequence, Defect::kTimestampSize, nibbles);
  packet.payload = field_value(load_nibbles(bytes, at + payload_at), count, least_first_);
  packet.payload_bits = static_cast<std::uint8_t>(4 * count);
  if (!header.timestamp) return nibbles;
  return read_timestamp(bytes, at + payload_at + count, packet);
}

/// Reads from FF on.
unsigned Parser::read_async(const std::uint8_t* bytes, std::size_t at, std::size_t end,
                            Packet& packet) {
  const std::size_t limit = std::min(end, at + kMaxPacketNibbles);
  std::size_t here = at + 2;
  while (here < limit && nibble_at(bytes, here) == 0xF) ++here;
  const auto fs = static_cast<unsigned>(here - at);
  if (here == limit) {
    if (limit == end) return kIncomplete;
    begin(packet, PacketType::kAsync, fs);
    return bad(packet, PacketType::kBadSequence, Defect::kTooLong, fs);
  }
  const unsigned last = nibble_at(bytes, here);
  begin(packet, PacketType::kAsync, fs + 1);
  if (last == 0 && fs >= kAsyncFs) return fs + 1;
  if (!quirks_.coresight_packets_only && fs == 2 && (last == 1 || last == 2)) {
    packet.type = PacketType::kPdid;
    packet.defect = Defect::kUnknownLayout;
    return fs + 1;
  }
  if (quirks_.stale_error_type) packet.type = last_type_;
  return bad(packet, PacketType::kBadSequence, Defect::kBadAsync, fs + 1);
}

}  // namespace waymark::stm
