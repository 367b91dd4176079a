#include "waymark/perf/recording.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "waymark/perf/writer.h"

namespace waymark::perf {
namespace {

/// The file lives as long as the recording.
struct Opened {
  std::vector<std::uint8_t> bytes;
  Result<File> file;
  Result<Recording> recording;

  explicit Opened(std::vector<std::uint8_t> content)
      : bytes(std::move(content)),
        file(File::read(bytes, "perf.data")),
        recording(file ? Recording::read(*file) : std::unexpected(file.error())) {}
};

std::vector<std::uint8_t> trace_of(std::size_t size) {
  std::vector<std::uint8_t> trace(size);
  for (std::size_t i = 0; i < size; ++i) trace[i] = static_cast<std::uint8_t>(i * 7);
  return trace;
}

TEST(PerfRecording, units_of_both_byte_orders_and_versions) {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    for (const std::uint64_t version : {0U, 1U}) {
      const Opened opened(file_bytes(RecordBytes(order).units(3, version)));
      ASSERT_TRUE(opened.recording) << opened.recording.error().detail;
      ASSERT_EQ(opened.recording->units.size(), 3U);
      const Unit& unit = opened.recording->units[2];
      EXPECT_EQ(unit.cpu, 2U);
      EXPECT_EQ(unit.kind, UnitKind::kEtmV4);
      EXPECT_EQ(unit.trace_id, 0x14);
      EXPECT_EQ(unit.reg("TRCCONFIGR"), 0xC1U);
      EXPECT_EQ(unit.reg("TRCAUTHSTATUS"), 0xCCU);
      EXPECT_EQ(unit.reg("TRCIDR9"), std::nullopt);
      EXPECT_EQ(opened.recording->pmu, 8U);
      EXPECT_EQ(opened.recording->unit_of_cpu(1)->trace_id, 0x12);
      EXPECT_EQ(opened.recording->unit_of_cpu(9), nullptr);
    }
  }
}

TEST(PerfRecording, kinds_of_units) {
  RecordBytes records;
  ByteWriter info;
  info.u32(3).u32(0).words({1, std::uint64_t{8} << 32 | 5, 0});
  info.words({0x3030303030303030, 0, 4, 0x4000, 0x10, 0, 0x411CF310});
  info.words({0x3030303030303030, 1, 4, 0x4000, 0x11, 0, 0x410CF240});
  info.words({0x5050505050505050, 2, 9, 0xC1, 0x12, 0, 0, 0, 0, 0, 0x47705A13, 1});
  info.words({0x5050505050505050, 3, 8, 0xC1, 0x13, 0, 0, 0, 0, 0, 0x47724A13});
  info.words({0x4040404040404040, 4, 12, 0xC1, 0x14, 0, 0, 0, 0, 0, 3, 1, 2, 3, 4});
  records.add(RecordType::kAuxtraceInfo, 0, info.bytes);
  const Opened opened(file_bytes(records));
  ASSERT_TRUE(opened.recording) << opened.recording.error().detail;
  const auto& units = opened.recording->units;
  ASSERT_EQ(units.size(), 5U);
  EXPECT_EQ(units[0].kind, UnitKind::kPtm);
  EXPECT_EQ(units[1].kind, UnitKind::kEtmV3);
  EXPECT_EQ(units[2].kind, UnitKind::kEte);
  EXPECT_EQ(units[2].timestamp_source, 1U);
  EXPECT_EQ(units[3].kind, UnitKind::kEtmV4);
  EXPECT_EQ(units[4].kind, UnitKind::kEtmV4);
  EXPECT_EQ(units[4].timestamp_source, 3U);
}

TEST(PerfRecording, aux_records_are_the_pieces) {
  const auto one = trace_of(256);
  const auto other = trace_of(64);
  RecordBytes records;
  records.units(2)
      .aux({.pid = 5, .tid = 5, .time = 10, .cpu = 0}, 0x1000, 0x40)
      .aux({.pid = 6, .tid = 6, .time = 11, .cpu = 1}, 0x1000, 0x20, kAuxTruncated)
      .aux({.pid = 5, .tid = 5, .time = 12, .cpu = 0}, 0x1040, 0)
      .aux({.pid = 5, .tid = 5, .time = 13, .cpu = 0}, 0x1080, 0x80, kAuxRaw)
      .auxtrace(0x1000, one, 0, kNone32, 0)
      .auxtrace(0x1000, other, 1, kNone32, 1);
  const Opened opened(file_bytes(records));
  ASSERT_TRUE(opened.recording);
  const Recording& recording = *opened.recording;
  EXPECT_TRUE(recording.notes.empty());
  ASSERT_EQ(recording.pieces.size(), 3U);
  EXPECT_EQ(recording.pieces[0].sample.cpu, 0U);
  EXPECT_EQ(recording.bytes(recording.pieces[0]).size(), 0x40U);
  EXPECT_EQ(recording.pieces[1].sample.tid, 6U);
  EXPECT_EQ(recording.buffers[recording.pieces[1].buffer].queue, 1U);
  EXPECT_FALSE(recording.pieces[1].raw());
  EXPECT_TRUE(recording.pieces[2].raw());
  EXPECT_EQ(recording.bytes(recording.pieces[2])[0], one[0x80]);
  EXPECT_EQ(recording.losses.truncated, 1U);
  EXPECT_EQ(recording.losses.missing, 0U);
}

TEST(PerfRecording, per_thread_buffers_are_found_by_the_thread) {
  const auto trace = trace_of(64);
  RecordBytes records;
  records.units(4)
      .aux({.pid = 5, .tid = 50, .cpu = 3}, 0, 64)
      .aux({.pid = 5, .tid = 51, .cpu = 2}, 0, 64)
      .auxtrace(0, trace, 0, 50, kNone32)
      .auxtrace(0, trace, 1, 51, kNone32);
  const Opened opened(file_bytes(records));
  ASSERT_TRUE(opened.recording);
  ASSERT_EQ(opened.recording->pieces.size(), 2U);
  EXPECT_EQ(opened.recording->buffers[opened.recording->pieces[0].buffer].tid, 50U);
  EXPECT_EQ(opened.recording->buffers[opened.recording->pieces[1].buffer].tid, 51U);
}

TEST(PerfRecording, a_snapshot_ends_at_its_offset) {
  const auto trace = trace_of(0x100);
  RecordBytes records;
  records.units(1)
      .aux({.pid = 5, .tid = 5, .cpu = 0}, 0x5000, 0x100, kAuxOverwrite)
      .auxtrace(0x4F00, trace, 0, kNone32, 0);
  const Opened opened(file_bytes(records));
  ASSERT_TRUE(opened.recording);
  ASSERT_EQ(opened.recording->pieces.size(), 1U);
  EXPECT_EQ(opened.recording->pieces[0].offset, 0U);
  EXPECT_EQ(opened.recording->pieces[0].size, 0x100U);
}

TEST(PerfRecording, trace_that_is_missing_is_reported_and_the_rest_is_read) {
  const auto trace = trace_of(64);
  RecordBytes records;
  records.units(1)
      .aux({.pid = 5, .tid = 5, .cpu = 0}, 0, 64)
      .aux({.pid = 5, .tid = 5, .cpu = 0}, 0x9000, 64)
      .auxtrace(0, trace, 0, kNone32, 0);
  const Opened opened(file_bytes(records));
  ASSERT_TRUE(opened.recording);
  EXPECT_EQ(opened.recording->pieces.size(), 1U);
  EXPECT_EQ(opened.recording->losses.missing, 1U);
  EXPECT_EQ(opened.recording->losses.missing_bytes, 64U);
  EXPECT_EQ(opened.recording->losses.first_missing, "AUX offset 36864 of CPU 0");
}

TEST(PerfRecording, trace_ids_come_from_hardware_id_records) {
  RecordBytes records;
  records.units(2, 2);
  const auto add = [&](std::uint32_t cpu, std::uint64_t value) {
    records.add(RecordType::kAuxOutputHwId, 0, records.body().u64(value), {.cpu = cpu});
  };
  add(0, 0x33);
  add(1, std::uint64_t{1} << 56 | 0x77ULL << 8 | 0x33);
  const Opened opened(file_bytes(records));
  ASSERT_TRUE(opened.recording) << opened.recording.error().detail;
  EXPECT_EQ(opened.recording->units[0].trace_id, 0x33);
  EXPECT_EQ(opened.recording->units[1].trace_id, 0x33);
  EXPECT_EQ(opened.recording->units[1].sink, 0x77U);
}

TEST(PerfRecording, two_units_with_one_trace_id_cannot_be_told_apart) {
  RecordBytes records;
  records.units(2, 2);
  for (const std::uint32_t cpu : {0U, 1U})
    records.add(RecordType::kAuxOutputHwId, 0, records.body().u64(0x33), {.cpu = cpu});
  const Opened opened(file_bytes(records));
  ASSERT_FALSE(opened.recording);
  EXPECT_EQ(opened.recording.error().detail,
            "The recording says that CPUs 0 and 1 both have the trace ID 0x33, so their trace "
            "cannot be told apart.");
}

TEST(PerfRecording, tasks_in_order_of_time) {
  RecordBytes records;
  records.units(1)
      .comm({.pid = 5, .tid = 5, .time = 20}, "later", kMiscExec)
      .mmap2({.pid = 5, .tid = 5, .time = 10}, 0x400000, 0x1000, 0x2000, "/bin/a");
  records.add(RecordType::kFork, 0, records.body().u32(6).u32(5).u32(6).u32(5).u64(30),
              {.pid = 5, .tid = 5, .time = 30});
  records.add(RecordType::kExit, 0, records.body().u32(6).u32(5).u32(6).u32(5).u64(40),
              {.pid = 6, .tid = 6, .time = 40});
  records.add(RecordType::kSwitch, kMiscSwitchOut, records.body(),
              {.pid = 6, .tid = 6, .time = 35});
  const Opened opened(file_bytes(records));
  ASSERT_TRUE(opened.recording);
  const auto& events = opened.recording->events;
  ASSERT_EQ(events.size(), 5U);
  const auto& map = std::get<Mapping>(events[0].what);
  EXPECT_EQ(map.address, 0x400000U);
  EXPECT_EQ(map.size, 0x1000U);
  EXPECT_EQ(map.file_offset, 0x2000U);
  EXPECT_EQ(map.path, "/bin/a");
  EXPECT_TRUE(map.executable);
  EXPECT_EQ(std::get<NewName>(events[1].what).name, "later");
  EXPECT_TRUE(std::get<NewName>(events[1].what).exec);
  EXPECT_EQ(std::get<Forked>(events[2].what).parent_pid, 5U);
  EXPECT_EQ(events[2].pid, 6);
  EXPECT_TRUE(std::get<Switched>(events[3].what).out);
  EXPECT_TRUE(std::holds_alternative<Exited>(events[4].what));
}

TEST(PerfRecording, build_ids) {
  ByteWriter list;
  list.u32(67).u16(2).u16(8 + 4 + 24 + 12).u32(0xFFFFFFFF);
  for (int i = 0; i < 20; ++i) list.number(static_cast<std::uint64_t>(i), 1);
  list.u32(0).name("/bin/alpha");
  list.bytes.resize(8 + 4 + 24 + 12);
  const Opened opened(file_bytes(RecordBytes().units(1), {{Feature::kBuildId, list.bytes}}));
  ASSERT_TRUE(opened.recording);
  ASSERT_EQ(opened.recording->build_ids.size(), 1U);
  EXPECT_EQ(opened.recording->build_ids[0].path, "/bin/alpha");
  EXPECT_EQ(opened.recording->build_ids[0].id.size(), 20U);
  EXPECT_EQ(opened.recording->build_ids[0].id[19], 19);
}

TEST(PerfRecording, time_of_the_counter) {
  RecordBytes records;
  records.units(1);
  records.add(RecordType::kTimeConv, 0, records.body().words({10, 3072, 1000}).bytes);
  const Opened opened(file_bytes(records));
  ASSERT_TRUE(opened.recording);
  ASSERT_TRUE(opened.recording->time);
  EXPECT_EQ(opened.recording->time->nanoseconds(0), 1000U);
  EXPECT_EQ(opened.recording->time->nanoseconds(1024), 1000U + 3072);
  EXPECT_EQ(opened.recording->time->nanoseconds(1025), 1000U + 3072 + 3);
}

TEST(PerfRecording, time_of_a_counter_of_fewer_bits) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 56) - 1;
  const auto opened_with = [](std::uint64_t mask, std::uint64_t flags) {
    RecordBytes records;
    records.units(1);
    records.add(RecordType::kTimeConv, 0, records.body().words({0, 1, 0, 5, mask, flags}).bytes);
    return std::make_unique<Opened>(file_bytes(records));
  };
  constexpr std::uint64_t kShort = 1 << 8 | 1;
  const auto is_near = [&](std::uint64_t mask, std::uint64_t flags) {
    const auto opened = opened_with(mask, flags);
    return opened->recording && opened->recording->time && opened->recording->time->near;
  };
  EXPECT_TRUE(is_near(kMask, kShort));
  EXPECT_FALSE(is_near(kMask, 1)) << "the counter has 64 bits";
  EXPECT_FALSE(is_near(0, kShort));
  EXPECT_FALSE(is_near(kMask - 4, kShort)) << "no mask of lower bits";
  EXPECT_EQ(opened_with(kMask, kShort)->recording->time->nanoseconds(kMask + 9), 8U);
}

TEST(PerfRecording, what_is_not_a_recording_of_coresight) {
  const auto error_of = [](const RecordBytes& records) {
    const Opened opened(file_bytes(records));
    return opened.recording ? std::string("none") : opened.recording.error().detail;
  };
  EXPECT_NE(error_of(RecordBytes().comm({.pid = 1}, "x")).find("perf record -e cs_etm//"),
            std::string::npos);
  const auto info = [](std::initializer_list<std::uint64_t> words, std::uint32_t tracer = 3) {
    RecordBytes records;
    records.add(RecordType::kAuxtraceInfo, 0, records.body().u32(tracer).u32(0).words(words).bytes);
    return records;
  };
  EXPECT_NE(error_of(info({0, 0, 0}, 1)).find("a tracer other than"), std::string::npos);
  EXPECT_NE(error_of(info({3, 0, 0})).find("version 3"), std::string::npos);
  EXPECT_NE(error_of(info({1, 1, 0, 0x1234, 7})).find("unknown kind (0x0000000000001234"),
            std::string::npos);
  EXPECT_NE(error_of(info({1, 1, 0, 0x4040404040404040, 7, 99})).find("damaged"),
            std::string::npos);
  EXPECT_NE(error_of(info({1, 2})).find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace waymark::perf
