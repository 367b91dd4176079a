// The protobuf of Perfetto.
#include <algorithm>
#include <string>
#include <vector>

#include "waymark/exports/protobuf.h"
#include "waymark/exports/timelines.h"

namespace waymark::exports {
namespace {

// Fields and values of trace_packet.proto and the messages in it.
namespace packet {
constexpr unsigned kTimestamp = 8;
constexpr unsigned kSequence = 10;
constexpr unsigned kTrackEvent = 11;
constexpr unsigned kInternedData = 12;
constexpr unsigned kSequenceFlags = 13;
constexpr unsigned kTrackDescriptor = 60;
constexpr std::uint64_t kCleared = 1;
constexpr std::uint64_t kNeedsState = 2;
}  // namespace packet
namespace track {
constexpr unsigned kUuid = 1;
constexpr unsigned kName = 2;
constexpr unsigned kProcess = 3;
constexpr unsigned kParent = 5;
constexpr unsigned kCounter = 8;
}  // namespace track
namespace event {
constexpr unsigned kType = 9;
constexpr unsigned kNameId = 10;
constexpr unsigned kTrack = 11;
constexpr unsigned kCounterValue = 30;
constexpr std::uint64_t kBegin = 1;
constexpr std::uint64_t kEnd = 2;
constexpr std::uint64_t kInstant = 3;
constexpr std::uint64_t kCounter = 4;
}  // namespace event

/// Each track is a sequence of packets with its own names.
class PerfettoWriter final : public TimelineWriter {
 public:
  explicit PerfettoWriter(TextBuffer& out) : out_(out) {}

  void begin(const TimelineUnit& unit) override {
    if (!unit.nanoseconds) unit_ = " (1 ns is 1 of the " + unit.words + ")";
  }

  TimelineTrack add_track(std::string_view process, std::string_view name) override {
    const auto known = std::ranges::find(processes_, process);
    const auto pid = static_cast<std::uint64_t>(known - processes_.begin()) + 1;
    if (known == processes_.end()) {
      processes_.emplace_back(process);
      ProtobufMessage of_process;
      of_process.number(1, pid);
      of_process.text(6, std::string(process) + unit_);
      ProtobufMessage descriptor;
      descriptor.number(track::kUuid, process_uuid(pid));
      descriptor.message(track::kProcess, of_process);
      describe(descriptor);
    }
    const auto id = static_cast<TimelineTrack>(tracks_.size());
    tracks_.push_back({.parent = process_uuid(pid), .name = std::string(name)});
    return id;
  }

  TimelineName add_name(std::string_view name) override {
    names_.emplace_back(name);
    return static_cast<TimelineName>(names_.size() - 1);
  }

  void open_slice(TimelineTrack at, std::uint64_t time, TimelineName name) override {
    ++tracks_[at].open;
    named(at, time, event::kBegin, name);
  }
  void close_slice(TimelineTrack at, std::uint64_t time) override {
    if (tracks_[at].open == 0) return;
    --tracks_[at].open;
    tracks_[at].last = time;
    event_.clear();
    event_.number(event::kType, event::kEnd);
    event_.number(event::kTrack, uuid(at));
    write(at, time, {});
  }
  void instant(TimelineTrack at, std::uint64_t time, TimelineName name) override {
    named(at, time, event::kInstant, name);
  }
  void counter(TimelineTrack at, std::uint64_t time, std::int64_t value) override {
    begin_track(at, true);
    event_.clear();
    event_.number(event::kType, event::kCounter);
    event_.number(event::kTrack, uuid(at));
    event_.number(event::kCounterValue, static_cast<std::uint64_t>(value));
    write(at, time, {});
  }
  void finish() override {
    for (TimelineTrack at = 0; at < tracks_.size(); ++at)
      while (tracks_[at].open != 0) close_slice(at, tracks_[at].last);
  }

 private:
  struct Track {
    std::uint64_t parent = 0;
    std::string name{};
    bool begun = false;
    std::uint64_t open = 0;
    std::uint64_t last = 0;
    std::vector<bool> is_named{};  ///< By name.
  };

  // Processes and tracks have numbers of their own.
  static std::uint64_t process_uuid(std::uint64_t pid) { return 2 * pid; }
  static std::uint64_t uuid(TimelineTrack at) { return 2 * std::uint64_t{at} + 1; }
  static std::uint64_t sequence(TimelineTrack at) { return std::uint64_t{at} + 2; }

  void put(const ProtobufMessage& packet) {
    whole_.clear();
    whole_.message(1, packet);
    out_.put(whole_.bytes());
  }

  void describe(const ProtobufMessage& descriptor) {
    ProtobufMessage packet;
    packet.message(packet::kTrackDescriptor, descriptor);
    packet.number(packet::kSequence, 1);
    put(packet);
  }

  /// The descriptor comes with the first event, when it is known whether it is a counter.
  void begin_track(TimelineTrack at, bool counts) {
    Track& own = tracks_[at];
    if (own.begun) return;
    own.begun = true;
    ProtobufMessage descriptor;
    descriptor.number(track::kUuid, uuid(at));
    descriptor.text(track::kName, own.name);
    descriptor.number(track::kParent, own.parent);
    if (counts) descriptor.message(track::kCounter, {});
    ProtobufMessage packet;
    packet.message(packet::kTrackDescriptor, descriptor);
    packet.number(packet::kSequence, sequence(at));
    packet.number(packet::kSequenceFlags, packet::kCleared);
    put(packet);
  }

  void named(TimelineTrack at, std::uint64_t time, std::uint64_t type, TimelineName name) {
    begin_track(at, false);
    Track& own = tracks_[at];
    own.last = time;
    event_.clear();
    event_.number(event::kType, type);
    event_.number(event::kTrack, uuid(at));
    event_.number(event::kNameId, std::uint64_t{name} + 1);
    if (own.is_named.size() <= name) own.is_named.resize(name + std::size_t{1});
    ProtobufMessage interned;
    if (!own.is_named[name]) {
      own.is_named[name] = true;
      ProtobufMessage entry;
      entry.number(1, std::uint64_t{name} + 1);
      entry.text(2, names_[name]);
      interned.message(2, entry);
    }
    write(at, time, interned);
  }

  void write(TimelineTrack at, std::uint64_t time, const ProtobufMessage& interned) {
    packet_.clear();
    packet_.number(packet::kTimestamp, time);
    packet_.message(packet::kTrackEvent, event_);
    packet_.number(packet::kSequence, sequence(at));
    packet_.number(packet::kSequenceFlags, packet::kNeedsState);
    if (!interned.empty()) packet_.message(packet::kInternedData, interned);
    put(packet_);
  }

  TextBuffer& out_;
  std::string unit_;
  std::vector<std::string> processes_;
  std::vector<Track> tracks_;
  std::vector<std::string> names_;
  ProtobufMessage event_;
  ProtobufMessage packet_;
  ProtobufMessage whole_;
};

}  // namespace

std::unique_ptr<TimelineWriter> make_perfetto(TextBuffer& out) {
  return std::make_unique<PerfettoWriter>(out);
}

}  // namespace waymark::exports
