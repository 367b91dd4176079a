// The questions of a viewer about a trace, and their answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/types.h"
#include "waymark/stacks/tree.h"

namespace waymark::view {

/// The unit of the axis.
enum class AxisUnit : std::uint8_t {
  kTicks,         ///< Ticks of the timestamp generator.
  kNanoseconds,   ///< Where the input says how long a tick is.
  kCycles,        ///< Cycles that the only source counted.
  kInstructions,  ///< Instructions of each source, each from 0.
  kBytes,         ///< Of trace, where there is neither a time nor an instruction.
};

/// The one axis of all tracks.  A value on it is a number of units after the origin.  Its fraction
/// has a meaning: the time between two timestamps is distributed by instructions.
struct Axis {
  AxisUnit unit = AxisUnit::kInstructions;
  std::uint64_t origin = 0;  ///< The value of the unit where the axis is 0.
  double length = 0;         ///< The last value that is known so far.
};

using TrackNumber = std::uint32_t;

enum class TrackKind : std::uint8_t { kThread, kMessages, kEvents, kCounter };

struct Track {
  TrackNumber number = 0;
  TrackKind kind = TrackKind::kThread;
  TraceId source = 0;
  std::string thread{};  ///< The thread as people know it; empty: not known.
  std::string name{};
  std::string group{};  ///< The core, or the device.
  double first = 0;
  double last = 0;
  std::uint32_t depth = 0;  ///< The deepest stack has it.
};

/// The number of a function: the same as long as the session lives.
using FunctionNumber = std::uint32_t;

struct FunctionName {
  FunctionNumber number = 0;
  stacks::CodeKind kind = stacks::CodeKind::kUnknown;
  std::string name{};     ///< As in the source.
  std::string program{};  ///< The path of its program; empty: not known.
};

/// An executed instruction: number `n` of its source, which counts from 0 in the order of
/// execution.
struct Instant {
  TraceId source = 0;
  std::uint64_t n = 0;
  friend bool operator==(const Instant&, const Instant&) = default;
};

/// A part of the axis, from `from` up to `to`, and the tracks that count; no track: all.
struct Window {
  double from = 0;
  double to = 0;
  std::vector<TrackNumber> tracks{};
};

enum SpanFlag : std::uint16_t {
  kStartUnknown = 1,     ///< The call was before the trace, or in a gap.
  kEndUnknown = 2,       ///< It was open when a gap or the end of the trace came.
  kContinuesBefore = 4,  ///< It began before the window.
  kContinuesAfter = 8,
  kIsException = 16,
  kIsTailCall = 32,
  kIsMerged = 64,  ///< `count` frames, each narrower than a pixel.
};

/// A frame of a stack over the time in which it was open.
struct Span {
  double start = 0;
  double end = 0;
  FunctionNumber function = 0;  ///< Of merged frames, the one with the largest share.
  std::uint32_t count = 1;
  std::uint16_t depth = 0;  ///< 0: the outermost.
  std::uint16_t flags = 0;
};

/// kNotStated: the trace says only that it began again, as after a filter, or when another thread
/// ran.
enum class GapReason : std::uint8_t { kNotStated, kLoss, kMissingCode, kPathless, kOverflow };

struct Gap {
  double start = 0;
  double end = 0;
  GapReason reason = GapReason::kLoss;
};

/// A message, an event, or several within a pixel; `text` is that of the first.
struct Mark {
  double at = 0;
  std::string kind{};
  std::string text{};
  std::uint32_t count = 1;
};

/// A part of the axis in few numbers.
struct Bucket {
  double start = 0;
  double end = 0;
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint32_t depth = 0;
  std::uint32_t exceptions = 0;
  std::uint32_t messages = 0;
  double gap_share = 0;  ///< The part of it of which nothing is known, 0 to 1.
  /// The functions with the most instructions, and their share of them; at most 8.
  std::vector<std::pair<FunctionNumber, double>> functions{};
};

struct Point {
  double start = 0;
  double end = 0;
  double value = 0;
};

/// The content of one track.  Which lists have something depends on its kind, and on
/// Timeline::summary.
struct TrackPicture {
  TrackNumber track = 0;
  std::vector<Span> spans{};  ///< By depth, then by start.
  std::vector<Gap> gaps{};
  std::vector<Mark> marks{};
  std::vector<Bucket> buckets{};
  std::vector<Point> points{};
};

struct Timeline {
  double from = 0;
  double to = 0;
  bool summary = false;   ///< Threads have buckets instead of spans.
  bool complete = false;  ///< False: the window goes beyond what is known so far.
  std::vector<TrackPicture> tracks{};
  std::vector<FunctionName> functions{};
};

struct SourceFacts {
  TraceId id = 0;
  std::string name{};
  std::string protocol{};
  std::string core{};
  bool executes = false;  ///< It traces instructions.
  std::uint64_t instructions = 0;
};

struct ProgramFacts {
  std::string path{};
  std::string build_id{};  ///< Hexadecimal; empty: none.
  bool found = false;
};

enum class Stage : std::uint8_t { kReading, kReady };

struct CaptureFacts {
  std::string name{};
  std::string path{};
  std::string kind{};  ///< "snapshot", "recording", "raw", "script".
  std::uint64_t bytes = 0;
  Axis axis{};
  std::vector<SourceFacts> sources{};
  std::vector<ProgramFacts> programs{};
  Stage stage = Stage::kReading;
  std::string failure{};         ///< Why reading ended early; empty: it did not.
  std::uint64_t done = 0;        ///< Bytes of trace that the overview covers.
  std::uint64_t span_bytes = 0;  ///< A window of more bytes of trace has a summary.
  bool has_timestamps = false;
  bool has_cycles = false;
  bool has_symbols = false;
  bool has_lines = false;
};

struct StackEntry {
  FunctionNumber function = 0;
  std::uint64_t call_address = 0;  ///< 0: not known.
  std::string file{};
  std::uint32_t line = 0;  ///< 0: not known.
};

/// One executed instruction.
struct Place {
  Instant instant{};
  double at = 0;
  TrackNumber track = 0;
  std::uint64_t address = 0;
  std::string isa{};
  std::string text{};   ///< Disassembly; empty: there is no disassembler.
  std::string bytes{};  ///< Hexadecimal, as in memory.
  FunctionNumber function = 0;
  std::uint64_t offset = 0;  ///< From the start of the function.
  std::string file{};
  std::uint32_t line = 0;
  /// For a branch: whether it was taken.
  std::optional<bool> taken{};
  std::uint64_t target = 0;  ///< Where execution went, if not to the next instruction; else 0.
  std::string event{};       ///< What happened before it: an exception, a gap; or empty.
};

struct PlaceAnswer {
  Place place{};
  std::vector<StackEntry> stack{};  ///< The innermost first.
  TraceIndex trace_index = 0;       ///< The index of the element that has it.
  std::string context{};            ///< Exception level, security state, context ID and VMID.
  bool moved = true;                ///< For steps only.
  std::string reason{};             ///< Why it did not move, as a sentence.
  std::vector<FunctionName> functions{};
};

struct PlacesAnswer {
  std::vector<Place> places{};
  std::vector<FunctionName> functions{};
};

enum class StepKind : std::uint8_t {
  kInstruction,
  kLine,
  kOver,
  kOut,
  kInto,
  kSameLine,
  kException,
  kMessage,
};

struct Step {
  StepKind kind = StepKind::kInstruction;
  bool back = false;
  std::uint32_t count = 1;
};

struct CodeInstruction {
  std::uint64_t address = 0;
  std::string text{};
  std::string bytes{};
  std::uint64_t count = 0;
  /// Of conditional branches.
  std::optional<std::uint64_t> taken{};
  std::optional<std::uint64_t> not_taken{};
  std::uint32_t line = 0;
  std::uint32_t file = 0;  ///< In Code::files.
};

struct CodeLine {
  std::uint32_t number = 0;
  std::optional<std::string> text{};  ///< Nothing: the file was not found, or is shorter.
  std::uint64_t count = 0;
};

/// A function with what the window executed of it.
struct Code {
  FunctionNumber function = 0;
  bool exact = false;  ///< False: the counts are those of a part of the window.
  std::uint64_t executions = 0;
  std::vector<CodeInstruction> instructions{};
  std::vector<std::string> files{};
  std::vector<CodeLine> lines{};  ///< Of files[0], around the function.
  std::string note{};
  std::vector<FunctionName> functions{};
};

struct FunctionRow {
  FunctionNumber function = 0;
  std::uint64_t self = 0;   ///< Instructions.
  std::uint64_t total = 0;  ///< With those of what it called; recursion counts once.
  std::uint64_t calls = 0;
  std::uint64_t cycles = 0;  ///< Its own.
};

struct Functions {
  bool exact = false;
  bool has_cycles = false;
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::vector<FunctionRow> rows{};  ///< The largest `self` first.
  std::vector<FunctionName> functions{};
};

struct CallRow {
  FunctionNumber function = 0;
  std::uint64_t calls = 0;
  std::uint64_t instructions = 0;  ///< These calls executed them, with what they called.
};

struct Neighbours {
  bool exact = false;
  FunctionNumber function = 0;
  std::vector<CallRow> callers{};
  std::vector<CallRow> callees{};
  std::vector<FunctionName> functions{};
};

struct FlameNode {
  std::uint32_t parent = 0;
  FunctionNumber function = 0;
  std::uint64_t self = 0;
  std::uint64_t total = 0;
};

struct Flame {
  bool exact = false;
  std::vector<FlameNode> nodes{};  ///< 0 is the root; parents come before their children.
  std::vector<FunctionName> functions{};
};

struct Measure {
  bool exact = false;
  bool has_cycles = false;
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t calls = 0;
  std::uint64_t exceptions = 0;
  std::uint64_t gaps = 0;
  std::uint64_t messages = 0;
  std::uint64_t functions = 0;  ///< Distinct functions that executed something.
};

enum class FindWhat : std::uint8_t {
  kFunction,
  kAddress,
  kLine,
  kText,
  kException,
  kTime,
};

struct Query {
  FindWhat what = FindWhat::kFunction;
  std::string text{};
  double from = 0;
  double to = 0;
  std::uint32_t limit = 200;
  std::optional<TraceId> source{};  ///< Nothing: all sources.
};

struct Hit {
  double at = 0;
  TrackNumber track = 0;
  std::optional<Instant> instant{};
  std::string text{};
};

struct Hits {
  std::vector<Hit> hits{};
  bool complete = false;   ///< The whole window was searched.
  double searched_to = 0;  ///< How far.
  std::string note{};
};

enum class Severity : std::uint8_t { kError, kWarning, kNote };

struct HealthFinding {
  Severity severity = Severity::kNote;
  std::string title{};
  std::string text{};
  std::optional<double> at{};
  std::optional<TrackNumber> track{};
  std::uint64_t count = 0;
};

}  // namespace waymark::view
