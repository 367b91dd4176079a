// The questions that a session answers with a replay.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "code_view.h"
#include "find.h"
#include "health.h"
#include "places.h"
#include "steps.h"
#include "trace_session.h"

namespace waymark::view {
namespace {

/// How far back a thread's last instruction is looked for, in keyframes.
constexpr unsigned kMostBack = 64;
/// Their trees can be large.
constexpr std::size_t kMostKeptCalls = 2;

/// Which thread each source executes, and from which instruction on.
class SwitchWatch final : public stacks::Sink {
 public:
  explicit SwitchWatch(TraceId source) : source_(source) {}
  void on_track(stacks::TrackId /*track*/, TraceId /*source*/, std::uint64_t /*thread*/) override {}
  void on_switch(TraceId source, stacks::TrackId track, std::uint64_t position) override {
    if (source == source_) switches_.emplace_back(position, track);
  }
  void on_enter(stacks::TrackId /*track*/, std::uint64_t /*position*/, stacks::CodeId /*code*/,
                stacks::Opening /*opening*/) override {}
  void on_leave(stacks::TrackId /*track*/, std::uint64_t /*position*/) override {}
  void on_instant(stacks::TrackId /*track*/, std::uint64_t /*position*/,
                  stacks::Instant /*what*/) override {}
  void on_gap(TraceId /*source*/, std::uint64_t /*position*/) override {}
  void on_timestamp(TraceId /*source*/, std::uint64_t /*position*/,
                    std::uint64_t /*time*/) override {}
  void on_cycles(TraceId /*source*/, std::uint64_t /*position*/,
                 std::uint64_t /*cycles*/) override {}

  /// The last instruction of a track up to `n`; nothing: there is none.
  [[nodiscard]] std::optional<std::uint64_t> last(stacks::TrackId track, std::uint64_t n) const {
    for (std::size_t i = switches_.size(); i-- > 0;) {
      const auto [from, on] = switches_[i];
      const std::uint64_t end = i + 1 < switches_.size() ? switches_[i + 1].first : n + 1;
      if (on == track && from <= n && end > from) return std::min(n, end - 1);
    }
    return std::nullopt;
  }

 private:
  TraceId source_;
  std::vector<std::pair<std::uint64_t, stacks::TrackId>> switches_;
};

}  // namespace

Result<void> TraceSession::make_knowledge() {
  const inputs::Capture& capture = reading_.capture();
  memory_ = std::make_unique<inputs::CodeMemory>(capture);
  stacks::Options stacks;
  if (options_.stack_options) {
    auto made = options_.stack_options(capture);
    if (!made) return std::unexpected(std::move(made).error());
    stacks = std::move(*made);
  }
  knowledge_.read = [this](const Element& element, std::uint64_t address,
                           std::span<std::uint8_t> scratch) {
    return memory_->read(element, address, scratch);
  };
  knowledge_.profile = [this](TraceId id) { return memory_->profile_of(id); };
  if (const auto llvm = program::Llvm::load()) knowledge_.llvm = *llvm;
  knowledge_.places = stacks.places;
  knowledge_.exception_name = stacks.exception_name;
  knowledge_.functions = &functions_;
  knowledge_.track = [this](TraceId source, std::uint64_t thread) {
    return track_of(source, thread);
  };
  knowledge_.messages = [this](double from, double to, const Stop& stop) {
    return messages(from, to, stop);
  };
  knowledge_.axis = [this] { return facts().axis; };
  knowledge_.source_places = options_.source_places;
  instructions_ = std::make_unique<outputs::InstructionPool>(
      outputs::InstructionOptions{.read = knowledge_.read,
                                  .profile = knowledge_.profile,
                                  .llvm = knowledge_.llvm,
                                  .places = knowledge_.places});
  knowledge_.instructions = instructions_.get();
  facts_.has_symbols = static_cast<bool>(knowledge_.places);
  return {};
}

TrackNumber TraceSession::track_of(TraceId source, std::uint64_t thread) const {
  const auto known = reading_.known();
  TrackNumber any = 0;
  for (const auto& [number, track] : known->overview.tracks()) {
    if (!is_thread_track(number) || track.source != source) continue;
    if (track.thread == thread) return number;
    any = number;
  }
  return any;
}

Result<MessagesFound> TraceSession::messages(double from, double to, const Stop& stop) {
  const auto known = reading_.known();
  MessagesFound found{.complete = true, .searched_to = to};
  // The overview has all of them, unless there are very many.
  bool has_all = known->complete;
  for (const auto& [number, track] : known->overview.tracks()) {
    if (number < kMessageTracks || number >= kEventTracks) continue;
    for (const Mark& mark : track.marks) {
      has_all = has_all && mark.count == 1;
      if (mark.at >= from && mark.at <= to)
        found.messages.push_back({.at = mark.at, .track = number, .text = mark.text});
    }
  }
  if (!has_all) {
    found.messages.clear();
    std::optional<DecoderPool::Loan> loan;
    std::uint64_t bytes = 0;
    for (const Interval& part : intervals(*known, from, to)) {
      if (bytes > knowledge_.limits.search_bytes) {
        found.complete = false;
        break;
      }
      bytes += part.bytes;
      const auto made = piece(pools_.messages, *known, part, loan, stop);
      if (!made) return std::unexpected(made.error());
      for (std::size_t i = 0; i < ids_.size(); ++i) {
        for (const Mark& mark : (*made)->sources[i].messages) {
          if (mark.at >= from && mark.at <= to)
            found.messages.push_back(
                {.at = mark.at, .track = source_track(kMessageTracks, ids_[i]), .text = mark.text});
        }
      }
      if (!found.messages.empty()) found.searched_to = found.messages.back().at;
    }
    if (found.complete) found.searched_to = to;
  }
  std::ranges::stable_sort(found.messages, {}, &MessageAt::at);
  return found;
}

template <class Answer>
Result<Answer> TraceSession::ask(
    const Stop& stop, const std::function<Result<Answer>(RealReplay& replay)>& question) {
  auto loan = pools_.questions.lend(stop);
  if (!loan) return std::unexpected(loan.error());
  RealReplay replay(**loan, reading_.known(), reading_.axis(), codes_);
  return question(replay);
}

Result<Instant> TraceSession::instant_at(RealReplay& replay, TrackNumber track, double at,
                                         const Stop& stop) {
  const auto known = reading_.known();
  const auto found = known->overview.tracks().find(track);
  if (found == known->overview.tracks().end() || !is_thread_track(track))
    return fail(ErrorCode::kNotFound, fmt::format("There is no thread with number {}.", track));
  const TraceId source = found->second.source;
  const auto take_all = [](const Element&, std::uint64_t) { return true; };
  SwitchWatch watch(source);
  WAYMARK_TRY(replay.run({.from = at, .to = at, .sink = &watch}, take_all, stop));
  if (const auto n = replay.last_at(source, at)) {
    if (const auto own = watch.last(track, *n)) return Instant{.source = source, .n = *own};
  }
  std::uint64_t before = replay.first(source);
  for (unsigned i = 0; i < kMostBack && before != 0; ++i) {
    SwitchWatch earlier(source);
    const Instant last{.source = source, .n = before - 1};
    const auto take = [&](const Element& element, std::uint64_t n) {
      return element.trace_id != source || n < before;
    };
    WAYMARK_TRY(replay.run({.from_instant = last, .sink = &earlier}, take, stop));
    if (const auto own = earlier.last(track, last.n)) return Instant{.source = source, .n = *own};
    before = std::min(before - 1, replay.first(source));
  }
  return fail(ErrorCode::kNotFound, "The thread has executed nothing near there.");
}

Result<PlaceAnswer> TraceSession::place_at(TrackNumber track, double at, const Stop& stop) {
  if (!std::isfinite(at)) return fail(ErrorCode::kInvalidArgument, "The place is not a number.");
  return ask<PlaceAnswer>(stop, [&](RealReplay& replay) -> Result<PlaceAnswer> {
    const auto instant = instant_at(replay, track, at, stop);
    if (!instant) return std::unexpected(instant.error());
    return place_of(replay, *instant, knowledge_, stop);
  });
}

Result<PlaceAnswer> TraceSession::place(Instant instant, const Stop& stop) {
  return ask<PlaceAnswer>(
      stop, [&](RealReplay& replay) { return place_of(replay, instant, knowledge_, stop); });
}

Result<PlaceAnswer> TraceSession::step(Instant from, const Step& step, const Stop& stop) {
  return ask<PlaceAnswer>(
      stop, [&](RealReplay& replay) { return step_from(replay, from, step, knowledge_, stop); });
}

Result<PlacesAnswer> TraceSession::places(Instant instant, std::uint32_t before,
                                          std::uint32_t after, const Stop& stop) {
  return ask<PlacesAnswer>(stop, [&](RealReplay& replay) {
    return places_around(replay, instant, before, after, knowledge_, stop);
  });
}

Result<Code> TraceSession::code(Instant instant, const Window& window, const Stop& stop) {
  return ask<Code>(stop, [&](RealReplay& replay) {
    return code_around(replay, instant, window, knowledge_, stop);
  });
}

Result<Code> TraceSession::code(FunctionNumber function, const Window& window, const Stop& stop) {
  return ask<Code>(stop, [&](RealReplay& replay) {
    return code_of(replay, function, window, knowledge_, stop);
  });
}

Result<std::shared_ptr<const WindowCalls>> TraceSession::calls(const Window& window,
                                                               const Stop& stop) {
  const auto known = reading_.known();
  {
    const std::scoped_lock lock(calls_mutex_);
    for (const KeptCalls& kept : kept_calls_) {
      const Window& of = kept.window;
      if (kept.known == known && of.from == window.from && of.to == window.to &&
          of.tracks == window.tracks)
        return kept.calls;
    }
  }
  auto made = make_calls(known, window, stop);
  if (!made) return std::unexpected(std::move(made).error());
  auto calls = std::make_shared<const WindowCalls>(*std::move(made));
  const std::scoped_lock lock(calls_mutex_);
  if (kept_calls_.size() == kMostKeptCalls) kept_calls_.pop_front();
  kept_calls_.push_back({.known = known, .window = window, .calls = calls});
  return calls;
}

/// The whole capture was counted when it was read.
Result<WindowCalls> TraceSession::make_calls(const std::shared_ptr<const Known>& known,
                                             const Window& window, const Stop& stop) {
  const bool is_whole = window.tracks.empty() && known->complete && window.from <= 0 &&
                        window.to >= known->overview.length();
  if (!is_whole || known->tree == nullptr) {
    return ask<WindowCalls>(
        stop, [&](RealReplay& replay) { return calls_of(replay, window, knowledge_, stop); });
  }
  WindowCalls calls{.tree = *known->tree, .exact = true, .has_cycles = reading_.axis().has_cycles};
  for (const stacks::Quality& quality : known->quality) {
    calls.calls += quality.calls + quality.tail_calls;
    calls.exceptions += quality.exceptions;
    calls.gaps += quality.gaps;
  }
  return calls;
}

Result<Functions> TraceSession::functions(const Window& window, std::uint32_t limit,
                                          const Stop& stop) {
  const auto calls = this->calls(window, stop);
  if (!calls) return std::unexpected(calls.error());
  return functions_of(**calls, limit, knowledge_);
}

Result<Neighbours> TraceSession::neighbours(FunctionNumber function, const Window& window,
                                            const Stop& stop) {
  const auto calls = this->calls(window, stop);
  if (!calls) return std::unexpected(calls.error());
  return neighbours_of(**calls, function, knowledge_);
}

Result<Flame> TraceSession::flame(const Window& window, std::uint32_t limit, const Stop& stop) {
  const auto calls = this->calls(window, stop);
  if (!calls) return std::unexpected(calls.error());
  return flame_of(**calls, limit, knowledge_);
}

Result<Measure> TraceSession::measure(const Window& window, const Stop& stop) {
  const auto calls = this->calls(window, stop);
  if (!calls) return std::unexpected(calls.error());
  Measure measure = measure_of(**calls);
  const auto messages = messages_in(window, knowledge_, stop);
  if (!messages) return std::unexpected(messages.error());
  measure.messages = messages->value_or(0);
  return measure;
}

Result<Hits> TraceSession::find(const Query& query, const Stop& stop) {
  return ask<Hits>(stop,
                   [&](RealReplay& replay) { return find_hits(replay, query, knowledge_, stop); });
}

Result<std::vector<HealthFinding>> TraceSession::health(const Stop& stop) {
  const auto problems = problems_.get(options_.problems, stop);
  if (!problems) return std::unexpected(problems.error());
  std::vector<HealthFinding> findings;
  if (const std::string failure = reading_.failure(); !failure.empty())
    findings.push_back(reading_failed(failure, facts().axis.length));
  for (const std::string& problem : *problems) findings.push_back(finding_of(problem));
  const std::vector<Track> tracks = this->tracks();
  std::ranges::move(places_of_loss(reading_.known()->overview, tracks),
                    std::back_inserter(findings));
  return findings;
}

}  // namespace waymark::view
