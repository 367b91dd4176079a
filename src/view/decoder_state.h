// The decoders of a capture, which can begin with an earlier state.
#pragma once

#include <memory>

#include "keyframe.h"
#include "waymark/inputs/capture.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::view {

/// Where decoders can jump, those of the capture get a state, so their caches of code stay.
/// Otherwise a copy of the state takes their place.  One owner; not thread safe.
class DecoderState {
 public:
  /// The capture must outlive it.
  explicit DecoderState(inputs::Capture& capture);

  DecodeTree& operator*() const { return *decoders_; }
  DecodeTree* operator->() const { return decoders_; }
  [[nodiscard]] bool can_jump() const { return can_jump_; }

  /// Decoders go on with a state; nullptr: that of the start.
  void restore(const DecodeTree* state);
  /// Decoders begin earlier than a keyframe, with its entry.
  void enter(const DecoderEntry& entry);
  /// A copy of the state.
  [[nodiscard]] std::shared_ptr<const DecodeTree> save() const;

 private:
  DecodeTree& own_;                    ///< That of the capture.
  std::unique_ptr<DecodeTree> blank_;  ///< As it was at the start.
  std::unique_ptr<DecodeTree> other_;  ///< Instead of it; may be nullptr.
  DecodeTree* decoders_;               ///< One of them.
  bool can_jump_;
};

}  // namespace waymark::view
