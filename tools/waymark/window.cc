#include "window.h"

#include <fmt/format.h>

#include <algorithm>

#include "exit_code.h"

namespace waymark::cli {
namespace {

/// Bytes of a source behind the window after which nothing of the window can be held back: far more
/// than what is not committed yet at any time.
constexpr std::uint64_t kHeldBack = std::uint64_t{1} << 20;

}  // namespace

void add_window_options(CLI::App& command, WindowOptions& options) {
  const auto group = "Part of the trace";
  command
      .add_option("--from", options.from,
                  "From this byte (4096, 0x1000, 4MiB), timestamp (t:123456) or synchronisation "
                  "point (s:17) on")
      ->type_name("PLACE")
      ->group(group);
  command.add_option("--to", options.to, "Up to there")->type_name("PLACE")->group(group);
  command
      .add_option("--index", options.index,
                  "The index to use (default: beside the trace, if it is there)")
      ->type_name("FILE")
      ->group(group);
}

KnownIdBytes Window::known_id_bytes() {
  if (!options_.given()) return {};
  return [known = access_.known_id_bytes(), named = names_sources(input_)](
             const MappedFile& trace, inputs::Framing framing) {
    auto bytes = known(trace, framing);
    // Of a part of the trace, nobody asks what else is in all of it.
    if (!bytes && named) bytes = inputs::IdBytes{};
    return bytes;
  };
}

Result<TraceIndex> Window::resolve(index::Index& index, const inputs::Capture& capture,
                                   const std::string& text, bool last) {
  const auto position = index::parse_position(text);
  if (!position) return std::unexpected(position.error());
  if (position->kind == index::Position::Kind::kOffset) return position->value;
  inputs::Capture* const scout = access_.scout(capture);
  if (scout == nullptr) return fail(ErrorCode::kIo, "The trace cannot be opened again.");
  const std::vector<TraceId> ids = index::source_ids(capture);
  auto place = index::resolve(*scout, index, ids, *position, last);
  // Everything lies before a timestamp that never comes.
  if (!place && last && position->kind == index::Position::Kind::kTimestamp &&
      place.error().code == ErrorCode::kNotFound && index.header().complete) {
    return kNoIndex;
  }
  return place;
}

bool Window::place(index::Index& index, const inputs::Capture& capture) {
  error_.reset();
  for (const bool last : {false, true}) {
    const std::string& text = last ? options_.to : options_.from;
    if (text.empty()) continue;
    const auto found = resolve(index, capture, text, last);
    if (!found && found.error().code == ErrorCode::kNotFound && !index.header().complete)
      return false;
    if (!found) {
      error_ = found.error();
      error_->detail = fmt::format("{} {}: {}", last ? "--to" : "--from", text, error_->detail);
      return true;
    }
    (last ? to_ : from_) = *found;
  }
  return from_ <= index.header().indexed;
}

int Window::complain_of(const Error& error) {
  const bool usage =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound;
  return complain(error.detail, usage ? kUsage : kInput);
}

int Window::check(const inputs::Capture& capture) {
  if (from_ >= capture.trace_bytes()) {
    return complain(
        fmt::format("--from {}: the trace has {} bytes.", options_.from, capture.trace_bytes()),
        kUsage);
  }
  if (to_ <= from_) {
    const std::string from = options_.from.empty() ? "the start" : "--from " + options_.from;
    return complain(fmt::format("--to {} is not behind {}.", options_.to, from), kUsage);
  }
  return kOk;
}

int Window::parse(const inputs::Capture& capture) {
  for (const bool last : {false, true}) {
    const std::string& text = last ? options_.to : options_.from;
    if (text.empty()) continue;
    const auto position = index::parse_position(text);
    if (!position) {
      return complain(fmt::format("{} {}", last ? "--to" : "--from", position.error().detail),
                      kUsage);
    }
    if (position->kind == index::Position::Kind::kOffset) (last ? to_ : from_) = position->value;
  }
  return check(capture);
}

int Window::open(inputs::Capture& capture) {
  if (!options_.given()) return kOk;
  if (const int code = parse(capture); code != kOk) return code;
  capture_ = &capture;
  index_ = access_.get(capture, [&](index::Index& index) { return place(index, capture); });
  if (index_ == nullptr) return access_.code();
  if (error_) return complain_of(*error_);
  if (const int code = check(capture); code != kOk) return code;
  const std::vector<TraceId> ids = index::source_ids(capture);
  const auto entry = index::seek(*index_, ids, from_);
  if (!entry) return complain(entry.error().detail, kInput);
  index::enter(capture, *entry);
  start_ = entry->index;
  for (const std::string& sentence : entry->unknown)
    complain(fmt::format("note: {}", sentence), kOk);
  return kOk;
}

index::Index* Window::look_up(const inputs::Capture& capture) {
  if (options_.given()) code_ = parse(capture);
  if (code_ != kOk) return nullptr;
  index_ = access_.get(capture);
  code_ = access_.code();
  if (index_ == nullptr || !options_.given()) return index_;
  (void)place(*index_, capture);
  code_ = error_ ? complain_of(*error_) : check(capture);
  return code_ == kOk ? index_ : nullptr;
}

std::span<const Element> Window::cut(std::span<const Element> elements) {
  if (!options_.given()) return elements;
  kept_.clear();
  for (const Element& element : elements) {
    tell(element.trace_id, element.index);
    if (contains(element.index)) kept_.push_back(element);
  }
  return kept_;
}

bool Window::enough(TraceIndex index) {
  if (index < to_ || capture_ == nullptr) return false;
  const std::vector<inputs::CaptureSource>& sources = capture_->sources();
  const bool first = bytes_at_end_.empty();
  if (first) bytes_at_end_.resize(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::uint64_t bytes = sources[i].source->statistics().total_bytes;
    if (first) bytes_at_end_[i] = bytes;
    if (passed_[sources[i].id & (kTraceIdCount - 1)] || bytes - bytes_at_end_[i] > kHeldBack) {
      // The others may need much of the trace; this one is done.
      capture_->tree().begin_at(sources[i].id, kNoIndex);
      continue;
    }
    if (!index_->header().complete) return false;
    const auto more =
        index_->find(sources[i].id, index / index_->header().granule, index::Walk::kForward, {});
    if (more && *more) return false;
  }
  return true;
}

}  // namespace waymark::cli
