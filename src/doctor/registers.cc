#include "registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "waymark/base/plural.h"

namespace waymark::doctor {
namespace {

using Register = std::pair<std::string_view, std::uint32_t>;

// -- ETMv4 and ETE; etmv4-ete.md 1. ---------------------------------------------------------------

// The latest versions have all packets.  32-bit context IDs and VMIDs, cycle counting implemented.
constexpr std::array<Register, 4> kEtmv4Start{{{"TRCIDR0", 0x280000A1},
                                               {"TRCIDR1", 0x4100F460},
                                               {"TRCIDR2", 0x00001088},
                                               {"TRCCONFIGR", 0x00000001}}};
constexpr std::array<Register, 5> kEteStart{{{"TRCIDR0", 0x288000A1},
                                             {"TRCIDR1", 0x4100FFF0},
                                             {"TRCIDR2", 0x00001088},
                                             {"TRCCONFIGR", 0x00000001},
                                             {"TRCDEVARCH", 0x47735A13}}};
constexpr FieldPart kContextParts[] = {{"CIDSIZE", 0x3E0, Witness::kContextId},
                                       {"VMIDSIZE", 0x7C00, Witness::kVmid}};
constexpr std::uint32_t kContextWidths[] = {0x1080, 0x480, 0x880, 0x80, 0x1000, 0x400, 0x800, 0};
constexpr FieldPart kCommitParts[] = {{"COMMOPT", 0x20000000, Witness::kCommitCount}};
constexpr std::uint32_t kCommitModes[] = {0x20000000, 0};
constexpr FieldPart kQParts[] = {{"QSUPP", 0x18000, Witness::kQ}};
constexpr std::uint32_t kQSupport[] = {0, 0x8000};
constexpr FieldPart kConditionalParts[] = {{"TRCCOND", 0x40, Witness::kConditional}};
constexpr std::uint32_t kConditional[] = {0, 0x40};
constexpr Axis kEtmv4Axes[] = {
    {"TRCIDR2", kContextParts, kContextWidths, "context packets can only be read with this size"},
    {"TRCIDR0", kCommitParts, kCommitModes, "cycle count packets can only be read in this way"},
    {"TRCIDR0", kQParts, kQSupport, ""},
    {"TRCIDR0", kConditionalParts, kConditional, ""}};
constexpr OpenField kEtmv4Open[] = {
    {"TRCCONFIGR", "RS",
     "with a return stack, some targets of returns are not in the trace; --programs tries both",
     0x1000},
    {"TRCIDR2", "WFXMODE", "whether WFI and WFE are traced as branches"},
    {"TRCIDR8", "MAXSPEC", "how many elements may be speculative"}};

// -- PTM; ptm.md 1. -------------------------------------------------------------------------------

constexpr std::array<Register, 3> kPtmStart{
    {{"ETMIDR", 0x411CF312}, {"ETMCR", 0}, {"ETMCCER", 0x34800000}}};
// Cycle accuracy and the size of context IDs both change I-sync packets.
constexpr FieldPart kControlParts[] = {{"CycleAccurate", 0x1000, {}},
                                       {"ContextIDSize", 0xC000, Witness::kContextId}};
constexpr std::uint32_t kControls[] = {0, 0x1000, 0xC000, 0xD000, 0x4000, 0x5000, 0x8000, 0x9000};
constexpr FieldPart kTimestampSizeParts[] = {{"TimestampSize", 0x20000000, {}}};
constexpr std::uint32_t kTimestampSizes[] = {0x20000000, 0};
constexpr FieldPart kTimestampEncodingParts[] = {
    {"TimestampEncoding", 0x10000000, Witness::kTimestamp}};
constexpr std::uint32_t kTimestampEncodings[] = {0x10000000, 0};
constexpr Axis kPtmAxes[] = {
    {"ETMCR", kControlParts, kControls, "packets can only be read in this way"},
    {"ETMCCER", kTimestampEncodingParts, kTimestampEncodings, "otherwise times run backwards"},
    {"ETMCCER", kTimestampSizeParts, kTimestampSizes, ""}};
constexpr OpenField kPtmOpen[] = {
    {"ETMCR", "ReturnStackEnable",
     "with a return stack, some targets of returns are not in the trace; --programs tries both",
     0x20000000},
    {"ETMCCER", "DMBWaypoints", "whether DMB and DSB are traced as waypoints"}};

// -- ETMv3; etmv3.md 1. ---------------------------------------------------------------------------

constexpr std::array<Register, 3> kEtmv3Start{
    {{"ETMIDR", 0x410CF250}, {"ETMCR", 0}, {"ETMCCER", 0x34000000}}};
constexpr FieldPart kDataParts[] = {{"DataAccess", 0xC, Witness::kData}};
constexpr std::uint32_t kDataTrace[] = {0, 0x4, 0x8, 0xC};
constexpr FieldPart kBranchParts[] = {{"BranchEncoding", 0x100000, {}}};
constexpr std::uint32_t kBranchEncodings[] = {0, 0x100000};
constexpr Axis kEtmv3Axes[] = {
    {"ETMCR", kControlParts, kControls, "packets can only be read in this way"},
    {"ETMIDR", kBranchParts, kBranchEncodings, "branches can only be read in this way"},
    {"ETMCR", kDataParts, kDataTrace, "data packets can only be read in this way"},
    {"ETMCCER", kTimestampEncodingParts, kTimestampEncodings, "otherwise times run backwards"},
    {"ETMCCER", kTimestampSizeParts, kTimestampSizes, ""}};
constexpr OpenField kEtmv3Open[] = {
    {"ETMCR", "MonitorCPRT", "only for data trace: whether coprocessor transfers are traced"}};

constexpr OpenField kItmOpen[] = {
    {"ITMTCR", "TSPrescale", "the unit of local timestamps, if SWOENA is set"}};

constexpr ProtocolTrial kTrials[] = {
    {"etmv4", "ETM4", kEtmv4Start, kEtmv4Axes, kEtmv4Open},
    {"ete", "ETE", kEteStart, kEtmv4Axes, kEtmv4Open},
    {"ptm", "PTM1", kPtmStart, kPtmAxes, kPtmOpen},
    {"etmv3", "ETM3", kEtmv3Start, kEtmv3Axes, kEtmv3Open},
    {"stm", "STM", {}, {}, {}},
    {"itm", "ITM", {}, {}, kItmOpen},
    {"etmv4d", "ETM4D", {}, {}, {}},
};

struct WitnessRow {
  Witness witness;
  KnownField field;
};

constexpr WitnessRow kEtmv4Witnesses[] = {
    {Witness::kContextId, {"TRCCONFIGR", "CID", 0x40, 0x40, "context IDs occur"}},
    {Witness::kVmid, {"TRCCONFIGR", "VMID", 0x80, 0x80, "VMIDs occur"}},
    {Witness::kTimestamp, {"TRCCONFIGR", "TS", 0x800, 0x800, "timestamps occur"}},
    {Witness::kCycleCount, {"TRCIDR0", "TRCCCI", 0x80, 0x80, "cycle counts occur"}},
    {Witness::kAddress64, {"TRCIDR2", "IASIZE", 0x1F, 0x8, "64-bit addresses occur"}},
    {Witness::kWideTimestamp,
     {"TRCIDR0", "TSSIZE", 0x1F000000, 0x08000000, "timestamps with more than 48 bits occur"}},
};
constexpr WitnessRow kEtmv3Witnesses[] = {
    {Witness::kTimestamp, {"ETMCR", "TimestampEnable", 0x10000000, 0x10000000, "timestamps occur"}},
    {Witness::kWideTimestamp,
     {"ETMCCER", "TimestampSize", 0x20000000, 0x20000000,
      "timestamps with more than 48 bits occur"}},
};
constexpr WitnessRow kStmWitnesses[] = {
    {Witness::kTimestamp, {"STMTCSR", "TSEN", 0x2, 0x2, "timestamps have values"}},
};
constexpr WitnessRow kItmWitnesses[] = {
    {Witness::kLocalTimestamp, {"ITMTCR", "TSENA", 0x2, 0x2, "local timestamps occur"}},
    {Witness::kHardware, {"ITMTCR", "TXENA", 0x8, 0x8, "packets of the DWT occur"}},
};

std::span<const WitnessRow> witness_rows(std::string_view protocol) {
  if (protocol == "etmv4" || protocol == "ete") return kEtmv4Witnesses;
  if (protocol == "etmv3" || protocol == "ptm") return kEtmv3Witnesses;
  if (protocol == "stm") return kStmWitnesses;
  if (protocol == "itm") return kItmWitnesses;
  return {};
}

/// The fields that trace info packets of an ETMv4 state; etmv4-ete.md 2.
void add_info_fields(const Trial& trial, std::vector<KnownField>& fields) {
  if (!trial.has_info) return;
  constexpr std::string_view kWhy = "trace info packets state it";
  const std::uint32_t info = trial.info;
  fields.push_back({"TRCCONFIGR", "CCI", 0x10, (info & 1) << 4, kWhy});
  fields.push_back({"TRCCONFIGR", "INSTP0", 0x6, (info >> 4 & 3) << 1, kWhy});
  fields.push_back({"TRCCONFIGR", "COND", 0x700, (info >> 1 & 7) << 8, kWhy});
}

}  // namespace

std::span<const ProtocolTrial> protocol_trials() { return kTrials; }

std::vector<LeastField> least_fields(std::string_view protocol, const Trial& trial) {
  const auto least = [](const VersionField& version, std::uint32_t number, std::string_view why) {
    return std::vector<LeastField>{{version.register_name, version.field, number, why}};
  };
  constexpr std::string_view kMarkers = "timestamp markers occur";
  if (protocol == "ete") {
    if (trial.has(Witness::kInstrumentation))
      return least(kEteVersion, 3, "instrumentation packets occur");
    if (trial.has(Witness::kMarker)) return least(kEteVersion, 1, kMarkers);
  } else if (protocol == "etmv4") {
    if (trial.has(Witness::kMarker)) return least(kMinorVersion, 6, kMarkers);
    if (trial.has(Witness::kIgnore)) return least(kMinorVersion, 3, "ignore packets occur");
  }
  return {};
}

// With ranges of addresses, branch broadcast is only active in some code, so its value follows from
// neither case.
std::string broadcast_words(const TakenAtoms& taken) {
  const auto words = [](std::string_view shown) {
    return fmt::format("decoding does not depend on it; {}", shown);
  };
  if (taken.all == 0) return words("no E atom gives evidence of it");
  const std::uint64_t bare = taken.all - taken.stated;
  const std::string all = counted(taken.all, "E atom");
  if (bare == 0) {
    return words(fmt::format(
        "an address follows each of {}, so branch broadcast was active, or all of them are "
        "indirect branches",
        all));
  }
  return words(fmt::format(
      "no address follows {} of {}, so branch broadcast was not active there, unless these are ISB "
      "instructions",
      bare, all));
}

const ProtocolTrial* protocol_trial(std::string_view protocol) {
  const auto* const found = std::ranges::find(kTrials, protocol, &ProtocolTrial::protocol);
  return found == std::end(kTrials) ? nullptr : found;
}

std::vector<KnownField> witnessed_fields(std::string_view protocol, const Trial& trial) {
  std::vector<KnownField> fields;
  if (protocol == "etmv4" || protocol == "ete") add_info_fields(trial, fields);
  for (const WitnessRow& row : witness_rows(protocol))
    if (trial.has(row.witness)) fields.push_back(row.field);
  return fields;
}

}  // namespace waymark::doctor
