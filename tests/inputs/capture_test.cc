#include "waymark/inputs/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace waymark::inputs {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CaptureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::path(::testing::TempDir()) / ("capture_" + std::to_string(::getpid()));
    std::ofstream(path_) << "";
  }
  void TearDown() override { fs::remove(path_); }

  /// A sparse file, which would take hours to read completely.
  void make_sparse() const { fs::resize_file(path_, std::uintmax_t{1} << 40); }

  std::string path_;
};

/// Options that stop reading after a few calls of `stop`.
CaptureOptions stopped_soon(const std::string& protocol, Framing framing, int& asked) {
  CaptureOptions options;
  options.protocol = protocol;
  options.framing = framing;
  options.registers = {{"TRCCONFIGR", 1}, {"TRCIDR0", 0x28000EA1}, {"TRCIDR2", 0x488}};
  if (protocol == "stm" || protocol == "itm") options.registers.clear();
  options.ids = {0x10};
  options.stop = [&asked] { return ++asked > 4; };
  return options;
}

TEST_F(CaptureTest, counting_the_ids_can_be_stopped) {
  make_sparse();
  for (const Framing framing : {Framing::kMemoryAligned, Framing::kFsync, Framing::kDstream}) {
    int asked = 0;
    const auto capture = Capture::open(path_, stopped_soon("etmv4", framing, asked));
    ASSERT_FALSE(capture);
    EXPECT_EQ(capture.error().code, ErrorCode::kIo);
    EXPECT_THAT(capture.error().detail, HasSubstr("interrupted"));
    EXPECT_EQ(asked, 5);
  }
}

TEST_F(CaptureTest, search_for_an_itm_synchronisation_can_be_stopped) {
  make_sparse();
  int asked = 0;
  CaptureOptions options = stopped_soon("itm", Framing::kNone, asked);
  options.ids.clear();
  const auto capture = Capture::open(path_, options);
  ASSERT_FALSE(capture);
  EXPECT_EQ(asked, 5);
}

TEST_F(CaptureTest, packets_need_only_the_registers_that_they_depend_on) {
  std::ofstream(path_) << std::string(64, '\x01');
  CaptureOptions options;
  options.protocol = "etmv4";
  options.framing = Framing::kNone;
  options.source.decode = false;
  options.registers = {{"TRCIDR0", 0x28000EA1}, {"TRCIDR2", 0x488}};
  EXPECT_TRUE(Capture::open(path_, options));
  // Conditional trace: its packets exist only if TRCCONFIGR turns them on.
  options.registers[0].second |= 1U << 6;
  EXPECT_THAT(Capture::open(path_, options).error().detail, HasSubstr("TRCCONFIGR"));
  options.registers[0].second = 0x28000EA1;
  options.source.decode = true;
  EXPECT_THAT(Capture::open(path_, options).error().detail, HasSubstr("TRCCONFIGR"));

  options.protocol = "ptm";
  options.source.decode = false;
  options.registers = {{"ETMCR", 0}};
  EXPECT_TRUE(Capture::open(path_, options));
  options.registers = {{"ETMCR", 1U << 28}};
  EXPECT_THAT(Capture::open(path_, options).error().detail,
              HasSubstr("ETMIDR and ETMCCER with --reg"));
}

TEST_F(CaptureTest, unknown_register_is_an_error_that_names_the_nearest) {
  std::ofstream(path_) << std::string(64, '\x01');
  CaptureOptions options;
  options.protocol = "ptm";
  options.framing = Framing::kNone;
  options.registers = {{"ETMCCR", 0}};
  const auto capture = Capture::open(path_, options);
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(capture.error().detail, HasSubstr("did you mean ETMCR?"));
  // A register of another protocol.
  options.registers = {{"TRCIDR0", 0}};
  EXPECT_THAT(Capture::open(path_, options).error().detail, HasSubstr("ETMCCER"));
}

}  // namespace
}  // namespace waymark::inputs
