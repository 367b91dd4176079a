#include "waymark/inputs/input_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace waymark::inputs {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::path(::testing::TempDir()) / ("input_file_" + std::to_string(::getpid()));
    fs::remove_all(path_);
  }
  void TearDown() override { fs::remove_all(path_); }

  void make_pipe() const { ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0); }

  std::string path_;
};

std::vector<std::uint8_t> copy_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

TEST_F(InputFileTest, regular_file_is_mapped_without_a_note) {
  std::ofstream(path_) << "abc";
  std::string noted;
  InputOpener opener({}, [&](const std::string& sentence) { noted += sentence; });
  EXPECT_FALSE(is_stream(path_));
  const auto file = opener.open(path_);
  ASSERT_TRUE(file);
  EXPECT_THAT(copy_of(file->bytes()), ElementsAre('a', 'b', 'c'));
  EXPECT_EQ(noted, "");
}

TEST_F(InputFileTest, pipe_is_copied_once_and_can_be_opened_again) {
  make_pipe();
  std::string noted;
  InputOpener opener({}, [&](const std::string& sentence) { noted += sentence; });
  EXPECT_TRUE(is_stream(path_));
  std::thread writer([&] { std::ofstream(path_) << "abc"; });
  const auto first = opener.open(path_);
  writer.join();
  ASSERT_TRUE(first);
  const auto second = opener.open(path_);
  ASSERT_TRUE(second);
  EXPECT_THAT(copy_of(first->bytes()), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(copy_of(second->bytes()), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(noted, HasSubstr("temporary file"));
}

TEST_F(InputFileTest, what_was_read_before_comes_first) {
  make_pipe();
  std::thread writer([&] { std::ofstream(path_) << "cd"; });
  auto stream = InputStream::open(path_);
  ASSERT_TRUE(stream);
  std::vector<std::uint8_t> head(1);
  ASSERT_EQ(stream->read(head).value_or(0), 1U);
  const auto file = InputOpener().open(*stream, head);
  writer.join();
  ASSERT_TRUE(file);
  EXPECT_THAT(copy_of(file->bytes()), ElementsAre('c', 'd'));
}

TEST_F(InputFileTest, waiting_for_a_writer_ends_when_it_is_stopped) {
  make_pipe();
  int asked = 0;
  InputOpener opener([&] { return ++asked == 3; });
  const auto file = opener.open(path_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kIo);
  EXPECT_THAT(file.error().detail, HasSubstr("interrupted"));
}

TEST_F(InputFileTest, devices_and_folders_are_refused) {
  const auto device = InputStream::open("/dev/zero");
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().detail, HasSubstr("device"));
  fs::create_directories(path_);
  const auto folder = InputStream::open(path_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().detail, HasSubstr("folder"));
  EXPECT_EQ(InputStream::open(path_ + "/none").error().code, ErrorCode::kNotFound);
}

TEST_F(InputFileTest, null_device_is_empty) {
  auto stream = InputStream::open("/dev/null");
  ASSERT_TRUE(stream);
  std::vector<std::uint8_t> bytes(4);
  EXPECT_EQ(stream->read(bytes).value_or(9), 0U);
}

}  // namespace
}  // namespace waymark::inputs
