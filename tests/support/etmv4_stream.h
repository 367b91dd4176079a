// Random ETMv4 and ETE configurations, packets and streams.
#pragma once

#include <cstdint>
#include <vector>

#include "support/program.h"
#include "support/random.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/encoder.h"
#include "waymark/etmv4/packet.h"
#include "waymark/etmv4/quirks.h"

namespace waymark::support {

/// Every type that the encoder can make.
inline constexpr etmv4::PacketType kAllPacketTypes[] = {
    etmv4::PacketType::kTraceInfo,
    etmv4::PacketType::kTimestamp,
    etmv4::PacketType::kTraceOn,
    etmv4::PacketType::kFunctionReturn,
    etmv4::PacketType::kException,
    etmv4::PacketType::kExceptionReturn,
    etmv4::PacketType::kInstrumentation,
    etmv4::PacketType::kTransactionStart,
    etmv4::PacketType::kTransactionCommit,
    etmv4::PacketType::kCycleCountF2,
    etmv4::PacketType::kCycleCountF1,
    etmv4::PacketType::kCycleCountF3,
    etmv4::PacketType::kNumberedDataSync,
    etmv4::PacketType::kUnnumberedDataSync,
    etmv4::PacketType::kCommit,
    etmv4::PacketType::kCancelF1,
    etmv4::PacketType::kCancelF1Mispredict,
    etmv4::PacketType::kMispredict,
    etmv4::PacketType::kCancelF2,
    etmv4::PacketType::kCancelF3,
    etmv4::PacketType::kCondInstrF2,
    etmv4::PacketType::kCondFlush,
    etmv4::PacketType::kCondResultF4,
    etmv4::PacketType::kCondResultF2,
    etmv4::PacketType::kCondResultF3,
    etmv4::PacketType::kCondResultF1,
    etmv4::PacketType::kCondInstrF1,
    etmv4::PacketType::kCondInstrF3,
    etmv4::PacketType::kIgnore,
    etmv4::PacketType::kEvent,
    etmv4::PacketType::kContext,
    etmv4::PacketType::kAddressContext32Is0,
    etmv4::PacketType::kAddressContext32Is1,
    etmv4::PacketType::kAddressContext64Is0,
    etmv4::PacketType::kAddressContext64Is1,
    etmv4::PacketType::kTimestampMarker,
    etmv4::PacketType::kAddressMatch,
    etmv4::PacketType::kAddressShortIs0,
    etmv4::PacketType::kAddressShortIs1,
    etmv4::PacketType::kAddress32Is0,
    etmv4::PacketType::kAddress32Is1,
    etmv4::PacketType::kAddress64Is0,
    etmv4::PacketType::kAddress64Is1,
    etmv4::PacketType::kQ,
    etmv4::PacketType::kSourceMatch,
    etmv4::PacketType::kSourceShortIs0,
    etmv4::PacketType::kSourceShortIs1,
    etmv4::PacketType::kSource32Is0,
    etmv4::PacketType::kSource32Is1,
    etmv4::PacketType::kSource64Is0,
    etmv4::PacketType::kSource64Is1,
    etmv4::PacketType::kAtomF6,
    etmv4::PacketType::kAtomF5,
    etmv4::PacketType::kAtomF2,
    etmv4::PacketType::kAtomF4,
    etmv4::PacketType::kAtomF1,
    etmv4::PacketType::kAtomF3,
    etmv4::PacketType::kAsync,
    etmv4::PacketType::kDiscard,
    etmv4::PacketType::kOverflow,
    etmv4::PacketType::kPeReset,
    etmv4::PacketType::kTransactionFail,
};

/// ID registers of any version and profile.  Always decodable: neither data trace nor conditional
/// trace is on.
inline etmv4::Config random_config(Random& random) {
  const bool ete = random.coin();
  etmv4::Config config = ete ? etmv4::Config::ete_default() : etmv4::Config{};
  if (ete) {
    config.trcdevarch = 0x47705A13U | random.below(4) << 16;
  } else {
    config.trcidr1 = 0x4100F403U | random.below(7) << 4;
    config.core.arch = random.pick({isa::Arch::kV7, isa::Arch::kV8, isa::Arch::kAA64});
    config.core.profile =
        random.pick({isa::Profile::kA, isa::Profile::kA, isa::Profile::kR, isa::Profile::kM});
  }
  config.trcidr0 = 0x28000681U | random.below(4) << 5 | random.below(4) << 15 |
                   random.below(2) << 23 | random.below(4) << 29;
  config.trcidr2 = random.pick({0x88U, 0x08U}) | random.pick({0U, 1U, 2U, 4U, 4U}) << 10 |
                   random.below(9) << 25 | random.below(2) << 31;
  config.trcidr8 = random.pick({0U, 0U, 0U, 1U, 2U, 8U, 15U, 78U});
  config.trcconfigr = 0xC1U | random.below(2) << 4 | random.below(2) << 12;
  config.trctraceidr = random.between(1, 0x6F);
  return config;
}

/// Each quirk alone.
inline etmv4::Quirks random_quirks(Random& random) {
  etmv4::Quirks quirks;
  for (bool* quirk : {&quirks.pe_reset_is_bad, &quirks.discard_loses_instrumentation,
                      &quirks.source_address_not_cancelled, &quirks.q_deletes_next_entry,
                      &quirks.error_loses_elements, &quirks.exception_walk_unchecked,
                      &quirks.exception_pops_stated_target, &quirks.range_limit_repeats,
                      &quirks.second_error_after_missing_address,
                      &quirks.source_address_after_state, &quirks.fatal_walk_errors})
    *quirk = random.coin();
  return quirks;
}

/// Fills a packet of `type` with values that its fields hold under `config`; addresses point into a
/// Program.
// NOLINTNEXTLINE(readability-function-size): a case for each type of packet.
inline etmv4::Packet random_packet(Random& random, const etmv4::Config& config,
                                   etmv4::PacketType type) {
  using etmv4::PacketType;
  etmv4::Packet packet;
  packet.type = type;
  const auto address = [&](bool is1, unsigned width) {
    packet.address.is = is1;
    packet.address.update_bits = static_cast<std::uint8_t>(width);
    packet.address.value = Program::address(random, random.coin(), is1);
    if (width == 64 && random.one_in(8)) packet.address.value |= random.bits(32) << 32;
  };
  const auto atoms = [&](std::uint32_t letters, unsigned count) {
    packet.atoms = letters;
    packet.atom_count = static_cast<std::uint8_t>(count);
  };
  const auto few_atoms = [&] {
    packet.atom_count = static_cast<std::uint8_t>(random.below(3));
    packet.atoms = packet.atom_count == 2 ? 3 : 0;
    if (packet.atom_count == 1) packet.atoms = random.below(2);
  };
  const auto context = [&] {
    etmv4::Context& to = packet.context;
    to.updated = true;
    to.el = static_cast<std::uint8_t>(random.below(4));
    to.sf = random.coin();
    to.ns = random.coin();
    to.nse = random.one_in(4);
    to.updated_vmid = config.vmid_bytes() != 0 && random.coin();
    to.updated_context_id = config.context_id_bytes() != 0 && random.coin();
    if (to.updated_vmid)
      to.vmid = static_cast<std::uint32_t>(random.below(4) & low_mask(8 * config.vmid_bytes()));
    if (to.updated_context_id) to.context_id = random.below(4);
  };
  const auto value = [&](std::uint32_t from, std::uint32_t to) {
    packet.value = static_cast<std::uint8_t>(random.between(from, to));
  };
  const bool commits = !config.commit_mode_1();
  switch (type) {
    case PacketType::kTraceInfo: {
      etmv4::TraceInfo& info = packet.trace_info;
      info.sections = static_cast<std::uint8_t>(random.below(32));
      info.info = random.below(2) * (1U | random.below(2) << 6);
      info.has_spec = (info.sections & 4) != 0;
      info.spec_depth = random.below(4);
      info.p0_key = static_cast<std::uint32_t>(random.value(32));
      packet.cc_threshold = random.below(64);
      info.window = random.below(16);
      break;
    }
    case PacketType::kTimestamp:
      packet.timestamp_bits = static_cast<std::uint8_t>(random.pick({7, 14, 21, 28, 56, 64}));
      packet.timestamp = random.bits(packet.timestamp_bits);
      packet.has_count = random.coin();
      packet.cycle_count = static_cast<std::uint32_t>(random.value(config.cycle_count_bits()));
      break;
    case PacketType::kException:
      packet.exception = static_cast<std::uint16_t>(random.one_in(8) ? random.below(0x400)
                                                                     : random.between(1, 0x17));
      if (config.major_version() >= 5 && packet.exception == 0x18) packet.exception = 2;
      if (config.major_version() >= 5 && packet.exception == 0) packet.exception = 3;
      packet.fault_pending = random.one_in(8);
      packet.exception_address = static_cast<etmv4::ExceptionAddress>(random.between(0, 2));
      break;
    case PacketType::kPeReset:
    case PacketType::kTransactionFail:
      packet.exception_address = static_cast<etmv4::ExceptionAddress>(random.between(0, 3));
      break;
    case PacketType::kInstrumentation:
      packet.instrumentation.el = static_cast<std::uint8_t>(random.between(0, 3));
      packet.instrumentation.payload = random.value(64);
      break;
    case PacketType::kCycleCountF1:
      packet.has_count = random.coin();
      packet.has_commit = commits;
      packet.commit = commits ? random.below(4) : 0;
      packet.cycle_count = packet.has_count ? static_cast<std::uint32_t>(random.value(21)) : 0;
      break;
    case PacketType::kCycleCountF2:
      packet.has_commit = commits;
      packet.commit = random.between(1, 4);
      packet.cycle_count = random.below(16);
      break;
    case PacketType::kCycleCountF3:
      packet.has_commit = commits;
      packet.commit = random.between(1, 4);
      packet.cycle_count = random.below(4);
      break;
    case PacketType::kNumberedDataSync:
      value(0, 7);
      break;
    case PacketType::kUnnumberedDataSync:
      value(0, 4);
      break;
    case PacketType::kCommit:
      packet.commit = random.below(5);
      break;
    case PacketType::kCancelF1:
    case PacketType::kCancelF1Mispredict:
      packet.cancel = random.below(4);
      break;
    case PacketType::kMispredict:
      few_atoms();
      break;
    case PacketType::kCancelF2:
      few_atoms();
      packet.cancel = 1;
      break;
    case PacketType::kCancelF3:
      atoms(1, random.below(2));
      packet.atoms = packet.atom_count;
      packet.cancel = random.between(2, 5);
      break;
    case PacketType::kCondInstrF1:
      packet.conditional.key = static_cast<std::uint32_t>(random.value(32));
      break;
    case PacketType::kCondInstrF2:
    case PacketType::kCondResultF4:
      value(0, 2);
      break;
    case PacketType::kCondInstrF3:
      packet.conditional.elements = static_cast<std::uint8_t>(random.between(0, 255));
      break;
    case PacketType::kCondResultF1: {
      etmv4::Conditional& result = packet.conditional;
      result.form = random.pick<std::uint8_t>({0, 1, 2, 3, 6, 7});
      result.results = random.byte() & (result.form <= 3 ? 0xFF : 0x0F);
      result.key = static_cast<std::uint32_t>(random.value(32));
      if (result.form <= 3) result.second_key = static_cast<std::uint32_t>(random.value(32));
      break;
    }
    case PacketType::kCondResultF2:
      packet.value = random.pick<std::uint8_t>({0, 1, 2, 4, 5, 6});
      break;
    case PacketType::kCondResultF3:
      packet.conditional.tokens = static_cast<std::uint16_t>(random.below(0x1000));
      break;
    case PacketType::kEvent:
      value(1, 15);
      break;
    case PacketType::kContext:
      if (random.one_in(4)) break;
      context();
      break;
    case PacketType::kAddressContext32Is0:
    case PacketType::kAddressContext32Is1:
      address(type == PacketType::kAddressContext32Is1, 32);
      context();
      break;
    case PacketType::kAddressContext64Is0:
    case PacketType::kAddressContext64Is1:
      address(type == PacketType::kAddressContext64Is1, 64);
      context();
      break;
    case PacketType::kAddressMatch:
    case PacketType::kSourceMatch:
      packet.match_index = static_cast<std::uint8_t>(random.below(3));
      break;
    case PacketType::kAddressShortIs0:
    case PacketType::kSourceShortIs0:
      address(false, random.pick({9U, 17U}));
      break;
    case PacketType::kAddressShortIs1:
    case PacketType::kSourceShortIs1:
      address(true, random.pick({8U, 16U}));
      break;
    case PacketType::kAddress32Is0:
    case PacketType::kSource32Is0:
    case PacketType::kAddress32Is1:
    case PacketType::kSource32Is1:
      address(type == PacketType::kAddress32Is1 || type == PacketType::kSource32Is1, 32);
      break;
    case PacketType::kAddress64Is0:
    case PacketType::kSource64Is0:
    case PacketType::kAddress64Is1:
    case PacketType::kSource64Is1:
      address(type == PacketType::kAddress64Is1 || type == PacketType::kSource64Is1, 64);
      break;
    case PacketType::kQ:
      packet.q.type = random.pick<std::uint8_t>({0, 1, 2, 5, 6, 0xA, 0xB, 0xC, 0xF});
      packet.q.has_count = packet.q.type != 0xF;
      packet.q.count = packet.q.has_count ? random.below(6) : 0;
      if (packet.q.is_match()) packet.match_index = packet.q.type;
      if (packet.q.type == 5) address(false, random.pick({9U, 17U}));
      if (packet.q.type == 6) address(true, random.pick({8U, 16U}));
      if (packet.q.type == 0xA || packet.q.type == 0xB) address(packet.q.type == 0xB, 32);
      break;
    case PacketType::kAtomF1:
      atoms(random.below(2), 1);
      break;
    case PacketType::kAtomF2:
      atoms(random.below(4), 2);
      break;
    case PacketType::kAtomF3:
      atoms(random.below(8), 3);
      break;
    case PacketType::kAtomF4:
      atoms(random.pick({0b1110U, 0b0000U, 0b1010U, 0b0101U}), 4);
      break;
    case PacketType::kAtomF5:
      atoms(random.pick({0b00000U, 0b01010U, 0b10101U, 0b11110U}), 5);
      break;
    case PacketType::kAtomF6: {
      const std::uint32_t leading = random.between(3, 23);
      atoms((1U << leading) - 1 + (random.coin() ? 1U << leading : 0), leading + 1);
      break;
    }
    default:
      break;
  }
  return packet;
}

/// A stream as a trace unit might write it: sync points, contexts, addresses, atoms, and sometimes
/// every other packet.  Its program flow is nonsense, which a decoder must still follow.
class StreamMaker {
 public:
  StreamMaker(Random& random, const etmv4::Config& config) : random_(random), config_(config) {}

  /// `packets` packets; on average, random bytes follow one in `damage` of them (0: none).
  std::vector<std::uint8_t> make(unsigned packets, unsigned damage) {
    using etmv4::PacketType;
    bytes_.clear();
    if (random_.one_in(4))
      for (unsigned i = random_.below(30); i != 0; --i) bytes_.push_back(random_.byte());
    synchronise();
    for (unsigned i = 0; i < packets; ++i) {
      if (random_.one_in(32)) synchronise();
      any();
      if (damage == 0 || !random_.one_in(damage)) continue;
      for (unsigned j = random_.between(1, 12); j != 0; --j)
        bytes_.push_back(random_.one_in(4) ? 0 : random_.byte());
      if (random_.coin()) synchronise();
    }
    if (random_.one_in(4)) bytes_.resize(bytes_.size() - random_.below(3));
    return bytes_;
  }

 private:
  void add(etmv4::PacketType type) { add(random_packet(random_, config_, type)); }
  void add(const etmv4::Packet& packet) { (void)etmv4::encode(packet, config_, bytes_); }

  void synchronise() {
    using etmv4::PacketType;
    add(PacketType::kAsync);
    etmv4::Packet info = random_packet(random_, config_, PacketType::kTraceInfo);
    info.trace_info.spec_depth = std::min(info.trace_info.spec_depth, config_.max_speculation());
    add(info);
    if (random_.coin()) add(PacketType::kTraceOn);
    if (random_.one_in(8)) add(PacketType::kAtomF1);
    where();
  }

  /// A context and an address with the same instruction set.
  void where() {
    using etmv4::PacketType;
    const bool is1 = random_.one_in(3);
    etmv4::Packet packet =
        random_packet(random_, config_,
                      is1 ? PacketType::kAddressContext32Is1 : PacketType::kAddressContext32Is0);
    if (is1) packet.context.sf = false;
    packet.address.value = Program::address(random_, packet.context.sf, is1);
    add(packet);
  }

  void target() {
    using etmv4::PacketType;
    add(random_.pick({PacketType::kAddressShortIs0, PacketType::kAddressShortIs0,
                      PacketType::kAddressShortIs1, PacketType::kAddress32Is0,
                      PacketType::kAddress32Is1, PacketType::kAddress64Is0,
                      PacketType::kAddress64Is1, PacketType::kAddressMatch}));
  }

  void atoms() {
    using etmv4::PacketType;
    add(random_.pick({PacketType::kAtomF1, PacketType::kAtomF1, PacketType::kAtomF2,
                      PacketType::kAtomF3, PacketType::kAtomF4, PacketType::kAtomF5,
                      PacketType::kAtomF6}));
  }

  void speculation() {
    using etmv4::PacketType;
    atoms();
    add(random_.pick({PacketType::kCommit, PacketType::kCommit, PacketType::kCancelF1,
                      PacketType::kCancelF1Mispredict, PacketType::kMispredict,
                      PacketType::kCancelF2, PacketType::kCancelF3}));
  }

  void any() {
    using etmv4::PacketType;
    const bool ete = config_.major_version() >= 5;
    switch (random_.below(24)) {
      case 0:
        where();
        break;
      case 1:
        add(PacketType::kContext);
        break;
      case 2:
        add(PacketType::kException);
        if (random_.one_in(4)) add(PacketType::kContext);
        if (!random_.one_in(16)) target();
        if (random_.coin()) target();
        break;
      case 3:
        if (!ete) add(PacketType::kExceptionReturn);
        if (ete)
          add(random_.pick({PacketType::kTransactionStart, PacketType::kTransactionCommit,
                            PacketType::kTransactionFail, PacketType::kPeReset}));
        break;
      case 4:
        add(random_.one_in(8) ? PacketType::kTraceInfo : PacketType::kTraceOn);
        break;
      case 5:
        if (config_.version() >= 0x46 && random_.coin()) add(PacketType::kTimestampMarker);
        add(PacketType::kTimestamp);
        break;
      case 6:
        add(PacketType::kEvent);
        break;
      case 7:
        add(random_.pick(
            {PacketType::kCycleCountF1, PacketType::kCycleCountF2, PacketType::kCycleCountF3}));
        break;
      case 8:
        if (config_.has_q()) {
          const etmv4::Packet q = random_packet(random_, config_, PacketType::kQ);
          add(q);
          if (!q.q.has_address()) {
            if (random_.one_in(4)) add(PacketType::kContext);
            if (!random_.one_in(16)) target();
          }
        }
        break;
      case 9:
        if (ete)
          add(random_.pick({PacketType::kSourceMatch, PacketType::kSourceShortIs0,
                            PacketType::kSourceShortIs1, PacketType::kSource32Is0,
                            PacketType::kSource32Is1, PacketType::kSource64Is0,
                            PacketType::kSource64Is1}));
        break;
      case 10:
        if (config_.version() >= 0x53) add(PacketType::kInstrumentation);
        if (config_.version() >= 0x43) add(PacketType::kIgnore);
        break;
      case 11:
        if (config_.core.profile == isa::Profile::kM) add(PacketType::kFunctionReturn);
        break;
      case 12:
        if (random_.one_in(8)) {
          add(random_.coin() ? PacketType::kDiscard : PacketType::kOverflow);
          synchronise();
        }
        break;
      case 13:
      case 14:
        if (config_.max_speculation() != 0) speculation();
        break;
      case 15:
      case 16:
      case 17:
        target();
        break;
      default:
        atoms();
    }
  }

  Random& random_;
  const etmv4::Config& config_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace waymark::support
