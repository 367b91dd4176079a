// Bytes without a description: any bytes.  Invariants: pieces of frames are in order and within the
// bytes, sources have no more bytes than there are, and scores are shares.

#include "require.h"
#include "waymark/doctor/examination.h"
#include "waymark/doctor/found_snapshot.h"
#include "waymark/frames/demux.h"
#include "waymark/outputs/examination.h"

namespace {

using namespace waymark;
using fuzz::require;

void check(const doctor::Examination& found) {
  std::size_t end = 0;
  for (const frames::FramePiece& piece : found.framing.pieces) {
    require(piece.offset >= end && piece.size % frames::kFrameSize == 0, "pieces that overlap");
    end = piece.offset + piece.size;
  }
  require(end <= found.examined, "a piece that is not in the bytes");
  std::uint64_t all = 0;
  for (const doctor::StreamFound& stream : found.streams) {
    all += stream.bytes;
    const double score = stream.verdict.trial.score();
    require(score >= 0 && score <= 1, "a score that is not a share");
  }
  require(all <= found.examined, "more bytes than there are");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  const auto found = doctor::examine(bytes);
  if (!found) {
    require(!found.error().detail.empty(), "an error without a sentence");
    return 0;
  }
  check(*found);
  TextBuffer text;
  outputs::write_examination(text, "input", *found, true);
  outputs::write_json(text, "input", *found);
  (void)doctor::snapshot_of(*found);
  (void)doctor::trace_of(bytes, *found);
  return 0;
}
