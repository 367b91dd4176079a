#include "waymark/syst/channels.h"

#include <array>
#include <utility>

#include "waymark/syst/message.h"

namespace waymark::syst {
namespace {

std::uint64_t key_of(const Element& element) {
  return std::uint64_t{element.trace_id} << 32 | std::uint64_t{element.sw_id.master} << 16 |
         element.sw_id.channel;
}

}  // namespace

void ChannelAssembler::append_to(Chain& chain, Open& open, Link Open::* link) {
  open.*link = {.before = chain.last, .after = nullptr};
  (chain.last != nullptr ? (chain.last->*link).after : chain.first) = &open;
  chain.last = &open;
}

void ChannelAssembler::take_from(Chain& chain, Open& open, Link Open::* link) {
  const Link& own = open.*link;
  (own.before != nullptr ? (own.before->*link).after : chain.first) = own.after;
  (own.after != nullptr ? (own.after->*link).before : chain.last) = own.before;
}

ChannelAssembler::Open& ChannelAssembler::channel(std::uint64_t key) {
  if (last_ != nullptr && key == last_key_) return *last_;
  // This removes at least half of them, and none with an open message.
  if (channels_.size() >= 2 * kMaxOpen && !channels_.contains(key)) {
    std::erase_if(channels_, [](const auto& entry) { return !entry.second.is_open; });
    std::erase_if(masters_, [](const auto& entry) { return entry.second.first == nullptr; });
  }
  const auto [entry, is_new] = channels_.try_emplace(key);
  if (is_new) entry->second.master = &masters_[key >> 16];
  last_key_ = key;
  last_ = &entry->second;
  return *last_;
}

void ChannelAssembler::begin(Open& open, const Element& element) {
  if (open_ >= kMaxOpen) give(*all_.first, FrameEnd::kLost);
  ++open_;
  append_to(all_, open, &Open::in_all);
  append_to(trace_ids_[element.trace_id], open, &Open::in_trace_id);
  append_to(*open.master, open, &Open::in_master);
  open.is_open = true;
  open.too_long = false;
  open.bytes.clear();
  open.frame = {};
  open.frame.index = element.index;
  open.frame.time = element.timestamp;
  open.frame.has_time = (element.flags & kElementHasTimestamp) != 0;
  open.frame.time_is_partial = (element.flags & kElementTimeIsPartial) != 0;
  open.frame.trace_id = element.trace_id;
  if ((element.extra & kSwIdValid) == 0) return;
  open.frame.master = element.sw_id.master;
  open.frame.channel = element.sw_id.channel;
  open.frame.has_master = true;
}

void ChannelAssembler::append(Open& open, const Element& element) {
  const std::size_t size = element.extra_value / 8;
  open.too_long |= open.bytes.size() + size > kMaxMessage;
  if (open.too_long) return;
  std::array<std::uint8_t, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(element.start >> (8 * i) & 0xFF);
  open.bytes.insert(open.bytes.end(), bytes.begin(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

// The bytes move to kept_: the channel may begin its next message before the caller has looked at
// this one.
void ChannelAssembler::give(Open& open, FrameEnd end) {
  open.is_open = false;
  --open_;
  take_from(all_, open, &Open::in_all);
  take_from(trace_ids_[open.frame.trace_id], open, &Open::in_trace_id);
  take_from(*open.master, open, &Open::in_master);
  if (kept_.size() == frames_.size()) kept_.emplace_back();
  std::vector<std::uint8_t>& bytes = kept_[frames_.size()];
  std::swap(bytes, open.bytes);
  Frame& frame = frames_.emplace_back(open.frame);
  frame.bytes = bytes;
  frame.end = open.too_long ? FrameEnd::kTooLong : end;
  ++statistics_.frames;
  if (frame.end != FrameEnd::kWhole) ++statistics_.cut;
}

void ChannelAssembler::give_all(Chain& chain, FrameEnd end) {
  while (chain.first != nullptr) give(*chain.first, end);
}

void ChannelAssembler::add_data(const Element& element) {
  const bool marker = (element.extra & kSwMarker) != 0;
  // A NULL packet, with or without a timestamp, is not part of a message.
  if (element.extra_value == 0 && !marker) return;
  Open& open = channel(key_of(element));
  if (element.extra_value == 0) {
    // FLAG.
    if (open.is_open) {
      give(open, FrameEnd::kWhole);
    } else {
      ++statistics_.noise;
    }
    return;
  }
  if ((element.extra & kSwTimestamp) != 0) {
    if (open.is_open) give(open, FrameEnd::kRestarted);
    begin(open, element);
  } else if (!open.is_open) {
    ++statistics_.noise;
    return;
  }
  // Messages consist of whole bytes; a single nibble is not part of one.
  if (element.extra_value % 8 == 0) {
    append(open, element);
  } else {
    ++statistics_.noise;
  }
  if (marker) give(open, FrameEnd::kWhole);
}

std::span<const Frame> ChannelAssembler::add(const Element& element) {
  frames_.clear();
  if (element.kind == ElementKind::kNoSync) {
    give_all(trace_ids_[element.trace_id], FrameEnd::kLost);
    return frames_;
  }
  if (element.kind != ElementKind::kSwTrace ||
      element.reason != static_cast<std::uint8_t>(SwTraceKind::kData)) {
    return {};
  }
  constexpr unsigned kNoData = kSwMasterError | kSwGlobalError | kSwTrigger | kSwFrequency;
  if ((element.extra & kNoData) == 0) [[likely]] {
    add_data(element);
  } else if ((element.extra & kSwFrequency) != 0) {
    frequencies_[element.trace_id] = element.start;
  } else if ((element.extra & kSwMasterError) != 0) {
    const auto master = masters_.find(key_of(element) >> 16);
    if (master != masters_.end()) give_all(master->second, FrameEnd::kLost);
  } else if ((element.extra & kSwGlobalError) != 0) {
    give_all(trace_ids_[element.trace_id], FrameEnd::kLost);
  }
  return frames_;
}

std::span<const Frame> ChannelAssembler::finish() {
  frames_.clear();
  give_all(all_, FrameEnd::kEndOfInput);
  return frames_;
}

}  // namespace waymark::syst
