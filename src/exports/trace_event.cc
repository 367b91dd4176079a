// The JSON of Chrome's trace viewer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/wide.h"
#include "waymark/exports/timelines.h"
#include "waymark/outputs/json.h"

namespace waymark::exports {
namespace {

class TraceEventWriter final : public TimelineWriter {
 public:
  explicit TraceEventWriter(TextBuffer& out) : out_(out) {}

  void begin(const TimelineUnit& unit) override {
    nanoseconds_ = unit.nanoseconds;
    words_ = unit.words;
    out_.put(R"({"displayTimeUnit":"ns","traceEvents":[)");
  }

  TimelineTrack add_track(std::string_view process, std::string_view name) override {
    const auto id = static_cast<TimelineTrack>(tracks_.size());
    const auto known = std::ranges::find(processes_, process);
    const auto pid = static_cast<std::uint32_t>(known - processes_.begin()) + 1;
    if (known == processes_.end()) {
      processes_.emplace_back(process);
      metadata("process_name", pid, 0, process);
    }
    metadata("thread_name", pid, id + 1, name);
    tracks_.push_back({.pid = pid});
    return id;
  }

  TimelineName add_name(std::string_view name) override {
    TextBuffer quoted;
    outputs::write_json_string(quoted, name);
    names_.emplace_back(quoted.view());
    return static_cast<TimelineName>(names_.size() - 1);
  }

  void open_slice(TimelineTrack track, std::uint64_t time, TimelineName name) override {
    tracks_[track].open.push_back(name);
    event('B', track, time, name);
    out_.put(R"(,"cat":"function"})");
  }
  void close_slice(TimelineTrack track, std::uint64_t time) override {
    if (tracks_[track].open.empty()) return;
    event('E', track, time, tracks_[track].open.back());
    out_.put('}');
    tracks_[track].open.pop_back();
  }
  void instant(TimelineTrack track, std::uint64_t time, TimelineName name) override {
    event('i', track, time, name);
    out_.put(R"(,"s":"t"})");
  }
  void counter(TimelineTrack track, std::uint64_t time, std::int64_t value) override {
    separate();
    out_.put(fmt::format(R"({{"ph":"C","pid":{},"tid":{},"ts":)", tracks_[track].pid, track + 1));
    tracks_[track].last = time;
    put_time(Wide{time} * Wide{kParts});
    out_.put(fmt::format(R"(,"name":"{}","args":{{"value":{}}}}})", track, value));
  }
  void finish() override {
    for (TimelineTrack track = 0; track < tracks_.size(); ++track)
      while (!tracks_[track].open.empty()) close_slice(track, tracks_[track].last);
    out_.put("\n],\"otherData\":{\"creator\":\"waymark\"");
    if (!nanoseconds_) {
      out_.put(",\"one microsecond is\":");
      outputs::write_json_string(out_, "one of the " + words_);
    }
    out_.put("}}\n");
  }

 private:
  struct Track {
    std::uint32_t pid = 0;
    std::uint64_t last = 0;
    Wide next = 0;  ///< The earliest time of the next event.
    std::vector<TimelineName> open{};
  };

  void separate() {
    out_.put(is_first_ ? "\n" : ",\n");
    is_first_ = false;
  }

  void metadata(std::string_view what, std::uint32_t pid, std::uint32_t tid,
                std::string_view name) {
    separate();
    out_.put(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":)", pid, tid,
                         what));
    outputs::write_json_string(out_, name);
    out_.put("}}");
  }

  /// In microseconds.  `parts`: in kParts of the unit.
  void put_time(Wide parts) {
    const std::uint64_t base = nanoseconds_ ? 1000 : 1;
    const std::uint64_t all = base * kParts;
    const auto whole = static_cast<std::uint64_t>(parts / Wide{all});
    auto rest = static_cast<std::uint64_t>(parts - Wide{whole} * Wide{all});
    out_.dec(whole);
    if (rest == 0) return;
    out_.put('.');
    for (std::uint64_t digit = all / 10; rest != 0; rest %= digit, digit /= 10)
      out_.put(static_cast<char>('0' + rest / digit));
  }

  /// Readers sort by time, and some take an end before a begin of the same time.  So no two times
  /// of a track are equal, also as the `double` that readers make of them.
  Wide next_time(Track& track, std::uint64_t time) {
    const double base = nanoseconds_ ? 1000 : 1;
    const double shown = static_cast<double>(time) / base;
    const double least = std::nextafter(shown, std::numeric_limits<double>::max()) - shown;
    const auto step = static_cast<std::uint64_t>(std::ceil(2 * least * base * kParts));
    track.last = time;
    track.next = std::max(Wide{time} * Wide{kParts}, track.next);
    return std::exchange(track.next, track.next + Wide{std::max<std::uint64_t>(step, 1)});
  }

  void event(char kind, TimelineTrack track, std::uint64_t time, TimelineName name) {
    separate();
    out_.put(R"({"ph":")");
    out_.put(kind);
    out_.put(R"(","pid":)");
    out_.dec(tracks_[track].pid);
    out_.put(",\"tid\":");
    out_.dec(track + 1);
    out_.put(",\"ts\":");
    put_time(next_time(tracks_[track], time));
    out_.put(",\"name\":");
    out_.put(names_[name]);
  }

  static constexpr std::uint64_t kParts = 10'000;

  TextBuffer& out_;
  std::string words_;  ///< TimelineUnit::words
  bool nanoseconds_ = false;
  bool is_first_ = true;
  std::vector<std::string> processes_;
  std::vector<Track> tracks_;
  std::vector<std::string> names_;  ///< Quoted.
};

}  // namespace

std::unique_ptr<TimelineWriter> make_trace_event(TextBuffer& out) {
  return std::make_unique<TraceEventWriter>(out);
}

}  // namespace waymark::exports
