// Builds an index in one pass over the capture, without decoding instructions.
#pragma once

#include <functional>

#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"

namespace waymark::index {

struct BuildOptions {
  Form form = Form::kSparse;
  std::uint64_t granule = 0;  ///< A multiple of kMinGranule; 0: chosen by the sources.
  /// Asked between blocks, with the bytes done.  True: what is done is kept, and the build ends.
  std::function<bool(std::uint64_t done)> stop;
};

struct BuildReport {
  std::uint64_t from = 0;  ///< Indexed before.
  std::uint64_t to = 0;    ///< Indexed now.
  bool complete = false;   ///< That is all of the capture.
};

/// Builds what `index` does not have yet: all of it, the rest of an interrupted build, or what the
/// capture has grown by.  Of an index that has something, form and granule stay.  `capture` was
/// opened with SourceOptions::decode false, and all its sources; its tree has no use afterwards.
/// kConflict: the index is of another capture, see check(); else as the index.
Result<BuildReport> build(inputs::Capture& capture, Index& index, const BuildOptions& options);

/// Whether the index is of this capture.  kConflict, with the reason and the remedy: its bytes
/// differ or are fewer, its framing, its sources or their registers are others.  A capture that has
/// grown is good: Header::indexed says how far the index goes.
Result<void> check(const inputs::Capture& capture, const Index& index);

/// The same without what is known of the sources, before those are made.
Result<void> check_file(Bytes file, std::string_view framing, const Index& index);

}  // namespace waymark::index
