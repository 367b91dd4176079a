// Builds an index in one pass over the capture, without decoding instructions.
#pragma once

#include <functional>

#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"

namespace waymark::index {

struct BuildOptions {
  Form form = Form::kSparse;
  std::uint64_t granule = 0;  ///< A multiple of kMinGranule; 0: chosen by the number of sources.
  /// Called between blocks with the number of bytes done.  True: the build ends, and what is done
  /// is kept.
  std::function<bool(std::uint64_t done)> stop;
};

struct BuildReport {
  std::uint64_t from = 0;  ///< Bytes that were indexed before.
  std::uint64_t to = 0;    ///< Bytes that are indexed now.
  bool complete = false;   ///< All of the capture is indexed.
};

/// Builds what `index` does not have yet: all of it, the rest of an interrupted build, or what the
/// capture has grown by.  An index that is not empty keeps its form and granule.  `capture` must
/// have been opened with SourceOptions::decode false and with all its sources; its tree cannot be
/// used afterwards. kConflict: the index belongs to another capture, see check(); otherwise the
/// errors of the index.
Result<BuildReport> build(inputs::Capture& capture, Index& index, const BuildOptions& options);

/// Checks that the index belongs to this capture.  kConflict, with the reason and the remedy: its
/// bytes were changed or cut off, or its framing, its sources or their registers differ.  A capture
/// that has grown passes: Header::indexed says how far the index goes.
///
/// If the times of the trace file differ from those in the index, the digest of all indexed bytes
/// is compared.  `stop` is called meanwhile; true: kLimit.
Result<void> check(const inputs::Capture& capture, Index& index, const FileDigest::Stop& stop = {});

/// The part of check() that needs no sources, and the part that compares only sources.
Result<void> check_file(const MappedFile& file, std::string_view framing, Index& index,
                        const FileDigest::Stop& stop = {});
Result<void> check_sources(const inputs::Capture& capture, const Index& index);

}  // namespace waymark::index
