#include "decoder_state.h"

#include <utility>

namespace waymark::view {

DecoderState::DecoderState(inputs::Capture& capture)
    : own_(capture.tree()), blank_(own_.clone()), decoders_(&own_), can_jump_(own_.can_jump()) {}

void DecoderState::restore(const DecodeTree* state) {
  const DecodeTree& from = state != nullptr ? *state : *blank_;
  if (can_jump_) {
    decoders_ = &own_;
    decoders_->restore(from);
  } else {
    other_ = from.clone();
    decoders_ = other_.get();
  }
}

void DecoderState::enter(const DecoderEntry& entry) {
  other_ = blank_->clone();
  decoders_ = other_.get();
  if (!entry.from_start) decoders_->go_on(entry.current_id);
  for (TraceId id = 0; id < kTraceIdCount; ++id) decoders_->begin_at(id, kNoIndex);
}

std::shared_ptr<const DecodeTree> DecoderState::save() const {
  std::shared_ptr<DecodeTree> saved = can_jump_ ? blank_->clone() : decoders_->clone();
  if (can_jump_) saved->restore(*decoders_);
  return saved;
}

}  // namespace waymark::view
