#include "waymark/shard/event_codec.h"

#include <array>
#include <cstddef>
#include <utility>

#include "pack_counts.h"

namespace waymark::shard {
namespace {

/// A member that is written as a number.
template <class T>
struct Field {
  std::uint64_t (*get)(const T& from) = nullptr;
  void (*set)(T& to, std::uint64_t value) = nullptr;
  std::uint64_t most = UINT64_MAX;
};

template <auto kMember, class T, class Value>
constexpr Field<T> field_of(Value T::* /*member*/, std::uint64_t most) {
  return {.get = [](const T& from) { return static_cast<std::uint64_t>(from.*kMember); },
          .set = [](T& to, std::uint64_t value) { to.*kMember = static_cast<Value>(value); },
          .most = most};
}
template <auto kMember>
constexpr auto field(std::uint64_t most) {
  return field_of<kMember>(kMember, most);
}
template <auto kMember, class Last>
constexpr auto field_up_to(Last last) {
  return field_of<kMember>(kMember, static_cast<std::uint64_t>(last));
}

/// The number, or the master and the channel, of an element.
std::uint64_t number_of(const Element& element) {
  if (element.kind != ElementKind::kSwTrace) return element.number;
  return element.sw_id.master | std::uint64_t{element.sw_id.channel} << 16;
}
void set_number(Element& element, std::uint64_t value) {
  if (element.kind != ElementKind::kSwTrace) {
    element.number = static_cast<std::uint32_t>(value);
    return;
  }
  element.sw_id = {.master = static_cast<std::uint16_t>(value & UINT16_MAX),
                   .channel = static_cast<std::uint16_t>(value >> 16)};
}

/// Besides the kind and the index.  What changes often is first, because the mask of what changes
/// is a number.
constexpr std::array kElementFields = {
    field<&Element::start>(UINT64_MAX),
    field<&Element::timestamp>(UINT64_MAX),
    Field<Element>{.get = number_of, .set = set_number, .most = UINT32_MAX},
    field<&Element::extra_value>(UINT32_MAX),
    field<&Element::flags>(UINT16_MAX),
    field<&Element::end>(UINT64_MAX),
    field<&Element::extra>(UINT8_MAX),
    field<&Element::trace_id>(UINT8_MAX),
    field<&Element::cycle_count>(UINT32_MAX),
    field<&Element::context_id>(UINT32_MAX),
    field<&Element::vmid>(UINT32_MAX),
    field<&Element::reason>(UINT8_MAX),
    field<&Element::exception_level>(UINT8_MAX),
    field<&Element::last_size>(UINT8_MAX),
    field_up_to<&Element::isa>(isa::Isa::kUnknown),
    field_up_to<&Element::last_type>(isa::InstrType::kTstart),
    field_up_to<&Element::last_subtype>(isa::InstrSubtype::kV7ImpliedReturn),
    field_up_to<&Element::security>(Security::kRealm),
};

constexpr std::array kDiagnosticFields = {
    field<&Diagnostic::index>(UINT64_MAX),
    field<&Diagnostic::fault>(kFaultCount - 1),
    field<&Diagnostic::finding>(kFindingCount - 1),
    field<&Diagnostic::trace_id>(UINT8_MAX),
    field<&Diagnostic::stream_id>(UINT8_MAX),
    field<&Diagnostic::number>(UINT8_MAX),
    field<&Diagnostic::lost>(UINT64_MAX),
    field<&Diagnostic::address>(UINT64_MAX),
    field<&Diagnostic::fatal>(1),
    field_up_to<&Diagnostic::stage>(Stage::kElements),
    field_up_to<&Diagnostic::severity>(Severity::kInfo),
};

/// A mask of what differs from `base`, and the differences.
template <class T, std::size_t kSize>
void put_changes(std::string& out, const std::array<Field<T>, kSize>& fields, const T& base,
                 const T& event) {
  std::uint64_t changes = 0;
  for (std::size_t i = 0; i < kSize; ++i)
    if (fields[i].get(event) != fields[i].get(base)) changes |= std::uint64_t{1} << i;
  put_number(out, changes);
  for (std::size_t i = 0; i < kSize; ++i)
    if ((changes >> i & 1) != 0) put_signed(out, fields[i].get(event) - fields[i].get(base));
}

template <class T, std::size_t kSize>
void take_changes(Cursor& cursor, const std::array<Field<T>, kSize>& fields, T& event) {
  const std::uint64_t changes = take_most(cursor, (std::uint64_t{1} << kSize) - 1);
  for (std::size_t i = 0; i < kSize; ++i) {
    if ((changes >> i & 1) == 0) continue;
    const std::uint64_t value = fields[i].get(event) + take_signed(cursor);
    if (value > fields[i].most) return overrun(cursor);
    fields[i].set(event, value);
  }
}

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
    put_changes(out, kDiagnosticFields, {}, *record);
    return;
  }
  const auto& element = std::get<Element>(event);
  const auto kind = static_cast<std::size_t>(element.kind);
  put_number(out, 1 + kind);
  put_signed(out, element.index - past.index);
  put_changes(out, kElementFields, past.last[kind], element);
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
    take_changes(cursor, kDiagnosticFields, record);
    if (record.severity < Severity::kError) overrun(cursor);
    event = record;
  } else {
    past.index += take_signed(cursor);
    Element& element = past.last[static_cast<std::size_t>(head - 1)];
    element.index = past.index;
    take_changes(cursor, kElementFields, element);
    event = element;
  }
  return cursor.overrun() ? std::nullopt : event;
}

bool EventReader::is_bad() const { return state_->cursor.overrun(); }

}  // namespace waymark::shard
