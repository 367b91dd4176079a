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
  return options_.given() ? access_.known_id_bytes() : KnownIdBytes{};
}

Result<TraceIndex> Window::resolve(index::Index& index, inputs::Capture& capture,
                                   std::string_view option, const std::string& text, bool last) {
  const auto position = index::parse_position(text);
  if (!position) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} {}", option, position.error().detail));
  }
  if (position->kind == index::Position::Kind::kOffset) return position->value;
  inputs::Capture* const scout = access_.scout();
  if (scout == nullptr) return fail(ErrorCode::kIo, "The trace cannot be opened again.");
  const std::vector<TraceId> ids = index::source_ids(capture);
  auto place = index::resolve(*scout, index, ids, *position, last);
  // Everything lies before a timestamp that never comes.
  if (!place && last && place.error().code == ErrorCode::kNotFound) return kNoIndex;
  if (!place) {
    return fail(place.error().code, fmt::format("{} {}: {}", option, text, place.error().detail));
  }
  return place;
}

int Window::open(inputs::Capture& capture) {
  if (!options_.given()) return kOk;
  // What is wrong with the option is said before anything is read.
  for (const auto& [option, text] : {std::pair{"--from", &options_.from}, {"--to", &options_.to}}) {
    if (text->empty()) continue;
    if (const auto position = index::parse_position(*text); !position)
      return complain(fmt::format("{} {}", option, position.error().detail), kUsage);
  }
  capture_ = &capture;
  index_ = access_.get(capture);
  if (index_ == nullptr) return access_.code();
  const auto wrong = [](const Error& error) {
    const bool usage =
        error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound;
    return complain(error.detail, usage ? kUsage : kInput);
  };
  if (!options_.from.empty()) {
    const auto from = resolve(*index_, capture, "--from", options_.from, false);
    if (!from) return wrong(from.error());
    from_ = *from;
  }
  if (!options_.to.empty()) {
    const auto to = resolve(*index_, capture, "--to", options_.to, true);
    if (!to) return wrong(to.error());
    to_ = *to;
  }
  if (from_ >= capture.trace_bytes()) {
    return complain(
        fmt::format("--from {}: the trace has {} bytes.", options_.from, capture.trace_bytes()),
        kUsage);
  }
  if (to_ <= from_) {
    return complain(fmt::format("--to {} is not behind --from {}.", options_.to, options_.from),
                    kUsage);
  }
  const std::vector<TraceId> ids = index::source_ids(capture);
  const auto entry = index::seek(*index_, ids, from_);
  if (!entry) return complain(entry.error().detail, kInput);
  index::enter(capture, *entry);
  start_ = entry->index;
  for (const std::string& sentence : entry->unknown)
    complain(fmt::format("note: {}", sentence), kOk);
  return kOk;
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
    if (passed_[sources[i].id & (kTraceIdCount - 1)]) continue;
    if (bytes - bytes_at_end_[i] > kHeldBack) continue;
    const auto more =
        index_->find(sources[i].id, index / index_->header().granule, index::Walk::kForward, {});
    if (more && *more) return false;
  }
  return true;
}

}  // namespace waymark::cli
