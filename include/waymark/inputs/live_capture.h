// Trace that arrives while it is decoded: what its first bytes show, and pipes as live streams.
#pragma once

#include <memory>

#include "waymark/inputs/capture.h"
#include "waymark/inputs/input_file.h"
#include "waymark/live/head.h"

namespace waymark::inputs {

/// A pipe, FIFO or standard input as a live stream.  It ends with the pipe.
class PipeStream final : public live::Stream {
 public:
  explicit PipeStream(InputStream input);

  Result<live::Piece> next(live::Milliseconds patience) override;
  [[nodiscard]] std::string name() const override { return input_name(input_.path()); }

  /// The rest of the pipe, for a reader that takes it over.
  [[nodiscard]] InputStream& input() { return input_; }

 private:
  InputStream input_;
  std::vector<std::uint8_t> block_;
};

/// Reads the beginning of a stream, until it shows what kind of trace this is or the options state
/// all of it.  `tell` gets a sentence if that takes long.  Errors: those of the stream.
Result<void> read_head(live::Head& head, const CaptureOptions& options, const live::Notify& notify);

/// Whether trace of this kind can be decoded while it arrives.  Other inputs are needed as a whole.
bool is_streamable(const live::Head& head, const CaptureOptions& options);

}  // namespace waymark::inputs
