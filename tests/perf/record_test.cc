#include "waymark/perf/record.h"

#include <gtest/gtest.h>

#include <string>

#include "waymark/perf/writer.h"

#ifdef WAYMARK_HAVE_ZSTD
#include <zstd.h>
#endif

namespace waymark::perf {
namespace {

struct Read {
  std::vector<Record> records;
  std::vector<std::vector<std::uint8_t>> bodies;
  std::vector<std::string> notes;
};

Read read_all(Bytes bytes) {
  Read read;
  const auto file = File::read(bytes, "perf.data");
  EXPECT_TRUE(file);
  if (!file) return read;
  RecordReader reader(*file);
  Record record;
  while (reader.next(record)) {
    read.records.push_back(record);
    read.bodies.emplace_back(record.body.begin(), record.body.end());
  }
  for (const Note& note : reader.notes()) read.notes.push_back(note.text);
  return read;
}

TEST(PerfRecord, sample_ids_of_both_byte_orders) {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    RecordBytes records(order);
    records.comm({.pid = 7, .tid = 8, .time = 0x1122334455, .cpu = 3}, "alpha");
    const Read read = read_all(file_bytes(records));
    ASSERT_EQ(read.records.size(), 1U);
    const Record& record = read.records[0];
    EXPECT_EQ(record.type, RecordType::kComm);
    EXPECT_EQ(record.sample.pid, 7U);
    EXPECT_EQ(record.sample.tid, 8U);
    EXPECT_EQ(record.sample.time, 0x1122334455U);
    EXPECT_EQ(record.sample.cpu, 3U);
    Fields body(read.bodies[0], order);
    EXPECT_EQ(body.u32(), 7U);
    EXPECT_EQ(body.u32(), 8U);
    EXPECT_EQ(Fields::text(body.take(body.remaining())), "alpha");
  }
}

TEST(PerfRecord, records_of_perf_itself_have_no_sample_id) {
  RecordBytes records;
  records.units(1);
  const Read read = read_all(file_bytes(records));
  ASSERT_EQ(read.records.size(), 1U);
  EXPECT_FALSE(read.records[0].sample.pid);
  EXPECT_EQ(read.bodies[0].size(), 8U + 3 * 8 + 10 * 8);
}

TEST(PerfRecord, trace_follows_its_record) {
  const std::vector<std::uint8_t> trace(100, 0xA5);
  RecordBytes records;
  records.auxtrace(0x1000, trace, 2, kNone32, 1).comm({.pid = 1}, "after");
  const auto bytes = file_bytes(records);
  const Read read = read_all(bytes);
  ASSERT_EQ(read.records.size(), 2U);
  EXPECT_EQ(std::vector<std::uint8_t>(read.records[0].trace.begin(), read.records[0].trace.end()),
            trace);
  EXPECT_EQ(bytes[read.records[0].trace_offset], 0xA5);
  EXPECT_EQ(bytes[read.records[0].trace_offset - 1], 0);
  EXPECT_EQ(read.records[1].type, RecordType::kComm);
}

TEST(PerfRecord, damage_ends_the_section_with_a_note) {
  for (const std::uint16_t size : {std::uint16_t{0}, std::uint16_t{7}, std::uint16_t{60000}}) {
    RecordBytes records;
    records.comm({.pid = 1}, "before");
    records.out.u32(3).u16(0).u16(size).u64(0);
    const Read read = read_all(file_bytes(records));
    EXPECT_EQ(read.records.size(), 1U);
    ASSERT_EQ(read.notes.size(), 1U) << size;
    EXPECT_NE(read.notes[0].find("perf.data is damaged at byte "), std::string::npos);
  }
}

TEST(PerfRecord, split_records_are_joined) {
  // As simpleperf does it: parts, then an empty end.
  ByteWriter whole;
  whole.u32(32769).u16(0x1).u16(0x100);
  for (int i = 0; i < 1000; ++i) whole.u64(static_cast<std::uint64_t>(i));
  RecordBytes records;
  const auto part = [&](std::size_t from, std::size_t size) {
    ByteWriter out;
    out.u32(32772).u16(0).u16(8 + size).raw(Bytes(whole.bytes).subspan(from, size));
    records.out.raw(out.bytes);
  };
  part(0, 5000);
  part(5000, whole.bytes.size() - 5000);
  records.out.u32(32773).u16(0).u16(8);
  const Read read = read_all(file_bytes(records));
  ASSERT_EQ(read.records.size(), 1U);
  EXPECT_EQ(static_cast<std::uint32_t>(read.records[0].type), 32769U);
  EXPECT_FALSE(read.records[0].in_file);
  EXPECT_EQ(read.bodies[0].size(), 8000U);
}

#ifdef WAYMARK_HAVE_ZSTD

std::vector<std::uint8_t> compressed(Bytes bytes) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

TEST(PerfRecord, compressed_records_wherever_they_are_cut) {
  RecordBytes plain;
  constexpr int kRecords = 2000;
  for (int i = 0; i < kRecords; ++i)
    plain.comm({.pid = static_cast<std::uint32_t>(i), .time = 5}, "name" + std::to_string(i % 7));
  const auto packed = compressed(plain.out.bytes);
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{60000}}) {
    RecordBytes records;
    for (std::size_t at = 0; at < packed.size(); at += piece) {
      records.add(RecordType::kCompressed, 0,
                  Bytes(packed).subspan(at, std::min(piece, packed.size() - at)));
    }
    records.comm({.pid = 99999}, "after");
    const Read read = read_all(file_bytes(records));
    EXPECT_TRUE(read.notes.empty()) << read.notes.front();
    ASSERT_EQ(read.records.size(), kRecords + 1U) << piece;
    for (int i = 0; i < kRecords; ++i)
      ASSERT_EQ(read.records[static_cast<std::size_t>(i)].sample.pid,
                static_cast<std::uint32_t>(i));
    EXPECT_EQ(read.records.back().sample.pid, 99999U);
  }
}

TEST(PerfRecord, compressed_record_with_padding) {
  RecordBytes plain;
  plain.comm({.pid = 4}, "x");
  const auto packed = compressed(plain.out.bytes);
  ByteWriter body;
  body.u64(packed.size()).raw(packed);
  body.bytes.resize((body.bytes.size() + 15) / 8 * 8);
  RecordBytes records;
  records.add(RecordType::kCompressed2, 0, body.bytes);
  const Read read = read_all(file_bytes(records));
  ASSERT_EQ(read.records.size(), 1U);
  EXPECT_EQ(read.records[0].sample.pid, 4U);
}

TEST(PerfRecord, damaged_compression_is_reported) {
  RecordBytes records;
  records.add(RecordType::kCompressed, 0, std::vector<std::uint8_t>(100, 0x5A));
  records.comm({.pid = 1}, "after");
  const Read read = read_all(file_bytes(records));
  EXPECT_TRUE(read.records.empty());
  ASSERT_EQ(read.notes.size(), 1U);
  EXPECT_NE(read.notes[0].find("compressed records cannot be read"), std::string::npos);
}

TEST(PerfRecord, a_stream_that_expands_without_end_takes_bounded_memory) {
  // 1 GiB of zeros in less than 64 KiB: a record of size 0, which ends the section.
  std::vector<std::uint8_t> zeros(std::size_t{64} << 20);
  const auto packed = compressed(zeros);
  ASSERT_LT(packed.size(), 60000U);
  RecordBytes records;
  for (int i = 0; i < 16; ++i) records.add(RecordType::kCompressed, 0, packed);
  const Read read = read_all(file_bytes(records));
  EXPECT_TRUE(read.records.empty());
  EXPECT_EQ(read.notes.size(), 1U);
}

#endif

}  // namespace
}  // namespace waymark::perf
