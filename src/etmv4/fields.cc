#include "waymark/etmv4/fields.h"

#include <fmt/format.h>

#include <array>

#include "type_slots.h"
#include "waymark/base/bits.h"

namespace waymark::etmv4 {
namespace {

constexpr bool always(const Packet& /*packet*/) { return true; }

/// A member, or a member of a member.
template <auto First, auto... Rest>
constexpr auto& member_of(auto& of) {
  if constexpr (sizeof...(Rest) == 0) {
    return of.*First;
  } else {
    return member_of<Rest...>(of.*First);
  }
}
template <auto... Path>
constexpr void set_member(Packet& packet, std::uint64_t value) {
  auto& member = member_of<Path...>(packet);
  member = static_cast<std::remove_reference_t<decltype(member)>>(value);
}
template <auto... Path>
constexpr Field member(std::string_view name, FieldKind kind, std::uint8_t width) {
  return {name,
          kind,
          width,
          [](const Packet& p) { return static_cast<std::uint64_t>(member_of<Path...>(p)); },
          set_member<Path...>,
          always};
}
constexpr Field when(Field field, bool (*present)(const Packet&)) {
  field.present = present;
  return field;
}
constexpr Field read_only(Field field) {
  field.set = nullptr;
  return field;
}

// -- The same packet for both instruction sets: the field `is` chooses between the types. ---------

struct IsPair {
  PacketType is0;
  PacketType is1;
};
constexpr IsPair kIsPairs[] = {
    {PacketType::kAddressContext32Is0, PacketType::kAddressContext32Is1},
    {PacketType::kAddressContext64Is0, PacketType::kAddressContext64Is1},
    {PacketType::kAddressShortIs0, PacketType::kAddressShortIs1},
    {PacketType::kAddress32Is0, PacketType::kAddress32Is1},
    {PacketType::kAddress64Is0, PacketType::kAddress64Is1},
    {PacketType::kSourceShortIs0, PacketType::kSourceShortIs1},
    {PacketType::kSource32Is0, PacketType::kSource32Is1},
    {PacketType::kSource64Is0, PacketType::kSource64Is1},
};

std::uint64_t get_is(const Packet& packet) {
  for (const IsPair& pair : kIsPairs)
    if (packet.type == pair.is1) return 1;
  return 0;
}

void set_is(Packet& packet, std::uint64_t is) {
  for (const IsPair& pair : kIsPairs)
    if (packet.type == pair.is0 || packet.type == pair.is1)
      packet.type = is == 0 ? pair.is0 : pair.is1;
  packet.address.is = static_cast<std::uint8_t>(is);
}

constexpr Field kIs = {"is", FieldKind::kDecimal, 1, get_is, set_is, always};
constexpr Field kAddressValue =
    member<&Packet::address, &Address::value>("value", FieldKind::kHex, 64);
constexpr Field kAddressBits =
    when(member<&Packet::address, &Address::update_bits>("bits", FieldKind::kDecimal, 7),
         [](const Packet& p) { return p.address.update_bits != 0; });

// -- Context. -------------------------------------------------------------------------------------

/// `Flag` says that the packet carries it.
template <auto Member, auto Flag = &Context::updated>
constexpr Field context_member(std::string_view name, FieldKind kind, std::uint8_t width) {
  Field field = member<&Packet::context, Member>(name, kind, width);
  field.set = [](Packet& p, std::uint64_t v) {
    set_member<&Packet::context, Member>(p, v);
    p.context.updated = p.context.*Flag = true;
  };
  field.present = [](const Packet& p) { return p.context.updated && p.context.*Flag; };
  return field;
}

constexpr Field kEl = context_member<&Context::el>("el", FieldKind::kDecimal, 2);
constexpr Field kSf = context_member<&Context::sf>("sf", FieldKind::kFlag, 1);
constexpr Field kNs = context_member<&Context::ns>("ns", FieldKind::kFlag, 1);
constexpr Field kNse = context_member<&Context::nse>("nse", FieldKind::kFlag, 1);
constexpr Field kVmid =
    context_member<&Context::vmid, &Context::updated_vmid>("vmid", FieldKind::kHex, 32);
constexpr Field kContextId = context_member<&Context::context_id, &Context::updated_context_id>(
    "context_id", FieldKind::kHex, 32);

// -- Trace info. ----------------------------------------------------------------------------------

template <unsigned Section, auto... Path>
constexpr Field section(std::string_view name, FieldKind kind) {
  Field field = member<Path...>(name, kind, 32);
  field.set = [](Packet& p, std::uint64_t v) {
    set_member<Path...>(p, v);
    p.trace_info.sections |= 1U << Section;
    if constexpr (Section == 2) p.trace_info.has_spec = true;
  };
  field.present = [](const Packet& p) { return (p.trace_info.sections >> Section & 1) != 0; };
  return field;
}

constexpr Field kTraceInfoFields[] = {
    section<0, &Packet::trace_info, &TraceInfo::info>("info", FieldKind::kHex),
    section<1, &Packet::trace_info, &TraceInfo::p0_key>("p0_key", FieldKind::kHex),
    section<2, &Packet::trace_info, &TraceInfo::spec_depth>("spec_depth", FieldKind::kDecimal),
    section<3, &Packet::cc_threshold>("cc_threshold", FieldKind::kHex),
    section<4, &Packet::trace_info, &TraceInfo::window>("commit_window", FieldKind::kDecimal),
    read_only(member<&Packet::trace_info, &TraceInfo::initial>("initial", FieldKind::kFlag, 1)),
};

// -- Counts. --------------------------------------------------------------------------------------

/// A member that `Flag` says is there.
template <auto Member, auto Flag>
constexpr Field flagged(std::string_view name) {
  Field field = member<Member>(name, FieldKind::kDecimal, 32);
  field.set = [](Packet& p, std::uint64_t v) {
    set_member<Member>(p, v);
    p.*Flag = true;
  };
  field.present = [](const Packet& p) { return p.*Flag; };
  return field;
}

constexpr Field kCounted = flagged<&Packet::cycle_count, &Packet::has_count>("cycle_count");
constexpr Field kCycleCount = member<&Packet::cycle_count>("cycle_count", FieldKind::kDecimal, 32);
constexpr Field kThreshold = when(member<&Packet::cc_threshold>("threshold", FieldKind::kHex, 32),
                                  [](const Packet& /*p*/) { return false; });
constexpr Field kOptionalCommit = flagged<&Packet::commit, &Packet::has_commit>("commit");
constexpr Field kCommitFields[] = {member<&Packet::commit>("commit", FieldKind::kDecimal, 32)};
constexpr Field kCancel = member<&Packet::cancel>("cancel", FieldKind::kDecimal, 32);

constexpr Field kTimestampFields[] = {
    member<&Packet::timestamp>("timestamp", FieldKind::kHex, 64),
    when(member<&Packet::timestamp_bits>("bits", FieldKind::kDecimal, 7),
         [](const Packet& p) { return p.timestamp_bits != 0; }),
    kCounted,
};
constexpr Field kCountedCommitFields[] = {kCounted, kThreshold, kOptionalCommit};
constexpr Field kCountCommitFields[] = {kCycleCount, kThreshold, kOptionalCommit};

// -- Atoms. ---------------------------------------------------------------------------------------

constexpr Field kAtoms = {"atoms",
                          FieldKind::kAtoms,
                          32,
                          [](const Packet& p) { return atom_value(p.atoms, p.atom_count); },
                          [](Packet& p, std::uint64_t v) {
                            p.atom_count = static_cast<std::uint8_t>(atom_count(v));
                            p.atoms = static_cast<std::uint32_t>(v & low_mask(p.atom_count));
                          },
                          always};
constexpr Field kOptionalAtoms = when(kAtoms, [](const Packet& p) { return p.atom_count != 0; });
constexpr Field kAtomFields[] = {kAtoms};
constexpr Field kMispredictFields[] = {kOptionalAtoms};
constexpr Field kCancelFields[] = {kCancel};
constexpr Field kCancelAtomFields[] = {kOptionalAtoms, kCancel};

// -- The rest. ------------------------------------------------------------------------------------

constexpr Field kExceptionAddressField =
    member<&Packet::exception_address>("e1e0", FieldKind::kDecimal, 2);
constexpr Field kExceptionFields[] = {
    member<&Packet::exception>("type", FieldKind::kHex, 10),
    kExceptionAddressField,
    member<&Packet::fault_pending>("fault_pending", FieldKind::kFlag, 1),
};
constexpr Field kEteExceptionFields[] = {kExceptionAddressField};
constexpr Field kInstrumentationFields[] = {
    member<&Packet::instrumentation, &Instrumentation::el>("el", FieldKind::kDecimal, 8),
    member<&Packet::instrumentation, &Instrumentation::payload>("payload", FieldKind::kHex, 64),
};
constexpr Field kEventFields[] = {member<&Packet::value>("events", FieldKind::kHex, 4)};
constexpr Field kMarkerFields[] = {member<&Packet::value>("marker", FieldKind::kDecimal, 3)};
constexpr Field kContextFields[] = {kEl, kSf, kNs, kNse, kVmid, kContextId};
constexpr Field kAddressContextFields[] = {kIs, kAddressValue, kEl,   kSf,
                                           kNs, kNse,          kVmid, kContextId};
constexpr Field kAddressFields[] = {kIs, kAddressValue};
constexpr Field kShortAddressFields[] = {kIs, kAddressValue, kAddressBits};
constexpr Field kMatchFields[] = {
    member<&Packet::match_index>("index", FieldKind::kDecimal, 2),
    read_only(kAddressValue),
};
constexpr Field kQFields[] = {
    {"type", FieldKind::kHex, 4, [](const Packet& p) { return std::uint64_t{p.q.type}; },
     [](Packet& p, std::uint64_t v) {
       p.q.type = static_cast<std::uint8_t>(v);
       p.match_index = p.q.is_match() ? p.q.type : 0;
       p.q.has_count = p.q.type != 0xF;
     },
     always},
    when(kAddressValue, [](const Packet& p) { return p.q.has_address(); }),
    kAddressBits,
    when(member<&Packet::q, &Q::count>("count", FieldKind::kDecimal, 32),
         [](const Packet& p) { return p.q.has_count; }),
};

template <auto Member>
constexpr Field conditional(std::string_view name, FieldKind kind, std::uint8_t width) {
  return member<&Packet::conditional, Member>(name, kind, width);
}
constexpr Field kKey = conditional<&Conditional::key>("key", FieldKind::kHex, 32);
constexpr Field kCondInstrF1Fields[] = {kKey};
constexpr Field kCondInstrF2Fields[] = {member<&Packet::value>("form", FieldKind::kDecimal, 2)};
constexpr Field kCondInstrF3Fields[] = {
    conditional<&Conditional::elements>("elements", FieldKind::kHex, 8)};
constexpr Field kCondResultF1Fields[] = {
    conditional<&Conditional::form>("form", FieldKind::kDecimal, 3),
    conditional<&Conditional::results>("results", FieldKind::kHex, 8),
    kKey,
    conditional<&Conditional::second_key>("key2", FieldKind::kHex, 32),
};
constexpr Field kCondResultF3Fields[] = {
    conditional<&Conditional::tokens>("tokens", FieldKind::kHex, 12)};
constexpr Field kTokenFields[] = {member<&Packet::value>("token", FieldKind::kDecimal, 3)};
constexpr Field kErrorFields[] = {
    {"error_type", FieldKind::kWord, 16,
     [](const Packet& p) { return static_cast<std::uint64_t>(p.error_type); }, nullptr, always,
     [](std::uint64_t v) { return packet_keyword(static_cast<PacketType>(v)); }}};

struct Row {
  PacketType type;
  std::string_view keyword;
  std::span<const Field> fields;
};

/// The second of two types that share a keyword follows the first.
constexpr Row kRows[] = {
    {PacketType::kAsync, "async", {}},
    {PacketType::kDiscard, "discard", {}},
    {PacketType::kOverflow, "overflow", {}},
    {PacketType::kTraceInfo, "trace_info", kTraceInfoFields},
    {PacketType::kTimestamp, "timestamp", kTimestampFields},
    {PacketType::kTraceOn, "trace_on", {}},
    {PacketType::kFunctionReturn, "function_return", {}},
    {PacketType::kException, "exception", kExceptionFields},
    {PacketType::kPeReset, "pe_reset", kEteExceptionFields},
    {PacketType::kTransactionFail, "transaction_fail", kEteExceptionFields},
    {PacketType::kExceptionReturn, "exception_return", {}},
    {PacketType::kInstrumentation, "instrumentation", kInstrumentationFields},
    {PacketType::kTransactionStart, "transaction_start", {}},
    {PacketType::kTransactionCommit, "transaction_commit", {}},
    {PacketType::kCycleCountF2, "cycle_count_f2", kCountCommitFields},
    {PacketType::kCycleCountF1, "cycle_count_f1", kCountedCommitFields},
    {PacketType::kCycleCountF3, "cycle_count_f3", kCountCommitFields},
    {PacketType::kNumberedDataSync, "data_sync_numbered", kMarkerFields},
    {PacketType::kUnnumberedDataSync, "data_sync_unnumbered", kMarkerFields},
    {PacketType::kCommit, "commit", kCommitFields},
    {PacketType::kCancelF1, "cancel_f1", kCancelFields},
    {PacketType::kCancelF1Mispredict, "cancel_f1_mispredict", kCancelFields},
    {PacketType::kMispredict, "mispredict", kMispredictFields},
    {PacketType::kCancelF2, "cancel_f2", kCancelAtomFields},
    {PacketType::kCancelF3, "cancel_f3", kCancelAtomFields},
    {PacketType::kCondInstrF2, "cond_instr_f2", kCondInstrF2Fields},
    {PacketType::kCondFlush, "cond_flush", {}},
    {PacketType::kCondResultF4, "cond_result_f4", kTokenFields},
    {PacketType::kCondResultF2, "cond_result_f2", kTokenFields},
    {PacketType::kCondResultF3, "cond_result_f3", kCondResultF3Fields},
    {PacketType::kCondResultF1, "cond_result_f1", kCondResultF1Fields},
    {PacketType::kCondInstrF1, "cond_instr_f1", kCondInstrF1Fields},
    {PacketType::kCondInstrF3, "cond_instr_f3", kCondInstrF3Fields},
    {PacketType::kIgnore, "ignore", {}},
    {PacketType::kEvent, "event", kEventFields},
    {PacketType::kContext, "context", kContextFields},
    {PacketType::kAddressContext32Is0, "address_context32", kAddressContextFields},
    {PacketType::kAddressContext32Is1, "address_context32", kAddressContextFields},
    {PacketType::kAddressContext64Is0, "address_context64", kAddressContextFields},
    {PacketType::kAddressContext64Is1, "address_context64", kAddressContextFields},
    {PacketType::kTimestampMarker, "timestamp_marker", {}},
    {PacketType::kAddressMatch, "address_match", kMatchFields},
    {PacketType::kAddressShortIs0, "address_short", kShortAddressFields},
    {PacketType::kAddressShortIs1, "address_short", kShortAddressFields},
    {PacketType::kAddress32Is0, "address32", kAddressFields},
    {PacketType::kAddress32Is1, "address32", kAddressFields},
    {PacketType::kAddress64Is0, "address64", kAddressFields},
    {PacketType::kAddress64Is1, "address64", kAddressFields},
    {PacketType::kQ, "q", kQFields},
    {PacketType::kSourceMatch, "source_match", kMatchFields},
    {PacketType::kSourceShortIs0, "source_short", kShortAddressFields},
    {PacketType::kSourceShortIs1, "source_short", kShortAddressFields},
    {PacketType::kSource32Is0, "source32", kAddressFields},
    {PacketType::kSource32Is1, "source32", kAddressFields},
    {PacketType::kSource64Is0, "source64", kAddressFields},
    {PacketType::kSource64Is1, "source64", kAddressFields},
    {PacketType::kAtomF1, "atom_f1", kAtomFields},
    {PacketType::kAtomF2, "atom_f2", kAtomFields},
    {PacketType::kAtomF3, "atom_f3", kAtomFields},
    {PacketType::kAtomF4, "atom_f4", kAtomFields},
    {PacketType::kAtomF5, "atom_f5", kAtomFields},
    {PacketType::kAtomF6, "atom_f6", kAtomFields},
    {PacketType::kNotSync, "not_sync", {}},
    {PacketType::kIncompleteEot, "incomplete_eot", kErrorFields},
    {PacketType::kBadSequence, "bad_sequence", kErrorFields},
    {PacketType::kBadTraceMode, "bad_trace_mode", {}},
    {PacketType::kReserved, "reserved", {}},
    {PacketType::kReservedConfig, "reserved_config", kErrorFields},
};
constexpr std::size_t kRowCount = std::size(kRows);
constexpr std::size_t kFirstState = kRowCount - 6;
static_assert(kRows[kFirstState].type == PacketType::kNotSync);

constexpr auto kKeywords = [] {
  std::array<std::string_view, kFirstState - std::size(kIsPairs)> keywords{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < kFirstState; ++i)
    if (i == 0 || kRows[i].keyword != kRows[i - 1].keyword) keywords[count++] = kRows[i].keyword;
  return keywords;
}();
static_assert(!kKeywords.back().empty());

constexpr auto kSlots = row_slots(kRows);
static_assert(kSlots[kSlotCount] == kRowCount, "a packet type has no slot");

}  // namespace

std::span<const Field> fields_of(PacketType type) {
  const std::size_t row = kSlots[slot_of(type)];
  return row < kRowCount ? kRows[row].fields : std::span<const Field>{};
}

std::string_view packet_keyword(PacketType type) {
  const std::size_t row = kSlots[slot_of(type)];
  return row < kRowCount ? kRows[row].keyword : "unknown";
}

std::span<const std::string_view> packet_keywords() { return kKeywords; }

Result<Packet> packet_of_keyword(std::string_view keyword) {
  for (const Row& row : std::span(kRows).first(kFirstState)) {
    if (row.keyword != keyword) continue;
    Packet packet;
    packet.type = row.type;
    packet.cancel = row.type == PacketType::kCancelF2 ? 1 : 0;
    if (row.type == PacketType::kAddressContext32Is0 ||
        row.type == PacketType::kAddressContext64Is0)
      packet.context.updated = true;
    return packet;
  }
  return fail(ErrorCode::kNotFound, fmt::format("There is no packet named '{}'.", keyword));
}

}  // namespace waymark::etmv4
