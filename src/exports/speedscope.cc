// The JSON of speedscope: a profile for each track.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "waymark/exports/timelines.h"
#include "waymark/outputs/json.h"

namespace waymark::exports {
namespace {

/// speedscope reads the whole file, so more would be of no use.
constexpr std::size_t kMostEvents = std::size_t{1} << 23;

class SpeedscopeWriter final : public TimelineWriter {
 public:
  explicit SpeedscopeWriter(TextBuffer& out) : out_(out) {}

  void begin(const TimelineUnit& unit) override { unit_ = unit; }
  TimelineTrack add_track(std::string_view process, std::string_view name) override {
    tracks_.push_back({.name = fmt::format("{}, {}", process, name)});
    return static_cast<TimelineTrack>(tracks_.size() - 1);
  }
  TimelineName add_name(std::string_view name) override {
    names_.emplace_back(name);
    return static_cast<TimelineName>(names_.size() - 1);
  }
  void open_slice(TimelineTrack track, std::uint64_t time, TimelineName name) override {
    Track& own = tracks_[track];
    if (held_ >= kMostEvents || own.left_out != 0) {
      ++own.left_out;
      is_cut_ = true;
      return;
    }
    own.open.push_back(name);
    add(own, time, name, true);
  }
  void close_slice(TimelineTrack track, std::uint64_t time) override {
    Track& own = tracks_[track];
    if (own.left_out != 0) {
      --own.left_out;
      return;
    }
    if (own.open.empty()) return;
    add(own, time, own.open.back(), false);
    own.open.pop_back();
  }
  // The format has neither.
  void instant(TimelineTrack, std::uint64_t, TimelineName) override {}
  void counter(TimelineTrack, std::uint64_t, std::int64_t) override {}

  void finish() override {
    out_.put(
        R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"waymark","name":)");
    outputs::write_json_string(out_,
                               unit_.nanoseconds ? "nanoseconds" : "The unit is " + unit_.words);
    out_.put(R"(,"activeProfileIndex":0,"shared":{"frames":[)");
    for (std::size_t i = 0; i < names_.size(); ++i) {
      out_.put(i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
      outputs::write_json_string(out_, names_[i]);
      out_.put('}');
    }
    out_.put("\n]},\"profiles\":[");
    bool is_first = true;
    for (Track& track : tracks_) {
      if (track.events.empty()) continue;
      out_.put(is_first ? "\n" : ",\n");
      is_first = false;
      write(track);
    }
    out_.put("\n]}\n");
  }
  [[nodiscard]] bool is_cut() const override { return is_cut_; }

 private:
  struct Event {
    std::uint64_t time;
    std::uint32_t name;
    bool opens;
  };
  struct Track {
    std::string name{};
    std::vector<Event> events{};
    std::vector<TimelineName> open{};
    std::uint64_t left_out = 0;  ///< Open slices that are not written.
  };

  void add(Track& track, std::uint64_t time, TimelineName name, bool opens) {
    ++held_;
    track.events.push_back({.time = time, .name = name, .opens = opens});
  }

  void write(Track& track) {
    while (!track.open.empty()) {
      add(track, track.events.back().time, track.open.back(), false);
      track.open.pop_back();
    }
    // JavaScript's numbers are exact below 2^53 only.
    constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
    const std::uint64_t base = track.events.back().time < kExact ? 0 : track.events.front().time;
    out_.put(R"({"type":"evented","name":)");
    outputs::write_json_string(out_, track.name);
    out_.put(fmt::format(R"(,"unit":"{}","startValue":{},"endValue":{},"events":[)",
                         unit_.nanoseconds ? "nanoseconds" : "none",
                         track.events.front().time - base, track.events.back().time - base));
    bool is_first = true;
    for (const Event& event : track.events) {
      out_.put(is_first ? "\n{\"type\":\"" : ",\n{\"type\":\"");
      is_first = false;
      out_.put(event.opens ? 'O' : 'C');
      out_.put(R"(","frame":)");
      out_.dec(event.name);
      out_.put(",\"at\":");
      out_.dec(event.time - base);
      out_.put('}');
    }
    out_.put("]}");
  }

  TextBuffer& out_;
  TimelineUnit unit_;
  std::vector<std::string> names_;
  std::vector<Track> tracks_;
  std::size_t held_ = 0;
  bool is_cut_ = false;
};

}  // namespace

std::unique_ptr<TimelineWriter> make_speedscope(TextBuffer& out) {
  return std::make_unique<SpeedscopeWriter>(out);
}

}  // namespace waymark::exports
