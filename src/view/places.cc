#include "places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "element_words.h"
#include "function_at.h"
#include "line_runs.h"
#include "range_walk.h"
#include "stack_watch.h"
#include "waymark/base/cut_text.h"

namespace waymark::view {
namespace {

constexpr std::size_t kLongestEvent = 1024;

/// A range with instructions that are asked for.
struct Passed {
  Element range{};
  std::uint64_t n = 0;       ///< The number of its first instruction.
  std::uint64_t target = 0;  ///< Where its last branch went; 0: to the next instruction.
  std::string event{};       ///< What happened before it.
  FunctionNumber frame = 0;  ///< What the top frame of its stack is.
  TrackNumber track = 0;
};

struct OpenFrame {
  FunctionNumber function = 0;
  std::uint64_t call_address = 0;
};

/// Collects the ranges of one source with the instructions from `first` to `last`.
class Collector {
 public:
  Collector(Replay& replay, const Knowledge& knowledge, Instant instant, std::uint64_t first,
            std::uint64_t last)
      : replay_(replay),
        knowledge_(knowledge),
        instant_(instant),
        first_(first),
        last_(last),
        run_(replay),
        numbers_(*knowledge.functions) {}

  Result<void> run(const Stop& stop) {
    return run_.run(
        {.from = 0,
         .from_instant = Instant{.source = instant_.source, .n = first_},
         .to = {},
         .sink = nullptr},
        [this](const Element& element, std::uint64_t n) {
          return element.trace_id != instant_.source || take(element, n);
        },
        stop);
  }

  [[nodiscard]] const std::vector<Passed>& ranges() const { return ranges_; }
  /// The stack of the instant, the innermost frame first.
  [[nodiscard]] const std::vector<OpenFrame>& stack() const { return stack_; }

 private:
  bool take(const Element& element, std::uint64_t n) {
    if (!is_range(element)) {
      pass_other(element);
      return true;
    }
    if (std::exchange(wants_target_, false)) set_target(element.start);
    if (n > last_) return false;
    if (n + element.count > first_) add(element, n);
    event_.clear();
    return true;
  }

  void pass_other(const Element& element) {
    if (std::string event = event_words(element, knowledge_); !event.empty()) {
      if (!event_.empty()) event_ += "; ";
      event_ += cut_text(event, kLongestEvent);
      if (event_.size() > kLongestEvent) event_.resize(kLongestEvent);
    }
    switch (element.kind) {
      case ElementKind::kException:
        if (std::exchange(wants_target_, false) && (element.flags & kElementReturnAddress) != 0)
          set_target(element.end);
        break;
      case ElementKind::kTimestamp:
      case ElementKind::kCycleCount:
      case ElementKind::kPeContext:
      case ElementKind::kEvent:
      case ElementKind::kExceptionReturn:
        break;
      default:
        wants_target_ = false;
        break;
    }
  }

  void set_target(std::uint64_t target) {
    if (!ranges_.empty() && target != ranges_.back().range.end) ranges_.back().target = target;
  }

  void add(const Element& element, std::uint64_t n) {
    Passed passed{.range = element, .n = n, .event = std::move(event_)};
    if (StackWatch::Stack* const stack = run_.watch().running(element.trace_id)) {
      if (knowledge_.track) passed.track = knowledge_.track(stack->source, stack->thread);
      if (!stack->frames.empty())
        passed.frame = numbers_.number(replay_.engine().tree(), stack->frames.back().code);
      if (instant_.n >= n && instant_.n - n < element.count) copy_stack();
    }
    ranges_.push_back(std::move(passed));
    wants_target_ = true;
  }

  void copy_stack() {
    stack_.clear();
    const std::vector<stacks::OpenFrame> frames = replay_.engine().stack(instant_.source);
    for (std::size_t i = frames.size(); i-- > 0 && stack_.size() < kMostFrames;)
      stack_.push_back({.function = numbers_.number(replay_.engine().tree(), frames[i].code),
                        .call_address = frames[i].call_address});
  }

  Replay& replay_;
  const Knowledge& knowledge_;
  Instant instant_;
  std::uint64_t first_;
  std::uint64_t last_;
  SettledRun run_;
  FunctionNumbers numbers_;
  std::vector<Passed> ranges_;
  std::vector<OpenFrame> stack_;
  std::string event_;
  bool wants_target_ = false;
};

/// Makes places of instructions.
class PlaceMaker {
 public:
  PlaceMaker(const Replay& replay, const Knowledge& knowledge)
      : replay_(replay),
        knowledge_(knowledge),
        places_(knowledge.places),
        walk_(knowledge.read),
        lines_(knowledge.places, walk_),
        lease_(knowledge.instructions) {}

  /// Those of a range from one instruction up to another one.
  void make(const Passed& passed, std::uint32_t first, std::uint32_t after,
            std::vector<Place>& out) {
    outputs::Instructions* const texts = lease_.get();
    if (texts != nullptr) texts->begin(walk_.part(passed.range, first, passed.range.count));
    for (std::uint32_t i = first; i < after; ++i) {
      Place place = bare(passed, i);
      if (texts != nullptr && texts->next() && texts->address() == place.address)
        place.text = texts->text();
      used_.insert(place.function);
      out.push_back(std::move(place));
    }
  }

  [[nodiscard]] std::set<FunctionNumber>& used() { return used_; }

  /// The frames of a place, with those of inlined functions.
  std::vector<StackEntry> stack(const Passed& passed, std::uint64_t address,
                                const std::vector<OpenFrame>& frames) {
    std::vector<StackEntry> entries;
    for (const OpenFrame& frame : frames) {
      put(passed.range, address, frame, entries);
      address = frame.call_address;
      if (entries.size() >= kMostFrames) break;
    }
    return entries;
  }

 private:
  Place bare(const Passed& passed, std::uint32_t number) {
    const Element& range = passed.range;
    Place place;
    place.instant = {.source = range.trace_id, .n = passed.n + number};
    place.at = replay_.axis(range.trace_id, place.instant.n);
    place.track = passed.track;
    place.address = walk_.address(range, number);
    place.isa = isa_words(range.isa);
    const bool is_last = number + 1 == range.count;
    const std::uint64_t end = is_last ? range.end : walk_.address(range, number + 1);
    place.bytes = bytes_of(range, place.address, end);
    const FunctionAt at = function_at(knowledge_, places_, range, place.address);
    place.function = at.known ? at.number : passed.frame;
    place.offset = at.offset;
    if (const LineId line = lines_.at(range, number); line != kNoLine) {
      place.file = lines_.line(line).file;
      place.line = lines_.line(line).number;
    }
    if (is_last && (range.last_type == isa::InstrType::kBranch ||
                    range.last_type == isa::InstrType::kIndirectBranch)) {
      place.taken = (range.flags & kElementExecuted) != 0;
    }
    if (is_last) place.target = passed.target;
    if (number == 0) place.event = passed.event;
    return place;
  }

  std::string bytes_of(const Element& range, std::uint64_t from, std::uint64_t to) {
    std::array<std::uint8_t, 16> scratch{};
    if (!knowledge_.read || to <= from || to - from > 8) return {};
    const Bytes bytes = knowledge_.read(range, from, scratch);
    if (bytes.size() < to - from) return {};
    std::string text;
    for (const std::uint8_t byte : bytes.first(in_memory(to - from)))
      text += fmt::format("{:02x}", byte);
    return text;
  }

  void put(const Element& element, std::uint64_t address, const OpenFrame& frame,
           std::vector<StackEntry>& entries) {
    const program::Place place =
        address != 0 && places_ ? places_(element, address) : program::Place();
    frames_.clear();
    if (place.program != nullptr) place.program->frames(place.address, frames_);
    for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
      const FunctionNumber number =
          knowledge_.functions->number({.kind = stacks::CodeKind::kInlined,
                                        .name = std::string(frames_[i].function),
                                        .program = place.program->path(),
                                        .source = place.program});
      used_.insert(number);
      entries.push_back(
          {.function = number, .file = std::string(frames_[i].file), .line = frames_[i].line});
    }
    used_.insert(frame.function);
    StackEntry entry{.function = frame.function, .call_address = frame.call_address};
    if (!frames_.empty()) {
      entry.file = frames_.back().file;
      entry.line = frames_.back().line;
    }
    entries.push_back(std::move(entry));
  }

  const Replay& replay_;
  const Knowledge& knowledge_;
  program::PlaceLookup places_;
  RangeWalk walk_;
  LineRuns lines_;
  outputs::InstructionPool::Lease lease_;
  std::set<FunctionNumber> used_;
  std::vector<program::Frame> frames_;
};

std::unexpected<Error> no_instruction(Instant instant) {
  return fail(
      ErrorCode::kNotFound,
      fmt::format("The source 0x{:02x} has not executed instruction {} in the trace read so far.",
                  instant.source, instant.n));
}

}  // namespace

Result<PlaceAnswer> place_of(Replay& replay, Instant instant, const Knowledge& knowledge,
                             const Stop& stop) {
  Collector collector(replay, knowledge, instant, instant.n, instant.n);
  WAYMARK_TRY(collector.run(stop));
  if (collector.ranges().empty()) return no_instruction(instant);
  const Passed& passed = collector.ranges().front();
  PlaceMaker maker(replay, knowledge);
  std::vector<Place> places;
  const auto number = static_cast<std::uint32_t>(instant.n - passed.n);
  maker.make(passed, number, number + 1, places);
  PlaceAnswer answer;
  answer.place = std::move(places.front());
  answer.stack = maker.stack(passed, answer.place.address, collector.stack());
  answer.trace_index = passed.range.index;
  answer.context = context_words(passed.range);
  answer.functions = knowledge.functions->names(maker.used());
  return answer;
}

Result<PlacesAnswer> places_around(Replay& replay, Instant instant, std::uint32_t before,
                                   std::uint32_t after, const Knowledge& knowledge,
                                   const Stop& stop) {
  if (before > kMostAround || after > kMostAround) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("At most {} instructions before a place, and after it, can be listed.",
                            kMostAround));
  }
  const std::uint64_t first = instant.n - std::min<std::uint64_t>(instant.n, before);
  const std::uint64_t last = instant.n + std::min<std::uint64_t>(after, ~instant.n);
  Collector collector(replay, knowledge, instant, first, last);
  WAYMARK_TRY(collector.run(stop));
  const auto has = [&](const Passed& passed) {
    return instant.n >= passed.n && instant.n - passed.n < passed.range.count;
  };
  if (std::ranges::none_of(collector.ranges(), has)) return no_instruction(instant);
  PlaceMaker maker(replay, knowledge);
  PlacesAnswer answer;
  for (const Passed& passed : collector.ranges()) {
    const std::uint64_t low = std::max(first, passed.n);
    const std::uint64_t high = std::min<std::uint64_t>(last - passed.n, passed.range.count - 1) + 1;
    maker.make(passed, static_cast<std::uint32_t>(low - passed.n), static_cast<std::uint32_t>(high),
               answer.places);
  }
  answer.functions = knowledge.functions->names(maker.used());
  return answer;
}

}  // namespace waymark::view
