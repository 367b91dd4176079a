// The push driver: the caller gives bytes, and the client gets elements one by one and can make it
// wait.  See frames.md 8.
#pragma once

#include <cstdint>

#include "waymark/base/result.h"
#include "waymark/tree/decode_tree.h"

namespace waymark {

/// The client's answer to an element, and the data path's answer to its caller.
enum class Flow : std::uint8_t {
  kContinue,
  kWait,  ///< No further element before flush().
};

class ElementSink {
 public:
  virtual ~ElementSink() = default;
  virtual Flow on_element(const Element& element) = 0;
};

/// A thin adapter over DecodeTree's interleaved driver with a span of one, so that the client is in
/// lock step with the decoder.  Tree and sink must outlive it.  One owner; not thread safe.
///
/// After kWait: flush() until it returns kContinue, then data() from the first byte that was not
/// used.  Errors: kInvalidArgument for a call out of this order and for blocks that
/// frames::Demux::feed() refuses; kBadData when the tree has failed(), until reset().
class DataPath {
 public:
  DataPath(DecodeTree& tree, ElementSink& sink) : tree_(tree), sink_(sink) {}

  /// Decodes `block`, whose first byte is at `index`.  `used` is the number of bytes that need not
  /// be given again: whole frames, or whole packets.
  Result<Flow> data(TraceIndex index, Bytes block, std::size_t& used);

  /// Continues after kWait.  If nothing is held back, it does nothing.
  Result<Flow> flush();

  /// The end of the trace: gives all that is held back, and the end-of-trace elements.
  Result<Flow> finish();

  /// Forgets the stream and what is held back.
  void reset();

 private:
  Result<Flow> drain();

  DecodeTree& tree_;
  ElementSink& sink_;
  bool waiting_ = false;
};

}  // namespace waymark
