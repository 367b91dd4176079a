// Random PTM configurations, packets and streams.
#pragma once

#include <cstdint>
#include <vector>

#include "support/program.h"
#include "support/random.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/encoder.h"
#include "waymark/ptm/packet.h"

namespace waymark::support {

inline ptm::Config random_ptm_config(Random& random) {
  ptm::Config config;
  config.etmidr = 0x411CF300U | random.below(2) << 4;
  config.etmcr = random.below(2) << 12 | random.below(4) << 14 | 1U << 28 | random.below(2) << 29;
  config.etmccer = random.below(2) << 23 | random.below(2) << 24 | random.below(4) << 28;
  config.etmtraceidr = random.between(1, 0x6F);
  return config;
}

/// Every type that the encoder can make.
inline constexpr ptm::PacketType kAllPtmPacketTypes[] = {
    ptm::PacketType::kBranchAddress, ptm::PacketType::kAsync,          ptm::PacketType::kIsync,
    ptm::PacketType::kTrigger,       ptm::PacketType::kWaypointUpdate, ptm::PacketType::kIgnore,
    ptm::PacketType::kContextId,     ptm::PacketType::kVmid,           ptm::PacketType::kAtom,
    ptm::PacketType::kTimestamp,     ptm::PacketType::kExceptionReturn};

/// Fills a packet of `type` with values that its fields hold under `config`; addresses point into a
/// Program.
inline ptm::Packet random_ptm_packet(Random& random, const ptm::Config& config,
                                     ptm::PacketType type) {
  using isa::Isa;
  using ptm::PacketType;
  ptm::Packet packet;
  packet.type = type;
  const auto address = [&] {
    packet.isa = random.pick({Isa::kA32, Isa::kA32, Isa::kT32});
    const bool thumb = packet.isa == Isa::kT32;
    packet.address.value = static_cast<std::uint32_t>(Program::address(random, false, thumb));
    packet.address.update_bits = static_cast<std::uint8_t>(random.pick({0, 8, 14, 14, 21, 28}));
  };
  const auto count = [&] {
    packet.has_cycle_count = config.cycle_accurate();
    if (packet.has_cycle_count) packet.cycle_count = static_cast<std::uint32_t>(random.value(32));
  };
  const auto odd_isa = [&] {
    if (packet.address.update_bits == 0 && random.one_in(24))
      packet.isa = random.pick({Isa::kJazelle, Isa::kThumbEE});
  };
  switch (type) {
    case PacketType::kBranchAddress:
      address();
      odd_isa();
      count();
      if (random.one_in(6)) {
        packet.info_bytes = static_cast<std::uint8_t>(random.between(1, 2));
        if (packet.address.update_bits == 8) packet.address.update_bits = 0;
        packet.exception = static_cast<std::uint16_t>(
            random.below(packet.info_bytes == 2 && random.one_in(4) ? 512 : 16));
        packet.context.ns = random.coin();
        packet.context.alt_isa = packet.isa == Isa::kThumbEE;
        packet.context.hyp = packet.info_bytes == 2 && random.coin();
      }
      break;
    case PacketType::kWaypointUpdate:
      address();
      odd_isa();
      if (packet.address.update_bits == 0 && random.one_in(4)) {
        packet.info_bytes = 1;
        packet.context.alt_isa = packet.isa == Isa::kThumbEE;
      }
      break;
    case PacketType::kIsync:
      address();
      if (packet.isa == Isa::kT32 && random.one_in(16)) packet.isa = Isa::kThumbEE;
      packet.context.alt_isa = packet.isa == Isa::kThumbEE;
      packet.context.ns = random.coin();
      packet.context.hyp = random.one_in(4);
      packet.reason = static_cast<ptm::IsyncReason>(random.below(4));
      packet.context.context_id =
          random.below(4) & static_cast<std::uint32_t>(low_mask(8 * config.context_id_bytes()));
      if (packet.reason != ptm::IsyncReason::kPeriodic) count();
      break;
    case PacketType::kAtom:
      packet.atom_count =
          static_cast<std::uint8_t>(config.cycle_accurate() ? 1 : random.between(1, 5));
      packet.atoms = random.below(1U << packet.atom_count);
      count();
      break;
    case PacketType::kTimestamp:
      packet.timestamp_bits = static_cast<std::uint8_t>(random.coin() ? config.timestamp_bits()
                                                                      : random.between(1, 6) * 7);
      packet.timestamp = random.value(packet.timestamp_bits);
      packet.clock_changed = random.one_in(4);
      count();
      break;
    case PacketType::kContextId:
      packet.context.context_id =
          random.below(4) & static_cast<std::uint32_t>(low_mask(8 * config.context_id_bytes()));
      break;
    case PacketType::kVmid:
      packet.context.vmid = static_cast<std::uint8_t>(random.below(4));
      break;
    case PacketType::kAsync:
      packet.length = static_cast<std::uint16_t>(random.between(6, 16));
      break;
    default:
      break;
  }
  return packet;
}

/// A stream as a trace unit might write it.  Its program flow is nonsense, which a decoder must
/// still follow.
class PtmStreamMaker {
 public:
  PtmStreamMaker(Random& random, const ptm::Config& config) : random_(random), config_(config) {}

  /// `packets` packets; on average, random bytes follow one in `damage` of them (0: none).
  /// `junk`: it may begin unsynchronised.
  std::vector<std::uint8_t> make(unsigned packets, unsigned damage, bool junk) {
    using ptm::PacketType;
    bytes_.clear();
    if (junk && random_.one_in(4))
      for (unsigned i = random_.below(50); i != 0; --i)
        bytes_.push_back(random_.coin() ? 0 : random_.byte());
    if (junk && !bytes_.empty()) bytes_.push_back(0x55);
    synchronise();
    for (unsigned i = 0; i < packets; ++i) {
      if (random_.one_in(32)) synchronise();
      add(random_.pick({PacketType::kAtom, PacketType::kAtom, PacketType::kAtom, PacketType::kAtom,
                        PacketType::kAtom, PacketType::kBranchAddress, PacketType::kBranchAddress,
                        PacketType::kBranchAddress, PacketType::kIsync, PacketType::kTimestamp,
                        PacketType::kWaypointUpdate, PacketType::kContextId, PacketType::kVmid,
                        PacketType::kTrigger, PacketType::kIgnore, PacketType::kExceptionReturn}));
      if (damage == 0 || !random_.one_in(damage)) continue;
      for (unsigned j = random_.between(1, 12); j != 0; --j)
        bytes_.push_back(random_.one_in(4) ? 0 : random_.byte());
      if (random_.coin()) synchronise();
    }
    if (random_.one_in(4)) bytes_.resize(bytes_.size() - random_.below(3));
    return bytes_;
  }

 private:
  void add(ptm::PacketType type) {
    (void)ptm::encode(random_ptm_packet(random_, config_, type), config_, bytes_);
  }
  void synchronise() {
    add(ptm::PacketType::kAsync);
    if (random_.one_in(8)) add(ptm::PacketType::kAtom);
    add(ptm::PacketType::kIsync);
  }

  Random& random_;
  const ptm::Config& config_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace waymark::support
