#include "waymark/etmv3/fields.h"

#include <fmt/format.h>

#include <array>

#include "waymark/etmv3/text.h"

namespace waymark::etmv3 {
namespace {

using Kind = FieldKind;

constexpr bool always(const Packet& /*packet*/) { return true; }

template <auto Member>
constexpr Field member(std::string_view name, Kind kind, std::uint8_t width) {
  return member_field<Packet, Member>(name, kind, width);
}

/// A member of one of the packet's structs.
template <auto Part, auto Member>
constexpr Field part(std::string_view name, Kind kind, std::uint8_t width,
                     bool (*present)(const Packet&) = always) {
  return {name,
          kind,
          width,
          [](const Packet& p) { return static_cast<std::uint64_t>(p.*Part.*Member); },
          [](Packet& p, std::uint64_t v) {
            p.*Part.*Member = static_cast<std::remove_cvref_t<decltype(p.*Part.*Member)>>(v);
          },
          present};
}

// -- Addresses of instructions. -------------------------------------------------------------------

constexpr bool has_address(const Packet& p) { return !p.no_address; }
constexpr bool has_bits(const Packet& p) { return p.address.update_bits != 0; }
constexpr Field kAddress =
    part<&Packet::address, &Address::value>("value", Kind::kHex, 32, has_address);
constexpr Field kBits =
    part<&Packet::address, &Address::update_bits>("bits", Kind::kDecimal, 6, has_bits);
constexpr Field kIsa = {"isa",
                        Kind::kWord,
                        3,
                        [](const Packet& p) { return static_cast<std::uint64_t>(p.isa); },
                        [](Packet& p, std::uint64_t v) { p.isa = static_cast<isa::Isa>(v); },
                        has_address,
                        isa_word};

// -- Exceptions of branch packets. ----------------------------------------------------------------

constexpr bool has_exception(const Packet& p) { return p.exception.present; }
constexpr bool has_information(const Packet& p) {
  return p.exception.present && !p.exception.deprecated;
}

template <auto Member>
constexpr Field exception_member(std::string_view name, Kind kind, std::uint8_t width) {
  return {name,
          kind,
          width,
          [](const Packet& p) { return static_cast<std::uint64_t>(p.exception.*Member); },
          [](Packet& p, std::uint64_t v) {
            p.exception.*Member =
                static_cast<std::remove_cvref_t<decltype(p.exception.*Member)>>(v);
            p.exception.present = true;
          },
          has_exception};
}

template <auto Member>
constexpr Field world_member(std::string_view name) {
  return {name,
          Kind::kFlag,
          1,
          [](const Packet& p) { return static_cast<std::uint64_t>(p.context.*Member); },
          [](Packet& p, std::uint64_t v) {
            p.context.*Member = v != 0;
            p.exception.present = true;
            if constexpr (Member == &Context::hyp) p.exception.has_hyp = true;
          },
          has_information};
}

constexpr Field kBranchFields[] = {
    kAddress,
    kBits,
    kIsa,
    exception_member<&Exception::number>("exception", Kind::kDecimal, 9),
    exception_member<&Exception::cancel>("cancel", Kind::kFlag, 1),
    exception_member<&Exception::resume>("resume", Kind::kDecimal, 4),
    exception_member<&Exception::deprecated>("deprecated", Kind::kFlag, 1),
    world_member<&Context::ns>("ns"),
    world_member<&Context::hyp>("hyp"),
    world_member<&Context::alt_isa>("alt_isa"),
};

// -- P-headers. -----------------------------------------------------------------------------------

constexpr Field kPHeaderFields[] = {
    {"atoms", Kind::kAtoms, 16, [](const Packet& p) { return atom_value(p.atoms, p.atom_count); },
     [](Packet& p, std::uint64_t v) {
       p.atom_count = static_cast<std::uint8_t>(atom_count(v));
       p.atoms = static_cast<std::uint16_t>(v & low_mask(p.atom_count));
     },
     [](const Packet& p) { return p.atom_count != 0; }},
    {"cycles", Kind::kDecimal, 8, [](const Packet& p) { return std::uint64_t{p.cycle_count}; },
     [](Packet& p, std::uint64_t v) { p.cycle_count = static_cast<std::uint32_t>(v); },
     [](const Packet& p) { return p.cycle_count != 0; }},
    member<&Packet::format>("format", Kind::kDecimal, 8),
};

// -- I-syncs, counts, contexts. -------------------------------------------------------------------

constexpr Field kCycles = member<&Packet::cycle_count>("cycles", Kind::kDecimal, 32);
constexpr Field kContextIdField = {
    "context_id",
    Kind::kHex,
    32,
    [](const Packet& p) { return std::uint64_t{p.context.context_id}; },
    [](Packet& p, std::uint64_t v) {
      p.context.context_id = static_cast<std::uint32_t>(v);
      p.context.updated_context_id = true;
    },
    [](const Packet& p) { return p.context.updated_context_id; }};
constexpr Field kReason = {
    "reason",
    Kind::kWord,
    2,
    [](const Packet& p) { return static_cast<std::uint64_t>(p.reason); },
    [](Packet& p, std::uint64_t v) { p.reason = static_cast<SyncReason>(v); },
    always,
    sync_reason_word};
constexpr Field kNs = part<&Packet::context, &Context::ns>("ns", Kind::kFlag, 1);
constexpr Field kHyp = part<&Packet::context, &Context::hyp>("hyp", Kind::kFlag, 1);
constexpr Field kDataInstruction = {
    "data_instruction",
    Kind::kHex,
    32,
    [](const Packet& p) { return std::uint64_t{p.data_instruction}; },
    [](Packet& p, std::uint64_t v) {
      p.data_instruction = static_cast<std::uint32_t>(v);
      p.lsip = true;
    },
    [](const Packet& p) { return p.lsip; }};
constexpr Field kSyncBits = {
    "bits",
    Kind::kDecimal,
    6,
    [](const Packet& p) { return std::uint64_t{p.address.update_bits}; },
    [](Packet& p, std::uint64_t v) { p.address.update_bits = static_cast<std::uint8_t>(v); },
    [](const Packet& /*p*/) { return false; }};
constexpr Field kISyncFields[] = {kContextIdField,  kReason,  kNs,       kHyp,
                                  kDataInstruction, kAddress, kSyncBits, kIsa};
constexpr Field kISyncCycleFields[] = {kCycles,          kContextIdField, kReason,   kNs, kHyp,
                                       kDataInstruction, kAddress,        kSyncBits, kIsa};
constexpr Field kCycleFields[] = {kCycles};
constexpr Field kContextIdFields[] = {kContextIdField};
constexpr Field kVmidFields[] = {part<&Packet::context, &Context::vmid>("vmid", Kind::kHex, 8)};
constexpr Field kTimestampFields[] = {
    member<&Packet::timestamp>("timestamp", Kind::kHex, 64),
    {"bits", Kind::kDecimal, 7, [](const Packet& p) { return std::uint64_t{p.timestamp_bits}; },
     [](Packet& p, std::uint64_t v) { p.timestamp_bits = static_cast<std::uint8_t>(v); },
     [](const Packet& p) { return p.timestamp_bits != 0; }},
    member<&Packet::frequency_change>("frequency_change", Kind::kFlag, 1),
};

// -- Data. ----------------------------------------------------------------------------------------

constexpr bool has_data_address(const Packet& p) { return p.transfer.has_address; }
constexpr Field kDataAddress = {
    "address",
    Kind::kHex,
    32,
    [](const Packet& p) { return std::uint64_t{p.transfer.address.value}; },
    [](Packet& p, std::uint64_t v) {
      p.transfer.address.value = static_cast<std::uint32_t>(v);
      p.transfer.has_address = p.transfer.first = true;
    },
    has_data_address};
constexpr Field kDataBits = {
    "bits",
    Kind::kDecimal,
    6,
    [](const Packet& p) { return std::uint64_t{p.transfer.address.update_bits}; },
    [](Packet& p, std::uint64_t v) {
      p.transfer.address.update_bits = static_cast<std::uint8_t>(v);
    },
    has_data_address};
constexpr Field kBigEndian = part<&Packet::transfer, &Transfer::big_endian>(
    "big_endian", Kind::kFlag, 1, [](const Packet& p) { return p.transfer.has_endianness; });
constexpr Field kFirst = part<&Packet::transfer, &Transfer::first>("first", Kind::kFlag, 1);
constexpr Field kTag = part<&Packet::transfer, &Transfer::tag>("tag", Kind::kDecimal, 2);
constexpr bool has_data_value(const Packet& p) { return p.transfer.has_value; }
constexpr Field kValue = {"value",
                          Kind::kHex,
                          32,
                          [](const Packet& p) { return std::uint64_t{p.transfer.value}; },
                          [](Packet& p, std::uint64_t v) {
                            p.transfer.value = static_cast<std::uint32_t>(v);
                            p.transfer.has_value = true;
                          },
                          has_data_value};
constexpr Field kSize =
    part<&Packet::transfer, &Transfer::size>("size", Kind::kDecimal, 3, has_data_value);
constexpr Field kNormDataFields[] = {kFirst, kDataAddress, kDataBits, kBigEndian, kValue, kSize};
constexpr Field kOooAddressFields[] = {kTag, kFirst, kDataAddress, kDataBits, kBigEndian};
constexpr Field kOooDataFields[] = {kTag, kValue, kSize};
constexpr Field kNotTracedFields[] = {kFirst, kDataAddress, kDataBits, kBigEndian};

constexpr Field kErrorFields[] = {
    {"error_type", Kind::kWord, 8,
     [](const Packet& p) { return static_cast<std::uint64_t>(p.error_type); }, nullptr,
     [](const Packet& p) { return p.error_type != PacketType::kNoErrorType; },
     [](std::uint64_t value) { return packet_keyword(static_cast<PacketType>(value)); }}};

struct Row {
  PacketType type;
  std::string_view keyword;
  std::span<const Field> fields = {};
};

constexpr Row kRows[] = {
    {PacketType::kBranchAddress, "branch", kBranchFields},
    {PacketType::kASync, "async"},
    {PacketType::kCycleCount, "cycle_count", kCycleFields},
    {PacketType::kISync, "isync", kISyncFields},
    {PacketType::kISyncCycle, "isync_cycle", kISyncCycleFields},
    {PacketType::kTrigger, "trigger"},
    {PacketType::kPHeader, "p_header", kPHeaderFields},
    {PacketType::kStoreFailed, "store_failed"},
    {PacketType::kOooData, "ooo_data", kOooDataFields},
    {PacketType::kOooAddress, "ooo_address", kOooAddressFields},
    {PacketType::kNormData, "data", kNormDataFields},
    {PacketType::kDataSuppressed, "data_suppressed"},
    {PacketType::kValueNotTraced, "value_not_traced", kNotTracedFields},
    {PacketType::kIgnore, "ignore"},
    {PacketType::kContextId, "context_id", kContextIdFields},
    {PacketType::kVmid, "vmid", kVmidFields},
    {PacketType::kExceptionEntry, "exception_entry"},
    {PacketType::kExceptionExit, "exception_exit"},
    {PacketType::kTimestamp, "timestamp", kTimestampFields},
    // From here on: states of the parser, which are not packets of the protocol.
    {PacketType::kNotSync, "not_sync"},
    {PacketType::kIncompleteEot, "incomplete_eot", kErrorFields},
    {PacketType::kBadSequence, "bad_sequence", kErrorFields},
    {PacketType::kBadTraceMode, "bad_trace_mode", kErrorFields},
    {PacketType::kReserved, "reserved", kErrorFields},
    {PacketType::kNoErrorType, "reserved"},
};
constexpr std::size_t kPackets = 19;
static_assert(kRows[kPackets].type == PacketType::kNotSync);

constexpr auto kKeywords = [] {
  std::array<std::string_view, kPackets> keywords{};
  for (std::size_t i = 0; i < kPackets; ++i) keywords[i] = kRows[i].keyword;
  return keywords;
}();

constexpr auto kRowOfType = [] {
  std::array<std::uint8_t, kPacketTypeCount> rows{};
  rows.fill(static_cast<std::uint8_t>(std::size(kRows) - 1));
  for (std::size_t i = 0; i < std::size(kRows); ++i)
    rows[static_cast<std::size_t>(kRows[i].type)] = static_cast<std::uint8_t>(i);
  return rows;
}();

const Row& row_of(PacketType type) {
  const auto number = static_cast<std::size_t>(type);
  return kRows[kRowOfType[number < kPacketTypeCount ? number : 0]];
}

}  // namespace

std::span<const Field> fields_of(PacketType type) { return row_of(type).fields; }

std::string_view packet_keyword(PacketType type) { return row_of(type).keyword; }

std::span<const std::string_view> packet_keywords() { return kKeywords; }

Result<Packet> packet_of_keyword(std::string_view keyword) {
  for (const Row& row : std::span(kRows).first(kPackets)) {
    if (row.keyword != keyword) continue;
    Packet packet;
    packet.type = row.type;
    packet.isa = isa::Isa::kA32;
    packet.transfer.tag =
        row.type == PacketType::kOooData || row.type == PacketType::kOooAddress ? 1 : 0;
    return packet;
  }
  return fail(ErrorCode::kNotFound, fmt::format("There is no packet named '{}'.", keyword));
}

}  // namespace waymark::etmv3
