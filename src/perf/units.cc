#include "units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "waymark/base/bits.h"

namespace waymark::perf {
namespace {

constexpr std::uint32_t kCsEtm = 3;
constexpr std::uint64_t kNewestVersion = 2;
constexpr std::uint64_t kMagicV3 = 0x3030303030303030;
constexpr std::uint64_t kMagicV4 = 0x4040404040404040;
constexpr std::uint64_t kMagicEte = 0x5050505050505050;
constexpr std::size_t kWord = 8;
constexpr std::string_view kTimestampSource = "TS_SOURCE";

constexpr std::array<std::string_view, 4> kNamesV3 = {"ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR"};
constexpr std::array<std::string_view, 8> kNamesV4 = {"TRCCONFIGR",    "TRCTRACEIDR",   "TRCIDR0",
                                                      "TRCIDR1",       "TRCIDR2",       "TRCIDR8",
                                                      "TRCAUTHSTATUS", kTimestampSource};
constexpr std::array<std::string_view, 9> kNamesEte = {
    "TRCCONFIGR", "TRCTRACEIDR",   "TRCIDR0",    "TRCIDR1",       "TRCIDR2",
    "TRCIDR8",    "TRCAUTHSTATUS", "TRCDEVARCH", kTimestampSource};

/// Without a count of parameters in the file, as many as version 0 has.
struct Block {
  std::uint64_t magic = 0;
  std::span<const std::string_view> names{};
  std::uint64_t count_in_version_0 = 0;
};
constexpr std::array<Block, 3> kBlocks = {
    Block{kMagicV3, kNamesV3, 4}, Block{kMagicV4, kNamesV4, 7}, Block{kMagicEte, kNamesEte, 8}};

const Block* block_of(std::uint64_t magic) {
  for (const Block& block : kBlocks)
    if (block.magic == magic) return &block;
  return nullptr;
}

std::unexpected<Error> damaged(std::uint64_t offset) {
  return fail(ErrorCode::kBadData,
              fmt::format("The description of the trace units (AUXTRACE_INFO at byte {}) is cut "
                          "short or damaged.",
                          offset),
              offset);
}

/// TRCDEVARCH says what a unit is: simpleperf calls every unit that has the register an ETE.
UnitKind kind_of(std::uint64_t magic, const Unit& unit) {
  constexpr std::uint32_t kArchIdEtmV4 = 0x4A13;
  if (magic == kMagicV3) {
    const std::uint32_t idr = unit.reg("ETMIDR").value_or(0);
    return bits<9, 8>(idr) == 3 ? UnitKind::kPtm : UnitKind::kEtmV3;
  }
  if (magic == kMagicV4) return UnitKind::kEtmV4;
  return bits<15, 0>(unit.reg("TRCDEVARCH").value_or(0)) == kArchIdEtmV4 ? UnitKind::kEtmV4
                                                                         : UnitKind::kEte;
}

std::optional<TraceId> id_in_registers(const Unit& unit) {
  constexpr std::uint32_t kHighestId = 0x6F;
  const auto value = unit.kind == UnitKind::kEtmV3 || unit.kind == UnitKind::kPtm
                         ? unit.reg("ETMTRACEIDR")
                         : unit.reg("TRCTRACEIDR");
  // Since version 2, other values mean that the hardware ID records say it.
  if (!value || *value == 0 || *value > kHighestId) return std::nullopt;
  return static_cast<TraceId>(*value);
}

}  // namespace

Result<void> read_units(Bytes body, ByteOrder order, std::uint64_t offset, Recording& to) {
  Fields fields(body, order);
  const std::uint32_t tracer = fields.u32();
  fields.skip(4);
  if (fields.overrun()) return damaged(offset);
  if (tracer != kCsEtm) {
    return fail(ErrorCode::kNotFound,
                fmt::format("The recording was made by a tracer other than cs_etm (number {} in "
                            "AUXTRACE_INFO).",
                            tracer),
                offset);
  }
  to.version = fields.u64();
  const std::uint64_t header = fields.u64();
  to.pmu = static_cast<std::uint32_t>(header >> 32);
  const auto count = static_cast<std::uint32_t>(header);
  to.snapshot = fields.u64() != 0;
  if (fields.overrun()) return damaged(offset);
  if (to.version > kNewestVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("The trace units are described in version {} (AUXTRACE_INFO at byte "
                            "{}); versions 0 to {} can be read.",
                            to.version, offset, kNewestVersion),
                offset);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t magic = fields.u64();
    const std::uint64_t cpu = fields.u64();
    const Block* const block = block_of(magic);
    if (fields.overrun()) return damaged(offset);
    if (block == nullptr) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("The trace unit of CPU {} is of an unknown kind (0x{:016x} in "
                              "AUXTRACE_INFO at byte {}).",
                              cpu, magic, offset),
                  offset);
    }
    const std::uint64_t parameters = to.version == 0 ? block->count_in_version_0 : fields.u64();
    if (fields.overrun() || parameters > fields.remaining() / kWord) return damaged(offset);
    Unit unit;
    unit.cpu = static_cast<std::uint32_t>(cpu);
    for (std::uint64_t n = 0; n < parameters; ++n) {
      const auto value = static_cast<std::uint32_t>(fields.u64());
      if (n >= block->names.size()) continue;
      const std::string_view name = block->names[static_cast<std::size_t>(n)];
      if (name == kTimestampSource) {
        unit.timestamp_source = value;
      } else {
        unit.registers.emplace_back(name, value);
      }
    }
    unit.kind = kind_of(magic, unit);
    unit.trace_id = id_in_registers(unit);
    to.units.push_back(std::move(unit));
  }
  return {};
}

std::optional<std::uint32_t> Unit::reg(std::string_view name) const {
  const auto found =
      std::ranges::find(registers, name, &std::pair<std::string, std::uint32_t>::first);
  if (found == registers.end()) return std::nullopt;
  return found->second;
}

// Those of ETMv4 and ETE are in TRCCONFIGR, the others in ETMCR.
bool Unit::traces_contexts() const {
  if (kind == UnitKind::kEtmV4 || kind == UnitKind::kEte) {
    const std::uint32_t config = reg("TRCCONFIGR").value_or(0);
    return bit<6>(config) || bit<7>(config) || bit<15>(config);
  }
  return bits<15, 14>(reg("ETMCR").value_or(0)) != 0;
}

bool Unit::traces_times() const {
  if (kind == UnitKind::kEtmV4 || kind == UnitKind::kEte)
    return bit<11>(reg("TRCCONFIGR").value_or(0));
  return bit<28>(reg("ETMCR").value_or(0));
}

unsigned Unit::timestamp_bits() const {
  constexpr std::uint32_t kSize48 = 6;
  if (kind == UnitKind::kEtmV4 || kind == UnitKind::kEte)
    return bits<28, 24>(reg("TRCIDR0").value_or(0)) == kSize48 ? 48 : 64;
  return bit<29>(reg("ETMCCER").value_or(0)) ? 64 : 48;
}

}  // namespace waymark::perf
