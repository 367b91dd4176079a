#include "waymark/doctor/trial.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "waymark/etmv3/packet.h"
#include "waymark/etmv4/packet.h"
#include "waymark/etmv4data/packet.h"
#include "waymark/inputs/protocols.h"
#include "waymark/itm/packet.h"
#include "waymark/ptm/packet.h"
#include "waymark/stm/packet.h"

namespace waymark::doctor {

void set_field(Registers& registers, std::string_view name, std::uint32_t mask,
               std::uint32_t value) {
  auto found = std::ranges::find(registers, name, &Registers::value_type::first);
  if (found == registers.end()) found = registers.insert(found, {std::string(name), 0});
  found->second = (found->second & ~mask) | (value & mask);
}

std::uint32_t value_of(const Registers& registers, std::string_view name) {
  const auto found = std::ranges::find(registers, name, &Registers::value_type::first);
  return found == registers.end() ? 0 : found->second;
}

double Trial::score() const {
  if (size == 0 || packets == 0 || leading >= size) return 0;
  const auto share = [](std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 1.0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(all));
  };
  const double explained = share(read, size - leading);
  const double clean = 1.0 / (1.0 + 20.0 * static_cast<double>(bad) / static_cast<double>(packets));
  const double usual = 1.0 / (1.0 + 10.0 * static_cast<double>(odd) / static_cast<double>(packets));
  // A stream of ITM has few kinds of data; other streams, read as ITM, have all.
  return explained * clean * usual * share(followed, syncs) * share(common, data);
}

namespace {

/// Times that are read in a wrong way run backwards.
class Clock {
 public:
  [[nodiscard]] bool runs_back(std::uint64_t time) {
    const bool back = time < last_;
    last_ = time;
    return back;
  }

 private:
  std::uint64_t last_ = 0;
};

/// The packets of one reading, counted.
class Tally final : public Observer {
 public:
  explicit Tally(Trial& trial) : trial_(trial) {}

  void on_packet(const PacketRef& seen) override {
    switch (seen.protocol) {
      case Protocol::kEtmV4:
      case Protocol::kEte:
        return take(seen, seen.as<etmv4::Packet>());
      case Protocol::kPtm:
        return take(seen, seen.as<ptm::Packet>());
      case Protocol::kEtmV3:
        return take(seen, seen.as<etmv3::Packet>());
      case Protocol::kStm:
        return take(seen, seen.as<stm::Packet>());
      case Protocol::kItm:
        return take(seen, seen.as<itm::Packet>());
      case Protocol::kEtmV4Data:
        return take(seen, seen.as<etmv4data::Packet>());
      case Protocol::kMtb:
        return;
    }
  }

  void finish() {
    std::ranges::sort(headers_, std::greater{});
    constexpr std::size_t kCommonHeaders = 8;
    trial_.common =
        std::accumulate(headers_.begin(), headers_.begin() + kCommonHeaders, std::uint64_t{0});
    if (!synced_) trial_.leading = trial_.size;
    if (trial_.syncs != 0 && synced_)
      trial_.longest_gap = std::max(trial_.longest_gap, trial_.size - last_sync_);
  }

  void start_in_sync() { synced_ = true; }

 private:
  /// Packets until which what must follow a synchronisation may come.
  static constexpr unsigned kFollowers = 4;

  void good(const PacketRef& seen) {
    ++trial_.packets;
    trial_.read += seen.bytes.size();
  }
  void bad(const PacketRef& /*seen*/) {
    ++trial_.bad;
    is_taken_ = false;
    awaited_ = 0;
  }
  /// False: bytes before the first synchronisation, or what the end of the trace has cut.
  template <class Type>
  bool is_whole(Type type) {
    trial_.cut |= type == Type::kIncompleteEot;
    return type != Type::kNotSync && type != Type::kIncompleteEot;
  }
  /// Counts a packet, if it is one.
  template <class Type>
  bool is_good(const PacketRef& seen, Type type) {
    if (!is_whole(type)) return false;
    if (is_bad(type)) {
      bad(seen);
      return false;
    }
    good(seen);
    return true;
  }
  void odd_if(bool odd) { trial_.odd += odd ? 1 : 0; }
  void saw(Witness witness) { trial_.add(witness); }

  void sync(const PacketRef& seen, bool within_packet) {
    if (!synced_) trial_.leading = seen.index;
    if (synced_ && trial_.syncs != 0)
      trial_.longest_gap = std::max<std::uint64_t>(trial_.longest_gap, seen.index - last_sync_);
    synced_ = true;
    last_sync_ = seen.index;
    ++trial_.syncs;
    awaited_ = kFollowers;
    if (within_packet) ++trial_.bad;
  }
  /// The packets that must follow a synchronisation.
  void follower() {
    if (awaited_ != 0) ++trial_.followed;
    awaited_ = 0;
  }
  void passed() {
    if (awaited_ != 0) --awaited_;
  }
  void timestamp(std::uint64_t time, unsigned valid_bits) {
    saw(Witness::kTimestamp);
    if (valid_bits > 48) saw(Witness::kWideTimestamp);
    odd_if(clock_.runs_back(time));
  }

  void take(const PacketRef& seen, const etmv4::Packet& packet);
  void take(const PacketRef& seen, const ptm::Packet& packet);
  void take(const PacketRef& seen, const etmv3::Packet& packet);
  void take(const PacketRef& seen, const stm::Packet& packet);
  void take(const PacketRef& seen, const itm::Packet& packet);
  void take(const PacketRef& seen, const etmv4data::Packet& packet);
  /// The common part of PTM and ETMv3.
  template <class Packet>
  void take_v7(const Packet& packet) {
    using Type = decltype(packet.type);
    passed();
    if (packet.type == Type::kTimestamp) timestamp(packet.timestamp, packet.timestamp_bits);
    if (packet.type == Type::kContextId) saw(Witness::kContextId);
    if (packet.type == Type::kVmid) saw(Witness::kVmid);
  }
  void take_info(const etmv4::Packet& packet);
  void follow_taken(const etmv4::Packet& packet);

  Trial& trial_;
  std::array<std::uint64_t, 256> headers_{};
  bool synced_ = false;
  unsigned awaited_ = 0;
  std::uint64_t last_sync_ = 0;
  std::uint64_t nibbles_ = 0;  ///< STM: of good packets.
  Clock clock_;
  bool is_taken_ = false;  ///< ETMv4: the last atom is E, and its target may come.
};

void Tally::take_info(const etmv4::Packet& packet) {
  follower();
  const std::uint32_t info = packet.trace_info.info & 0x3F;
  // A unit does not change its registers while it traces.
  if (trial_.has_info) odd_if(trial_.info != info);
  trial_.has_info = true;
  trial_.info = info;
}

/// Other sources of addresses, such as a synchronisation, say nothing about the atom before them.
void Tally::follow_taken(const etmv4::Packet& packet) {
  using enum etmv4::PacketType;
  if (etmv4::is_atoms(packet.type)) {
    for (unsigned i = 0; i < packet.atom_count; ++i) {
      trial_.taken.all += is_taken_ ? 1 : 0;
      is_taken_ = (packet.atoms >> i & 1) != 0;
    }
    return;
  }
  if (etmv4::is_target_address(packet.type) || etmv4::is_address_context(packet.type)) {
    trial_.taken.all += is_taken_ ? 1 : 0;
    trial_.taken.stated += is_taken_ ? 1 : 0;
    is_taken_ = false;
    return;
  }
  switch (packet.type) {
    case kTimestamp:
    case kTimestampMarker:
    case kCycleCountF1:
    case kCycleCountF2:
    case kCycleCountF3:
    case kCommit:
    case kEvent:
    case kIgnore:
    case kContext:
      return;
    default:
      is_taken_ = false;
      return;
  }
}

void Tally::take(const PacketRef& seen, const etmv4::Packet& packet) {
  using enum etmv4::PacketType;
  if (!is_good(seen, packet.type)) return;
  follow_taken(packet);
  if (packet.type == kAsync) return sync(seen, packet.in_packet);
  if (packet.type == kTraceInfo) return take_info(packet);
  awaited_ = 0;
  if (packet.type == kContext || etmv4::is_address_context(packet.type)) {
    if (packet.context.updated_context_id) saw(Witness::kContextId);
    if (packet.context.updated_vmid) saw(Witness::kVmid);
  }
  const bool address = etmv4::is_target_address(packet.type) ||
                       etmv4::is_address_context(packet.type) ||
                       etmv4::is_source_address(packet.type);
  if (address && packet.address.update_bits == 64) {
    saw(Witness::kAddress64);
    const std::uint64_t top = packet.address.value >> 48;
    odd_if(top != 0 && top != 0xFFFF);
  }
  if (etmv4::is_source_address(packet.type) || etmv4::is_ete_exception(packet.type))
    saw(Witness::kEteOnly);
  if (etmv4::is_conditional(packet.type)) saw(Witness::kConditional);
  switch (packet.type) {
    case kTimestamp:
      timestamp(packet.timestamp, packet.timestamp_bits);
      if (packet.has_count) saw(Witness::kCycleCount);
      break;
    case kCycleCountF1:
      saw(Witness::kCommitCount);
      saw(Witness::kCycleCount);
      break;
    case kCycleCountF2:
    case kCycleCountF3:
      saw(Witness::kCycleCount);
      break;
    case kCommit:
    case kCancelF1:
    case kCancelF1Mispredict:
    case kCancelF2:
    case kCancelF3:
      saw(Witness::kCommit);
      break;
    case kQ:
      saw(Witness::kQ);
      break;
    case kExceptionReturn:
      saw(Witness::kEtmOnly);
      break;
    case kTransactionStart:
    case kTransactionCommit:
      saw(Witness::kTransaction);
      saw(Witness::kEteOnly);
      break;
    case kInstrumentation:
      saw(Witness::kInstrumentation);
      saw(Witness::kEteOnly);
      break;
    case kTimestampMarker:
      saw(Witness::kMarker);
      break;
    case kNumberedDataSync:
    case kUnnumberedDataSync:
      saw(Witness::kDataSync);
      break;
    case kIgnore:
      saw(Witness::kIgnore);
      break;
    case kOverflow:
      ++trial_.overflows;
      break;
    case kDiscard:
      ++trial_.discards;
      break;
    case kException:
      saw(Witness::kException);
      odd_if(packet.exception_address == etmv4::ExceptionAddress::kReserved);
      break;
    default:
      break;
  }
}

void Tally::take(const PacketRef& seen, const ptm::Packet& packet) {
  using enum ptm::PacketType;
  if (!is_good(seen, packet.type)) return;
  if (packet.type == kAsync) return sync(seen, packet.in_packet);
  odd_if(packet.conflict != ptm::RegisterConflict::kNone);
  if (packet.has_cycle_count) saw(Witness::kCycleCount);
  if (packet.type == kIsync) {
    constexpr std::size_t kInfo = 5;
    const bool usual = seen.bytes.size() > kInfo && (seen.bytes[kInfo] & 0x91) == 0x01;
    const bool arm = packet.isa == isa::Isa::kA32;
    const bool good_address = !arm || (packet.address.value & 3) == 0;
    odd_if(!usual || !good_address);
    if (packet.reason == ptm::IsyncReason::kRestartOverflow) ++trial_.overflows;
    if (packet.context.updated_context_id) saw(Witness::kContextId);
    if (usual) return follower();
  }
  take_v7(packet);
}

void Tally::take(const PacketRef& seen, const etmv3::Packet& packet) {
  using enum etmv3::PacketType;
  if (!is_good(seen, packet.type)) return;
  if (packet.type == kASync) return sync(seen, packet.in_packet);
  if (packet.type == kCycleCount || packet.has_cycle_count) saw(Witness::kCycleCount);
  if (etmv3::is_data(packet.type)) saw(Witness::kData);
  if (packet.type == kISync || packet.type == kISyncCycle) {
    const bool arm = packet.isa == isa::Isa::kA32;
    const bool usual = !arm || packet.no_address || (packet.address.value & 3) == 0;
    odd_if(!usual);
    if (packet.reason == etmv3::SyncReason::kOverflow) ++trial_.overflows;
    if (packet.context.updated_context_id) saw(Witness::kContextId);
    if (usual) return follower();
  }
  take_v7(packet);
}

void Tally::take(const PacketRef& seen, const stm::Packet& packet) {
  using enum stm::PacketType;
  if (!is_whole(packet.type)) return;
  const bool fine =
      packet.defect == stm::Defect::kNone || packet.defect == stm::Defect::kOrderFound;
  if (stm::is_bad(packet.type) || (!fine && packet.type != kAsync)) return bad(seen);
  ++trial_.packets;
  // Two packets may share a byte.
  nibbles_ += packet.nibbles;
  trial_.read = nibbles_ / 2;
  if (packet.type == kAsync) return sync(seen, packet.defect == stm::Defect::kAsyncInPacket);
  if (packet.type == kVersion) return follower();
  if (packet.type == kNull) return;
  awaited_ = 0;
  if (packet.has_timestamp && packet.timestamp_bits != 0) saw(Witness::kTimestamp);
  if (packet.type == kMerr || packet.type == kGerr) ++trial_.overflows;
}

void Tally::take(const PacketRef& seen, const itm::Packet& packet) {
  using enum itm::PacketType;
  if (!is_good(seen, packet.type)) return;
  constexpr std::size_t kSyncBytes = 6;
  switch (packet.type) {
    case kAsync:
      sync(seen, packet.in_packet);
      odd_if(packet.length != kSyncBytes && trial_.syncs != 1);
      ++trial_.followed;
      break;
    case kSoftware:
    case kHardware:
      saw(packet.type == kSoftware ? Witness::kSoftware : Witness::kHardware);
      ++trial_.data;
      if (!seen.bytes.empty()) ++headers_[seen.bytes[0]];
      break;
    case kLocalTimestamp:
      saw(Witness::kLocalTimestamp);
      break;
    case kGlobalTimestamp1:
    case kGlobalTimestamp2:
      saw(Witness::kGlobalTimestamp);
      break;
    case kOverflow:
      ++trial_.overflows;
      break;
    default:
      break;
  }
}

void Tally::take(const PacketRef& seen, const etmv4data::Packet& packet) {
  using enum etmv4data::PacketType;
  if (!is_good(seen, packet.type)) return;
  if (packet.type == kAsync) return sync(seen, false);
  if (packet.type == kTraceInfo) return follower();
  awaited_ = 0;
  if (packet.type == kTimestamp) timestamp(packet.timestamp, packet.timestamp_bits);
  if (packet.type == kOverflow) ++trial_.overflows;
  if (packet.type == kDiscard) ++trial_.discards;
}

}  // namespace

Trial try_protocol(Bytes stream, std::string_view type, const Registers& registers,
                   bool starts_in_sync) {
  Trial trial;
  trial.size = stream.size();
  const inputs::ProtocolRow* const row = inputs::protocol_by_type(type);
  if (stream.empty() || row == nullptr) return trial;
  const auto reader = [&](std::string_view name) -> std::optional<RegisterValue> {
    const auto found = std::ranges::find(registers, name, &Registers::value_type::first);
    if (found == registers.end()) return std::nullopt;
    return found->second;
  };
  const SourceOptions options{.decode = false, .starts_in_sync = starts_in_sync};
  const auto core = isa::core_by_name(row->usual_core);
  auto source = row->make(reader, core.value_or(isa::Core{}), nullptr, options);
  if (!source) return trial;
  Tally tally(trial);
  if (starts_in_sync) tally.start_in_sync();
  (*source)->set_observer(&tally, 0);
  const frames::Run run{};
  (*source)->feed({stream, {&run, 1}});
  while ((*source)->next({}) != 0) {
  }
  (*source)->finish();
  while ((*source)->next({}) != 0) {
  }
  tally.finish();
  return trial;
}

}  // namespace waymark::doctor
