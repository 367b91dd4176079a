// Messages out of the elements of a capture, whichever sources they come from.  See mipi-syst.md 4.
#pragma once

#include "waymark/element/element.h"
#include "waymark/syst/channels.h"
#include "waymark/syst/interpreter.h"
#include "waymark/syst/ports.h"

namespace waymark::syst {

/// Takes the messages from the channels of an STM and from the ports of an ITM, and tells the
/// interpreter the frequencies that the trace states.  `sink` gets the frames, in the order in
/// which they end; both must outlive it.  One owner; not thread safe.
class TraceReader {
 public:
  TraceReader(Interpreter& interpreter, FrameSink& sink)
      : interpreter_(interpreter), sink_(sink), ports_(sink) {}

  /// Whether messages depend on an element of this kind; add() ignores others.
  [[nodiscard]] static bool reads(ElementKind kind) {
    return kind == ElementKind::kSwTrace || kind == ElementKind::kItmTrace ||
           kind == ElementKind::kNoSync;
  }

  void add(const Element& element);
  /// Gives the messages that are incomplete at the end of the trace.
  void finish();

  /// Those of the channels.
  [[nodiscard]] const ChannelStatistics& statistics() const { return channels_.statistics(); }

 private:
  Interpreter& interpreter_;
  FrameSink& sink_;
  ChannelAssembler channels_;
  PortReader ports_;
};

}  // namespace waymark::syst
