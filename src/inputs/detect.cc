#include "waymark/inputs/detect.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <system_error>
#include <vector>

#include "detect_itm.h"
#include "detect_mtb.h"
#include "detect_stm.h"
#include "waymark/base/mapped_file.h"
#include "waymark/frames/demux.h"
#include "waymark/frames/dstream.h"
#include "waymark/inputs/debugger_text.h"
#include "waymark/inputs/memory_records.h"
#include "waymark/logic/zip.h"

namespace waymark::inputs {
namespace {

namespace fs = std::filesystem;
using frames::kFrameSize;

constexpr std::size_t kAsyncZeros = 11;  // Then 0x80; etmv4-ete.md 2.2.

// Real captures of up to six sources have at most one ID byte per frame, no reserved IDs, and at
// least one ID byte in eight frames.  Unframed streams and other files have 20 or more distinct
// IDs.
constexpr std::size_t kMinFrames = 16;
constexpr std::size_t kMinFramesPerSource = 4;
constexpr std::size_t kMaxFramesPerId = 32;
constexpr std::size_t kTopIds = 8;
constexpr double kMinTopShare = 0.98;
constexpr double kMaxReservedShare = 0.01;

constexpr std::size_t kMinSyncs = 4;
constexpr double kMinSyncShare = 0.9;

bool starts_with(Bytes content, std::string_view magic) {
  return content.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), content.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

bool is_trace_script(Bytes content) {
  constexpr std::string_view kMagic = "waymark-trace";
  if (!starts_with(content, kMagic)) return false;
  if (content.size() == kMagic.size()) return true;
  const std::uint8_t next = content[kMagic.size()];
  return next == ' ' || next == '\t' || next == '\r' || next == '\n';
}

bool is_fsync(Bytes content, std::size_t at) {
  return content.size() - at >= frames::kFsyncBytes.size() && frames::is_fsync(content.data() + at);
}

struct AsyncFacts {
  std::optional<std::size_t> first;  // Offset of the first alignment synchronisation.
  std::size_t good = 0;  // Those that have the right length and precede a trace info packet.
  std::size_t runs = 0;  // All runs of that length that are not at the end.

  [[nodiscard]] bool plausible() const { return good != 0 && good * 4 >= runs * 3; }
};

AsyncFacts async_facts(Bytes content) {
  constexpr std::uint8_t kTraceInfo = 0x01;
  AsyncFacts facts;
  std::size_t zeros = 0;
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (content[at] == 0) {
      ++zeros;
      continue;
    }
    if (zeros >= kAsyncZeros) {
      ++facts.runs;
      if (content[at] == 0x80) {
        if (!facts.first) facts.first = at - kAsyncZeros;
        if (at + 1 < content.size() && content[at + 1] == kTraceInfo) ++facts.good;
      }
    }
    zeros = 0;
  }
  return facts;
}

// Alignment synchronisations of PTM, each with a likely I-sync packet soon after it, as hardware
// sends them; ptm.md 6.1 and 11.  The I-sync of ETMv3 looks the same, but has its information byte
// before the address.
AsyncFacts ptm_async_facts(Bytes content) {
  constexpr std::size_t kMinZeros = 5;
  constexpr std::size_t kMaxZeros = 15;
  constexpr std::size_t kMaxBetween = 12;
  constexpr std::size_t kIsyncSize = 6;
  const auto is_isync = [&](std::size_t at) {
    return at + kIsyncSize <= content.size() && content[at] == 0x08 &&
           (content[at + kIsyncSize - 1] & 0x91) == 0x01;
  };
  AsyncFacts facts;
  std::size_t zeros = 0;
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (content[at] == 0) {
      ++zeros;
      continue;
    }
    if (zeros >= kMinZeros && zeros <= kMaxZeros && content[at] == 0x80) {
      ++facts.runs;
      std::size_t isync = at + 1;
      while (isync <= at + kMaxBetween && !is_isync(isync)) ++isync;
      if (isync <= at + kMaxBetween) {
        if (!facts.first) facts.first = at - zeros;
        ++facts.good;
      }
    }
    zeros = 0;
  }
  return facts;
}

struct FrameFacts {
  std::size_t frames = 0;  // Without blank frames and barriers.
  std::size_t barriers = 0;
  std::size_t id_bytes = 0;
  std::size_t reserved = 0;
  std::size_t sources = 0;
  double top_share = 0;

  [[nodiscard]] bool plausible() const {
    return frames >= kMinFrames && frames >= kMinFramesPerSource * sources && sources != 0 &&
           id_bytes * kMaxFramesPerId >= frames && top_share >= kMinTopShare &&
           static_cast<double>(reserved) <= kMaxReservedShare * static_cast<double>(id_bytes);
  }
  /// Too few frames to decide, but no contradiction.
  [[nodiscard]] bool possible() const {
    return frames < kMinFrames && sources != 0 && reserved == 0;
  }
};

FrameFacts frame_facts(Bytes content) {
  FrameFacts facts;
  std::array<std::size_t, kTraceIdCount> count{};
  for (; content.size() >= kFrameSize; content = content.subspan(kFrameSize)) {
    const Bytes frame = content.first(kFrameSize);
    if (std::ranges::all_of(frame, [](std::uint8_t b) { return b == 0; })) continue;
    if (is_fsync(frame, 0) && is_fsync(frame, 4) && is_fsync(frame, 8) && is_fsync(frame, 12)) {
      ++facts.barriers;
      continue;
    }
    ++facts.frames;
    for (std::size_t i = 0; i < kFrameSize; i += 2) {
      if ((frame[i] & 1) == 0) continue;
      const auto id = static_cast<TraceId>(frame[i] >> 1);
      ++facts.id_bytes;
      ++count[id];
      // 0x7B and 0x7D mark flushes and triggers, 0 is padding (frames.md 1.1).
      if (id != 0 && id != 0x7B && id != 0x7D && !is_source_id(id)) ++facts.reserved;
    }
  }
  if (facts.id_bytes == 0) return facts;
  for (TraceId id = 0; id < kTraceIdCount; ++id)
    if (is_source_id(id) && count[id] != 0) ++facts.sources;
  std::ranges::sort(count, std::greater{});
  const std::size_t top = std::accumulate(count.begin(), count.begin() + kTopIds, std::size_t{0});
  facts.top_share = static_cast<double>(top) / static_cast<double>(facts.id_bytes);
  return facts;
}

struct SyncFacts {
  std::size_t syncs = 0;
  std::size_t whole_gaps = 0;  // Gaps of whole frames between two syncs.
  bool only_barriers = true;   // All syncs are blocks of four in the place of a frame.

  [[nodiscard]] double share() const {
    return syncs < 2 ? 0 : static_cast<double>(whole_gaps) / static_cast<double>(syncs - 1);
  }
};

SyncFacts sync_facts(Bytes content) {
  SyncFacts facts;
  std::size_t previous_end = 0;
  std::size_t half_syncs = 0;
  std::size_t run = 0;  // Consecutive syncs up to here.
  for (std::size_t at = 0; at + 1 < content.size();) {
    if (is_fsync(content, at)) {
      if (facts.syncs != 0 && (at - previous_end - 2 * half_syncs) % kFrameSize == 0)
        ++facts.whole_gaps;
      if (facts.syncs != 0 && at == previous_end) {
        ++run;
      } else {
        if (run % 4 != 0 || at % kFrameSize != 0) facts.only_barriers = false;
        run = 1;
      }
      ++facts.syncs;
      at += frames::kFsyncBytes.size();
      previous_end = at;
      half_syncs = 0;
    } else if (facts.syncs != 0 && (at - previous_end) % 2 == 0 && content[at] == 0xFF &&
               content[at + 1] == 0x7F) {
      ++half_syncs;
      at += 2;
    } else {
      ++at;
    }
  }
  if (facts.syncs == 0 || run % 4 != 0) facts.only_barriers = false;
  return facts;
}

std::vector<std::uint8_t> without_dstream_footers(Bytes content) {
  std::vector<std::uint8_t> out;
  out.reserve(content.size());
  for (; content.size() >= frames::kDstreamRecordSize;
       content = content.subspan(frames::kDstreamRecordSize)) {
    const Bytes payload = content.first(frames::kDstreamPayloadSize);
    out.insert(out.end(), payload.begin(), payload.end());
  }
  return out;
}

std::optional<Detection> detect_syncs(Bytes content) {
  const SyncFacts plain = sync_facts(content);
  if (plain.syncs < kMinSyncs || plain.only_barriers) return std::nullopt;
  if (content.size() >= 2 * frames::kDstreamRecordSize) {
    const SyncFacts records = sync_facts(without_dstream_footers(content));
    if (records.syncs >= kMinSyncs && records.share() >= kMinSyncShare &&
        records.share() > plain.share()) {
      return Detection{
          InputKind::kDstreamFrames,
          fmt::format("There are {} frame syncs, which are whole frames apart once the "
                      "8-byte footers of DSTREAM records are left out.",
                      records.syncs)};
    }
  }
  if (plain.share() < kMinSyncShare) return std::nullopt;
  return Detection{
      InputKind::kTpiuFrames,
      fmt::format("There are {} frame syncs, which are whole frames apart.", plain.syncs)};
}

Detection detect_trace(Bytes content) {
  const AsyncFacts async = async_facts(content);
  // A frame begins with an ID byte or with data of a known ID, and hardly ever with eleven zeros.
  if (async.first == std::size_t{0}) {
    return {InputKind::kEtmv4Stream,
            "It starts with the alignment synchronisation of an ETMv4 or ETE stream."};
  }
  const MtbFacts mtb = mtb_facts(content);
  if (mtb.plausible()) {
    return {InputKind::kMtbRecords,
            fmt::format("As records of an MTB, {} of {} sources are a little after the destination "
                        "before them.",
                        mtb.near, mtb.links)};
  }
  const ItmFacts itm = itm_facts(content);
  // This check precedes the one for PTM, as a payload byte 0x08 after the synchronisation can look
  // like an I-sync, and the one for frames, as packets of one port resemble frames.
  if (itm.clean()) return {InputKind::kItmStream, itm_sentence(itm)};
  const AsyncFacts ptm = ptm_async_facts(content);
  if (ptm.first == std::size_t{0} && ptm.plausible() && !itm.plausible())
    return {InputKind::kPtmStream, "It starts with the alignment synchronisation of a PTM stream."};
  if (std::optional<Detection> syncs = detect_syncs(content)) return *std::move(syncs);
  const StmFacts stm = stm_facts(content);
  if (stm.plausible()) return {InputKind::kStmStream, stm_sentence(stm)};
  if (itm.certain()) return {InputKind::kItmStream, itm_sentence(itm)};
  // Frames that consist of one repeated byte would name one source in each ID byte; no hardware
  // sends that.
  if (std::ranges::adjacent_find(content, std::not_equal_to{}) == content.end()) {
    if (content.front() == 0) return {InputKind::kUnknown, "All its bytes are zero."};
    return {InputKind::kUnknown, fmt::format("All its bytes are 0x{:02x}.", content.front())};
  }
  const FrameFacts facts = frame_facts(content);
  if (facts.plausible()) {
    std::string why = fmt::format(
        "Read as 16-byte frames, its ID bytes name {} trace source{} and "
        "recur as hardware repeats them",
        facts.sources, facts.sources == 1 ? "" : "s");
    if (facts.barriers != 0)
      why += fmt::format("; {} barrier{} of four frame syncs in between", facts.barriers,
                         facts.barriers == 1 ? "" : "s");
    return {InputKind::kAlignedFrames, why + '.'};
  }
  // In a short piece of frames, a synchronisation looks the same as without frames.
  const bool is_ambiguous = facts.possible() || sync_facts(content).syncs != 0;
  if (async.plausible() && !is_ambiguous) {
    return {
        InputKind::kEtmv4Stream,
        fmt::format("Offset {} holds the alignment synchronisation of an ETMv4 or ETE stream, and "
                    "the ID bytes of CoreSight frames are missing.",
                    async.first.value_or(0))};
  }
  if (ptm.good > 1 && ptm.plausible() && !is_ambiguous) {
    return {InputKind::kPtmStream,
            fmt::format("Offset {} holds the alignment synchronisation of a PTM stream, and the ID "
                        "bytes of CoreSight frames are missing.",
                        ptm.first.value_or(0))};
  }
  if (itm.plausible()) return {InputKind::kItmStream, itm_sentence(itm)};
  return {InputKind::kUnknown,
          "It is not a perf.data, ELF or trace script file, and its bytes do not clearly show "
          "CoreSight "
          "frames or one stream of a known protocol; a longer capture may."};
}

}  // namespace

std::string_view input_kind_name(InputKind kind) {
  switch (kind) {
    case InputKind::kUnknown:
      return "unknown";
    case InputKind::kEmpty:
      return "empty file";
    case InputKind::kSnapshotFolder:
      return "snapshot folder";
    case InputKind::kSnapshotIni:
      return "snapshot.ini";
    case InputKind::kPerfData:
      return "perf.data";
    case InputKind::kElf:
      return "ELF file";
    case InputKind::kTraceScript:
      return "trace script";
    case InputKind::kDebuggerText:
      return "memory in text";
    case InputKind::kIntelHex:
      return "Intel HEX";
    case InputKind::kSRecords:
      return "S-records";
    case InputKind::kLogicSession:
      return "sigrok session";
    case InputKind::kAlignedFrames:
      return "CoreSight frames";
    case InputKind::kTpiuFrames:
      return "CoreSight frames with frame syncs";
    case InputKind::kDstreamFrames:
      return "DSTREAM records";
    case InputKind::kEtmv4Stream:
      return "ETMv4 stream";
    case InputKind::kItmStream:
      return "ITM stream";
    case InputKind::kPtmStream:
      return "PTM stream";
    case InputKind::kStmStream:
      return "STM stream";
    case InputKind::kMtbRecords:
      return "MTB records";
  }
  return "unknown";
}

bool is_memory_text(InputKind kind) {
  return kind == InputKind::kDebuggerText || kind == InputKind::kIntelHex ||
         kind == InputKind::kSRecords;
}

Detection detect(Bytes content) {
  if (content.empty()) return {InputKind::kEmpty, "It is empty: nothing was captured."};
  if (logic::Zip::is_zip(content))
    return {InputKind::kLogicSession, "It is a ZIP archive, as the sessions of sigrok are."};
  content = content.first(std::min(content.size(), kDetectWindow));
  if (starts_with(content, "PERFILE2") || starts_with(content, "2ELIFREP")) {
    return {InputKind::kPerfData, "It starts with the magic number of perf.data."};
  }
  if (starts_with(content, "PERFFILE")) {
    return {
        InputKind::kPerfData,
        "It starts with the magic number of an old perf.data, which is not decoded; record again "
        "with a newer version of perf."};
  }
  if (starts_with(content,
                  "\x7F"
                  "ELF"))
    return {InputKind::kElf, "It starts with the magic number of ELF: a program, not trace."};
  if (is_trace_script(content))
    return {InputKind::kTraceScript, "It is text whose first line says `waymark-trace`."};
  if (is_debugger_text(content))
    return {InputKind::kDebuggerText, "It is text that shows memory as a debugger prints it."};
  if (is_intel_hex(content))
    return {InputKind::kIntelHex, "It starts with a record of Intel HEX, whose checksum is right."};
  if (is_s_records(content))
    return {InputKind::kSRecords, "It starts with an S-record, whose checksum is right."};
  return detect_trace(content);
}

Detection detect(const MappedFile& file) {
  std::error_code error;
  const fs::path place(file.path());
  if (place.filename() == "snapshot.ini")
    return {InputKind::kSnapshotIni, "It is the snapshot.ini of a snapshot folder."};
  Detection found = detect(file.bytes());
  if (found.kind == InputKind::kUnknown && place.extension() == ".ini" &&
      fs::exists(place.parent_path() / "snapshot.ini", error)) {
    found.why = "It is an ini file of a snapshot; give the folder that contains it.";
  }
  return found;
}

Result<Detection> detect(const std::string& path) {
  std::error_code error;
  const fs::path place(path);
  if (fs::is_directory(place, error)) {
    if (fs::exists(place / "snapshot.ini", error))
      return Detection{InputKind::kSnapshotFolder, "The folder contains a snapshot.ini."};
    if (fs::is_regular_file(place / "data", error) ||
        fs::is_regular_file(place / "perf.data", error))
      return Detection{InputKind::kPerfData, "The folder has the form of a perf recording."};
    return fail(ErrorCode::kNotFound,
                fmt::format("The folder {} is not a snapshot, because it has no snapshot.ini; give "
                            "a snapshot or a capture file.",
                            path));
  }
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  return detect(*file);
}

}  // namespace waymark::inputs
