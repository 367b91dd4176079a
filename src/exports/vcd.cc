#include "waymark/exports/vcd.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "waymark/base/plural.h"
#include "waymark/element/dwt.h"

namespace waymark::exports {
namespace {

using Role = VcdVariable::Role;

/// 0: an event, which has no value.
unsigned bits_of(Role role) {
  switch (role) {
    case Role::kTraced:
    case Role::kAsleep:
      return 1;
    case Role::kException:
      return 16;
    case Role::kContext:
    case Role::kPort:
    case Role::kPc:
    case Role::kData:
    case Role::kDataPc:
    case Role::kDataAddress:
      return 32;
    case Role::kSoftware:
      return 64;
    default:
      return 0;
  }
}

std::string_view counter_name(std::uint32_t bit) {
  switch (bit) {
    case kDwtCpi:
      return "cpi";
    case kDwtException:
      return "exc";
    case kDwtSleep:
      return "sleep";
    case kDwtLsu:
      return "lsu";
    case kDwtFold:
      return "fold";
    default:
      return "cyc";
  }
}

std::string name_of(const VcdVariable& variable) {
  const std::uint32_t number = variable.number;
  const auto software = [&](std::string_view rest) {
    return fmt::format("m{}_c{}{}", number, variable.channel, rest);
  };
  switch (variable.role) {
    case Role::kTraced:
      return "traced";
    case Role::kException:
      return "exception";
    case Role::kContext:
      return "context_id";
    case Role::kEvent:
      return fmt::format("event_{}", number);
    case Role::kTrigger:
      return "trigger";
    case Role::kPort:
      return fmt::format("port_{}", number);
    case Role::kPortWrite:
      return fmt::format("port_{}_write", number);
    case Role::kPc:
      return "pc_sample";
    case Role::kAsleep:
      return "asleep";
    case Role::kData:
      return fmt::format("data_{}", number);
    case Role::kDataRead:
      return fmt::format("data_{}_read", number);
    case Role::kDataWrite:
      return fmt::format("data_{}_write", number);
    case Role::kDataPc:
      return fmt::format("data_{}_pc", number);
    case Role::kDataAddress:
      return fmt::format("data_{}_address", number);
    case Role::kDataMatch:
      return fmt::format("data_{}_match", number);
    case Role::kCounter:
      return fmt::format("{}_wrap", counter_name(number));
    case Role::kPmuOverflow:
      return fmt::format("pmu_{}_overflow", number);
    case Role::kSoftware:
      return software("");
    case Role::kSoftwareWrite:
      return software("_write");
    case Role::kFlag:
      return software("_flag");
  }
  return {};
}

/// The variables that an event changes, and whether their values come from it.
template <class Take>
void for_each_variable(const Event& event, Take&& take) {
  const auto is = [&](Role role, bool numbered = false) {
    take(
        VcdVariable{event.source, role, numbered ? event.number : 0, numbered ? event.channel : 0});
  };
  switch (event.kind) {
    case EventKind::kGap:
      is(Role::kTraced);
      is(Role::kException);
      return;
    case EventKind::kTraceOn:
      return is(Role::kTraced);
    case EventKind::kExceptionEntered:
    case EventKind::kExceptionExited:
    case EventKind::kExceptionReturned:
      return is(Role::kException);
    case EventKind::kContext:
      return is(Role::kContext);
    case EventKind::kEvent:
      return is(Role::kEvent, true);
    case EventKind::kTrigger:
      return is(Role::kTrigger);
    case EventKind::kPort:
      is(Role::kPort, true);
      return is(Role::kPortWrite, true);
    case EventKind::kPcSample:
      is(Role::kPc);
      return is(Role::kAsleep);
    case EventKind::kSleeping:
      return is(Role::kAsleep);
    case EventKind::kDataValue:
      is(Role::kData, true);
      return is(event.write ? Role::kDataWrite : Role::kDataRead, true);
    case EventKind::kDataPc:
      return is(Role::kDataPc, true);
    case EventKind::kDataAddress:
      return is(Role::kDataAddress, true);
    case EventKind::kDataMatch:
      return is(Role::kDataMatch, true);
    case EventKind::kCounter:
      return is(Role::kCounter, true);
    case EventKind::kPmuOverflow:
      return is(Role::kPmuOverflow, true);
    case EventKind::kSoftware:
      is(Role::kSoftware, true);
      return is(Role::kSoftwareWrite, true);
    case EventKind::kFlag:
      return is(Role::kFlag, true);
    case EventKind::kMessage:
      return;  // Wave viewers show values, not text.
  }
}

/// A gap alone does not show that there are exceptions, and every source begins with one.
bool shows_variable(const Event& event) { return event.kind != EventKind::kGap; }

/// As readers take it: letters, digits and underscores.
std::string identifier(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    result += plain ? c : '_';
  }
  return result;
}

/// The n-th shortest name of a variable: printable characters without the blank.
std::string short_name(std::size_t n) {
  constexpr std::size_t kCharacters = '~' - '!' + 1;
  std::string name;
  do {
    name += static_cast<char>('!' + n % kCharacters);
    n /= kCharacters;
  } while (n-- != 0);
  return name;
}

}  // namespace

struct VcdWriter::Change {
  VcdVariable variable;
  std::optional<std::uint64_t> value;  ///< Nothing: 'x', not known.
  bool none = false;                   ///< 'z': there is nothing.
};

void VcdSurvey::add(std::span<const Element> elements) {
  for (const Element& element : elements) {
    time_.add(element);
    events_.clear();
    events_of(element, events_);
    for (const Event& event : events_) {
      if (!shows_variable(event)) continue;
      time_.add_source(event.source);
      for_each_variable(event, [this](const VcdVariable& variable) {
        if (variables_.size() < kMostVariables) {
          variables_.insert(variable);
        } else if (!variables_.contains(variable)) {
          ++left_out_;
        }
      });
    }
  }
}

VcdWriter::VcdWriter(const VcdSurvey& survey, std::span<const EventSource> sources, TextBuffer& out)
    : time_(survey.time()),
      out_(out),
      clock_(time_, [this](const Element& element, std::uint64_t time) { give(element, time); }) {
  for (const VcdVariable& variable : survey.variables())
    names_.emplace(variable, short_name(names_.size()));
  write_header(sources);
}

void VcdWriter::write_header(std::span<const EventSource> sources) {
  out_.put("$version waymark $end\n$comment Times are ");
  out_.put(words_of(time_));
  out_.put(". $end\n$timescale 1 ns $end\n");
  std::optional<TraceId> scope;
  for (const auto& [variable, name] : names_) {
    if (scope != variable.source) {
      if (scope) out_.put("$upscope $end\n");
      scope = variable.source;
      const auto source = std::ranges::find(sources, variable.source, &EventSource::id);
      const std::string given = source == sources.end() ? "" : identifier(source->name);
      out_.put(fmt::format("$scope module {}_{:02x} $end\n", given.empty() ? "source" : given,
                           variable.source));
    }
    const unsigned bits = bits_of(variable.role);
    const std::string_view type = bits == 0 ? "event" : bits == 1 ? "wire" : "reg";
    out_.put(
        fmt::format("$var {} {} {} {} $end\n", type, std::max(bits, 1U), name, name_of(variable)));
  }
  if (scope) out_.put("$upscope $end\n");
  out_.put("$enddefinitions $end\n");
}

void VcdWriter::set_time(std::uint64_t time) {
  if (begun_ && time <= now_) return;
  now_ = time;
  out_.put('#');
  out_.dec(now_);
  out_.put('\n');
  if (begun_) return;
  begun_ = true;
  out_.put("$dumpvars\n");
  for (const auto& [variable, name] : names_)
    if (bits_of(variable.role) != 0) write({.variable = variable, .value = {}});
  out_.put("$end\n");
}

void VcdWriter::write(const Change& change) {
  const auto name = names_.find(change.variable);
  if (name == names_.end()) return;
  const unsigned bits = bits_of(change.variable.role);
  if (bits > 1) out_.put('b');
  if (bits == 0) {
    out_.put('1');
  } else if (!change.value) {
    out_.put(change.none ? 'z' : 'x');
  } else {
    unsigned digit = bits;
    while (digit > 1 && (*change.value >> (digit - 1) & 1) == 0) --digit;
    while (digit-- != 0) out_.put((*change.value >> digit & 1) != 0 ? '1' : '0');
  }
  if (bits > 1) out_.put(' ');
  out_.put(name->second);
  out_.put('\n');
}

void VcdWriter::changes_of(const Event& event, std::vector<Change>& out) {
  count::ExceptionStack& exceptions = exceptions_[event.source];
  using Stack = count::ExceptionStack;
  apply(exceptions, event, {}, [](const Stack::Handled&, const Stack::Moment&) {});
  for_each_variable(event, [&](const VcdVariable& variable) {
    Change change{.variable = variable, .value = event.value};
    switch (variable.role) {
      case Role::kTraced:
        change.value = event.kind == EventKind::kTraceOn ? 1 : 0;
        break;
      case Role::kException:
        change.value = exceptions.current();
        change.none = event.kind != EventKind::kGap;
        break;
      case Role::kAsleep:
        change.value = event.kind == EventKind::kSleeping ? 1 : 0;
        break;
      default:
        break;
    }
    out.push_back(change);
  });
}

void VcdWriter::give(const Element& element, std::uint64_t time) {
  events_.clear();
  events_of(element, events_);
  std::vector<Change> changes;
  for (const Event& event : events_) changes_of(event, changes);
  std::erase_if(changes,
                [this](const Change& change) { return !names_.contains(change.variable); });
  if (changes.empty()) return;
  set_time(time);
  for (const Change& change : changes) write(change);
}

void VcdWriter::add(const merge::TimedRecord& record) {
  if (clock_.add(record)) return;
  events_.clear();
  events_of(record.element, events_);
  timeless_ += static_cast<std::uint64_t>(std::ranges::count_if(events_, shows_variable));
}

void VcdWriter::finish() {
  clock_.finish();
  if (!begun_) set_time(0);
}

namespace {

class Vcd final : public EventWriter {
 public:
  void survey(std::span<const Element> elements) override { survey_.add(elements); }
  [[nodiscard]] bool has_events() const override {
    return !std::ranges::all_of(survey_.variables(), [](const VcdVariable& variable) {
      return variable.role == Role::kTraced;
    });
  }
  [[nodiscard]] bool wants_times() const override {
    return survey_.time() == EventTime::kTimestamps;
  }
  void begin(std::span<const EventSource> sources, TextBuffer& out) override {
    writer_.emplace(survey_, sources, out);
  }
  void add(const merge::TimedRecord& record) override { writer_->add(record); }
  void add(std::span<const Element> elements) override { writer_->add(elements); }
  void finish() override { writer_->finish(); }
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    if (survey_.time() == EventTime::kPositions)
      notes.emplace_back(
          "The trace has no timestamps: times are positions in the trace, in bytes.");
    if (survey_.left_out() != 0) {
      notes.push_back(fmt::format("{} left out: a dump has at most {} variables here.",
                                  counted(survey_.left_out(), "value is", "values are"),
                                  VcdSurvey::kMostVariables));
    }
    if (writer_ && writer_->timeless() != 0) {
      notes.push_back(fmt::format("{} left out, because their sources have no timestamps.",
                                  counted(writer_->timeless(), "event is", "events are")));
    }
    return notes;
  }

 private:
  VcdSurvey survey_;
  std::optional<VcdWriter> writer_;
};

}  // namespace

std::unique_ptr<EventWriter> make_vcd() { return std::make_unique<Vcd>(); }

}  // namespace waymark::exports
