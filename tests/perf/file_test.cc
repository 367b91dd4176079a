#include "waymark/perf/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "waymark/perf/record.h"
#include "waymark/perf/writer.h"

namespace waymark::perf {
namespace {

using ::testing::TestWithParam;

RecordBytes two_names(ByteOrder order = ByteOrder::kLittle) {
  RecordBytes records(order);
  records.comm({.pid = 7, .tid = 8, .time = 99, .cpu = 3}, "alpha");
  records.comm({.pid = 9, .tid = 9, .time = 100, .cpu = 0}, "beta");
  return records;
}

std::size_t count_records(const File& file) {
  RecordReader reader(file);
  Record record;
  std::size_t count = 0;
  while (reader.next(record)) ++count;
  return count;
}

class PerfFile : public TestWithParam<ByteOrder> {};
INSTANTIATE_TEST_SUITE_P(Orders, PerfFile, ::testing::Values(ByteOrder::kLittle, ByteOrder::kBig));

TEST_P(PerfFile, header_event_and_features) {
  const ByteOrder order = GetParam();
  ByteWriter command(order);
  command.u32(2);
  for (const char* word : {"perf", "record"}) command.raw(feature_text(order, word));
  const auto bytes =
      file_bytes(two_names(order), {{Feature::kOsRelease, feature_text(order, "6.1.0")},
                                    {Feature::kCommandLine, command.bytes},
                                    {Feature::kSimpleperfMetaInfo, {'a', 0, 'b', 0}}});
  const auto file = File::read(bytes, "perf.data");
  ASSERT_TRUE(file) << file.error().detail;
  EXPECT_EQ(file->order(), order);
  EXPECT_FALSE(file->pipe());
  EXPECT_TRUE(file->notes().empty());
  ASSERT_EQ(file->attributes().size(), 1U);
  EXPECT_EQ(file->attributes()[0].type, 8U);
  EXPECT_EQ(file->attributes()[0].config, 0x1000U);
  EXPECT_EQ(file->attributes()[0].sample_type, kStampType | kSampleIp);
  EXPECT_EQ(file->feature_text(Feature::kOsRelease), "6.1.0");
  EXPECT_EQ(file->feature_text(Feature::kArch), "");
  EXPECT_EQ(file->command_line(), (std::vector<std::string>{"perf", "record"}));
  EXPECT_EQ(file->feature(Feature::kSimpleperfMetaInfo).size(), 4U);
  EXPECT_EQ(count_records(*file), 2U);
}

TEST_P(PerfFile, pipe_form_holds_the_event_as_a_record) {
  const ByteOrder order = GetParam();
  RecordBytes records = two_names(order);
  ByteWriter feature(order);
  feature.u64(static_cast<std::uint64_t>(Feature::kArch)).raw(feature_text(order, "aarch64"));
  records.add(RecordType::kHeaderFeature, 0, feature.bytes);
  const auto bytes = pipe_bytes(records);
  const auto file = File::read(bytes, "-");
  ASSERT_TRUE(file) << file.error().detail;
  EXPECT_TRUE(file->pipe());
  ASSERT_EQ(file->attributes().size(), 1U);
  EXPECT_EQ(file->attributes()[0].sample_type, kStampType | kSampleIp);
  EXPECT_EQ(file->feature_text(Feature::kArch), "aarch64");
  EXPECT_EQ(count_records(*file), 4U);
}

TEST(PerfFile, every_size_of_attribute) {
  for (const std::uint32_t size : {64U, 72U, 80U, 96U, 104U, 112U, 120U, 128U, 136U, 200U}) {
    const auto bytes = file_bytes(two_names(), {}, size);
    const auto file = File::read(bytes, "perf.data");
    ASSERT_TRUE(file);
    ASSERT_EQ(file->attributes().size(), 1U) << size;
    EXPECT_EQ(file->attributes()[0].sample_type, kStampType | kSampleIp) << size;
    EXPECT_EQ(count_records(*file), 2U) << size;
  }
}

TEST(PerfFile, a_recording_that_was_not_completed_is_read_to_its_end) {
  auto bytes = file_bytes(two_names());
  std::fill_n(bytes.begin() + 48, 8, 0);  // The size of the data.
  const auto file = File::read(bytes, "perf.data");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->notes().size(), 1U);
  EXPECT_NE(file->notes()[0].text.find("was not completed"), std::string::npos);
  EXPECT_EQ(count_records(*file), 2U);
}

TEST(PerfFile, cut_anywhere_it_is_refused_or_read_as_far_as_it_goes) {
  const auto bytes =
      file_bytes(two_names(), {{Feature::kArch, feature_text(ByteOrder::kLittle, "x")}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes part = Bytes(bytes).first(size);
    const auto file = File::read(part, "perf.data");
    if (!file) {
      EXPECT_EQ(file.error().code, ErrorCode::kBadData) << size;
      continue;
    }
    EXPECT_FALSE(file->notes().empty()) << size;
    EXPECT_LE(count_records(*file), 2U);
  }
}

TEST(PerfFile, files_of_other_kinds_are_refused_with_a_reason) {
  const auto error_of = [](std::string_view text) {
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    bytes.resize(200);
    const auto file = File::read(bytes, "x.data");
    return file ? std::string("none") : file.error().detail;
  };
  EXPECT_EQ(error_of("hello, world"),
            "x.data is not a perf.data file: it does not begin with PERFILE2.");
  EXPECT_NE(error_of("PERFFILE").find("before 2010"), std::string::npos);
}

TEST(PerfFile, folder_of_a_recording_with_threads) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "perf_file_folder";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const std::vector<std::uint8_t>& bytes) {
    std::ofstream file(folder / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  write("data", file_bytes(two_names()));
  write("data.0", two_names().out.bytes);
  write("data.1", two_names().out.bytes);
  const auto file = File::open(folder.string());
  ASSERT_TRUE(file) << file.error().detail;
  EXPECT_EQ(file->sections().size(), 3U);
  EXPECT_EQ(count_records(*file), 6U);

  std::filesystem::remove(folder / "data");
  const auto without = File::open(folder.string());
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace waymark::perf
