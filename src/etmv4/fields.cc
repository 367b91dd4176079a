#include "waymark/etmv4/fields.h"

#include <fmt/format.h>

#include <array>

#include "type_slots.h"
#include "waymark/base/bits.h"

namespace waymark::etmv4 {
namespace {

constexpr bool always(const Packet& /*packet*/) { return true; }

template <auto Member>
constexpr Field member(std::string_view name, FieldKind kind, std::uint8_t width) {
  return member_field<Packet, Member>(name, kind, width);
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
constexpr Field kAddressValue = {"value",
                                 FieldKind::kHex,
                                 64,
                                 [](const Packet& p) { return p.address.value; },
                                 [](Packet& p, std::uint64_t v) { p.address.value = v; },
                                 always};
constexpr Field kAddressBits = {
    "bits",
    FieldKind::kDecimal,
    7,
    [](const Packet& p) { return std::uint64_t{p.address.update_bits}; },
    [](Packet& p, std::uint64_t v) { p.address.update_bits = static_cast<std::uint8_t>(v); },
    [](const Packet& p) { return p.address.update_bits != 0; }};

// -- Context. -------------------------------------------------------------------------------------

constexpr bool has_context(const Packet& packet) { return packet.context.updated; }

template <auto Member>
constexpr Field context_member(std::string_view name, FieldKind kind, std::uint8_t width) {
  return {name,
          kind,
          width,
          [](const Packet& p) { return static_cast<std::uint64_t>(p.context.*Member); },
          [](Packet& p, std::uint64_t v) {
            p.context.*Member =
                static_cast<std::remove_reference_t<decltype(p.context.*Member)>>(v);
            p.context.updated = true;
          },
          has_context};
}

constexpr Field kEl = context_member<&Context::el>("el", FieldKind::kDecimal, 2);
constexpr Field kSf = context_member<&Context::sf>("sf", FieldKind::kFlag, 1);
constexpr Field kNs = context_member<&Context::ns>("ns", FieldKind::kFlag, 1);
constexpr Field kNse = context_member<&Context::nse>("nse", FieldKind::kFlag, 1);
constexpr Field kVmid = {
    "vmid",
    FieldKind::kHex,
    32,
    [](const Packet& p) { return std::uint64_t{p.context.vmid}; },
    [](Packet& p, std::uint64_t v) {
      p.context.vmid = static_cast<std::uint32_t>(v);
      p.context.updated = p.context.updated_vmid = true;
    },
    [](const Packet& p) { return p.context.updated && p.context.updated_vmid; }};
constexpr Field kContextId = {
    "context_id",
    FieldKind::kHex,
    32,
    [](const Packet& p) { return std::uint64_t{p.context.context_id}; },
    [](Packet& p, std::uint64_t v) {
      p.context.context_id = static_cast<std::uint32_t>(v);
      p.context.updated = p.context.updated_context_id = true;
    },
    [](const Packet& p) { return p.context.updated && p.context.updated_context_id; }};

// -- Trace info: the section bits of PLCTL are in Packet::value. ----------------------------------

template <auto Member, unsigned Section>
constexpr Field section(std::string_view name, FieldKind kind) {
  return {name,
          kind,
          32,
          [](const Packet& p) { return static_cast<std::uint64_t>(p.*Member); },
          [](Packet& p, std::uint64_t v) {
            p.*Member = static_cast<std::uint32_t>(v);
            p.value |= 1U << Section;
            if constexpr (Section == 2) p.has_spec = true;
          },
          [](const Packet& p) { return (p.value >> Section & 1) != 0; }};
}

constexpr Field kTraceInfoFields[] = {
    section<&Packet::info, 0>("info", FieldKind::kHex),
    section<&Packet::cycle_count, 1>("p0_key", FieldKind::kHex),
    section<&Packet::spec_depth, 2>("spec_depth", FieldKind::kDecimal),
    section<&Packet::cc_threshold, 3>("cc_threshold", FieldKind::kHex),
    section<&Packet::commit, 4>("commit_window", FieldKind::kDecimal),
    {"initial", FieldKind::kFlag, 1, [](const Packet& p) { return std::uint64_t{p.initial}; },
     nullptr, always},
};

// -- Counts. --------------------------------------------------------------------------------------

constexpr Field kCounted = {"cycle_count",
                            FieldKind::kDecimal,
                            32,
                            [](const Packet& p) { return std::uint64_t{p.cycle_count}; },
                            [](Packet& p, std::uint64_t v) {
                              p.cycle_count = static_cast<std::uint32_t>(v);
                              p.has_count = true;
                            },
                            [](const Packet& p) { return p.has_count; }};
constexpr Field kCycleCount = member<&Packet::cycle_count>("cycle_count", FieldKind::kDecimal, 32);
constexpr Field kThreshold = {
    "threshold",
    FieldKind::kHex,
    32,
    [](const Packet& p) { return std::uint64_t{p.cc_threshold}; },
    [](Packet& p, std::uint64_t v) { p.cc_threshold = static_cast<std::uint32_t>(v); },
    [](const Packet& /*p*/) { return false; }};
constexpr Field kOptionalCommit = {"commit",
                                   FieldKind::kDecimal,
                                   32,
                                   [](const Packet& p) { return std::uint64_t{p.commit}; },
                                   [](Packet& p, std::uint64_t v) {
                                     p.commit = static_cast<std::uint32_t>(v);
                                     p.has_commit = true;
                                   },
                                   [](const Packet& p) { return p.has_commit; }};
constexpr Field kCommitFields[] = {member<&Packet::commit>("commit", FieldKind::kDecimal, 32)};
constexpr Field kCancel = member<&Packet::cancel>("cancel", FieldKind::kDecimal, 32);

constexpr Field kTimestampFields[] = {
    member<&Packet::timestamp>("timestamp", FieldKind::kHex, 64),
    {"bits", FieldKind::kDecimal, 7,
     [](const Packet& p) { return std::uint64_t{p.timestamp_bits}; },
     [](Packet& p, std::uint64_t v) { p.timestamp_bits = static_cast<std::uint8_t>(v); },
     [](const Packet& p) { return p.timestamp_bits != 0; }},
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
constexpr Field kOptionalAtoms = {kAtoms.name, kAtoms.kind,
                                  kAtoms.bits, kAtoms.get,
                                  kAtoms.set,  [](const Packet& p) { return p.atom_count != 0; }};
constexpr Field kAtomFields[] = {kAtoms};
constexpr Field kMispredictFields[] = {kOptionalAtoms};
constexpr Field kCancelFields[] = {kCancel};
constexpr Field kCancelAtomFields[] = {kOptionalAtoms, kCancel};

// -- The rest. ------------------------------------------------------------------------------------

constexpr Field kExceptionAddressField = {
    "e1e0",
    FieldKind::kDecimal,
    2,
    [](const Packet& p) { return static_cast<std::uint64_t>(p.exception_address); },
    [](Packet& p, std::uint64_t v) { p.exception_address = static_cast<ExceptionAddress>(v); },
    always};
constexpr Field kExceptionFields[] = {
    member<&Packet::exception>("type", FieldKind::kHex, 10),
    kExceptionAddressField,
    member<&Packet::fault_pending>("fault_pending", FieldKind::kFlag, 1),
};
constexpr Field kEteExceptionFields[] = {kExceptionAddressField};
constexpr Field kInstrumentationFields[] = {
    member<&Packet::value>("el", FieldKind::kDecimal, 8),
    member<&Packet::timestamp>("payload", FieldKind::kHex, 64),
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
    {"value", FieldKind::kHex, 64, [](const Packet& p) { return p.address.value; }, nullptr,
     always},
};
constexpr Field kQFields[] = {
    {"type", FieldKind::kHex, 4, [](const Packet& p) { return std::uint64_t{p.q_type}; },
     [](Packet& p, std::uint64_t v) {
       p.q_type = static_cast<std::uint8_t>(v);
       p.match_index = p.q_type <= 2 ? p.q_type : 0;
       p.has_count = p.q_type != 0xF;
     },
     always},
    {"value", FieldKind::kHex, 64, [](const Packet& p) { return p.address.value; },
     [](Packet& p, std::uint64_t v) { p.address.value = v; },
     [](const Packet& p) { return p.q_type != 0xC && p.q_type != 0xF; }},
    kAddressBits,
    {"count", FieldKind::kDecimal, 32, [](const Packet& p) { return std::uint64_t{p.cycle_count}; },
     [](Packet& p, std::uint64_t v) { p.cycle_count = static_cast<std::uint32_t>(v); },
     [](const Packet& p) { return p.has_count; }},
};
constexpr Field kCondInstrF1Fields[] = {member<&Packet::cycle_count>("key", FieldKind::kHex, 32)};
constexpr Field kCondInstrF2Fields[] = {member<&Packet::value>("form", FieldKind::kDecimal, 2)};
constexpr Field kCondInstrF3Fields[] = {member<&Packet::value>("elements", FieldKind::kHex, 8)};
constexpr Field kCondResultF1Fields[] = {
    member<&Packet::match_index>("form", FieldKind::kDecimal, 3),
    member<&Packet::value>("results", FieldKind::kHex, 8),
    member<&Packet::cycle_count>("key", FieldKind::kHex, 32),
    member<&Packet::commit>("key2", FieldKind::kHex, 32),
};
constexpr Field kCondResultF3Fields[] = {
    member<&Packet::cycle_count>("tokens", FieldKind::kHex, 12)};
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
