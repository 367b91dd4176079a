// Problems of the sources of a capture, judged by counts of packets and bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "waymark/protocol/source.h"

namespace waymark::inputs {

/// Known facts about a source after its packets were counted.
struct SourceFacts {
  TraceId id = 0;
  bool starts_in_sync = false;  ///< Its first byte begins a packet.
  SourceStatistics counts{};
};

/// Known facts about the whole capture.
struct CaptureFacts {
  bool recording = false;    ///< Of perf or simpleperf: of some CPUs it may have nothing.
  bool needs_image = false;  ///< A source cannot be decoded without a code image.
  bool has_image = false;
};

/// If the frames have very many IDs, most of them are damage.
struct NotableSources {
  std::vector<std::size_t> sources;  ///< Their places among the facts, ascending.
  std::size_t others = 0;
  std::uint64_t other_bytes = 0;
};
/// With more than 16 sources, those that synchronise or have 1 % of the bytes; otherwise, and with
/// `all`, all sources.
NotableSources notable_sources(std::span<const SourceFacts> facts, bool all);

enum class SourceProblem : std::uint8_t {
  kNoBytes,        ///< The source was idle or off.
  kNoSyncPoint,    ///< None of `bytes` can be decoded.
  kLateSyncPoint,  ///< `count` of `bytes` are before the first synchronisation point.
  kDamage,         ///< `count` records of damage: bad packets, and what decoding cannot follow.
  kManyIds,        ///< `count` more IDs have `bytes` in total, and do not synchronise.
  kNoImage,        ///< There are instructions to decode, but no code image.
};

struct Finding {
  SourceProblem problem{};
  std::size_t source = 0;  ///< Its place among the facts; not for kManyIds and kNoImage.
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Apparent problems, source by source, and then those of the whole.
std::vector<Finding> diagnose(std::span<const SourceFacts> facts, const NotableSources& notable,
                              const CaptureFacts& capture);

}  // namespace waymark::inputs
