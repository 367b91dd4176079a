#include "waymark/base/mapped_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "waymark/base/lost_input.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "waymark_mapped_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(path_);
  }
  void TearDown() override { fs::remove_all(path_); }
  std::string path_;
};

/// The bytes of these that are in the memory of the system.
std::size_t loaded(Bytes bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes.size() + page - 1) / page);
  EXPECT_EQ(::mincore(const_cast<std::uint8_t*>(bytes.data()), bytes.size(), pages.data()), 0);
  return page * static_cast<std::size_t>(
                    std::ranges::count_if(pages, [](unsigned char one) { return (one & 1) != 0; }));
}

TEST_F(MappedFileTest, scattered_reads_load_little) {
  constexpr std::size_t kSize = std::size_t{32} << 20;
  constexpr std::size_t kPlaces = 16;
  std::ofstream(path_) << std::string(kSize, 'x');
  const int descriptor = ::open(path_.c_str(), O_RDONLY);
  ASSERT_GE(descriptor, 0);
  ::fsync(descriptor);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
  const Result<MappedFile> file = MappedFile::open(path_);
  ASSERT_TRUE(file);
  if (loaded(file->bytes()) != 0) GTEST_SKIP() << "this file system keeps files in memory";
  const ScatteredReads scattered(*file);
  for (std::size_t at = 0; at < kSize; at += kSize / kPlaces) EXPECT_EQ(file->bytes()[at], 'x');
  EXPECT_LE(loaded(file->bytes()), kSize / 8);
}

TEST_F(MappedFileTest, a_file_that_becomes_shorter_ends_the_program_with_a_sentence) {
  constexpr std::size_t kSize = std::size_t{1} << 20;
  constexpr int kStatus = 7;
  const auto read_what_is_gone = [&] {
    exit_on_lost_input("program", kStatus);
    std::ofstream(path_) << std::string(kSize, 'x');
    const Result<MappedFile> file = MappedFile::open(path_);
    fs::resize_file(path_, 1);
    const volatile std::uint8_t last = file->bytes().back();
    std::exit(last);  // NOLINT(concurrency-mt-unsafe)
  };
  EXPECT_EXIT(read_what_is_gone(), testing::ExitedWithCode(kStatus),
              "program: an input file became shorter while it was read");
}

TEST_F(MappedFileTest, holds_the_bytes_of_the_file) {
  std::ofstream(path_) << "abc";
  const Result<MappedFile> file = MappedFile::open(path_);
  ASSERT_TRUE(file);
  EXPECT_THAT(file->bytes(), ElementsAre('a', 'b', 'c'));
  EXPECT_EQ(file->path(), path_);
}

TEST_F(MappedFileTest, a_text_has_a_limit) {
  std::ofstream(path_) << "abc";
  const Result<MappedFile> file = MappedFile::open_text(path_);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->text(), "abc");
  fs::resize_file(path_, MappedFile::kMostText + 1);
  const Result<MappedFile> large = MappedFile::open_text(path_);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kLimit);
  EXPECT_THAT(large.error().detail, HasSubstr(path_));
}

TEST_F(MappedFileTest, empty_file_is_an_empty_span) {
  std::ofstream(path_).flush();
  const Result<MappedFile> file = MappedFile::open(path_);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes().empty());
}

TEST_F(MappedFileTest, moves_with_its_mapping) {
  std::ofstream(path_) << "abc";
  MappedFile first = *MappedFile::open(path_);
  MappedFile second(std::move(first));
  MappedFile third;
  third = std::move(second);
  EXPECT_EQ(third.size(), 3U);
  EXPECT_EQ(third.bytes()[2], 'c');
}

TEST_F(MappedFileTest, what_is_passed_can_be_read_again) {
  constexpr std::size_t kSize = std::size_t{40} << 20;
  {
    std::ofstream out(path_);
    out << "first";
    out.seekp(kSize - 4);
    out << "last";
  }
  MappedFile file = *MappedFile::open(path_);
  for (const std::size_t offset : {std::size_t{1}, kSize / 2, kSize / 4, kSize, kSize + 1}) {
    file.passed(offset);
    EXPECT_EQ(file.bytes()[0], 'f');
    EXPECT_EQ(file.bytes()[kSize - 1], 't');
  }
}

TEST_F(MappedFileTest, absent_file_is_not_found_with_the_reason) {
  const Result<MappedFile> file = MappedFile::open(path_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(file.error().detail, "Cannot open " + path_ + ": No such file or directory.");
  EXPECT_EQ(MappedFile::open(std::string("a\0b", 3)).error().code, ErrorCode::kNotFound);
}

TEST_F(MappedFileTest, folder_and_pipe_are_refused_at_once) {
  fs::create_directories(path_);
  EXPECT_THAT(MappedFile::open(path_).error().detail, HasSubstr("is a folder"));
  fs::remove_all(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const Result<MappedFile> pipe = MappedFile::open(path_);
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().code, ErrorCode::kIo);
  EXPECT_THAT(pipe.error().detail, HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace waymark
