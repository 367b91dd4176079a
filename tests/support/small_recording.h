// A perf recording in memory, and the memory of its processes.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/small_elf.h"
#include "waymark/image/image.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/writer.h"

namespace waymark::support {

inline constexpr std::uint64_t kSmallAddress = 0x410000;  ///< Where each program is mapped.
inline constexpr std::uint64_t kSmallCode = kSmallAddress + kSmallElfCode;

/// A folder has the programs "a", "b" and "c"; the first byte of the code of each is its number, 1
/// to 3.
class SmallRecording : public testing::Test {
 protected:
  static constexpr std::uint32_t kPid = 1001;
  static constexpr std::uint32_t kOtherPid = 1002;

  void SetUp() override {
    std::filesystem::create_directories(root_);
    for (std::uint32_t i = 0; i < 3; ++i) {
      write_file((root_ / std::string(1, static_cast<char>('a' + i))).string(),
                 small_elf({static_cast<std::uint8_t>(i + 1)}, {i + 1}, kSmallAddress));
    }
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  /// Each AUX record has 16 bytes, and begins at a multiple of 100 of the trace.
  void open(const perf::RecordBytes& records, const perf::TraceTimes& times = {}) {
    bytes_ = perf::file_bytes(records);
    auto file = perf::File::read(bytes_, "perf.data");
    ASSERT_TRUE(file) << file.error().detail;
    file_ = *std::move(file);
    auto recording = perf::Recording::read(file_);
    ASSERT_TRUE(recording) << recording.error().detail;
    recording_ = *std::move(recording);
    files_ = std::make_unique<perf::ProgramFiles>(perf::ProgramSearch{.roots = {root_.string()}});
    images_ = another(times);
  }

  /// The images that another process would make from what open() read.
  [[nodiscard]] std::unique_ptr<perf::ProcessImages> another(const perf::TraceTimes& times = {}) {
    std::vector<std::size_t> order(recording_.pieces.size());
    std::vector<TraceIndex> begins(order.size());
    for (std::size_t piece = 0; piece < order.size(); ++piece) {
      order[piece] = piece;
      begins[piece] = 100 * piece;
    }
    return std::make_unique<perf::ProcessImages>(recording_, order, begins, *files_, times);
  }

  /// The first byte of the code that a context sees in a memory; 0: nothing is there.
  static unsigned code_in(const image::ImageSelector& images, TraceIndex index,
                          std::uint64_t context, std::uint64_t address = kSmallCode) {
    std::array<std::uint8_t, 4> scratch{};
    const Bytes bytes =
        images.image_at(index, 0x10, context).read(address, image::kSpaceEl1N, 0x10, scratch);
    return bytes.empty() ? 0 : bytes[0];
  }

  static perf::Stamp at(std::uint64_t time, std::uint32_t pid = kPid) {
    return {.pid = pid, .tid = pid, .time = time, .cpu = 0};
  }
  /// AUX records at these times, and the buffer with their trace.
  static void add_trace(perf::RecordBytes& records, std::uint32_t tid = perf::kNone32) {
    const std::vector<std::uint8_t> trace(160);
    records.auxtrace(0, trace, 0, tid, tid == perf::kNone32 ? 0 : perf::kNone32);
  }

  /// An ETMv4 of CPU 0; 0x841: with context IDs.
  static perf::RecordBytes& one_unit(perf::RecordBytes& records, std::uint64_t trcconfigr) {
    perf::ByteWriter info;
    info.u32(3).u32(0).words({1, std::uint64_t{8} << 32 | 1, 0});
    info.words(
        {0x4040404040404040, 0, 7, trcconfigr, 0x10, 0x28000EA1, 0x4100F403, 0x488, 0, 0xCC});
    return records.add(perf::RecordType::kAuxtraceInfo, 0, info.bytes);
  }

  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) /
      ("waymark_small_recording_" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  std::vector<std::uint8_t> bytes_;
  perf::File file_;
  perf::Recording recording_;
  std::unique_ptr<perf::ProgramFiles> files_;
  std::unique_ptr<perf::ProcessImages> images_;
};

}  // namespace waymark::support
