#include "waymark/etmv4/parser.h"

#include <algorithm>

#include "header_table.h"

namespace waymark::etmv4 {
namespace {

// Unsynchronised bytes are given in chunks of at least this many.
constexpr std::size_t kChunkSize = 8;

bool legal(Gate gate, const Config& config, bool& configuration) {
  const unsigned version = config.version();
  configuration = gate == Gate::kEtmOnly || gate == Gate::kConditional || gate == Gate::kDataTrace;
  switch (gate) {
    case Gate::kAlways:
      return true;
    case Gate::kV8M42:
      return config.core.profile == isa::Profile::kM && config.core.arch >= isa::Arch::kV8 &&
             version >= 0x42;
    case Gate::kEtmOnly:
      return config.major_version() < 5;
    case Gate::kEte13:
      return config.major_version() >= 5 && config.minor_version() >= 3;
    case Gate::kEte:
      return config.major_version() >= 5;
    case Gate::kConditional:
      return config.conditional_trace();
    case Gate::kDataTrace:
      return config.data_trace();
    case Gate::kV43:
      return version >= 0x43;
    case Gate::kV46:
      return version >= 0x46;
    case Gate::kQ:
      return config.has_q();
  }
  return false;
}

struct AddressForm {
  std::uint8_t bits = 0;  // 0: exact match.
  std::uint8_t is = 0;
};

AddressForm form_of(PacketType type) {
  switch (type) {
    case PacketType::kAddressShortIs0:
    case PacketType::kSourceShortIs0:
      return {9, 0};
    case PacketType::kAddressShortIs1:
    case PacketType::kSourceShortIs1:
      return {8, 1};
    case PacketType::kAddress32Is0:
    case PacketType::kSource32Is0:
    case PacketType::kAddressContext32Is0:
      return {32, 0};
    case PacketType::kAddress32Is1:
    case PacketType::kSource32Is1:
    case PacketType::kAddressContext32Is1:
      return {32, 1};
    case PacketType::kAddress64Is0:
    case PacketType::kSource64Is0:
    case PacketType::kAddressContext64Is0:
      return {64, 0};
    case PacketType::kAddress64Is1:
    case PacketType::kSource64Is1:
    case PacketType::kAddressContext64Is1:
      return {64, 1};
    default:
      return {};
  }
}

}  // namespace

Parser::Parser(const Config& config) : config_(config) {
  build_table();
  carry_.reserve(64);
}

void Parser::build_table() {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint8_t row = kRowOfHeader[byte];
    table_[byte] = {};
    if (row == 0xFF) continue;
    const HeaderRow& header = kHeaderRows[row];
    bool configuration = false;
    const AddressForm form = form_of(header.type);
    table_[byte] = {header.type, header.layout, form.is, form.bits};
    if (!legal(header.gate, config_, configuration))
      table_[byte].layout = configuration ? Layout::kReservedConfig : Layout::kReserved;
  }
}

void Parser::feed(const frames::StreamBlock& block) {
  begin_block(block);
  position_ = 0;
  statistics_.total_bytes += size_;
}

void Parser::reset() {
  synced_ = false;
  carry_.clear();
  carried_ = false;
  search_ = Search::kPlain;
  due_ = Due::kNothing;
  chunk_index_fixed_ = false;
  first_chunk_given_ = false;
  jumped_ = first_chunk_given_before_ = false;
  leave_block();
  position_ = 0;
  base_.valid_bits = 0;
  context_seen_ = false;
  timestamp_ = 0;
  timestamp_valid_ = false;
  trace_info_seen_ = false;
  initial_pending_ = true;
  cc_threshold_ = 0;
}

void Parser::jump() {
  if (!jumped_) first_chunk_given_before_ = first_chunk_given_;
  jumped_ = true;
  synced_ = false;
  carry_.clear();
  carried_ = false;
  search_ = Search::kPlain;
  due_ = Due::kNothing;
  chunk_index_fixed_ = false;
  leave_block();
  position_ = 0;
}

// The state without leftovers that no longer have a meaning.
ParserState Parser::settled_state() const {
  ParserState state = *this;
  if (synced_ && !carried_) {
    state.carry_.clear();
    state.search_ = Search::kPlain;
  }
  if (state.carry_.empty()) state.carry_index_ = 0;
  if (due_ == Due::kNothing) state.next_chunk_index_ = 0;
  if (synced_) state.chunk_index_fixed_ = false;
  for (unsigned i = 0; i < 3; ++i) state.history_[(0U - i) % state.history_.size()] = history(i);
  state.history_[1] = {};
  state.newest_ = 0;
  return state;
}

bool Parser::next(Packet& packet) {
  if (!synced_) [[unlikely]]
    return next_unsynced(packet);
  if (carried_) [[unlikely]]
    return next_carried(packet);
  if (position_ >= size_) return false;
  packet.index = index_at(position_);
  const std::uint8_t header = data_[position_];
  if (header < kFirstAtomHeader) return read_rare(position_, packet);
  copy_atoms(atom_packet(header), packet);
  took(position_, 1);
  return true;
}

std::size_t Parser::next(std::span<Packet> out) {
  struct Store {
    Packet* at;
    Packet* end;
    bool on_atoms(TraceIndex index, const AtomPacket& atoms) {
      at->index = index;
      copy_atoms(atoms, *at);
      return ++at != end;
    }
    bool on_packet(const Packet& packet) {
      *at = packet;
      return ++at != end;
    }
  };
  if (out.empty()) return 0;
  Store store{out.data(), out.data() + out.size()};
  parse(store);
  return static_cast<std::size_t>(store.at - out.data());
}

bool Parser::read_rare(std::size_t position, Packet& packet) {
  const std::size_t length = read(data_ + position, size_ - position, packet);
  if (length == kIncomplete) {
    carry_.assign(data_ + position, data_ + size_);
    carry_index_ = packet.index;
    carried_ = true;
    position_ = size_;
    return false;
  }
  took(position, length);
  return true;
}

bool Parser::next_carried(Packet& packet) {
  packet.index = carry_index_;
  const Completed whole =
      complete(carry_, position_, [&] { return read(carry_.data(), carry_.size(), packet); });
  if (!whole) return false;
  position_ += whole.length - whole.before;
  carry_.resize(whole.length);
  raw_ = carry_.data();
  raw_size_ = whole.length;
  carried_ = false;
  return true;
}

void Parser::give_chunk(Packet& packet, PacketType type, std::size_t size) {
  given_.assign(carry_.begin(), carry_.begin() + static_cast<std::ptrdiff_t>(size));
  packet.type = type;
  packet.error_type = PacketType::kNoErrorType;
  packet.index = carry_index_;
  packet.length = static_cast<std::uint16_t>(size);
  packet.atom_count = 0;
  packet.monitor_only = false;
  raw_ = given_.data();
  raw_size_ = size;
}

// See etmv4-ete.md 2.2, first table.  A chunk that falls due with the last byte of a run waits for
// the first byte of the next one.
bool Parser::next_unsynced(Packet& packet) {
  while (position_ < size_) {
    if (due_ != Due::kNothing) {
      if (due_ == Due::kAll) {
        give_chunk(packet, PacketType::kNotSync, carry_.size());
        carry_.clear();
        carry_index_ = next_chunk_index_;
        chunk_index_fixed_ = true;
      } else if (due_ == Due::kAllButLast) {
        give_chunk(packet, PacketType::kNotSync, carry_.size() - 1);
        carry_.assign(1, 0x00);
        carry_index_ = next_chunk_index_;
      } else {
        give_chunk(packet, PacketType::kAsync, 1);
        carry_.pop_back();
      }
      due_ = Due::kNothing;
      packet.monitor_only = first_chunk_given_;
      first_chunk_given_ = true;
      statistics_.unsynced_bytes += packet.length;
      return true;
    }
    const TraceIndex index = index_at(position_);
    const std::uint8_t byte = data_[position_++];
    if (carry_.empty() && (byte == 0 || !chunk_index_fixed_)) carry_index_ = index;
    chunk_index_fixed_ = false;
    const bool held = !carry_.empty();
    carry_.push_back(byte);
    switch (search_) {
      case Search::kPlain:
        if (byte == 0) {
          search_ = Search::kExtension;
          if (held) {
            due_ = Due::kAllButLast;
            next_chunk_index_ = index;
          }
        } else if (carry_.size() >= kChunkSize) {
          due_ = Due::kAll;
          next_chunk_index_ = index + 1;
        }
        break;
      case Search::kExtension:
        search_ = byte == 0 ? Search::kAsync : Search::kPlain;
        break;
      case Search::kAsync:
        if (byte == 0) {
          if (carry_.size() == kAsyncSize) due_ = Due::kOldestZero;
        } else if (carry_.size() != kAsyncSize) {
          search_ = Search::kPlain;
        } else {
          give_chunk(packet, PacketType::kAsync, kAsyncSize);
          carry_.clear();
          search_ = Search::kPlain;
          synced_ = byte == 0x80;
          if (synced_ && jumped_) end_jump();
          if (!synced_) {
            packet.type = PacketType::kBadSequence;
            packet.error_type = PacketType::kAsync;
          }
          return true;
        }
        break;
    }
  }
  return false;
}

bool Parser::finish(Packet& packet) {
  const bool pending = synced_ ? carried_ : !carry_.empty();
  if (!pending) return false;
  give_chunk(packet, PacketType::kIncompleteEot, carry_.size());
  if (!synced_) {
    packet.error_type = search_ == Search::kAsync ? PacketType::kAsync : PacketType::kNotSync;
  } else if (carry_.size() > 1 && carry_[0] == 0) {
    packet.error_type = PacketType::kAsync;
  } else {
    packet.error_type = table_[carry_[0]].type;
  }
  carry_.clear();
  carried_ = false;
  due_ = Due::kNothing;
  search_ = Search::kPlain;
  return true;
}

}  // namespace waymark::etmv4
