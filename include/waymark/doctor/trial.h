// The result of a protocol's own parser on the bytes of one stream: how well they fit, and which
// packets occur.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/protocol/source.h"

namespace waymark::doctor {

/// Registers by name.
using Registers = std::vector<std::pair<std::string, std::uint32_t>>;

/// Sets bits of a register, which is added if it is not there.
void set_field(Registers& registers, std::string_view name, std::uint32_t mask,
               std::uint32_t value);
std::uint32_t value_of(const Registers& registers, std::string_view name);

/// Packets whose occurrence tells something about registers.
enum class Witness : std::uint8_t {
  kContextId,
  kVmid,
  kTimestamp,
  kWideTimestamp,  ///< One with more than 48 bits.
  kCycleCount,
  kCommitCount,  ///< ETMv4: a cycle count packet of format 1, whose layout depends on a register.
  kCommit,       ///< ETMv4: execution is traced speculatively.
  kQ,
  kEteOnly,  ///< Packets that only an ETE has.
  kEtmOnly,  ///< Packets that an ETE does not have.
  kTransaction,
  kConditional,
  kDataSync,
  kAddress64,
  kMarker,           ///< ETE 1.1: a timestamp marker.
  kInstrumentation,  ///< ETE 1.3.
  kException,
  kData,  ///< ETMv3: data trace.
  kSoftware,
  kHardware,
  kLocalTimestamp,
  kGlobalTimestamp,
  kIgnore,  ///< ETMv4.3.
};

/// ETMv4: E atoms of which the trace shows whether it states their target.
struct TakenAtoms {
  std::uint64_t all = 0;
  std::uint64_t stated = 0;  ///< Those after which an address comes.
};

/// The result of one reading.
struct Trial {
  std::uint64_t size = 0;      ///< Bytes of the stream.
  std::uint64_t leading = 0;   ///< Bytes before the first synchronisation.
  std::uint64_t read = 0;      ///< Bytes of good packets.
  std::uint64_t packets = 0;   ///< Good packets.
  std::uint64_t bad = 0;       ///< Packets that the protocol does not have.
  std::uint64_t odd = 0;       ///< Packets that hardware hardly sends: times that run backwards...
  std::uint64_t syncs = 0;     ///< Alignment synchronisations.
  std::uint64_t followed = 0;  ///< Those that are followed by what the protocol requires.
  std::uint64_t longest_gap = 0;  ///< Bytes between two of them, at most.
  std::uint64_t overflows = 0;
  std::uint64_t discards = 0;
  std::uint64_t common = 0;  ///< ITM: packets with one of the most frequent headers of data.
  std::uint64_t data = 0;    ///< ITM: packets of data.
  std::uint32_t witnesses = 0;
  std::uint32_t info = 0;  ///< ETMv4: what all trace info packets say.
  TakenAtoms taken{};
  bool has_info = false;
  bool cut = false;  ///< The last packet is not whole.

  [[nodiscard]] bool has(Witness witness) const {
    return (witnesses >> static_cast<unsigned>(witness) & 1) != 0;
  }
  void add(Witness witness) { witnesses |= 1U << static_cast<unsigned>(witness); }

  /// The evidence against the protocol with these registers; 0: none.
  [[nodiscard]] std::uint64_t cost() const { return 4 * bad + 2 * odd + 4 * (syncs - followed); }
  /// The share of the bytes that the protocol explains, less for what speaks against it.  0 to 1.
  [[nodiscard]] double score() const;
};

/// Reads `stream` with the parser of a protocol.  `type` is a device type (inputs::protocols).
Trial try_protocol(Bytes stream, std::string_view type, const Registers& registers,
                   bool starts_in_sync = false);

}  // namespace waymark::doctor
