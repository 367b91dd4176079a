#include "waymark/ptm/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "waymark/base/bits.h"

namespace waymark::ptm {
namespace {

constexpr bool always(const Packet& /*packet*/) { return true; }
constexpr bool has_info(const Packet& packet) { return packet.info_bytes != 0; }
constexpr bool is_counted(const Packet& packet) { return packet.has_cycle_count; }

template <auto Member>
constexpr Field member(std::string_view name, FieldKind kind, std::uint8_t width) {
  return member_field<Packet, Member>(name, kind, width);
}

constexpr Field kValue = {
    "value",
    FieldKind::kHex,
    32,
    [](const Packet& p) { return std::uint64_t{p.address.value}; },
    [](Packet& p, std::uint64_t v) { p.address.value = static_cast<std::uint32_t>(v); },
    always};
constexpr Field kBits = {
    "bits",
    FieldKind::kDecimal,
    6,
    [](const Packet& p) { return std::uint64_t{p.address.update_bits}; },
    [](Packet& p, std::uint64_t v) { p.address.update_bits = static_cast<std::uint8_t>(v); },
    always};
constexpr Field kIsa = {"isa",
                        FieldKind::kWord,
                        3,
                        [](const Packet& p) { return static_cast<std::uint64_t>(p.isa); },
                        [](Packet& p, std::uint64_t v) { p.isa = static_cast<isa::Isa>(v); },
                        always,
                        isa_word};
constexpr Field kCycleCount = {"cycle_count",
                               FieldKind::kDecimal,
                               32,
                               [](const Packet& p) { return std::uint64_t{p.cycle_count}; },
                               [](Packet& p, std::uint64_t v) {
                                 p.cycle_count = static_cast<std::uint32_t>(v);
                                 p.has_cycle_count = true;
                               },
                               is_counted};

void need_info(Packet& packet, unsigned bytes) {
  packet.info_bytes = static_cast<std::uint8_t>(std::max<unsigned>(packet.info_bytes, bytes));
}

constexpr Field kException = {"exception",
                              FieldKind::kDecimal,
                              9,
                              [](const Packet& p) { return std::uint64_t{p.exception}; },
                              [](Packet& p, std::uint64_t v) {
                                p.exception = static_cast<std::uint16_t>(v);
                                need_info(p, v > 15 ? 2 : 1);
                              },
                              has_info};

// The bits of context that exception bytes carry, and those that an I-sync carries.
template <auto Member, unsigned InfoBytes>
constexpr Field info_flag(std::string_view name) {
  return {name,
          FieldKind::kFlag,
          1,
          [](const Packet& p) { return std::uint64_t{p.context.*Member}; },
          [](Packet& p, std::uint64_t v) {
            p.context.*Member = v != 0;
            if constexpr (InfoBytes != 0) need_info(p, InfoBytes);
          },
          InfoBytes != 0 ? has_info : always};
}

constexpr Field kBranchFields[] = {kValue,
                                   kBits,
                                   kIsa,
                                   kException,
                                   info_flag<&Context::ns, 1>("ns"),
                                   info_flag<&Context::alt_isa, 1>("alt_isa"),
                                   info_flag<&Context::hyp, 2>("hyp"),
                                   kCycleCount};
constexpr Field kUpdateFields[] = {kValue, kBits, kIsa, info_flag<&Context::alt_isa, 1>("alt_isa")};

constexpr Field kContextId = {"context_id",
                              FieldKind::kHex,
                              32,
                              [](const Packet& p) { return std::uint64_t{p.context.context_id}; },
                              [](Packet& p, std::uint64_t v) {
                                p.context.context_id = static_cast<std::uint32_t>(v);
                                p.context.updated_context_id = true;
                              },
                              [](const Packet& p) { return p.context.updated_context_id; }};
constexpr Field kContextIdFields[] = {kContextId};
constexpr Field kVmidFields[] = {
    {"vmid", FieldKind::kHex, 8, [](const Packet& p) { return std::uint64_t{p.context.vmid}; },
     [](Packet& p, std::uint64_t v) { p.context.vmid = static_cast<std::uint8_t>(v); }, always}};

constexpr Field kIsyncFields[] = {
    kValue,
    kIsa,
    {"reason", FieldKind::kWord, 2,
     [](const Packet& p) { return static_cast<std::uint64_t>(p.reason); },
     [](Packet& p, std::uint64_t v) { p.reason = static_cast<IsyncReason>(v); }, always,
     sync_reason_word},
    info_flag<&Context::ns, 0>("ns"),
    info_flag<&Context::alt_isa, 0>("alt_isa"),
    info_flag<&Context::hyp, 0>("hyp"),
    kCycleCount,
    kContextId};

constexpr Field kAtomFields[] = {{"atoms", FieldKind::kAtoms, 5,
                                  [](const Packet& p) { return atom_value(p.atoms, p.atom_count); },
                                  [](Packet& p, std::uint64_t v) {
                                    p.atom_count = static_cast<std::uint8_t>(atom_count(v));
                                    p.atoms =
                                        static_cast<std::uint32_t>(v & low_mask(p.atom_count));
                                  },
                                  always},
                                 kCycleCount};

constexpr Field kTimestampFields[] = {
    member<&Packet::timestamp>("timestamp", FieldKind::kHex, 64),
    member<&Packet::timestamp_bits>("bits", FieldKind::kDecimal, 7),
    {"clock_changed", FieldKind::kFlag, 1,
     [](const Packet& p) { return std::uint64_t{p.clock_changed}; },
     [](Packet& p, std::uint64_t v) { p.clock_changed = v != 0; },
     [](const Packet& p) { return p.clock_changed; }},
    kCycleCount};

constexpr Field kErrorFields[] = {
    {"error_type", FieldKind::kWord, 8,
     [](const Packet& p) { return static_cast<std::uint64_t>(p.error_type); }, nullptr, always,
     [](std::uint64_t v) { return packet_keyword(static_cast<PacketType>(v)); }}};

struct Row {
  PacketType type;
  std::string_view keyword;
  std::span<const Field> fields;
};

constexpr Row kRows[] = {
    {PacketType::kBranchAddress, "branch", kBranchFields},
    {PacketType::kAtom, "atom", kAtomFields},
    {PacketType::kAsync, "async", {}},
    {PacketType::kIsync, "isync", kIsyncFields},
    {PacketType::kTrigger, "trigger", {}},
    {PacketType::kWaypointUpdate, "waypoint_update", kUpdateFields},
    {PacketType::kContextId, "context_id", kContextIdFields},
    {PacketType::kVmid, "vmid", kVmidFields},
    {PacketType::kTimestamp, "timestamp", kTimestampFields},
    {PacketType::kExceptionReturn, "exception_return", {}},
    {PacketType::kIgnore, "ignore", {}},
    {PacketType::kNotSync, "not_sync", {}},
    {PacketType::kIncompleteEot, "incomplete_eot", kErrorFields},
    {PacketType::kBadSequence, "bad_sequence", kErrorFields},
    {PacketType::kReserved, "reserved", {}},
};
constexpr std::size_t kFirstState = std::size(kRows) - 4;
static_assert(kRows[kFirstState].type == PacketType::kNotSync);

constexpr auto kKeywords = [] {
  std::array<std::string_view, kFirstState> keywords{};
  for (std::size_t i = 0; i < kFirstState; ++i) keywords[i] = kRows[i].keyword;
  return keywords;
}();

}  // namespace

std::span<const Field> fields_of(PacketType type) {
  const auto* row = std::ranges::find(kRows, type, &Row::type);
  return row != std::end(kRows) ? row->fields : std::span<const Field>{};
}

std::string_view packet_keyword(PacketType type) {
  const auto* row = std::ranges::find(kRows, type, &Row::type);
  return row != std::end(kRows) ? row->keyword : "unknown";
}

std::span<const std::string_view> packet_keywords() { return kKeywords; }

Result<Packet> packet_of_keyword(std::string_view keyword) {
  for (const Row& row : std::span(kRows).first(kFirstState)) {
    if (row.keyword != keyword) continue;
    Packet packet;
    packet.type = row.type;
    packet.isa = isa::Isa::kA32;
    return packet;
  }
  return fail(ErrorCode::kNotFound, fmt::format("There is no packet named '{}'.", keyword));
}

}  // namespace waymark::ptm
