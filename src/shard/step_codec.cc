#include "waymark/shard/step_codec.h"

#include <array>
#include <utility>
#include <vector>

#include "pack_counts.h"

namespace waymark::shard {
namespace {

using stacks::Run;
using stacks::Step;

// The codes of the beginning of a step, and of its rest.
constexpr std::uint64_t kExpected = 0;  ///< The same value followed these steps the last time.
constexpr std::uint64_t kInFull = 1;
constexpr std::uint64_t kFirstSlot = 2;  ///< From here on: its place in the table.

// The head of a step: these flags, and from bit kCodeShift on the code of its beginning.
constexpr std::uint64_t kOtherSource = 1;
constexpr std::uint64_t kOtherPlace = 2;
constexpr std::uint64_t kOtherRest = 4;
constexpr unsigned kCodeShift = 3;

constexpr unsigned kSlotBits = 14;
constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
constexpr std::uint64_t kLastCode = kFirstSlot + kSlots - 1;
constexpr unsigned kPairBits = 16;
constexpr std::size_t kPairs = std::size_t{1} << kPairBits;

constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ULL;
std::size_t top_bits(std::uint64_t value, unsigned bits) {
  return static_cast<std::size_t>(value * kMix >> (64 - bits));
}

constexpr std::uint64_t kLastElement = kElementKindCount - 1;
constexpr auto kLastType = static_cast<std::uint64_t>(isa::InstrType::kTstart);

}  // namespace

/// How a step begins: without source, place and cycles.
struct StepBegin {
  Step::Kind kind = Step::Kind::kElement;
  Element element{};
  std::uint64_t low = 1;
  std::uint64_t high = 0;
  friend bool operator==(const StepBegin&, const StepBegin&) = default;

  [[nodiscard]] std::size_t slot() const {
    const std::uint64_t context = std::uint64_t{element.context_id} << 32 ^ element.vmid << 16 ^
                                  static_cast<std::uint64_t>(element.exception_level) << 8 ^
                                  static_cast<std::uint64_t>(element.security);
    const std::uint64_t rest = static_cast<std::uint64_t>(element.kind) << 32 ^
                               std::uint64_t{element.flags} << 8 ^ element.count;
    return top_bits(((element.start * kMix ^ element.end) * kMix ^ context) * kMix ^ rest,
                    kSlotBits);
  }
};

/// The following step, without the numbers.
struct StepRest {
  bool has_ranges = false;
  stacks::RangeEnd last{};
  std::uint8_t counts = 0;
  friend bool operator==(const StepRest&, const StepRest&) = default;

  [[nodiscard]] std::size_t slot() const {
    return top_bits(last.end * 16 + counts * 4 + (last.executed ? 2 : 0) + (has_ranges ? 1 : 0),
                    kSlotBits);
  }
};

namespace {

StepBegin begin_of(const Step& step) {
  const Element& from = step.element;
  StepBegin begin{.kind = step.kind, .low = step.run.low, .high = step.run.high};
  Element& to = begin.element;
  to.kind = from.kind;
  to.flags = from.flags;
  to.start = from.start;
  to.end = from.end;
  to.count = from.count;
  to.context_id = from.context_id;
  to.vmid = from.vmid;
  to.isa = from.isa;
  to.last_type = from.last_type;
  to.last_subtype = from.last_subtype;
  to.last_size = from.last_size;
  to.exception_level = from.exception_level;
  to.security = from.security;
  to.reason = from.reason;
  return begin;
}

void put(std::string& out, const StepBegin& begin) {
  const Element& element = begin.element;
  put_number(out, static_cast<std::uint64_t>(begin.kind));
  put_number(out, static_cast<std::uint64_t>(element.kind));
  put_number(out, element.flags);
  put_number(out, element.start);
  put_signed(out, element.end - element.start);
  put_number(out, element.count);
  put_number(out, element.context_id);
  put_number(out, element.vmid);
  put_number(out, static_cast<std::uint64_t>(element.isa));
  put_number(out, static_cast<std::uint64_t>(element.last_type));
  put_number(out, static_cast<std::uint64_t>(element.last_subtype));
  put_number(out, element.last_size);
  put_number(out, element.exception_level);
  put_number(out, static_cast<std::uint64_t>(element.security));
  put_number(out, element.reason);
  put_signed(out, begin.low - element.start);
  put_signed(out, begin.high - begin.low);
}

void take(Cursor& cursor, StepBegin& begin) {
  begin = {};
  Element& element = begin.element;
  begin.kind =
      static_cast<Step::Kind>(take_most(cursor, static_cast<std::uint64_t>(Step::Kind::kLeftOut)));
  element.kind = static_cast<ElementKind>(take_most(cursor, kLastElement));
  element.flags = static_cast<std::uint16_t>(take_most(cursor, UINT16_MAX));
  element.start = take_number(cursor);
  element.end = element.start + take_signed(cursor);
  element.count = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  element.context_id = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  element.vmid = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  element.isa = take_isa(cursor);
  element.last_type = static_cast<isa::InstrType>(take_most(cursor, kLastType));
  element.last_subtype = take_subtype(cursor);
  element.last_size = static_cast<std::uint8_t>(take_most(cursor, UINT8_MAX));
  element.exception_level = static_cast<std::uint8_t>(take_most(cursor, UINT8_MAX));
  element.security =
      static_cast<Security>(take_most(cursor, static_cast<std::uint64_t>(Security::kRealm)));
  element.reason = static_cast<std::uint8_t>(take_most(cursor, UINT8_MAX));
  begin.low = element.start + take_signed(cursor);
  begin.high = begin.low + take_signed(cursor);
}

void put(std::string& out, const StepRest& rest) {
  put_number(out, rest.counts);
  put_number(out, rest.has_ranges ? 1 : 0);
  if (!rest.has_ranges) return;
  put_number(out, rest.last.end);
  put_number(out, static_cast<std::uint64_t>(rest.last.last_type));
  put_number(out, static_cast<std::uint64_t>(rest.last.last_subtype));
  put_number(out, rest.last.last_size);
  put_number(out, static_cast<std::uint64_t>(rest.last.isa));
  put_number(out, rest.last.executed ? 1 : 0);
}

void take(Cursor& cursor, StepRest& rest) {
  rest = {};
  rest.counts = static_cast<std::uint8_t>(take_most(cursor, Run().counted.size()));
  rest.has_ranges = take_flag(cursor);
  if (!rest.has_ranges) return;
  rest.last.end = take_number(cursor);
  rest.last.last_type = static_cast<isa::InstrType>(take_most(cursor, kLastType));
  rest.last.last_subtype = take_subtype(cursor);
  rest.last.last_size = static_cast<std::uint8_t>(take_most(cursor, UINT8_MAX));
  rest.last.isa = take_isa(cursor);
  rest.last.executed = take_flag(cursor);
}

}  // namespace

/// Values by slot, and the slot that came last where a number of the past is the same.
template <class T>
class StepTable {
 public:
  [[nodiscard]] const T& operator[](std::size_t slot) const { return values_[slot]; }
  [[nodiscard]] std::size_t expected(std::uint64_t past) const { return next_[place(past)]; }
  void follow(std::uint64_t past, std::size_t slot) {
    next_[place(past)] = static_cast<std::uint16_t>(slot);
  }

  /// The code of a value: kExpected, kInFull, or kFirstSlot plus its slot.
  [[nodiscard]] std::uint64_t encode(const T& value, std::size_t slot, std::uint64_t past) {
    if (!(values_[slot] == value)) {
      values_[slot] = value;
      return kInFull;
    }
    return expected(past) == slot ? kExpected : kFirstSlot + slot;
  }
  /// The slot of the value with this code; reads the value itself after kInFull.
  std::size_t decode(std::uint64_t code, std::uint64_t past, Cursor& cursor) {
    if (code == kExpected) return expected(past);
    if (code != kInFull) return static_cast<std::size_t>(code - kFirstSlot);
    T value;
    take(cursor, value);
    const std::size_t slot = value.slot();
    values_[slot] = value;
    return slot;
  }

 private:
  static std::size_t place(std::uint64_t past) { return top_bits(past, kPairBits); }

  std::vector<T> values_ = std::vector<T>(kSlots);
  std::vector<std::uint16_t> next_ = std::vector<std::uint16_t>(kPairs);
};

/// The state that the writer and the reader derive alike from the steps so far.
struct StepPast {
  static constexpr std::size_t kDepth = 64;

  /// Known facts about a source.
  struct Last {
    std::uint64_t way = 0;  ///< What the beginning of its next step is expected to depend on.
    /// Where its last calls return to; the latest is before `depth`.
    std::array<std::uint64_t, kDepth> returns{};
    std::size_t depth = 0;
    std::uint64_t time = 0;  ///< The last timestamp.
  };

  [[nodiscard]] std::uint64_t way() const { return lasts[source].way; }
  /// The state that the rest of a step with this beginning is expected to depend on.
  [[nodiscard]] std::uint64_t rest_way(std::size_t begin) const {
    return way() * kMix ^ std::uint64_t{begin} << 8;
  }

  void follow(const StepBegin& begin, const StepRest& rest) {
    Last& last = lasts[source];
    const Element& element = begin.element;
    if (element.kind != ElementKind::kInstrRange) {
      last.way = top_bits(static_cast<std::uint64_t>(element.kind) << 32 | element.count, 40);
      return;
    }
    const std::uint64_t end = rest.has_ranges ? rest.last.end : element.end;
    const auto subtype = rest.has_ranges ? rest.last.last_subtype : element.last_subtype;
    const bool executed =
        rest.has_ranges ? rest.last.executed : (element.flags & kElementExecuted) != 0;
    last.way = end;
    if (!executed) return;
    if (subtype == isa::InstrSubtype::kBranchLink) {
      last.returns[last.depth++ % kDepth] = end;
    } else if (subtype == isa::InstrSubtype::kV8Return ||
               subtype == isa::InstrSubtype::kV7ImpliedReturn) {
      last.way = last.returns[--last.depth % kDepth] + 1;
    }
  }

  std::array<Last, 256> lasts{};
  StepTable<StepBegin> begins{};
  StepTable<StepRest> rests{};
  TraceId source = 0;
  TraceIndex index = 0;
};

struct StepWriter::State {
  bool keeps_places;
  StepPast past{};
  std::string out{};
};

StepWriter::StepWriter(bool keeps_places) : state_(std::make_unique<State>(keeps_places)) {}
StepWriter::~StepWriter() = default;
StepWriter::StepWriter(StepWriter&&) noexcept = default;
StepWriter& StepWriter::operator=(StepWriter&&) noexcept = default;

void StepWriter::add(const Step& step) {
  StepPast& past = state_->past;
  std::string& out = state_->out;
  const bool is_other = past.source != step.element.trace_id;
  const std::uint64_t way = state_->keeps_places ? step.element.index - past.index : 0;
  past.source = step.element.trace_id;
  past.index += way;
  const StepBegin begin = begin_of(step);
  const StepRest rest{
      .has_ranges = step.run.has_ranges, .last = step.run.last, .counts = step.run.counts};
  const std::size_t begin_slot = begin.slot();
  const std::size_t rest_slot = rest.slot();
  const std::uint64_t rest_way = past.rest_way(begin_slot);
  const std::uint64_t code = past.begins.encode(begin, begin_slot, past.way());
  const std::uint64_t rest_code = past.rests.encode(rest, rest_slot, rest_way);
  put_number(out, code << kCodeShift | (rest_code != kExpected ? kOtherRest : 0) |
                      (way != 0 ? kOtherPlace : 0) | (is_other ? kOtherSource : 0));
  if (is_other) out += static_cast<char>(past.source);
  if (way != 0) put_signed(out, way);
  if (code == kInFull) put(out, begin);
  if (rest_code != kExpected) put_number(out, rest_code);
  if (rest_code == kInFull) put(out, rest);
  past.begins.follow(past.way(), begin_slot);
  past.rests.follow(rest_way, rest_slot);
  past.follow(begin, rest);
  if ((begin.element.flags & kElementHasCycleCount) != 0) put_number(out, step.element.cycle_count);
  if (begin.element.kind == ElementKind::kTimestamp) {
    std::uint64_t& time = past.lasts[past.source].time;
    put_signed(out, step.element.timestamp - time);
    time = step.element.timestamp;
  }
  for (std::size_t i = 0; i < rest.counts; ++i) {
    put_number(out, step.run.counted[i].instructions);
    put_number(out, step.run.counted[i].cycles);
  }
  if (!step.run.is_empty()) put_number(out, step.run.instructions);
}

std::string StepWriter::take() { return std::exchange(state_->out, {}); }

struct StepReader::State {
  explicit State(Bytes bytes) : cursor(bytes) {}
  StepPast past{};
  Cursor cursor;
};

StepReader::StepReader(Bytes bytes) : state_(std::make_unique<State>(bytes)) {}
StepReader::~StepReader() = default;
StepReader::StepReader(StepReader&&) noexcept = default;
StepReader& StepReader::operator=(StepReader&&) noexcept = default;

bool StepReader::next(Step& step) {
  Cursor& cursor = state_->cursor;
  StepPast& past = state_->past;
  if (cursor.at_end() || cursor.overrun()) return false;
  const std::uint64_t head = take_most(cursor, ((kLastCode + 1) << kCodeShift) - 1);
  if ((head & kOtherSource) != 0) past.source = cursor.u8();
  if ((head & kOtherPlace) != 0) past.index += take_signed(cursor);
  const std::size_t begin_slot = past.begins.decode(head >> kCodeShift, past.way(), cursor);
  const std::uint64_t rest_way = past.rest_way(begin_slot);
  const std::uint64_t rest_code =
      (head & kOtherRest) != 0 ? take_most(cursor, kLastCode) : kExpected;
  const std::size_t rest_slot = past.rests.decode(rest_code, rest_way, cursor);
  const StepBegin& begin = past.begins[begin_slot];
  const StepRest& rest = past.rests[rest_slot];
  past.begins.follow(past.way(), begin_slot);
  past.rests.follow(rest_way, rest_slot);
  past.follow(begin, rest);
  // Field by field: a whole step is zeroed slowly.
  step.kind = begin.kind;
  step.element = begin.element;
  step.run.low = begin.low;
  step.run.high = begin.high;
  step.run.has_ranges = rest.has_ranges;
  step.run.last = rest.last;
  step.run.counts = rest.counts;
  step.element.trace_id = past.source;
  step.element.index = past.index;
  if ((begin.element.flags & kElementHasCycleCount) != 0)
    step.element.cycle_count = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  if (begin.element.kind == ElementKind::kTimestamp)
    step.element.timestamp = past.lasts[past.source].time += take_signed(cursor);
  for (std::size_t i = 0; i < step.run.counted.size(); ++i) {
    step.run.counted[i].instructions = i < rest.counts ? take_number(cursor) : 0;
    step.run.counted[i].cycles = i < rest.counts ? take_number(cursor) : 0;
  }
  step.run.instructions = step.run.is_empty() ? 0 : take_number(cursor);
  return !cursor.overrun();
}

bool StepReader::is_bad() const { return state_->cursor.overrun(); }

}  // namespace waymark::shard
