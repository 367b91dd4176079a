#include "waymark/etm4x/perf_metadata.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "waymark/base/bits.h"

namespace waymark::etm4x {
namespace {

constexpr std::uint64_t kMagic = 0x32454c4946524550;  // PERFILE2
constexpr std::uint64_t kSwapped = 0x50455246494c4532;
constexpr std::uint64_t kEtmV3 = 0x3030303030303030;
constexpr std::uint64_t kEtmV4 = 0x4040404040404040;
constexpr std::uint64_t kEte = 0x5050505050505050;
constexpr std::uint32_t kAuxtraceInfo = 70;
constexpr std::uint32_t kAuxtrace = 71;
constexpr std::uint32_t kCsEtm = 3;
constexpr std::size_t kPipeHeader = 16;
constexpr std::size_t kRecordHeader = 8;

constexpr std::array<std::string_view, 7> kNames = {
    "TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS"};

std::unexpected<Error> cut_short(std::uint64_t at) {
  return fail(ErrorCode::kBadData,
              fmt::format("The perf data is cut short or damaged at byte {}.", at), at);
}

// Words of the info record, from `at`.
class Words {
 public:
  explicit Words(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t left() const { return bytes_.size() / 8; }
  std::uint64_t next() {
    if (left() == 0) return 0;
    const auto value = load_le<std::uint64_t>(bytes_.data());
    bytes_ = bytes_.subspan(8);
    return value;
  }

 private:
  Bytes bytes_;
};

Result<std::vector<PerfUnit>> read_info(Bytes body, std::uint64_t at) {
  // u32 type, u32 reserved, then words.
  if (body.size() < 8 || load_le<std::uint32_t>(body.data()) != kCsEtm) {
    return fail(ErrorCode::kNotFound, "The perf data was not recorded with cs_etm.");
  }
  Words words(body.subspan(8));
  const std::uint64_t version = words.next();
  const std::uint64_t cpus = words.next() & 0xFFFFFFFF;
  words.next();
  std::vector<PerfUnit> units;
  for (std::uint64_t i = 0; i < cpus; ++i) {
    if (words.left() < 2) return cut_short(at);
    const std::uint64_t magic = words.next();
    PerfUnit unit;
    unit.cpu = words.next();
    std::uint64_t count = magic == kEtmV3 ? 4 : kNames.size();
    if (version >= 1) {
      if (words.left() == 0) return cut_short(at);
      count = words.next();
    }
    if (count > words.left()) return cut_short(at);
    const bool known = magic == kEtmV4 || magic == kEte;
    // Without a count, the end of a unit of unknown kind is not known.
    if (!known && magic != kEtmV3 && version == 0) return cut_short(at);
    unit.ete = magic == kEte;
    for (std::uint64_t n = 0; n < count; ++n) {
      const std::uint64_t value = words.next();
      if (!known) continue;
      if (n < kNames.size()) unit.registers.set(kNames[n], value & 0xFFFFFFFF);
      if (n == kNames.size() && unit.ete) unit.registers.set("TRCDEVARCH", value & 0xFFFFFFFF);
    }
    if (known) units.push_back(std::move(unit));
  }
  if (units.empty()) {
    return fail(ErrorCode::kNotFound,
                "The perf data has no ETMv4 or ETE: its units are ETMv3, PTM or of another kind.");
  }
  return units;
}

}  // namespace

Result<std::vector<PerfUnit>> read_perf_metadata(Bytes file) {
  if (file.size() < kPipeHeader) return fail(ErrorCode::kBadData, "This is not perf data.");
  const auto magic = load_le<std::uint64_t>(file.data());
  if (magic == kSwapped) {
    return fail(ErrorCode::kUnsupported, "The perf data is big-endian, which is not read.");
  }
  if (magic != kMagic) return fail(ErrorCode::kBadData, "This is not perf data.");
  const auto header = load_le<std::uint64_t>(file.data() + 8);
  std::uint64_t at = kPipeHeader;
  std::uint64_t end = file.size();
  if (header != kPipeHeader) {
    if (file.size() < 56) return cut_short(file.size());
    at = load_le<std::uint64_t>(file.data() + 40);
    const auto size = load_le<std::uint64_t>(file.data() + 48);
    if (at > file.size() || size > file.size() - at) return cut_short(file.size());
    end = at + size;
  }
  while (end - at >= kRecordHeader) {
    const std::uint8_t* record = file.data() + at;
    const auto type = load_le<std::uint32_t>(record);
    const std::uint64_t size = load_le<std::uint16_t>(record + 6);
    if (size < kRecordHeader || size > end - at) return cut_short(at);
    if (type == kAuxtraceInfo) {
      return read_info(file.subspan(static_cast<std::size_t>(at + kRecordHeader),
                                    static_cast<std::size_t>(size - kRecordHeader)),
                       at);
    }
    at += size;
    if (type != kAuxtrace) continue;
    // The trace follows the record.
    if (size < kRecordHeader + 8) return cut_short(at);
    const auto trace = load_le<std::uint64_t>(record + kRecordHeader);
    if (trace > end - at) return cut_short(at);
    at += trace;
  }
  return fail(ErrorCode::kNotFound,
              "The perf data has no AUXTRACE_INFO record: it was not recorded with cs_etm.");
}

}  // namespace waymark::etm4x
