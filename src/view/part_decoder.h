// Decodes a capture from a keyframe on, with its call stacks and its axis.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "axis_clock.h"
#include "block_cutter.h"
#include "decoder_state.h"
#include "keyframe.h"
#include "skipped_elements.h"
#include "source_kinds.h"
#include "state_cache.h"
#include "waymark/base/result.h"
#include "waymark/inputs/capture.h"
#include "waymark/stacks/engine.h"
#include "waymark/view/session.h"
#include "waymark/view/trace_session.h"

namespace waymark::view {

/// The capture that it has opened belongs to it.  Used by one thread at a time.
class PartDecoder {
 public:
  /// `options` must outlive it, and so must `states`, which may be nullptr.
  static Result<std::unique_ptr<PartDecoder>> open(const SessionOptions& options,
                                                   StateCache* states = nullptr);

  ~PartDecoder();
  PartDecoder(const PartDecoder&) = delete;
  PartDecoder& operator=(const PartDecoder&) = delete;

  [[nodiscard]] inputs::Capture& capture() { return capture_; }
  [[nodiscard]] DecodeTree& decoders() { return *decoders_; }
  [[nodiscard]] stacks::Engine& engine() { return *engine_; }
  /// Whether a source traces the execution of instructions.
  [[nodiscard]] bool executes(TraceId id) const { return kinds_.executes(id); }

  /// Whether keyframes with an entry are enough: nothing is summed up from the start of the trace.
  [[nodiscard]] bool can_begin_early() const { return decoders_.can_jump(); }

  /// Gets what happens on stacks, after the clock.
  void set_sink(stacks::Sink* sink) { sink_ = sink; }

  /// Everything begins at a keyframe.  `code_of` gives the codes of its stacks.
  Result<void> begin(const Keyframe& from, AxisUnit unit, std::uint64_t origin,
                     const std::function<stacks::Code(stacks::CodeId)>& code_of);
  /// No block goes beyond this place.
  void set_limit(TraceIndex limit) { blocks_.set_limit(limit); }

  /// Gets each batch before the engine does.
  using Take = std::function<bool(std::span<const Element> elements)>;

  enum class Step : std::uint8_t { kBlock, kEnd, kStopped };
  /// The next block of the capture; at its end, what the sources still hold.  `take` may end it.
  Result<Step> step(const Take& take, const Stop& stop);
  /// Where the last block ended.
  [[nodiscard]] TraceIndex index() const { return blocks_.index(); }

  /// The clock; for elements of sources without instructions, call observe().
  [[nodiscard]] AxisClock& clock() { return *clock_; }
  /// The number of the next instruction of a source, or of its next element.
  [[nodiscard]] std::uint64_t n(TraceId id) const {
    return executes(id) ? engine_->position(id) : others_[id];
  }
  /// The time that an element states for its source; local timestamps only of an ITM that is alone.
  [[nodiscard]] std::optional<ElementTime> time_of(const Element& element) const {
    return kinds_.time_of(element);
  }
  /// For one pass; nullptr: there is nothing to read.
  [[nodiscard]] std::unique_ptr<MessageReader> message_reader() const {
    return options_.messages ? options_.messages() : nullptr;
  }
  /// Gives elements to the engine and the clock.
  void observe(std::span<const Element> elements);
  /// The state after the last block.
  [[nodiscard]] Keyframe keyframe();
  /// The decoders can begin here again, if they are at a keyframe.
  void keep_state();

 private:
  class Relay;

  PartDecoder(const SessionOptions& options, StateCache* states, inputs::Capture&& capture);
  Result<void> make_engine();
  void begin_early(const Keyframe& from);
  Result<Step> drain(const Take& take, const Stop& stop);

  const SessionOptions& options_;
  StateCache* states_;
  inputs::Capture capture_;
  SourceKinds kinds_;
  DecoderState decoders_;
  BlockCutter blocks_;
  SkippedElements skipped_;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<stacks::Engine> engine_;
  std::unique_ptr<AxisClock> clock_;
  stacks::Sink* sink_ = nullptr;
  std::array<std::uint64_t, 256> others_{};  ///< Elements of sources that do not execute.
  std::vector<Element> batch_;
  bool finished_ = false;
};

}  // namespace waymark::view
