// The parts of what is stored of a capture, each as bytes and back.  Readers take whatever bytes:
// nothing means that they are damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "builder.h"
#include "record_bytes.h"

namespace waymark::view {

using RecordBytes = std::vector<std::uint8_t>;

/// The numbers of functions in records: one more than that of a code with which engines name the
/// function; 0: FunctionTable::kUnknown.
class StoredFunctions {
 public:
  /// To write: of these codes.
  StoredFunctions(const std::vector<stacks::Code>& codes, FunctionTable& functions);

  [[nodiscard]] std::uint64_t stored(FunctionNumber function) const;
  [[nodiscard]] std::size_t size() const { return functions_.size(); }
  /// `stored` is less than size().
  [[nodiscard]] FunctionNumber function(std::uint64_t stored) const {
    return functions_[in_memory(stored)];
  }

 private:
  std::vector<FunctionNumber> functions_;
  std::vector<std::pair<FunctionNumber, std::uint64_t>> stored_;  ///< By function.
};

RecordBytes write_code(const stacks::Code& code);
std::optional<stacks::Code> read_code(Bytes bytes);

/// The data that is in no other part.
struct StoredSums {
  AxisChoice axis{};
  std::uint64_t bytes = 0;  ///< Known::bytes
  double width = 0;         ///< The width of buckets.
  double length = 0;
  std::vector<std::uint64_t> n{};
  std::vector<stacks::Quality> quality{};
  bool has_tree = false;
};
RecordBytes write_sums(const StoredSums& sums);
std::optional<StoredSums> read_sums(Bytes bytes);

RecordBytes write_track(TrackNumber number, const OverviewTrack& track,
                        const StoredFunctions& functions);
std::optional<std::pair<TrackNumber, OverviewTrack>> read_track(Bytes bytes,
                                                                const StoredFunctions& functions);

RecordBytes write_tree(const stacks::Tree& tree);
std::optional<stacks::Tree> read_tree(Bytes bytes, std::span<const stacks::Code> codes);

RecordBytes write_keyframe(const Keyframe& keyframe);
std::optional<Keyframe> read_keyframe(Bytes bytes, std::size_t sources, std::size_t codes);

}  // namespace waymark::view
