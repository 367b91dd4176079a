#include "waymark/shard/event_codec.h"

#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "pack_counts.h"

namespace waymark::shard {
namespace {

template <class T, class Value>
T owner_of(Value T::*);
template <class T, class Value>
Value value_of(Value T::*);

/// A member that is written as a number, which is at most `most`.
template <auto kMember, auto kLast = std::numeric_limits<decltype(value_of(kMember))>::max()>
struct Member {
  using Owner = decltype(owner_of(kMember));
  static constexpr auto kMost = static_cast<std::uint64_t>(kLast);
  static std::uint64_t get(const Owner& from) { return static_cast<std::uint64_t>(from.*kMember); }
  static void set(Owner& to, std::uint64_t value) {
    to.*kMember = static_cast<decltype(value_of(kMember))>(value);
  }
};

/// The number, or the master and the channel, of an element.
struct Number {
  static constexpr std::uint64_t kMost = UINT32_MAX;
  static std::uint64_t get(const Element& from) {
    if (from.kind != ElementKind::kSwTrace) return from.number;
    return from.sw_id.master | std::uint64_t{from.sw_id.channel} << 16;
  }
  static void set(Element& to, std::uint64_t value) {
    if (to.kind != ElementKind::kSwTrace) {
      to.number = static_cast<std::uint32_t>(value);
    } else {
      to.sw_id = {.master = static_cast<std::uint16_t>(value & UINT16_MAX),
                  .channel = static_cast<std::uint16_t>(value >> 16)};
    }
  }
};

/// The written form of a type: a mask of the members that changed, and the differences.
template <class... Each>
struct Members {
  template <class T>
  static void put(std::string& out, const T& base, const T& event) {
    std::uint64_t changes = 0;
    unsigned at = 0;
    ((changes |= std::uint64_t{Each::get(event) != Each::get(base)} << at++), ...);
    put_number(out, changes);
    at = 0;
    ((changes >> at++ & 1 ? put_signed(out, Each::get(event) - Each::get(base)) : void()), ...);
  }
  /// `event` is the base before.  What cannot be is overrun().
  template <class T>
  static void take(Cursor& cursor, T& event) {
    const std::uint64_t changes = take_most(cursor, (std::uint64_t{1} << sizeof...(Each)) - 1);
    unsigned at = 0;
    ((changes >> at++ & 1 ? take_one<Each>(cursor, event) : void()), ...);
  }

 private:
  template <class One, class T>
  static void take_one(Cursor& cursor, T& event) {
    const std::uint64_t value = One::get(event) + take_signed(cursor);
    if (value > One::kMost) return overrun(cursor);
    One::set(event, value);
  }
};

/// Besides the kind and the index.  What changes often is first, because the mask of what changes
/// is a number.
using ElementMembers =
    Members<Member<&Element::start>, Member<&Element::timestamp>, Number,
            Member<&Element::extra_value>, Member<&Element::flags>, Member<&Element::end>,
            Member<&Element::extra>, Member<&Element::trace_id>, Member<&Element::cycle_count>,
            Member<&Element::context_id>, Member<&Element::vmid>, Member<&Element::reason>,
            Member<&Element::exception_level>, Member<&Element::last_size>,
            Member<&Element::isa, isa::Isa::kUnknown>,
            Member<&Element::last_type, isa::InstrType::kTstart>,
            Member<&Element::last_subtype, isa::InstrSubtype::kV7ImpliedReturn>,
            Member<&Element::security, Security::kRealm>>;

using DiagnosticMembers =
    Members<Member<&Diagnostic::index>, Member<&Diagnostic::fault, kFaultCount - 1>,
            Member<&Diagnostic::finding, kFindingCount - 1>, Member<&Diagnostic::trace_id>,
            Member<&Diagnostic::stream_id>, Member<&Diagnostic::number>, Member<&Diagnostic::lost>,
            Member<&Diagnostic::address>, Member<&Diagnostic::fatal>,
            Member<&Diagnostic::stage, Stage::kElements>,
            Member<&Diagnostic::severity, Severity::kInfo>>;

constexpr std::uint64_t kDamage = 0;  ///< An element has 1 and its kind.

}  // namespace

/// The last element of each kind, and the index of the last one.
struct EventPast {
  EventPast() {
    for (std::size_t kind = 0; kind < last.size(); ++kind)
      last[kind].kind = static_cast<ElementKind>(kind);
  }
  std::array<Element, kElementKindCount> last{};
  TraceIndex index = 0;
};

struct EventWriter::State {
  EventPast past{};
  std::string out{};
};

EventWriter::EventWriter() : state_(std::make_unique<State>()) {}
EventWriter::~EventWriter() = default;
EventWriter::EventWriter(EventWriter&&) noexcept = default;
EventWriter& EventWriter::operator=(EventWriter&&) noexcept = default;

void EventWriter::add(const Event& event) {
  std::string& out = state_->out;
  EventPast& past = state_->past;
  if (const auto* const record = std::get_if<Diagnostic>(&event)) {
    put_number(out, kDamage);
    DiagnosticMembers::put(out, Diagnostic(), *record);
    return;
  }
  const auto& element = std::get<Element>(event);
  const auto kind = static_cast<std::size_t>(element.kind);
  put_number(out, 1 + kind);
  put_signed(out, element.index - past.index);
  ElementMembers::put(out, past.last[kind], element);
  past.index = element.index;
  past.last[kind] = element;
}

std::string EventWriter::take() { return std::exchange(state_->out, {}); }

struct EventReader::State {
  explicit State(Bytes bytes) : cursor(bytes) {}
  EventPast past{};
  Cursor cursor;
};

EventReader::EventReader(Bytes bytes) : state_(std::make_unique<State>(bytes)) {}
EventReader::~EventReader() = default;
EventReader::EventReader(EventReader&&) noexcept = default;
EventReader& EventReader::operator=(EventReader&&) noexcept = default;

std::optional<Event> EventReader::next() {
  Cursor& cursor = state_->cursor;
  EventPast& past = state_->past;
  if (cursor.at_end() || cursor.overrun()) return std::nullopt;
  const std::uint64_t head = take_most(cursor, kElementKindCount);
  std::optional<Event> event;
  if (head == kDamage) {
    Diagnostic record;
    DiagnosticMembers::take(cursor, record);
    if (record.severity < Severity::kError) overrun(cursor);
    event = record;
  } else {
    past.index += take_signed(cursor);
    Element& element = past.last[static_cast<std::size_t>(head - 1)];
    element.index = past.index;
    ElementMembers::take(cursor, element);
    event = element;
  }
  return cursor.overrun() ? std::nullopt : event;
}

bool EventReader::is_bad() const { return state_->cursor.overrun(); }

}  // namespace waymark::shard
