#include "waymark/inputs/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "inputs/memory_store.h"

namespace waymark::inputs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Snapshot, sound_one_has_all_its_parts_and_no_problem) {
  MemoryStore store = sound_store();
  const Result<Snapshot> snapshot = store.read();
  ASSERT_TRUE(snapshot);
  EXPECT_TRUE(store.problems.empty());
  EXPECT_EQ(snapshot->version, "1.0");
  ASSERT_EQ(snapshot->buffers.size(), 1U);
  ASSERT_EQ(snapshot->buffers[0].sources.size(), 1U);
  const TraceSource& source = snapshot->buffers[0].sources[0];
  EXPECT_EQ(source.device, "ETM_0");
  EXPECT_EQ(source.type, "ETM4.2");
  EXPECT_EQ(source.protocol, "ETM4");
  EXPECT_EQ(source.core, "cpu_0");
  EXPECT_EQ(source.core_type, "Cortex-A53");
  EXPECT_EQ(snapshot->devices[source.device_index].value("TRCTRACEIDR"), 0x10U);
  EXPECT_EQ(snapshot->devices[source.core_index].dumps[0].address, 0x1000U);
  EXPECT_EQ(snapshot->path_of("t.bin"), "s/t.bin");
}

// snapshot.ini

TEST(Snapshot, version_must_be_known) {
  MemoryStore store = sound_store();
  store.texts["snapshot.ini"] = "[snapshot]\nversion=2\n";
  EXPECT_THAT(store.error(), StartsWith("s/snapshot.ini:2: Version `2`"));
  store.texts["snapshot.ini"] = "[snapshot]\nversion=1\n";
  EXPECT_EQ(store.error(), "");
}

TEST(Snapshot, absent_version_is_0_1_and_a_problem) {
  MemoryStore store = sound_store();
  store.texts["snapshot.ini"] = "[trace]\nmetadata=trace.ini\n";
  const Result<Snapshot> snapshot = store.read();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->version, "0.1");
  EXPECT_NE(store.find(ProblemKind::kVersionMissing), nullptr);
}

TEST(Snapshot, duplicate_keys_of_snapshot_ini_are_errors) {
  for (const char* text :
       {"[snapshot]\nversion=1\nversion=1\n", "[snapshot]\ndescription=\ndescription=\n",
        "[trace]\nmetadata=a\n[trace]\nmetadata=b\n"}) {
    MemoryStore store = sound_store();
    store.texts["snapshot.ini"] = text;
    EXPECT_THAT(store.error(), HasSubstr("given twice")) << text;
  }
}

TEST(Snapshot, line_without_equals_is_an_error_only_in_sections_that_are_read) {
  MemoryStore store = sound_store();
  store.texts["snapshot.ini"] += "[clusters]\nno equals\n[other]\nneither\n";
  EXPECT_EQ(store.error(), "");
  EXPECT_EQ(store.find(ProblemKind::kUnknownSection)->values, std::vector<std::string>{"other"});
  store.texts["snapshot.ini"] += "[device_list]\nnothing\n";
  EXPECT_THAT(store.error(), StartsWith("s/snapshot.ini:13: `nothing` is neither"));
}

TEST(Snapshot, lines_before_the_first_section_of_snapshot_ini_are_ignored) {
  MemoryStore store = sound_store();
  store.texts["snapshot.ini"].insert(0, "whatever\n");
  EXPECT_EQ(store.error(), "");
  EXPECT_EQ(store.find(ProblemKind::kLineIgnored)->line, 1U);
}

TEST(Snapshot, devices_are_numbered_in_file_order_whatever_their_keys) {
  MemoryStore store = sound_store();
  store.texts["snapshot.ini"] = "[device_list]\nz=cpu_0.ini\nz=etm_0.ini\n";
  const Result<Snapshot> snapshot = store.read();
  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->device_files.size(), 2U);
  EXPECT_EQ(snapshot->device_files[1], (DeviceFile{"etm_0.ini", 2, 3}));
  EXPECT_EQ(snapshot->devices.size(), 2U);
}

TEST(Snapshot, later_device_replaces_an_earlier_one_in_text_order_of_numbers) {
  MemoryStore store = sound_store();
  std::string list = "[device_list]\n";
  for (int i = 1; i <= 10; ++i) {
    const std::string file = "d" + std::to_string(i) + ".ini";
    list += "k=" + file + "\n";
    store.texts[file] = "[device]\nname=same\n";
  }
  store.texts["snapshot.ini"] = list;
  const Result<Snapshot> snapshot = store.read();
  ASSERT_TRUE(snapshot);
  // In the order 1, 10, 2, ... 9, the tenth file is the second one to be read.
  EXPECT_EQ(snapshot->find_device("same")->file, "d9.ini");
  EXPECT_EQ(store.find(ProblemKind::kDeviceReplaced)->file, "s/d10.ini");
}

TEST(Snapshot, missing_device_file_is_a_problem_and_reading_goes_on) {
  MemoryStore store = sound_store();
  store.texts.erase("cpu_0.ini");
  const Result<Snapshot> snapshot = store.read();
  ASSERT_TRUE(snapshot);
  const Problem* problem = store.find(ProblemKind::kDeviceFileMissing);
  ASSERT_NE(problem, nullptr);
  EXPECT_THAT(problem->values, ElementsAre("s/cpu_0.ini"));
  EXPECT_THAT(problem->text(), StartsWith("s/snapshot.ini:4: The device file"));
  EXPECT_THAT(store.find(ProblemKind::kUnknownCoreDevice)->values, ElementsAre("ETM_0", "cpu_0"));
  EXPECT_EQ(snapshot->buffers[0].sources[0].core, "cpu_0");
  EXPECT_EQ(snapshot->buffers[0].sources[0].core_type, "");
}

TEST(Snapshot, missing_and_unnamed_trace_ini_are_problems) {
  MemoryStore store = sound_store();
  store.texts.erase("trace.ini");
  ASSERT_TRUE(store.read());
  EXPECT_THAT(store.find(ProblemKind::kTraceFileMissing)->values, ElementsAre("s/trace.ini"));
  store.texts["snapshot.ini"] = "[snapshot]\nversion=1.0\n";
  ASSERT_TRUE(store.read());
  EXPECT_NE(store.find(ProblemKind::kTraceFileNotNamed), nullptr);
}

TEST(Snapshot, limits_end_the_reading) {
  MemoryStore store = sound_store();
  store.texts["snapshot.ini"] = "[device_list]\n";
  for (std::size_t i = 0; i <= kMaxDeviceFiles; ++i) store.texts["snapshot.ini"] += "=\n";
  EXPECT_EQ(store.read().error().code, ErrorCode::kLimit);

  store = sound_store();
  store.texts["trace.ini"] = "x=" + std::string(kMaxIniLineSize, 'x');
  EXPECT_THAT(store.error(), HasSubstr("s/trace.ini:1: The line has more than"));

  store = sound_store();
  store.texts["snapshot.ini"] = "[device_list]\n=a\n=a\n=a\n=a\n=a\n";
  std::string& long_file = store.texts["a"] = "[device]\nname=a\n";
  const std::string line = ";" + std::string(4000, '-') + "\n";
  while (long_file.size() + line.size() < kMaxIniFileSize) long_file += line;
  EXPECT_THAT(store.error(), HasSubstr("exceed"));
}

TEST(Snapshot, problems_are_bounded) {
  MemoryStore store = sound_store();
  for (int i = 0; i < 5000; ++i) store.texts["trace.ini"] += "[unknown]\n";
  ASSERT_TRUE(store.read());
  EXPECT_EQ(store.problems.size(), kMaxProblems);
  EXPECT_EQ(store.problems.back().kind, ProblemKind::kMoreProblems);
}

// On disk.

class SnapshotOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "waymark_snapshot_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  void write_sound() const {
    for (const auto& [name, text] : sound_store().texts) write(name, text);
    for (const auto& [name, size] : sound_store().sizes) write(name, std::string(size, 'x'));
  }

  std::string folder_;
  std::vector<Problem> problems_;
};

TEST_F(SnapshotOnDisk, folder_and_its_snapshot_ini_give_the_same) {
  write_sound();
  const auto by_folder = read_snapshot(folder_, problems_);
  const auto by_slash = read_snapshot(folder_ + "/", problems_);
  const auto by_file = read_snapshot(folder_ + "/snapshot.ini", problems_);
  ASSERT_TRUE(by_folder && by_slash && by_file);
  EXPECT_TRUE(problems_.empty());
  EXPECT_EQ(*by_folder, *by_file);
  EXPECT_EQ(*by_folder, *by_slash);
  EXPECT_EQ(by_folder->directory, folder_ + "/");
}

TEST_F(SnapshotOnDisk, wrong_paths_have_clear_errors) {
  EXPECT_EQ(read_snapshot("", problems_).error().code, ErrorCode::kInvalidArgument);
  const auto absent = read_snapshot(folder_ + "/none", problems_);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().detail, HasSubstr("does not exist"));
  const auto bare = read_snapshot(folder_, problems_);
  EXPECT_EQ(bare.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(bare.error().detail, HasSubstr("has no snapshot.ini"));
  write("trace.ini", "");
  const auto file = read_snapshot(folder_ + "/trace.ini", problems_);
  EXPECT_EQ(file.error().code, ErrorCode::kInvalidArgument);
  fs::create_directories(folder_ + "/snapshot.ini");
  EXPECT_EQ(read_snapshot(folder_, problems_).error().code, ErrorCode::kIo);
}

TEST_F(SnapshotOnDisk, oversized_ini_file_is_refused_unread) {
  write_sound();
  fs::resize_file(folder_ + "/etm_0.ini", kMaxIniFileSize + 1);
  const auto result = read_snapshot(folder_, problems_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kLimit);
  EXPECT_THAT(result.error().detail, HasSubstr("etm_0.ini"));
}

TEST_F(SnapshotOnDisk, folder_in_place_of_a_file_counts_as_missing) {
  write_sound();
  fs::remove(folder_ + "/t.bin");
  fs::create_directories(folder_ + "/t.bin");
  ASSERT_TRUE(read_snapshot(folder_, problems_));
  ASSERT_EQ(problems_.size(), 1U);
  EXPECT_EQ(problems_[0].kind, ProblemKind::kBufferFileMissing);
}

TEST_F(SnapshotOnDisk, all_real_captures_are_read) {
  const char* root = std::getenv("WAYMARK_SHARED");
  const fs::path captures =
      fs::path(root != nullptr ? root : WAYMARK_SHARED_DIR) / "data/snapshots";
  if (!fs::is_directory(captures)) GTEST_SKIP() << "no real captures beside the repository";
  for (const auto& entry : fs::directory_iterator(captures)) {
    const auto result = read_snapshot(entry.path().string(), problems_);
    EXPECT_TRUE(result) << (result ? "" : result.error().detail);
  }
}

}  // namespace
}  // namespace waymark::inputs
