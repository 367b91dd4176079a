// Makes perf.data files, record by record: for synthetic recordings and for tests.  See
// perf-cs-etm.md 1 and 2.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/perf/fields.h"
#include "waymark/perf/format.h"

namespace waymark::perf {

/// Numbers and text in one byte order.
class ByteWriter {
 public:
  explicit ByteWriter(ByteOrder order = ByteOrder::kLittle) : order_(order) {}

  ByteWriter& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (order_ == ByteOrder::kLittle ? i : size - 1 - i);
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    return *this;
  }
  ByteWriter& u16(std::uint64_t value) { return number(value, 2); }
  ByteWriter& u32(std::uint64_t value) { return number(value, 4); }
  ByteWriter& u64(std::uint64_t value) { return number(value, 8); }
  ByteWriter& words(std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) u64(value);
    return *this;
  }
  /// With a zero byte, padded to a multiple of 8.
  ByteWriter& name(std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    do bytes.push_back(0);
    while (bytes.size() % 8 != 0);
    return *this;
  }
  ByteWriter& raw(Bytes more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }

  [[nodiscard]] ByteOrder order() const { return order_; }

  std::vector<std::uint8_t> bytes;

 private:
  ByteOrder order_;
};

/// When and where a record was written, and by which thread: what kStampType puts at its end.
struct Stamp {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t time = 0;
  std::uint32_t cpu = 0;
};
inline constexpr std::uint64_t kStampType =
    kSampleTid | kSampleTime | kSampleCpu | kSampleIdentifier;
/// The ID of the only event.  perf needs one.
inline constexpr std::uint64_t kEventId = 1;

/// Records, one after the other.
class RecordBytes {
 public:
  explicit RecordBytes(ByteOrder order = ByteOrder::kLittle) : out(order) {}

  RecordBytes& add(RecordType type, std::uint16_t misc, Bytes body) {
    out.u32(static_cast<std::uint32_t>(type)).u16(misc).u16(8 + body.size()).raw(body);
    return *this;
  }
  RecordBytes& add(RecordType type, std::uint16_t misc, ByteWriter body, const Stamp& stamp) {
    body.u32(stamp.pid).u32(stamp.tid).u64(stamp.time).u32(stamp.cpu).u32(0).u64(kEventId);
    return add(type, misc, body.bytes);
  }

  [[nodiscard]] ByteWriter body() const { return ByteWriter(out.order()); }

  RecordBytes& comm(const Stamp& stamp, std::string_view name, std::uint16_t misc = 0) {
    return add(RecordType::kComm, misc, body().u32(stamp.pid).u32(stamp.tid).name(name), stamp);
  }
  RecordBytes& mmap2(const Stamp& stamp, std::uint64_t address, std::uint64_t size,
                     std::uint64_t offset, std::string_view path) {
    return add(RecordType::kMmap2, static_cast<std::uint16_t>(CpuMode::kUser),
               body()
                   .u32(stamp.pid)
                   .u32(stamp.tid)
                   .words({address, size, offset, 0, 0, 0})
                   .u32(5)
                   .u32(2)
                   .name(path),
               stamp);
  }
  /// The task of the stamp was scheduled in, or out.
  RecordBytes& context_switch(const Stamp& stamp, bool in) {
    return add(RecordType::kSwitch, in ? std::uint16_t{0} : kMiscSwitchOut, body(), stamp);
  }
  RecordBytes& time_conversion(std::uint64_t shift, std::uint64_t multiplier, std::uint64_t zero) {
    return add(RecordType::kTimeConv, 0, body().words({shift, multiplier, zero}).bytes);
  }
  RecordBytes& aux(const Stamp& stamp, std::uint64_t offset, std::uint64_t size,
                   std::uint64_t flags = 0) {
    return add(RecordType::kAux, 0, body().words({offset, size, flags}), stamp);
  }
  /// The record before `size` bytes of trace.
  RecordBytes& auxtrace_header(std::uint64_t offset, std::uint64_t size, std::uint32_t queue,
                               std::uint32_t tid, std::uint32_t cpu) {
    return add(RecordType::kAuxtrace, 0,
               body().words({size, offset, 0}).u32(queue).u32(tid).u32(cpu).u32(0).bytes);
  }
  RecordBytes& auxtrace(std::uint64_t offset, Bytes trace, std::uint32_t queue, std::uint32_t tid,
                        std::uint32_t cpu) {
    auxtrace_header(offset, trace.size(), queue, tid, cpu);
    out.raw(trace);
    return *this;
  }
  /// One ETMv4 on each of `cpus` CPUs, with the trace IDs 0x10, 0x12, ...
  RecordBytes& units(std::uint64_t cpus, std::uint64_t version = 1) {
    ByteWriter info = body().u32(3).u32(0).words({version, std::uint64_t{8} << 32 | cpus, 0});
    for (std::uint64_t cpu = 0; cpu < cpus; ++cpu) {
      info.words({0x4040404040404040, cpu});
      if (version != 0) info.u64(7);
      info.words({0xC1, 0x10 + 2 * cpu, 0x28000EA1, 0x4100F403, 0x488, 0, 0xCC});
    }
    return add(RecordType::kAuxtraceInfo, 0, info.bytes);
  }

  ByteWriter out;
};

/// Bits of perf_event_attr::config of cs_etm.
enum CsEtmConfig : std::uint64_t {
  kCsEtmCycles = 1U << 12,
  kCsEtmContextId = 1U << 14,
  kCsEtmTimestamps = 1U << 28,
};

/// The event of a recording of CoreSight trace.  `config`: CsEtmConfig bits.  `monotonic`: its
/// times are those of CLOCK_MONOTONIC.
inline std::vector<std::uint8_t> attribute_bytes(ByteOrder order, std::uint32_t size = 128,
                                                 std::uint64_t config = kCsEtmCycles,
                                                 bool monotonic = false) {
  ByteWriter out(order);
  constexpr std::uint64_t kSampleIdAll = 1U << 18;
  constexpr std::uint64_t kUseClock = 1U << 25;
  constexpr std::uint64_t kClockMonotonic = 1;
  out.u32(8).u32(size).words({config, 1, kStampType | kSampleIp, 0,
                              kSampleIdAll | (monotonic ? kUseClock : 0), 0, 0, 0, 0, 0});
  out.u32(0).u32(monotonic ? kClockMonotonic : 0);
  out.bytes.resize(size);
  return out.bytes;
}

/// The payloads of features, in ascending order of the features.
using FeatureBytes = std::vector<std::pair<Feature, std::vector<std::uint8_t>>>;

/// The bytes before the records of a file in file form: its header, and one event.  `size` is the
/// number of bytes of the records with the trace that follows them.
inline std::vector<std::uint8_t> file_header(ByteOrder order, std::uint64_t size,
                                             const FeatureBytes& features = {},
                                             std::uint32_t attribute_size = 128,
                                             std::uint64_t config = kCsEtmCycles,
                                             bool monotonic = false) {
  constexpr std::uint64_t kHeader = 104;
  ByteWriter out(order);
  out.u64(0x32454c4946524550).u64(kHeader).u64(attribute_size + 16);
  const std::uint64_t ids = kHeader + attribute_size + 16;
  out.words({kHeader, attribute_size + 16, ids + 8, size, 0, 0});
  std::uint64_t bitmap[4] = {};
  for (const auto& [feature, bytes] : features)
    bitmap[static_cast<unsigned>(feature) / 64] |= std::uint64_t{1}
                                                   << static_cast<unsigned>(feature) % 64;
  for (const std::uint64_t word : bitmap) out.u64(word);
  out.raw(attribute_bytes(order, attribute_size, config, monotonic)).words({ids, 8, kEventId});
  return out.bytes;
}

/// The bytes after the records of such a file, which end at the offset `at`.
inline std::vector<std::uint8_t> file_features(ByteOrder order, std::uint64_t at,
                                               const FeatureBytes& features) {
  ByteWriter out(order);
  at += 16 * features.size();
  for (const auto& [feature, bytes] : features) {
    out.words({at, bytes.size()});
    at += bytes.size();
  }
  for (const auto& [feature, bytes] : features) out.raw(bytes);
  return out.bytes;
}

/// A file of `records` in file form, with one event and these features.
inline std::vector<std::uint8_t> file_bytes(const RecordBytes& records,
                                            const FeatureBytes& features = {},
                                            std::uint32_t attribute_size = 128) {
  const ByteOrder order = records.out.order();
  std::vector<std::uint8_t> out =
      file_header(order, records.out.bytes.size(), features, attribute_size);
  out.insert(out.end(), records.out.bytes.begin(), records.out.bytes.end());
  const std::vector<std::uint8_t> end = file_features(order, out.size(), features);
  out.insert(out.end(), end.begin(), end.end());
  return out;
}

/// The bytes before the records of a file in pipe form: its header, and the event as a record.
inline std::vector<std::uint8_t> pipe_header(ByteOrder order, std::uint64_t config = kCsEtmCycles,
                                             bool monotonic = false) {
  ByteWriter out(order);
  out.u64(0x32454c4946524550).u64(16);
  RecordBytes first(order);
  first.add(
      RecordType::kHeaderAttr, 0,
      ByteWriter(order).raw(attribute_bytes(order, 128, config, monotonic)).u64(kEventId).bytes);
  return out.raw(first.out.bytes).bytes;
}

inline std::vector<std::uint8_t> pipe_bytes(const RecordBytes& records) {
  std::vector<std::uint8_t> out = pipe_header(records.out.order());
  out.insert(out.end(), records.out.bytes.begin(), records.out.bytes.end());
  return out;
}

/// `text` as the payload of a feature: its size, then its bytes padded with zeros to 64.
inline std::vector<std::uint8_t> feature_text(ByteOrder order, std::string_view text) {
  ByteWriter out(order);
  out.u32(64).raw({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  out.bytes.resize(68);
  return out.bytes;
}

}  // namespace waymark::perf
