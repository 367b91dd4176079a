// The per-source driver: a large block is demultiplexed first, then each source decodes its bytes
// in one run.  For analysis and threads, which need no order between sources.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/frames/splitter.h"
#include "waymark/protocol/source.h"
#include "waymark/tree/decode_tree.h"

namespace waymark {

/// Gets the elements of one source, in order; the span is valid during the call.
using ElementBatch = std::function<void(Source& source, std::span<const Element> elements)>;

/// The element sequence of each source is that of the interleaved driver.  The sources belong to
/// the caller and must outlive the driver.  `observer` gets damage of the frame layer.  One owner;
/// not thread safe.
class PerSourceDriver {
 public:
  static constexpr std::size_t kDefaultBatch = 1024;
  /// Blocks of this size, with the streams made from them, stay in the second-level cache.
  static constexpr std::size_t kBlockSize = std::size_t{256} << 10;

  /// `formatted` as for DecodeTree; without it, `sources` has one element.
  PerSourceDriver(std::optional<frames::Options> formatted, std::vector<Source*> sources,
                  Observer* observer = nullptr, std::size_t batch = kDefaultBatch);

  /// Decodes `capture`, whose first byte is at `index`.  Successive calls may give the parts of one
  /// capture; each part except the last is a multiple of the frame options' alignment.
  /// kInvalidArgument: as for frames::Demux::feed().
  Result<void> decode(TraceIndex index, Bytes capture, const ElementBatch& take);

  /// The end of the trace for every source, ascending by ID.
  void finish(const ElementBatch& take);

  /// The same for uses that do something else with the sources than take their elements:
  /// Source::count(), for instance.
  Result<void> work(TraceIndex index, Bytes capture, const SourceWork& work);
  void finish_work(const SourceWork& work);

  /// IDs that had data, and the frame layer's counts.
  [[nodiscard]] frames::IdSet seen() const;
  [[nodiscard]] frames::Statistics frame_statistics() const;

 private:
  void drain(Source& source, const ElementBatch& take);
  void work_all(frames::StreamSplitter& splitter, const SourceWork& work);

  std::vector<Source*> sources_;
  std::optional<frames::StreamSplitter> splitter_;
  Observer* observer_;
  std::vector<Element> batch_;
};

}  // namespace waymark
