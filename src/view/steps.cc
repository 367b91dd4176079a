#include "steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "line_runs.h"
#include "places.h"
#include "range_walk.h"
#include "stack_watch.h"
#include "step_stops.h"
#include "waymark/base/plural.h"

namespace waymark::view {
namespace {

/// Of steps that are made one after the other.
constexpr std::uint32_t kMostRelativeSteps = 100;

/// Where a step ends.
struct Target {
  std::uint64_t n = 0;
  std::string reason{};  ///< Why it does not go further; empty: it went all the way.
};

/// Whether the next place depends on the one before it.
bool is_relative(StepKind kind) {
  return kind == StepKind::kOver || kind == StepKind::kOut || kind == StepKind::kMessage;
}

class Stepper {
 public:
  Stepper(Replay& replay, Instant from, const Step& step, const Knowledge& knowledge,
          const Stop& stop)
      : replay_(replay),
        step_(step),
        knowledge_(knowledge),
        stop_(stop),
        walk_(knowledge.read),
        lines_(knowledge.places, walk_) {
    origin_.instant = from;
    step_.count = std::clamp(step_.count, 1U, kMostSteps);
    // These depend on the place that the step before reached.
    if (is_relative(step_.kind)) step_.count = 1;
  }

  Result<Target> run() {
    WAYMARK_TRY(find_origin());
    if (step_.kind == StepKind::kInstruction) return by_instruction();
    if (step_.kind == StepKind::kMessage) return by_message();
    if (step_.kind == StepKind::kOut && origin_.depth == 0)
      return Target{.n = origin_.instant.n, .reason = "The caller of this code is not known."};
    return step_.back ? back() : forward();
  }

 private:
  using Stops = std::deque<std::uint64_t>;

  [[nodiscard]] ReplayRange from_instruction(std::uint64_t n) const {
    return {.from = 0,
            .from_instant = Instant{.source = origin_.instant.source, .n = n},
            .to = {},
            .sink = nullptr};
  }

  Result<void> find_origin() {
    SettledRun run(replay_);
    bool found = false;
    const auto visit = [&](const Element& element, std::uint64_t n) {
      if (element.trace_id != origin_.instant.source || !is_range(element)) return true;
      if (!first_) first_ = n;
      if (origin_.instant.n < n) return false;
      if (origin_.instant.n - n >= element.count) return true;
      found = true;
      const auto number = static_cast<std::uint32_t>(origin_.instant.n - n);
      origin_.address = walk_.address(element, number);
      origin_.line = lines_.at(element, number);
      origin_.track = run.watch().running_track(element.trace_id);
      if (const auto* stack = run.watch().running(element.trace_id))
        origin_.depth = stack->frames.size();
      return false;
    };
    WAYMARK_TRY(run.run(from_instruction(origin_.instant.n), visit, stop_));
    if (found) {
      origin_.at = replay_.axis(origin_.instant.source, origin_.instant.n);
      return {};
    }
    return fail(
        ErrorCode::kNotFound,
        fmt::format("The source 0x{:02x} has not executed instruction {} in the trace read so far.",
                    origin_.instant.source, origin_.instant.n));
  }

  /// Gives the stops of the instructions up to `after`, from the keyframe before `n` on.  `visit`
  /// returns false: no more.  Nothing but the first instruction that was passed is returned.
  template <class Visit>
  Result<std::uint64_t> scan(std::uint64_t n, std::optional<std::uint64_t> after,
                             std::uint64_t most, const Visit& visit) {
    SettledRun run(replay_);
    StepStops stops(step_.kind, origin_, run.watch(), lines_, walk_);
    run.on_begin = [&](const Element& element) { stops.begin(element); };
    run.watch().on_entered = [&](stacks::TrackId track, std::uint64_t position, stacks::CodeId code,
                                 stacks::Opening opening) {
      const bool called =
          opening == stacks::Opening::kCall || opening == stacks::Opening::kTailCall;
      const bool is_exception =
          replay_.engine().tree().code(code).kind == stacks::CodeKind::kException;
      stops.enter(run.watch().stack(track).source, position, called && !is_exception);
    };
    std::optional<std::uint64_t> first;
    bool more = true;
    const auto pass = [&](const Element& element, std::uint64_t at) {
      if (element.trace_id == origin_.instant.source) {
        if (is_range(element)) {
          if (!first) first = at;
          if (after && at >= *after) return false;
        }
        stops.pass(element, at, [&](std::uint64_t found) {
          if (more && (!after || found < *after)) more = visit(found);
        });
      }
      if (!more) return false;
      limited_ = run.bytes() > most;
      return !limited_;
    };
    limited_ = false;
    WAYMARK_TRY(run.run(from_instruction(n), pass, stop_));
    passed_ += run.bytes();
    return first.value_or(n);
  }

  Result<Target> forward() {
    Target target{.n = origin_.instant.n};
    std::uint32_t left = step_.count;
    const std::uint64_t start = needs_lead() ? first_.value_or(0) : origin_.instant.n;
    const auto done =
        scan(start == 0 ? 0 : start - 1, {}, knowledge_.limits.search_bytes, [&](std::uint64_t n) {
          if (n <= origin_.instant.n) return true;
          target.n = n;
          return --left != 0;
        });
    if (!done) return std::unexpected(done.error());
    if (left != 0) target.reason = why_no_more();
    return target;
  }

  Result<Target> back() {
    Target target{.n = origin_.instant.n};
    // The own execution of the line is not another one.
    const bool skips_own = step_.kind == StepKind::kSameLine;
    const std::size_t wanted = step_.count + (skips_own ? 1U : 0U);
    // Stops before the origin, in ascending order, that are nearest to it.
    Stops nearest;
    std::uint64_t after = origin_.instant.n + (skips_own ? 1 : 0);
    for (;;) {
      Stops found;
      const auto visit = [&](std::uint64_t n) {
        found.push_back(n);
        if (found.size() > wanted) found.pop_front();
        return true;
      };
      const std::uint64_t begin = after == 0 ? 0 : after - 1;
      auto first = scan(begin, after, ~std::uint64_t{0}, visit);
      if (!first) return std::unexpected(std::move(first).error());
      if (needs_lead() && *first != 0) {
        found.clear();
        const std::uint64_t own = *first;
        const auto led = scan(own - 1, after, ~std::uint64_t{0},
                              [&](std::uint64_t n) { return n < own || visit(n); });
        if (!led) return std::unexpected(led.error());
      }
      nearest.insert(nearest.begin(), found.begin(), found.end());
      while (nearest.size() > wanted) nearest.pop_front();
      if (nearest.size() == wanted) break;
      if (*first == 0 || *first >= after) break;
      if (passed_ > knowledge_.limits.search_bytes) {
        limited_ = true;
        break;
      }
      after = *first;
    }
    if (skips_own && !nearest.empty()) nearest.pop_back();
    if (!nearest.empty()) target.n = nearest.front();
    if (nearest.size() < step_.count) target.reason = why_no_more();
    return target;
  }

  Result<Target> by_instruction() {
    const std::uint64_t n = origin_.instant.n;
    if (step_.back) {
      const std::uint64_t moved = std::min<std::uint64_t>(n, step_.count);
      return Target{.n = n - moved,
                    .reason = moved == step_.count ? "" : "This is the first instruction."};
    }
    Target target{.n = n};
    const std::uint64_t wanted = n + step_.count;
    SettledRun run(replay_);
    const auto visit = [&](const Element& element, std::uint64_t at) {
      if (element.trace_id != origin_.instant.source || !is_range(element)) return true;
      target.n = std::clamp(at + element.count - 1, target.n, wanted);
      return target.n != wanted;
    };
    WAYMARK_TRY(run.run(from_instruction(n), visit, stop_));
    if (target.n != wanted) target.reason = "This is the last instruction.";
    return target;
  }

  Result<Target> by_message();
  Result<std::optional<std::uint64_t>> instruction_at(double at);
  Result<std::vector<MessageAt>> messages_between(double from, double to);

  /// Whether a line or a frame is new is known only if the code before it is known too.
  [[nodiscard]] bool needs_lead() const {
    return step_.kind == StepKind::kSameLine || step_.kind == StepKind::kLine;
  }

  [[nodiscard]] std::string why_no_more() const {
    if (limited_) {
      return fmt::format("None was found within {} of trace, the limit of a step.",
                         counted(knowledge_.limits.search_bytes, "byte"));
    }
    const std::string_view side = step_.back ? "before" : "after";
    switch (step_.kind) {
      case StepKind::kLine:
        return fmt::format("No instruction of another source line is {} this one.", side);
      case StepKind::kOver:
      case StepKind::kOut:
        return fmt::format("No place where this step could end is {} this instruction.", side);
      case StepKind::kInto:
        return fmt::format("No call is {} this instruction.", side);
      case StepKind::kSameLine:
        return fmt::format("This line is not executed again {} this instruction.", side);
      case StepKind::kException:
        return fmt::format("No exception is {} this instruction.", side);
      case StepKind::kMessage:
        return fmt::format("No message is {} this instruction.", side);
      case StepKind::kInstruction:
        break;
    }
    return "There is no other instruction.";
  }

  Replay& replay_;
  Step step_;
  const Knowledge& knowledge_;
  const Stop& stop_;
  StepOrigin origin_{};
  std::optional<std::uint64_t> first_{};  ///< The first instruction after its keyframe.
  RangeWalk walk_;
  LineRuns lines_;
  bool limited_ = false;
  std::uint64_t passed_ = 0;  ///< Bytes of trace.
};

/// The instruction that the source executes when a message was sent.
Result<std::optional<std::uint64_t>> Stepper::instruction_at(double at) {
  WAYMARK_TRY(replay_.run(
      {.from = at, .from_instant = {}, .to = at, .sink = nullptr},
      [](const Element&, std::uint64_t) { return true; }, stop_));
  return replay_.last_at(origin_.instant.source, at);
}

/// All messages of a part of the axis.
Result<std::vector<MessageAt>> Stepper::messages_between(double from, double to) {
  std::vector<MessageAt> all;
  while (from <= to) {
    auto found = knowledge_.messages(from, to, stop_);
    if (!found) return std::unexpected(std::move(found).error());
    std::ranges::move(found->messages, std::back_inserter(all));
    if (found->complete || found->searched_to <= from) break;
    from = std::nextafter(found->searched_to, std::numeric_limits<double>::infinity());
  }
  return all;
}

Result<Target> Stepper::by_message() {
  Target target{.n = origin_.instant.n};
  if (!knowledge_.messages || !knowledge_.axis) {
    target.reason = "There are no messages in this trace.";
    return target;
  }
  const double length = knowledge_.axis().length;
  double at = origin_.at;
  double span = std::max(length / 1024, 1.0);
  while (step_.back ? at > 0 : at < length) {
    const double next = std::clamp(step_.back ? at - span : at + span, 0.0, length);
    auto messages = messages_between(std::min(at, next), std::max(at, next));
    if (!messages) return std::unexpected(std::move(messages).error());
    if (step_.back) std::ranges::reverse(*messages);
    for (const MessageAt& message : *messages) {
      const auto n = instruction_at(message.at);
      if (!n) return std::unexpected(n.error());
      if (!*n || (step_.back ? **n >= target.n : **n <= target.n)) continue;
      target.n = **n;
      return target;
    }
    at = next;
    span *= 4;
  }
  target.reason = why_no_more();
  return target;
}

}  // namespace

Result<PlaceAnswer> step_from(Replay& replay, Instant from, const Step& step,
                              const Knowledge& knowledge, const Stop& stop) {
  const std::uint32_t times =
      is_relative(step.kind) ? std::clamp(step.count, 1U, kMostRelativeSteps) : 1;
  Target target{.n = from.n};
  for (std::uint32_t i = 0; i < times && target.reason.empty(); ++i) {
    auto next =
        Stepper(replay, {.source = from.source, .n = target.n}, step, knowledge, stop).run();
    if (!next) return std::unexpected(std::move(next).error());
    target = *std::move(next);
  }
  auto answer = place_of(replay, {.source = from.source, .n = target.n}, knowledge, stop);
  if (!answer) return answer;
  answer->moved = target.n != from.n;
  answer->reason = target.reason;
  return answer;
}

}  // namespace waymark::view
