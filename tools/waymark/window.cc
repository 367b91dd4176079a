#include "window.h"

#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "option_values.h"

namespace waymark::cli {
namespace {

constexpr std::uint64_t kMostInstructions = 100'000'000;

/// The bytes of trace to begin with in a search for instructions.
constexpr std::uint64_t kFirstSearch = std::uint64_t{64} << 10;

}  // namespace

void add_window_options(Command& command, WindowOptions& options) {
  const char* const group = "Part of the trace";
  command
      .add_option("--from", options.from,
                  "begin at this place: a byte (4096, 0x1000, 4MiB), a timestamp (t:123456) or a "
                  "synchronisation point (s:17)")
      ->type_name("PLACE")
      ->group(group);
  command.add_option("--to", options.to, "stop at this place")->type_name("PLACE")->group(group);
  command
      .add_option("--index", options.index,
                  "the index to use; default: that of the capture, if `waymark index` made one")
      ->type_name("FILE")
      ->group(group);
}

void add_near_options(Command& command, WindowOptions& options) {
  const char* const group = "Part of the trace";
  Option* const last =
      command
          .add_option(
              "--last", options.last,
              "show the end only: the last N instructions of all selected sources, or those "
              "before --to; the first block is shown whole")
          ->type_name("N")
          ->range(1, kMostInstructions)
          ->group(group);
  Option* const around =
      command
          .add_option("--around", options.around,
                      "show the instructions before and after this place, which is given as for "
                      "--from")
          ->type_name("PLACE")
          ->excludes(last)
          ->excludes("--from")
          ->excludes("--to")
          ->group(group);
  command
      .add_option("--instructions", options.instructions,
                  "the number of instructions before and after --around; default: 20")
      ->type_name("N")
      ->range(1, kMostInstructions)
      ->needs(around)
      ->group(group);
}

KnownIdBytes Window::known_id_bytes() {
  if (!options_.given()) return {};
  return [known = access_.known_id_bytes(), named = names_sources(input_)](
             const MappedFile& trace, inputs::Framing framing) {
    auto bytes = known(trace, framing);
    // For a part of the trace, the bytes of other IDs in the whole trace do not matter.
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
  auto place = index::resolve(*scout, index, ids, *position, last, interrupted);
  // Everything is before a timestamp that never comes.
  if (!place && last && position->kind == index::Position::Kind::kTimestamp &&
      place.error().code == ErrorCode::kNotFound && index.header().complete) {
    return kNoIndex;
  }
  return place;
}

bool Window::place(index::Index& index, const inputs::Capture& capture) {
  error_.reset();
  for (const auto& [name, at] : places()) {
    const std::string& text = *name;
    if (text.empty()) continue;
    const auto found = resolve(index, capture, text, at == &to_);
    if (!found && found.error().code == ErrorCode::kNotFound && !index.header().complete)
      return false;
    if (!found) {
      error_ = found.error();
      error_->detail = fmt::format("{} {}: {}", name_of(name), text, error_->detail);
      return true;
    }
    *at = *found;
  }
  const std::uint64_t indexed = index.header().indexed;
  if (around_ != kNoIndex && around_ > indexed) return false;
  return from_ <= indexed && (options_.last == 0 || to_ == kNoIndex || to_ <= indexed);
}

int Window::complain_of(const Error& error) {
  const bool usage =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound;
  return complain(error.detail, usage ? kUsage : kInput);
}

int Window::check(const inputs::Capture& capture) {
  const std::uint64_t bytes = capture.trace_bytes();
  if (from_ >= bytes)
    return complain(fmt::format("--from {}: the trace has {} bytes.", options_.from, bytes),
                    kUsage);
  if (around_ != kNoIndex && around_ >= bytes) {
    return complain(fmt::format("--around {}: the trace has {} bytes.", options_.around, bytes),
                    kUsage);
  }
  if (to_ <= from_) {
    const std::string from = options_.from.empty() ? "the start" : "--from " + options_.from;
    return complain(fmt::format("--to {} is not after {}{}.", options_.to, from,
                                to_ == from_ ? timestamps_around(capture) : std::string()),
                    kUsage);
  }
  return kOk;
}

std::string Window::timestamps_around(const inputs::Capture& capture) {
  const auto from = index::parse_position(options_.from);
  const auto to = index::parse_position(options_.to);
  constexpr auto kTimestamp = index::Position::Kind::kTimestamp;
  if (!from || !to || from->kind != kTimestamp || to->kind != kTimestamp || index_ == nullptr ||
      from->value >= to->value) {
    return {};
  }
  inputs::Capture* const scout = access_.scout(capture);
  if (scout == nullptr) return {};
  std::optional<std::uint64_t> before;
  std::optional<std::uint64_t> after;
  for (const TraceId id : index::source_ids(capture)) {
    const auto last = index::last_timestamp_before(*scout, *index_, id, to_, interrupted);
    if (last && *last && (*last)->landmark.value < from->value)
      before = std::max(before.value_or(0), (*last)->landmark.value);
    const index::Query query{
        .kind = LandmarkKind::kTimestamp, .value = from->value, .stop = interrupted};
    (void)index::find(*scout, *index_, {&id, 1}, query, [&](const index::Hit& hit) {
      after = std::min(after.value_or(hit.landmark.value), hit.landmark.value);
      return false;
    });
  }
  if (!after) return {};
  const std::string next = fmt::format("the next one is {}", *after);
  if (!before) return fmt::format(": the trace has no timestamp between them; {}", next);
  return fmt::format(
      ": the trace has no timestamp between them; the one before is {0}, {1} (--from t:{0} shows "
      "what happened between the two)",
      *before, next);
}

int Window::parse(const inputs::Capture& capture) {
  for (const auto& [name, at] : places()) {
    if (name->empty()) continue;
    const auto position = index::parse_position(*name);
    if (!position)
      return complain(fmt::format("{} {}", name_of(name), position.error().detail), kUsage);
    if (position->kind == index::Position::Kind::kOffset) *at = position->value;
  }
  return check(capture);
}

int Window::open(inputs::Capture& capture, bool search) {
  if (!options_.given()) return kOk;
  if (const int code = parse(capture); code != kOk) return code;
  capture_ = &capture;
  const bool only_last = options_.from.empty() && options_.to.empty() && options_.around.empty();
  // Without an index, reading everything is as fast as making one.
  if (only_last && access_.ready(capture) == nullptr) return interrupted() ? kInterrupted : kOk;
  while (true) {
    index_ = access_.get(capture, [&](index::Index& index) { return place(index, capture); });
    if (index_ == nullptr) return access_.code();
    if (!error_) {
      if (const int code = check(capture); code != kOk) return code;
      if (options_.near() && search) {
        const TraceIndex end = std::min(around_ != kNoIndex ? around_ : to_, capture.trace_bytes());
        const auto begin =
            begin_before(end, options_.last != 0 ? options_.last : options_.instructions);
        if (begin) {
          from_ = *begin;
        } else {
          error_ = begin.error();
        }
      }
    }
    if (!error_) {
      const std::vector<TraceId> ids = index::source_ids(capture);
      const auto entry = index::seek(*index_, ids, from_);
      if (entry) {
        index::enter(capture, *entry);
        start_ = entry->index;
        for (const std::string& sentence : entry->unknown) note(sentence);
        return kOk;
      }
      error_ = entry.error();
    }
    if (interrupted()) return kInterrupted;
    if (!access_.give_up(*error_)) return complain_of(*error_);
  }
}

Result<TraceIndex> Window::begin_before(TraceIndex end, std::uint64_t count) {
  for (std::uint64_t distance = std::max(kFirstSearch, count);; distance *= 4) {
    if (end - from_ <= distance) return from_;
    const auto found = instructions_between(end - distance, end);
    if (!found) return std::unexpected(found.error());
    if (*found >= count || interrupted()) return end - distance;
  }
}

Result<std::uint64_t> Window::instructions_between(TraceIndex from, TraceIndex to) {
  auto part = open_capture(input_, {}, false,
                           [&](const MappedFile& /*trace*/, inputs::Framing /*framing*/) {
                             return std::optional(capture_->id_bytes());
                           });
  if (!part) return fail(ErrorCode::kIo, "The trace cannot be opened again.");
  const std::vector<TraceId> ids = index::source_ids(*part);
  const auto entry = index::seek(*index_, ids, from);
  if (!entry) return std::unexpected(entry.error());
  index::enter(*part, *entry);
  std::vector<Element> batch(512);
  std::uint64_t count = 0;
  const auto drain = [&] {
    while (const std::size_t size = part->tree().next(batch)) {
      for (const Element& element : std::span(batch).first(size)) {
        if (element.kind == ElementKind::kInstrRange && element.index >= from && element.index < to)
          count += element.count;
      }
    }
  };
  while (const auto block = part->next_block()) {
    if (block->index >= to || interrupted() || !part->tree().feed(block->index, block->bytes))
      break;
    drain();
  }
  part->tree().finish();
  drain();
  return count;
}

index::Index* Window::look_up(const inputs::Capture& capture) {
  if (options_.given()) code_ = parse(capture);
  if (code_ != kOk) return nullptr;
  do {
    index_ = access_.get(capture);
    code_ = access_.code();
    if (index_ == nullptr || !options_.given()) return index_;
    (void)place(*index_, capture);
  } while (error_ && access_.give_up(*error_));
  code_ = interrupted() ? kInterrupted : error_ ? complain_of(*error_) : check(capture);
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
  return end().reached(index, *capture_, *index_);
}

}  // namespace waymark::cli
