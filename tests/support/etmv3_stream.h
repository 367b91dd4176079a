// Random ETMv3 registers and streams of packets that are possible for them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/program.h"
#include "support/random.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/encoder.h"
#include "waymark/etmv3/p_header.h"

namespace waymark::support {

inline etmv3::Config random_etmv3_config(Random& random) {
  etmv3::Config config;
  config.etmtraceidr = 1 + random.below(0x6F);
  config.etmidr = 0x41000200U | random.below(6) << 4;
  if (random.one_in(4)) config.etmidr |= 1U << 20;
  config.etmccer = random.below(2) << 26 | random.below(4) << 28;
  config.etmcr =
      random.below(4) << 14 | (random.coin() ? 1U << 12 : 0U) | (random.coin() ? 1U << 28 : 0U);
  if (random.coin()) config.etmcr |= random.below(4) << 2 | (random.coin() ? 2U : 0U);
  if (random.one_in(12) && config.data_trace()) config.etmcr |= 1U << 20;
  if (random.one_in(4)) config.core.profile = isa::Profile::kM;
  return config;
}

/// Makes packets in sequence, so that each fits the state after the previous ones.
class Etmv3Packets {
 public:
  Etmv3Packets(Random& random, const etmv3::Config& config) : random_(random), config_(config) {}

  etmv3::Packet next() {
    using etmv3::PacketType;
    const unsigned kind = random_.below(40);
    if (kind < 16) return p_header();
    if (kind < 22) return branch();
    if (kind < 24) return isync();
    if (kind < 32 && config_.data_trace()) return data();
    switch (kind) {
      case 24:
      case 25:
        packet_.type = PacketType::kCycleCount;
        packet_.cycle_count = static_cast<std::uint32_t>(random_.value(32));
        break;
      case 26:
      case 27:
        packet_.type = PacketType::kTimestamp;
        packet_.timestamp = random_.value(config_.timestamp_bytes() == 9 ? 64 : 48);
        packet_.timestamp_bits = 0;
        packet_.frequency_change = random_.one_in(4);
        break;
      case 28:
        packet_.type =
            config_.context_id_bytes() != 0 ? PacketType::kContextId : PacketType::kIgnore;
        set_context_id();
        break;
      case 29:
        packet_.type = PacketType::kVmid;
        packet_.context.vmid = random_.byte();
        break;
      default:
        packet_.type = random_.pick({PacketType::kTrigger, PacketType::kIgnore, PacketType::kASync,
                                     PacketType::kExceptionExit, PacketType::kExceptionExit,
                                     PacketType::kExceptionEntry});
        break;
    }
    return packet_;
  }

  /// The first packet after an A-sync that a decoder can begin with.
  etmv3::Packet isync() {
    using etmv3::PacketType;
    packet_.type =
        random_.coin() && config_.cycle_accurate() ? PacketType::kISyncCycle : PacketType::kISync;
    packet_.cycle_count = static_cast<std::uint32_t>(random_.value(32));
    packet_.reason = static_cast<etmv3::SyncReason>(random_.below(4));
    packet_.context.ns = random_.coin();
    if (config_.has_virtualization()) packet_.context.hyp = random_.one_in(4);
    set_context_id();
    const bool data_only = config_.data_only();
    packet_.no_address = data_only;
    if (!data_only) {
      packet_.isa = random_.pick({isa::Isa::kA32, isa::Isa::kA32, isa::Isa::kT32, isa::Isa::kT32,
                                  isa::Isa::kJazelle, isa::Isa::kThumbEE});
      if (config_.minor_version() < 3 && packet_.isa == isa::Isa::kThumbEE)
        packet_.isa = isa::Isa::kT32;
    }
    isa_ = packet_.isa;
    alt_ = isa_ == isa::Isa::kThumbEE;
    packet_.address = {address(), 32, 0};
    packet_.lsip = !data_only && random_.one_in(6);
    if (packet_.lsip) {
      packet_.data_instruction = address();
      packet_.address.update_bits = short_bits();
    }
    return packet_;
  }

 private:
  [[nodiscard]] std::uint32_t address() {
    if (random_.one_in(16)) {
      const auto any = static_cast<std::uint32_t>(random_.bits(32));
      return any & ~((1U << address_shift()) - 1);
    }
    return static_cast<std::uint32_t>(Program::address(random_, false, thumb() ? 1 : 0));
  }
  [[nodiscard]] bool thumb() const { return isa_ == isa::Isa::kT32 || isa_ == isa::Isa::kThumbEE; }
  /// Low bits of an instruction's address that are 0.
  [[nodiscard]] unsigned address_shift() const {
    if (isa_ == isa::Isa::kJazelle) return 0;
    return thumb() ? 1 : 2;
  }
  [[nodiscard]] std::uint8_t short_bits() {
    const unsigned shift = address_shift();
    const unsigned bytes = random_.between(2, 4);
    const unsigned count = 6 + 7 * (bytes - 1) - (config_.alternative_branches() ? 1 : 0);
    return static_cast<std::uint8_t>(count + shift);
  }
  void set_context_id() {
    const unsigned size = config_.context_id_bytes();
    packet_.context.context_id = static_cast<std::uint32_t>(random_.value(8 * size));
    packet_.context.updated_context_id = size != 0;
  }

  etmv3::Packet p_header() {
    const auto& headers = etmv3::p_headers(config_.cycle_accurate(), false);
    unsigned byte = 0;
    do {
      byte = 0x80U | (random_.byte() & 0x7EU);
    } while (!headers[byte].valid);
    etmv3::copy_atoms(headers[byte], packet_);
    return packet_;
  }

  etmv3::Packet branch() {
    packet_.type = etmv3::PacketType::kBranchAddress;
    packet_.exception = {};
    const bool whole = random_.one_in(3);
    const bool alternative = config_.alternative_branches();
    if (random_.one_in(3) && (whole || alternative)) {
      packet_.exception.present = true;
      packet_.exception.number =
          static_cast<std::uint16_t>(random_.below(config_.v7m() ? 512 : 16));
      packet_.exception.cancel = random_.coin();
      packet_.exception.resume = random_.one_in(4) ? random_.byte() & 15 : std::uint8_t{0};
      packet_.exception.has_hyp = random_.one_in(3) || packet_.exception.number > 15;
      if (packet_.exception.has_hyp) packet_.context.hyp = random_.coin();
      packet_.context.ns = random_.coin();
      packet_.context.alt_isa = alt_ = random_.one_in(6);
    }
    if (whole) {
      isa_ = random_.pick({isa::Isa::kA32, isa::Isa::kT32, isa::Isa::kT32});
      if (random_.one_in(12)) isa_ = isa::Isa::kJazelle;
      if (isa_ == isa::Isa::kT32 && alt_) isa_ = isa::Isa::kThumbEE;
    }
    packet_.isa = isa_;
    packet_.address = {address(), 32, whole ? std::uint8_t{32} : short_bits()};
    if (whole && !packet_.exception.present && !alternative && isa_ == isa::Isa::kA32 &&
        random_.one_in(6)) {
      packet_.exception.present = packet_.exception.deprecated = true;
      packet_.exception.number =
          random_.pick({std::uint16_t{8}, std::uint16_t{14}, std::uint16_t{1}});
      packet_.exception.cancel = random_.coin();
    }
    return packet_;
  }

  etmv3::Packet data() {
    using etmv3::PacketType;
    etmv3::Transfer& transfer = packet_.transfer;
    transfer = {};
    packet_.type =
        random_.pick({PacketType::kNormData, PacketType::kNormData, PacketType::kNormData,
                      PacketType::kOooAddress, PacketType::kOooAddress, PacketType::kValueNotTraced,
                      PacketType::kDataSuppressed});
    if (config_.data_values() && random_.one_in(3))
      packet_.type =
          random_.pick({PacketType::kOooData, PacketType::kOooData, PacketType::kStoreFailed});
    if (packet_.type == PacketType::kDataSuppressed || packet_.type == PacketType::kStoreFailed)
      return packet_;
    const bool value =
        packet_.type == PacketType::kNormData || packet_.type == PacketType::kOooData;
    if (packet_.type == PacketType::kOooData || packet_.type == PacketType::kOooAddress)
      transfer.tag = static_cast<std::uint8_t>(random_.between(1, 3));
    transfer.first = packet_.type != PacketType::kOooData && random_.coin();
    transfer.has_address = transfer.first && config_.data_addresses();
    if (transfer.has_address) {
      const unsigned bytes = random_.between(1, 5);
      transfer.address = {static_cast<std::uint32_t>(random_.bits(32)), 32,
                          static_cast<std::uint8_t>(bytes == 5 ? 32 : 7 * bytes)};
      transfer.has_endianness = bytes == 5;
      transfer.big_endian = bytes == 5 && random_.coin();
    }
    transfer.has_value = value && config_.data_values();
    if (transfer.has_value) {
      transfer.size =
          random_.pick({std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{4}});
      transfer.value = static_cast<std::uint32_t>(random_.value(8 * transfer.size));
    }
    return packet_;
  }

  Random& random_;
  const etmv3::Config& config_;
  etmv3::Packet packet_;
  isa::Isa isa_ = isa::Isa::kA32;
  bool alt_ = false;
};

/// `packets` packets after an A-sync and an I-sync.  With `damage`, one byte in this number is
/// changed, but not in the A-sync: before it, the reference's parser depends on how it is fed.
inline std::vector<std::uint8_t> etmv3_stream(Random& random, const etmv3::Config& config,
                                              unsigned packets, unsigned damage) {
  std::vector<std::uint8_t> bytes;
  Etmv3Packets source(random, config);
  const auto put = [&](const etmv3::Packet& packet) {
    const auto done = etmv3::encode(packet, config, bytes);
    if (done) return;
    (void)std::fprintf(stderr, "%s\n", done.error().detail.c_str());
    std::abort();
  };
  etmv3::Packet async;
  async.type = etmv3::PacketType::kASync;
  for (unsigned i = 0; i < packets; ++i) {
    if (i == 0 || random.one_in(60)) {
      put(async);
      put(source.isync());
    }
    put(source.next());
  }
  if (damage != 0)
    for (std::size_t i = 6; i < bytes.size(); ++i)
      if (random.one_in(damage)) bytes[i] = random.byte();
  return bytes;
}

}  // namespace waymark::support
