#include "other_sources.h"

#include <fmt/format.h>

#include "complain.h"
#include "waymark/base/plural.h"

namespace waymark::cli {
namespace {

bool traces_instructions(Protocol protocol) {
  switch (protocol) {
    case Protocol::kStm:
    case Protocol::kItm:
      return false;
    default:
      return true;
  }
}

}  // namespace

OtherSources::OtherSources(const inputs::Capture& capture, const ExportMessages& messages,
                           exports::TimelineWriter& writer, const exports::StackTimeline& timeline,
                           exports::ToNanoseconds clock)
    : writer_(writer),
      timeline_(timeline),
      to_nanoseconds_(std::move(clock)),
      messages_(messages.stage()),
      clock_(exports::EventTime::kTimestamps,
             [this](const Element& element, std::uint64_t time) { show(element, time); }) {
  std::vector<TraceId> ids;
  for (const inputs::CaptureSource& source : capture.sources()) {
    if (traces_instructions(source.source->protocol())) continue;
    is_other_[source.id] = true;
    ids.push_back(source.id);
    sources_.push_back({source.id, source.device});
  }
  if (ids.empty()) return;
  merge_ =
      std::make_unique<EventMerge>(ids, [this](const merge::TimedRecord& record) { take(record); });
}

void OtherSources::add(std::span<const Element> elements) {
  if (merge_ == nullptr) return;
  kept_.clear();
  for (const Element& element : elements)
    if (is_other_[element.trace_id]) kept_.push_back(element);
  if (!kept_.empty()) merge_->add(messages_ ? messages_->replace(kept_) : kept_);
}

void OtherSources::finish() {
  if (merge_ == nullptr) return;
  if (messages_) merge_->add(messages_->finish());
  merge_->finish();
  clock_.finish();
  if (begun()) tracks_->finish();
}

void OtherSources::take(const merge::TimedRecord& record) {
  if (clock_.add(record)) return;
  found_.clear();
  exports::events_of(record.element, found_);
  timeless_ += found_.size();
}

bool OtherSources::begun() {
  if (tracks_ != nullptr) return true;
  if (timeline_.unit() != stacks::TimeUnit::kTimestamps) return false;
  tracks_ = std::make_unique<exports::EventTracks>(
      writer_, to_nanoseconds_, sources_,
      [this](const Element& message) { return take_text(*messages_, message); });
  for (const Held& held : held_) tracks_->add(held.element, held.time);
  held_ = {};
  return true;
}

void OtherSources::show(const Element& element, std::uint64_t time) {
  if (begun()) return tracks_->add(element, time);
  found_.clear();
  exports::events_of(element, found_);
  if (found_.empty()) return;
  if (held_.size() < kMostHeld && !timeline_.unit()) {
    held_.push_back({element, time});
  } else {
    ++left_out_;
  }
}

void OtherSources::report() const {
  if (timeless_ != 0) {
    note(fmt::format("{} left out, because their sources have no timestamps.",
                     counted(timeless_, "event is", "events are")));
  }
  if (const std::uint64_t out = left_out_ + held_.size(); out != 0) {
    const auto unit = timeline_.unit();
    note(
        fmt::format("{} left out, because the times are {}; `waymark decode "
                    "--merge time` shows them.",
                    counted(out, "event of other sources is", "events of other sources are"),
                    unit ? stacks::words_of(*unit) : std::string_view("not known")));
  }
  if (tracks_ && tracks_->unnamed() != 0) {
    note(fmt::format("{} without their text, because there are too many texts.",
                     counted(tracks_->unnamed(), "event is", "events are")));
  }
  if (merge_ && merge_->late() != 0) {
    note(
        fmt::format("{} events have the time of a later one, because their source sent its time "
                    "too late or its time went back.",
                    merge_->late()));
  }
}

}  // namespace waymark::cli
