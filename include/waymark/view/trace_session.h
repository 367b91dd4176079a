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
#include "waymark/view/session.h"

namespace waymark::view {

/// What a session needs of its caller.  All functions are called from any thread.
struct SessionOptions {
  /// Opens the capture, always the same, to be decoded.
  std::function<Result<inputs::Capture>()> open{};
  /// What an engine must know of a capture, which outlives the engine; without a sink.  May be
  /// empty: functions have no names.
  std::function<Result<stacks::Options>(const inputs::Capture& capture)> stack_options{};
  /// Sets the sources of an engine.
  std::function<void(stacks::Engine& engine, const inputs::Capture& capture)> set_sources{};
  /// The name of a thread, as Options::owner gives it.  May be empty.
  std::function<std::string(const inputs::Capture& capture, TraceId source, std::uint64_t thread)>
      thread_name{};
  /// What looks wrong with the capture as a whole, as sentences.  Asked once, by the first question
  /// about health, unless `stop` ended it.  May be empty.
  std::function<Result<std::vector<std::string>>(const Stop& stop)> doubts{};
  std::string name{};
  std::string path{};
  /// A window of more bytes of trace has a summary.
  std::uint64_t span_bytes = std::uint64_t{2} << 20;
  /// Where source files are looked for, as outputs::SourceFiles takes it.
  std::vector<std::string> source_places{};
  /// Decoders that work at the same time; 0: as many as the machine has processors.
  unsigned decoders = 0;
  /// Questions that may wait for a decoder; more get kLimit.
  unsigned queue = 64;
};

/// Opens the capture, and begins to read it in the background.  Errors are those of the functions.
Result<std::unique_ptr<Session>> make_session(SessionOptions options);

}  // namespace waymark::view
