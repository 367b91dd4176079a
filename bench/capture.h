// A capture as both sides of the benchmark receive it: plain values, so that neither side sees the
// headers of the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace waymark::bench {

enum class SourceKind : std::uint8_t { kEtmV4, kEte, kPtm, kEtmV3, kStm };

/// The registers of one source; those of other kinds are 0.  `arch` and `profile` have the values
/// that both libraries share.
struct SourceSetup {
  std::string device;
  SourceKind kind = SourceKind::kEtmV4;
  std::uint32_t configr = 0;
  std::uint32_t traceidr = 0;
  std::uint32_t idr0 = 0;
  std::uint32_t idr1 = 0;
  std::uint32_t idr2 = 0;
  std::uint32_t idr8 = 0;
  std::uint32_t idr9 = 0;
  std::uint32_t idr10 = 0;
  std::uint32_t idr11 = 0;
  std::uint32_t idr12 = 0;
  std::uint32_t idr13 = 0;
  std::uint32_t devarch = 0;
  // PTM and ETMv3.
  std::uint32_t etmidr = 0;
  std::uint32_t etmcr = 0;
  std::uint32_t etmccer = 0;
  std::uint16_t arch = 0;
  std::uint8_t profile = 0;
};

/// Part of a file that is mapped into target memory; length 0 means the whole file.
struct MemorySetup {
  std::string path;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint8_t space = 0xFF;
};

enum class Framing : std::uint8_t { kNone, kMemoryAligned, kFsync };

struct Capture {
  std::string name;
  std::vector<std::uint8_t> trace;
  Framing framing = Framing::kMemoryAligned;
  std::vector<SourceSetup> sources;
  std::vector<MemorySetup> memory;
  std::vector<std::string> notes;  ///< What is left out of the snapshot, in whole sentences.
};

/// Both sides get the trace in pieces of this size: the results of one piece fit into the
/// second-level cache, and there are few calls.
inline constexpr std::size_t kBlockSize = std::size_t{256} << 10;

/// The work of a measured loop.
enum class Work : std::uint8_t {
  kPackets,
  kElementBatches,
  kElementSingle,
  kListing,
  kCounting,
  kOwnElements,  ///< As kElementBatches without the reference's rules, which counting does not
                 ///< have.
};
/// Those that are compared with the reference: all but the last.
inline constexpr std::size_t kWorkCount = 5;

/// The result of one pass over a capture.  `seconds` is the processor time from the first byte to
/// the end of the trace, without the creation of decoders and code images.
struct Counts {
  double seconds = 0;
  std::uint64_t packets = 0;
  std::uint64_t elements = 0;
  std::uint64_t ranges = 0;
  std::uint64_t instructions = 0;
  std::uint64_t text_bytes = 0;
  std::uint64_t allocations = 0;  ///< Of Waymark only.
  std::uint64_t checksum = 0;     ///< Over kinds, addresses and counts, in order per source.
};

/// Reads the first buffer of the snapshot in `folder`.  A trace below `minimum_bytes` is
/// repeated as a whole until it reaches them; one of an STM only if `for_reference` is false.  The
/// error is a sentence.
std::expected<Capture, std::string> read_capture(const std::string& folder,
                                                 std::size_t minimum_bytes,
                                                 bool for_reference = true);

}  // namespace waymark::bench
