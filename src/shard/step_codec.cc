#include "waymark/shard/step_codec.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "pack_counts.h"

namespace waymark::shard {
namespace {

using stacks::Run;
using stacks::Step;

// The head of a step: 4 * what + 2 * (whether its place is another one) + (whether its source is).
constexpr std::uint64_t kExpected = 0;  ///< What followed the same two steps the last time.
constexpr std::uint64_t kInFull = 1;
constexpr std::uint64_t kFirstSlot = 2;  ///< From here on: the place of the step in the table.

constexpr unsigned kSlotBits = 14;
constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
constexpr unsigned kPairBits = 16;
constexpr std::size_t kPairs = std::size_t{1} << kPairBits;
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ULL;

constexpr std::uint64_t kLastElement = kElementKindCount - 1;
constexpr auto kLastType = static_cast<std::uint64_t>(isa::InstrType::kTstart);

}  // namespace

/// What steps at the same place of a program have in common: all but numbers that change.
struct StepShape {
  Step::Kind kind = Step::Kind::kElement;
  Element element{};  ///< Without source, place and cycles.
  bool has_ranges = false;
  stacks::Stay stay{};
  std::uint8_t counts = 0;
  friend bool operator==(const StepShape&, const StepShape&) = default;

  [[nodiscard]] std::size_t slot() const {
    const std::uint64_t mixed =
        ((element.start + element.count) * kMix ^ element.end ^ (stay.low + stay.end) * kMix << 1 ^
         static_cast<std::uint64_t>(element.kind) << 32 ^ element.flags ^
         std::uint64_t{element.context_id} << 20) *
        kMix;
    return static_cast<std::size_t>(mixed >> (64 - kSlotBits));
  }
};

namespace {

/// A difference in either direction.
void put_signed(std::string& out, std::uint64_t difference) {
  put_number(out, difference << 1 ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0));
}
std::uint64_t take_signed(Cursor& cursor) {
  const std::uint64_t value = take_number(cursor);
  return value >> 1 ^ ((value & 1) != 0 ? ~std::uint64_t{0} : 0);
}

StepShape shape_of(const Step& step) {
  const Element& from = step.element;
  StepShape shape{.kind = step.kind,
                  .has_ranges = step.run.has_ranges,
                  .stay = step.run.stay,
                  .counts = step.run.counts};
  Element& to = shape.element;
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
  return shape;
}

void put_shape(std::string& out, const StepShape& shape) {
  const Element& element = shape.element;
  put_number(out, static_cast<std::uint64_t>(shape.kind));
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
  put_number(out, shape.counts);
  put_number(out, shape.has_ranges ? 1 : 0);
  if (!shape.has_ranges) return;
  put_signed(out, shape.stay.low - element.start);
  put_number(out, shape.stay.high - shape.stay.low);
  put_signed(out, shape.stay.end - shape.stay.low);
  put_number(out, static_cast<std::uint64_t>(shape.stay.last_type));
  put_number(out, static_cast<std::uint64_t>(shape.stay.last_subtype));
  put_number(out, shape.stay.last_size);
  put_number(out, shape.stay.executed ? 1 : 0);
}

StepShape take_shape(Cursor& cursor) {
  StepShape shape;
  Element& element = shape.element;
  shape.kind =
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
  shape.counts = static_cast<std::uint8_t>(take_most(cursor, Run().counted.size()));
  shape.has_ranges = take_flag(cursor);
  if (!shape.has_ranges) return shape;
  shape.stay.low = element.start + take_signed(cursor);
  shape.stay.high = shape.stay.low + take_number(cursor);
  shape.stay.end = shape.stay.low + take_signed(cursor);
  shape.stay.last_type = static_cast<isa::InstrType>(take_most(cursor, kLastType));
  shape.stay.last_subtype = take_subtype(cursor);
  shape.stay.last_size = static_cast<std::uint8_t>(take_most(cursor, UINT8_MAX));
  shape.stay.executed = take_flag(cursor);
  return shape;
}

}  // namespace

/// The shapes that were written or read, by slot, and what each source did last.
struct StepTable {
  struct Last {
    std::uint16_t slot = 0;
    std::uint16_t before = 0;
  };

  /// The slot that is expected next.
  [[nodiscard]] std::uint16_t& expected() {
    const Last& last = lasts[source];
    const std::uint64_t mixed = (std::uint64_t{last.slot} << 16 | last.before) * kMix;
    return pairs[static_cast<std::size_t>(mixed >> (64 - kPairBits))];
  }
  void follow(std::size_t slot) {
    expected() = static_cast<std::uint16_t>(slot);
    Last& last = lasts[source];
    last = {.slot = static_cast<std::uint16_t>(slot), .before = last.slot};
  }

  std::vector<StepShape> shapes = std::vector<StepShape>(kSlots);
  std::vector<std::uint16_t> pairs = std::vector<std::uint16_t>(kPairs);
  std::array<Last, 256> lasts{};
  TraceId source = 0;
  TraceIndex index = 0;
};

struct StepWriter::State {
  bool keeps_places;
  StepTable table{};
  std::string out{};
};

StepWriter::StepWriter(bool keeps_places) : state_(std::make_unique<State>(keeps_places)) {}
StepWriter::~StepWriter() = default;
StepWriter::StepWriter(StepWriter&&) noexcept = default;
StepWriter& StepWriter::operator=(StepWriter&&) noexcept = default;

void StepWriter::add(const Step& step) {
  StepTable& table = state_->table;
  std::string& out = state_->out;
  const bool is_other = table.source != step.element.trace_id;
  const std::uint64_t way = state_->keeps_places ? step.element.index - table.index : 0;
  table.source = step.element.trace_id;
  table.index += way;
  const StepShape shape = shape_of(step);
  const std::size_t slot = shape.slot();
  const bool is_known = table.shapes[slot] == shape;
  std::uint64_t what = kInFull;
  if (is_known) what = table.expected() == slot ? kExpected : kFirstSlot + slot;
  put_number(out, what << 2 | (way != 0 ? 2 : 0) | (is_other ? 1 : 0));
  if (is_other) out += static_cast<char>(table.source);
  if (way != 0) put_signed(out, way);
  if (what == kInFull) {
    put_shape(out, shape);
    table.shapes[slot] = shape;
  }
  table.follow(slot);
  if ((step.element.flags & kElementHasCycleCount) != 0) put_number(out, step.element.cycle_count);
  for (std::size_t i = 0; i < step.run.counts; ++i) {
    put_number(out, step.run.counted[i].instructions);
    put_number(out, step.run.counted[i].cycles);
  }
  if (!step.run.is_empty()) put_number(out, step.run.instructions);
}

std::string StepWriter::take() { return std::exchange(state_->out, {}); }

struct StepReader::State {
  explicit State(Bytes bytes) : cursor(bytes) {}
  StepTable table{};
  Cursor cursor;
};

StepReader::StepReader(Bytes bytes) : state_(std::make_unique<State>(bytes)) {}
StepReader::~StepReader() = default;
StepReader::StepReader(StepReader&&) noexcept = default;
StepReader& StepReader::operator=(StepReader&&) noexcept = default;

bool StepReader::next(Step& step) {
  Cursor& cursor = state_->cursor;
  StepTable& table = state_->table;
  if (cursor.at_end() || cursor.overrun()) return false;
  const std::uint64_t head = take_most(cursor, (kFirstSlot + kSlots - 1) << 2 | 3);
  if ((head & 1) != 0) table.source = cursor.u8();
  if ((head & 2) != 0) table.index += take_signed(cursor);
  std::size_t slot = table.expected();
  if (head >> 2 == kInFull) {
    const StepShape shape = take_shape(cursor);
    slot = shape.slot();
    table.shapes[slot] = shape;
  } else if (head >> 2 >= kFirstSlot) {
    slot = static_cast<std::size_t>((head >> 2) - kFirstSlot);
  }
  table.follow(slot);
  const StepShape& shape = table.shapes[slot];
  step.kind = shape.kind;
  step.element = shape.element;
  step.element.trace_id = table.source;
  step.element.index = table.index;
  if ((step.element.flags & kElementHasCycleCount) != 0)
    step.element.cycle_count = static_cast<std::uint32_t>(take_most(cursor, UINT32_MAX));
  step.run = {.has_ranges = shape.has_ranges, .stay = shape.stay, .counts = shape.counts};
  for (std::size_t i = 0; i < step.run.counts; ++i) {
    step.run.counted[i].instructions = take_number(cursor);
    step.run.counted[i].cycles = take_number(cursor);
  }
  if (!step.run.is_empty()) step.run.instructions = take_number(cursor);
  return !cursor.overrun();
}

bool StepReader::is_bad() const { return state_->cursor.overrun(); }

}  // namespace waymark::shard
