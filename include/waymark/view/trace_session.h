// A session over a real capture.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/inputs/capture.h"
#include "waymark/stacks/engine.h"
#include "waymark/view/message_reader.h"
#include "waymark/view/session.h"

namespace waymark::view {

/// Where the overview of a capture is kept: in an index of the capture.
struct IndexPlaces {
  /// The paths of indexes, in this order.
  std::vector<std::string> looked_for{};
  /// Where one is made if there is none; empty: none is made.
  std::string made_at{};
  /// A file at `made_at` may be replaced if it cannot be used.
  bool may_replace = false;
  /// Opens the capture with SourceOptions::decode false.  Needed to make an index.
  std::function<Result<inputs::Capture>()> open_packets{};
  /// The inputs of the overview besides the capture: the programs that name functions, for
  /// instance.  An overview with another one is not used.
  std::string fingerprint{};
  /// Captures of fewer bytes get no index; they are read at once.
  std::uint64_t least_bytes = std::uint64_t{16} << 20;
};

/// The functions that a session needs from its caller.  All functions are called from any thread.
struct SessionOptions {
  /// Opens the capture, always the same, to be decoded.
  std::function<Result<inputs::Capture>()> open{};
  /// The facts about a capture that an engine needs; the capture outlives the engine; without a
  /// sink.  May be empty: functions have no names.
  std::function<Result<stacks::Options>(const inputs::Capture& capture)> stack_options{};
  /// Sets the sources of an engine.
  std::function<void(stacks::Engine& engine, const inputs::Capture& capture)> set_sources{};
  /// The name of a thread, as Options::owner gives it.  May be empty.
  std::function<std::string(const inputs::Capture& capture, TraceId source, std::uint64_t thread)>
      thread_name{};
  /// Problems of the capture as a whole, as sentences.  Asked once, by the first question
  /// about health, unless `stop` ended it.  May be empty.
  std::function<Result<std::vector<std::string>>(const Stop& stop)> problems{};
  std::string name{};
  std::string path{};
  /// A window of more bytes of trace has a summary.
  std::uint64_t span_bytes = std::uint64_t{2} << 20;
  /// Where source files are looked for, as outputs::SourceFiles takes it.
  std::vector<std::string> source_places{};
  /// The least trace between two places from which decoding can begin.
  std::uint64_t keyframe_bytes = std::uint64_t{256} << 10;
  /// Decoders that work at the same time, for pictures and for all other questions each; 0: as
  /// many as the machine has processors.
  unsigned decoders = 0;
  /// Questions that may wait for a decoder; more get kLimit.
  unsigned queue = 64;
  IndexPlaces index{};  ///< Without a path: nothing is kept.
  /// Reads messages among the elements of one pass.  Empty, or nullptr: there is nothing to read.
  std::function<std::unique_ptr<MessageReader>()> messages{};
};

/// Opens the capture, and begins to read it in the background.  Errors are those of the functions.
Result<std::unique_ptr<Session>> make_session(SessionOptions options);

}  // namespace waymark::view
