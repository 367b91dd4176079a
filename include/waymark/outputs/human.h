// Decoded trace for people: one aligned line per event, with words for what happened.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/base/text_buffer.h"
#include "waymark/element/element.h"
#include "waymark/element/exception_names.h"
#include "waymark/merge/timeline.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/instructions.h"
#include "waymark/outputs/style.h"

namespace waymark::outputs {

/// Writes elements and damage in the given order. A taken branch shows as its target where its
/// source continues, and what an ITM sends gets its timestamp and continuation from later packets.
/// So a line can wait for later elements; finish() writes the rest. Not thread safe.
///
/// Text that comes byte by byte through a stimulus port is one line, up to its newline. The local
/// timestamp after a packet is in the line of the packet.
class HumanWriter {
 public:
  explicit HumanWriter(TextBuffer& out) : out_(out) {}

  /// The name of the core that a trace ID belongs to ("cpu_0"), for the column of that name.
  void name_core(TraceId id, std::string name);

  /// Writes the name of an exception number.
  /// Sets how exceptions of this ID are named; without it, their numbers are shown.
  void name_exceptions(TraceId id, ExceptionNumbers numbers);

  /// Writes the meaning of a kCustom element, without newline.
  using CustomWriter = std::function<void(TextBuffer& out, const Element& element)>;
  void write_custom_with(CustomWriter writer) { custom_ = std::move(writer); }

  /// Writes the function of each range after it.
  void name_functions(PlaceLookup lookup, NameDetails details = {}) {
    functions_.emplace(std::move(lookup), details);
  }

  /// Writes the instructions of each range below its line, for the lines that are written until the
  /// next call.  nullptr: none.
  void list_instructions(Instructions* instructions) { instructions_ = instructions; }

  /// Finds the name of the process that an element is about; empty: not known.
  using ProcessNamer = std::function<std::string(const Element& element)>;
  /// Writes the name of the process at each change of the context.
  void name_processes(ProcessNamer namer) { processes_ = std::move(namer); }
  /// Whether a source states the thread in the field of the VMID.
  using ThreadInVmid = std::function<bool(TraceId source)>;
  void find_threads_in_vmids(ThreadInVmid is) { thread_in_vmid_ = std::move(is); }

  /// Finds the target of the direct branch at the end of a range; kNoAddress: not known.
  using TargetFinder = std::function<std::uint64_t(const Element& range)>;
  /// Asked for the targets that the trace does not show, as before a gap.
  void find_direct_targets(TargetFinder finder) { direct_targets_ = std::move(finder); }

  /// Colours and arrows; the default is text for a file.
  void set_style(const Style& style) { style_ = style; }

  /// The line that names the columns.
  void header();

  /// Begins each line with a time, from header() on, and for add(TimedRecord) only.  If the trace
  /// does not give the time of the line itself, the time has a mark: '~' interpolated, '>' not
  /// before, '<' not after, '?' unknown.
  void show_times() { shows_times_ = true; }

  void add(std::span<const Element> elements);
  /// An element without a line: it only shows where an earlier one continued.
  void pass_over(const Element& element);
  void add(const Diagnostic& record);
  void add(const merge::TimedRecord& record);
  void finish();

  /// Nothing comes for the moment: what an ITM sent is written without the timestamp or the text
  /// that may still follow.  True: a line was written.
  bool release();

  /// From now on, new lines are not written; elements only complete lines that wait.
  void end_here() { lines_.end = lines_.items.size(); }
  /// After end_here(): whether a line still waits.
  [[nodiscard]] bool wants_more() const { return lines_.first < lines_.end; }

 private:
  struct Item;
  [[nodiscard]] std::uint64_t target_of(const Item& item) const;
  static constexpr std::size_t kNone = ~std::size_t{0};
  /// Far more than the elements of other sources between two of one source.
  static constexpr std::size_t kMaxWaiting = 65536;

  struct Item {
    Element element;
    std::uint64_t target = kNoAddress;
    std::uint64_t system_time = merge::kNever;
    merge::TimeKind time_kind = merge::TimeKind::kUnknown;
    bool waits = false;
    bool is_damage = false;
    // ITM only.
    bool is_text = false;
    bool text_complete = false;
    bool stamped = false;
    bool time_is_least = false;  ///< Trace was lost since the last global timestamp.
    bool late = false;           ///< The time is that of the packet or the stamp, not of the event.
    std::uint64_t time = 0;      ///< If the item has a timestamp.
    std::uint64_t number = 0;  ///< The number of the text or damage record, counted from the start.
  };

  /// Items before `first` are written; only those before `end` will be.
  struct Lines {
    std::vector<Item> items{};
    std::size_t first = 0;
    std::size_t end = kNone;
  };
  struct Cores {
    std::array<std::string, kTraceIdCount> names{};
    std::size_t width = 0;  ///< The column's; 0: there is none.
    std::array<ExceptionNumbers, kTraceIdCount> exceptions{};
  };
  void add(const Element& element);
  void add_itm(const Element& element);
  bool continue_itm(Item& item, const Element& element);
  void settle();
  void complete_line(const Element& element);
  void write_ready();
  void write_oldest();
  void begin_line(const Item& item, TraceIndex index, TraceId id);
  void write_time(const Item& item);
  void write(const Item& item);
  void write_what(const Item& item);
  void write_missing_code(const Element& element);
  void write_range(const Item& item);
  void write_function(FunctionNames& names, const Element& element);
  void write_name(const std::string& name);
  void write_source(const program::Frame& frame);
  void write_instructions(const Element& element);
  void write_level(const Element& element);
  void write_context(const Element& element);
  void write_exception(const Element& element);
  void write_itm(const Item& item);
  void write_data(const Element& element);
  void write(const Item& item, const Diagnostic& record);

  TextBuffer& out_;
  ProcessNamer processes_;
  ThreadInVmid thread_in_vmid_;
  TargetFinder direct_targets_;
  CustomWriter custom_;
  Style style_;
  std::optional<FunctionNames> functions_;
  Instructions* instructions_ = nullptr;
  bool shows_times_ = false;
  Cores cores_;
  Lines lines_;
  // The data to which items refer; the first belongs to the first such item that is not written
  // yet.
  std::deque<Diagnostic> damage_;
  std::deque<std::string> texts_;
  std::uint64_t texts_written_ = 0;
  /// By ID, the item that waits for its target.
  std::array<std::size_t, 256> waiting_ = make_waiting();

  static constexpr std::array<std::size_t, 256> make_waiting() {
    std::array<std::size_t, 256> waiting{};
    waiting.fill(kNone);
    return waiting;
  }
};

}  // namespace waymark::outputs
