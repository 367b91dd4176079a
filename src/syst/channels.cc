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

ChannelAssembler::Open& ChannelAssembler::channel(std::uint64_t key) {
  if (last_ != nullptr && key == last_key_) return *last_;
  last_key_ = key;
  // At least half of them go.
  if (channels_.size() >= 2 * kMaxOpen && !channels_.contains(key)) {
    std::erase_if(channels_, [](const auto& entry) { return !entry.second.is_open; });
  }
  last_ = &channels_[key];
  return *last_;
}

void ChannelAssembler::note_age(std::uint64_t key, Open& open) {
  const auto is_over = [&](const Age& age) {
    const auto found = channels_.find(age.key);
    return found == channels_.end() || !found->second.is_open || found->second.serial != age.serial;
  };
  if (open_ >= kMaxOpen) {
    while (is_over(ages_.front())) ages_.pop_front();
    give(channels_.find(ages_.front().key)->second, FrameEnd::kLost);
    ages_.pop_front();
  }
  if (ages_.size() >= 2 * kMaxOpen) std::erase_if(ages_, is_over);
  open.serial = ++serial_;
  ages_.push_back({key, open.serial});
  ++open_;
}

void ChannelAssembler::begin(Open& open, const Element& element) {
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
  if (open.bytes.size() + size > kMaxMessage) {
    open.too_long = true;
    return;
  }
  std::array<std::uint8_t, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(element.start >> (8 * i) & 0xFF);
  open.bytes.insert(open.bytes.end(), bytes.begin(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

// Its channel may begin the next message before the caller has looked at this one.
void ChannelAssembler::give(Open& open, FrameEnd end) {
  open.is_open = false;
  --open_;
  if (kept_.size() == frames_.size()) kept_.emplace_back();
  std::vector<std::uint8_t>& bytes = kept_[frames_.size()];
  std::swap(bytes, open.bytes);
  Frame& frame = frames_.emplace_back(open.frame);
  frame.bytes = bytes;
  frame.end = open.too_long ? FrameEnd::kTooLong : end;
  ++statistics_.frames;
  if (frame.end != FrameEnd::kWhole) ++statistics_.cut;
}

void ChannelAssembler::give_up(const Element& element, bool one_master, FrameEnd end) {
  for (auto& [key, open] : channels_) {
    if (!open.is_open || open.frame.trace_id != element.trace_id) continue;
    if (!one_master || open.frame.master == element.sw_id.master) give(open, end);
  }
}

void ChannelAssembler::add_data(const Element& element) {
  const bool marker = (element.extra & kSwMarker) != 0;
  // NULL, perhaps with a timestamp, is nobody's.
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
    note_age(last_key_, open);
    begin(open, element);
  } else if (!open.is_open) {
    ++statistics_.noise;
    return;
  }
  // Messages are bytes; half of one is no part of any.
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
    give_up(element, false, FrameEnd::kLost);
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
    frequency_ = element.start;
  } else if ((element.extra & (kSwMasterError | kSwGlobalError)) != 0) {
    give_up(element, (element.extra & kSwMasterError) != 0, FrameEnd::kLost);
  }
  return frames_;
}

std::span<const Frame> ChannelAssembler::finish() {
  frames_.clear();
  for (auto& [key, open] : channels_)
    if (open.is_open) give(open, FrameEnd::kEndOfInput);
  return frames_;
}

}  // namespace waymark::syst
