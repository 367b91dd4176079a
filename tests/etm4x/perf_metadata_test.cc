#include "waymark/etm4x/perf_metadata.h"

#include <gtest/gtest.h>

#include <cstring>

namespace waymark::etm4x {
namespace {

class File {
 public:
  void u32(std::uint32_t value) { put(value, 4); }
  void u64(std::uint64_t value) { put(value, 8); }
  void put(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void record(std::uint32_t type, std::size_t body) {
    u32(type);
    put(0, 2);
    put(8 + body, 2);
  }
  std::vector<std::uint8_t> bytes;
};

// Pipe mode: magic, size, records.
File with_info(std::uint64_t version) {
  File file;
  file.u64(0x32454c4946524550);
  file.u64(16);
  file.record(68, 0);
  const std::size_t extra = version == 0 ? 0 : 1;
  file.record(70, 8 + 8 * (3 + 9 + extra + (version == 0 ? 0 : 11)));
  file.u32(3);
  file.u32(0);
  file.u64(version);
  file.u64(std::uint64_t{8} << 32 | (version == 0 ? 1 : 2));
  file.u64(0);
  file.u64(0x4040404040404040);
  file.u64(3);
  if (version != 0) file.u64(7);
  for (const std::uint64_t value : {0x1858U, 0x16U, 0x28000EA1U, 0x4100F403U, 0x488U, 0U, 0xCCU}) {
    file.u64(value);
  }
  if (version == 0) return file;
  file.u64(0x5050505050505050);
  file.u64(5);
  file.u64(8);
  for (const std::uint64_t value : {0x1U, 0x1aU, 0x1U, 0x2U, 0x3U, 0x4U, 0x5U, 0x47715A13U}) {
    file.u64(value);
  }
  return file;
}

TEST(PerfMetadata, both_kinds_of_unit) {
  const auto units = read_perf_metadata(with_info(1).bytes);
  ASSERT_TRUE(units) << units.error().detail;
  ASSERT_EQ(units->size(), 2);
  EXPECT_EQ((*units)[0].cpu, 3);
  EXPECT_FALSE((*units)[0].ete);
  EXPECT_EQ((*units)[0].registers.value("TRCCONFIGR"), 0x1858);
  EXPECT_EQ((*units)[0].registers.value("TRCTRACEIDR"), 0x16);
  EXPECT_TRUE((*units)[1].ete);
  EXPECT_EQ((*units)[1].registers.value("TRCDEVARCH"), 0x47715A13);
}

TEST(PerfMetadata, version_0_has_no_counts) {
  const auto units = read_perf_metadata(with_info(0).bytes);
  ASSERT_TRUE(units) << units.error().detail;
  EXPECT_EQ(units->at(0).registers.value("TRCIDR2"), 0x488);
}

TEST(PerfMetadata, cut_short_anywhere_is_an_error) {
  const auto whole = with_info(1).bytes;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_perf_metadata(Bytes(whole).first(size))) << size;
  }
}

TEST(PerfMetadata, other_files) {
  EXPECT_FALSE(read_perf_metadata({}));
  File swapped;
  swapped.u64(0x50455246494c4532);
  swapped.u64(16);
  EXPECT_EQ(read_perf_metadata(swapped.bytes).error().code, ErrorCode::kUnsupported);
  File none;
  none.u64(0x32454c4946524550);
  none.u64(16);
  EXPECT_EQ(read_perf_metadata(none.bytes).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace waymark::etm4x
