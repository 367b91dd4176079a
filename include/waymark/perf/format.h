// Names for the numbers of the perf.data format.  See perf-cs-etm.md 1 to 4 and simpleperf.md 1
// and 2.
#pragma once

#include <cstdint>

namespace waymark::perf {

/// The types of records.  Those below kFirstOwn come from the kernel.
enum class RecordType : std::uint32_t {
  kMmap = 1,
  kLost = 2,
  kComm = 3,
  kExit = 4,
  kThrottle = 5,
  kUnthrottle = 6,
  kFork = 7,
  kSample = 9,
  kMmap2 = 10,
  kAux = 11,
  kItraceStart = 12,
  kLostSamples = 13,
  kSwitch = 14,
  kSwitchCpuWide = 15,
  kNamespaces = 16,
  kKsymbol = 17,
  kBpfEvent = 18,
  kCgroup = 19,
  kTextPoke = 20,
  kAuxOutputHwId = 21,
  kFirstOwn = 64,
  kHeaderAttr = 64,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kIdIndex = 69,
  kAuxtraceInfo = 70,
  kAuxtrace = 71,
  kAuxtraceError = 72,
  kThreadMap = 73,
  kCpuMap = 74,
  kTimeConv = 79,
  kHeaderFeature = 80,
  kCompressed = 81,
  kFinishedInit = 82,
  kCompressed2 = 83,
  kFirstSimpleperf = 32768,
  kSimpleperfSplit = 32772,
  kSimpleperfSplitEnd = 32773,
};

/// Bits of the feature bitmap.  Those from 128 are simpleperf's.
enum class Feature : std::uint8_t {
  kBuildId = 2,
  kHostname = 3,
  kOsRelease = 4,
  kVersion = 5,
  kArch = 6,
  kNrCpus = 7,
  kCpuDescription = 8,
  kCpuId = 9,
  kCommandLine = 11,
  kEventDescription = 12,
  kPmuMappings = 16,
  kAuxtrace = 18,
  kSampleTime = 21,
  kClockId = 23,
  kDirFormat = 24,
  kCompressed = 27,
  kClockData = 29,
  kSimpleperfFile = 128,
  kSimpleperfMetaInfo = 129,
  kSimpleperfFile2 = 132,
  kSimpleperfBranchList = 133,
  kSimpleperfInitMap = 134,
};

/// perf_event_attr::sample_type.
enum SampleField : std::uint64_t {
  kSampleIp = 1U << 0,
  kSampleTid = 1U << 1,
  kSampleTime = 1U << 2,
  kSampleId = 1U << 6,
  kSampleCpu = 1U << 7,
  kSampleStreamId = 1U << 9,
  kSampleIdentifier = 1U << 16,
};

/// Record::misc.
inline constexpr std::uint16_t kCpuModeMask = 7;
enum class CpuMode : std::uint8_t {
  kUnknown = 0,
  kKernel = 1,
  kUser = 2,
  kHypervisor = 3,
  kGuestKernel = 4,
  kGuestUser = 5,
};
inline constexpr std::uint16_t kMiscExec = 1U << 13;         ///< COMM: by exec.
inline constexpr std::uint16_t kMiscSwitchOut = 1U << 13;    ///< SWITCH.
inline constexpr std::uint16_t kMiscMmapBuildId = 1U << 14;  ///< MMAP2.

/// Flags of AUX records.
enum AuxFlag : std::uint64_t {
  kAuxTruncated = 1,
  kAuxOverwrite = 2,  ///< Snapshot mode.
  kAuxPartial = 4,
  kAuxCollision = 8,
  kAuxRaw = 0x100,  ///< No CoreSight frames: the trace of one unit (TRBE).
};

/// The unknown CPU or thread of an AUXTRACE record.
inline constexpr std::uint32_t kNone32 = 0xFFFFFFFF;

}  // namespace waymark::perf
