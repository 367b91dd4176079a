#include "waymark/etmv4/parser.h"

#include <algorithm>

#include "header_table.h"
#include "waymark/etmv4/parser_inl.h"

namespace waymark::etmv4 {
namespace {

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

Parser::Parser(const Config& config, const Quirks& quirks) : config_(config), quirks_(quirks) {
  search_ = UnsyncedSearch(quirks.surplus_zeros_are_asyncs);
  build_table();
  carry_.bytes.reserve(64);
}

void Parser::build_table() {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint8_t row = kRowOfHeader[byte];
    table_[byte] = {};
    if (row == protocol::kNoRow) continue;
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
  jump();
  search_.reset();
  addresses_.reset();
  context_.reset();
  time_.reset();
  trace_info_seen_ = false;
  cc_threshold_ = 0;
}

void Parser::jump() {
  synced_ = false;
  carry_.reset();
  search_.jump();
  leave_block();
  position_ = 0;
}

bool Parser::next(Packet& packet) {
  if (!synced_) [[unlikely]]
    return next_unsynced(packet);
  if (carry_.active) [[unlikely]]
    return next_carried(packet);
  return position_ < size_ && next_synced(packet);
}

std::size_t Parser::next(std::span<Packet> out) {
  struct Store {
    static consteval protocol::VisitorTakes takes() { return {}; }
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
  const std::size_t length = read({data_ + position, size_ - position}, packet);
  if (length == kIncomplete) {
    carry_.zeros = zeros_before(position);
    carry_.bytes.assign(data_ + position, data_ + size_);
    carry_.index = packet.index;
    carry_.active = true;
    position_ = size_;
    return false;
  }
  took(position, length);
  return true;
}

bool Parser::next_carried(Packet& packet) {
  std::vector<std::uint8_t>& bytes = carry_.bytes;
  packet.index = carry_.index;
  const Completed whole = complete(bytes, position_, [&] { return read(bytes, packet); });
  if (!whole) return false;
  position_ += whole.length - whole.before;
  bytes.resize(whole.length);
  raw_ = bytes.data();
  raw_size_ = whole.length;
  carry_.active = false;
  return true;
}

void Parser::give(const UnsyncedSearch::Chunk& chunk, Packet& packet) {
  raw_ = chunk.bytes.data();
  raw_size_ = chunk.bytes.size();
  packet.begin(chunk.type, raw_size_);
  packet.index = chunk.index;
}

// What was read last is wrong, so what comes next can be the inside of a packet.
void Parser::lose_sync() {
  if (quirks_.no_search_after_bad_packet) return;
  synced_ = false;
  search_.begin_again();
}

bool Parser::next_unsynced(Packet& packet) {
  while (position_ < size_) {
    if (search_.due()) {
      search_.give_due(given_);
      give(given_, packet);
      packet.monitor_only = !search_.is_first_chunk();
      statistics_.unsynced_bytes += packet.length;
      return true;
    }
    const TraceIndex index = index_at(position_);
    const std::uint8_t byte = data_[position_++];
    if (!search_.take(byte, index)) continue;
    search_.give_all(given_);
    synced_ = byte == 0x80;
    if (!synced_ && !quirks_.surplus_zeros_are_asyncs) {
      given_.type = PacketType::kNotSync;
      give(given_, packet);
      packet.monitor_only = !search_.is_first_chunk();
      statistics_.unsynced_bytes += packet.length;
      return true;
    }
    given_.type = synced_ ? PacketType::kAsync : PacketType::kBadSequence;
    give(given_, packet);
    if (synced_) {
      packet.in_packet = false;
      search_.end();
    } else {
      packet.error_type = PacketType::kAsync;
    }
    return true;
  }
  return false;
}

bool Parser::finish(Packet& packet) {
  if (synced_ ? !carry_.active : search_.empty()) return false;
  PacketType error_type = search_.in_async() ? PacketType::kAsync : PacketType::kNotSync;
  if (synced_) {
    const std::vector<std::uint8_t>& bytes = carry_.bytes;
    const bool async = bytes.size() > 1 && bytes[0] == 0;
    error_type = async ? PacketType::kAsync : table_[bytes[0]].type;
    given_ = {.index = carry_.index, .bytes = bytes};
    carry_.reset();
  } else {
    search_.give_all(given_);
  }
  given_.type = PacketType::kIncompleteEot;
  give(given_, packet);
  packet.error_type = error_type;
  return true;
}

}  // namespace waymark::etmv4
