#include "waymark/inputs/snapshot_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "waymark/base/mapped_file.h"

namespace waymark::inputs {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Snapshot two_sources() {
  Snapshot s;
  s.description = "made by a test";
  Device core{.file = "cpu_0.ini", .name = "cpu_0", .class_name = "core", .type = "Cortex-A53"};
  core.registers = {{"PC(size:64)", "0x1000", 0}, {"SP", "", 0}};
  core.dumps = {{"dump1", "code.bin", "EL1N", 0x1000, 4, 4, 0},
                {"dumpy", "sub/data.bin", "", 0x2000, 0, 0, 0}};
  core.extended_registers = {{1, 2}, {0x10, 0xFFFFFFFF}};
  core.global_core = "0";
  Device etm{.file = "", .name = "ETM_0", .class_name = "trace_source", .type = "ETM4"};
  etm.registers = {{"TRCIDR0(0x078)", "0x28000EA1", 0}};
  s.devices = {core, etm};
  s.buffers = {{.section = "second",
                .name = "ETB_1",
                .file = "b.bin",
                .format = "source_data",
                .sources = {}},
               {.section = "", .name = "ETB_0", .file = "a.bin", .format = ""}};
  s.source_buffers = {{"ETM_0", "ETB_0", 0}, {"STM_1", "ETB_1", 0}};
  s.core_trace_sources = {{"ETM_0", "cpu_0", 0}};
  return s;
}

class SnapshotWriter : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "waymark_writer_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder_;
  std::vector<Problem> problems_;
  const std::vector<std::uint8_t> bytes_{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<SnapshotFile> files_{
      {"code.bin", bytes_}, {"sub/data.bin", bytes_}, {"a.bin", bytes_}, {"b.bin", {}}};
};

TEST_F(SnapshotWriter, what_is_written_is_read_back) {
  const Snapshot made = two_sources();
  const Result<void> written = write_snapshot(made, files_, folder_ + "/deep");
  ASSERT_TRUE(written) << written.error().detail;
  const Result<Snapshot> read = read_snapshot(folder_ + "/deep", problems_);
  ASSERT_TRUE(read) << read.error().detail;

  EXPECT_EQ(read->description, made.description);
  const Device* core = read->find_device("cpu_0");
  ASSERT_NE(core, nullptr);
  EXPECT_EQ(core->class_name, "core");
  EXPECT_EQ(core->global_core, "0");
  EXPECT_EQ(core->extended_registers, made.devices[0].extended_registers);
  EXPECT_EQ(core->value("PC"), 0x1000U);
  ASSERT_EQ(core->dumps.size(), 2U);
  EXPECT_EQ(core->dumps[0].offset, 4U);
  EXPECT_EQ(core->dumps[0].space, "EL1N");
  EXPECT_EQ(core->dumps[1].file, "sub/data.bin");
  EXPECT_EQ(read->find_device("ETM_0")->file, "device_2.ini");
  ASSERT_EQ(read->buffers.size(), 2U);
  EXPECT_EQ(read->buffers[0].section, "second");
  EXPECT_EQ(read->buffers[1].section, "buffer1");
  EXPECT_EQ(read->buffers[1].sources[0].core_type, "Cortex-A53");

  const Result<MappedFile> capture = MappedFile::open(read->path_of("a.bin"));
  ASSERT_TRUE(capture);
  EXPECT_THAT(capture->bytes(), testing::ElementsAreArray(bytes_));
}

// The first reading sorts the devices; from then on the device list does not change.
TEST_F(SnapshotWriter, third_generation_equals_the_second) {
  ASSERT_TRUE(write_snapshot(two_sources(), files_, folder_));
  const Result<Snapshot> first = read_snapshot(folder_, problems_);
  ASSERT_TRUE(first);
  ASSERT_TRUE(write_snapshot(*first, {}, folder_));
  const Result<Snapshot> second = read_snapshot(folder_, problems_);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->devices, second->devices);
  ASSERT_TRUE(write_snapshot(*second, {}, folder_));
  const Result<Snapshot> third = read_snapshot(folder_, problems_);
  ASSERT_TRUE(third);
  EXPECT_EQ(*second, *third);
}

TEST_F(SnapshotWriter, texts_that_do_not_survive_are_refused) {
  for (const char* text :
       {" blank", "blank ", "semi;colon", "ha#sh", "new\nline", "ret\r", "a[0]b"}) {
    Snapshot s = two_sources();
    s.buffers[0].file = text;
    EXPECT_FALSE(snapshot_texts(s)) << text;
    s = two_sources();
    s.devices[0].registers[0].text = text;
    EXPECT_FALSE(snapshot_texts(s)) << text;
  }
  Snapshot s = two_sources();
  s.devices[0].registers[0].name = "A=B";
  EXPECT_THAT(snapshot_texts(s).error().detail, HasSubstr("A=B"));
  s = two_sources();
  s.devices[0].dumps[0].file = "\"quoted\"";
  EXPECT_THAT(snapshot_texts(s).error().detail, HasSubstr("quotes"));
}

TEST_F(SnapshotWriter, names_that_collide_or_mislead_are_refused) {
  const auto refused = [](auto change) {
    Snapshot s = two_sources();
    change(s);
    return !snapshot_texts(s).has_value();
  };
  EXPECT_TRUE(refused([](Snapshot& s) { s.devices[1].name = "cpu_0"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.devices[1].file = "cpu_0.ini"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.devices[0].file = "trace.ini"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.devices[0].file = "../cpu.ini"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.devices[0].registers[1].name = "pc(SIZE:64)"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.devices[0].dumps[0].section = "code"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.buffers[0].section = "buffer1"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.buffers[0].section = "a,b"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.buffers[0].section = "source_buffers"; }));
  EXPECT_TRUE(refused([](Snapshot& s) { s.source_buffers[1].source = "ETM_0"; }));
}

TEST_F(SnapshotWriter, refusal_writes_nothing) {
  const std::vector<SnapshotFile> outside{{"../x", bytes_}};
  EXPECT_EQ(write_snapshot(two_sources(), outside, folder_).error().code,
            ErrorCode::kInvalidArgument);
  const std::vector<SnapshotFile> twice{{"trace.ini", bytes_}};
  EXPECT_FALSE(write_snapshot(two_sources(), twice, folder_));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(SnapshotWriter, system_errors_name_the_file) {
  fs::create_directories(folder_ + "/trace.ini");
  const Result<void> result = write_snapshot(two_sources(), files_, folder_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
  EXPECT_THAT(result.error().detail, HasSubstr("trace.ini: Is a directory"));
}

}  // namespace
}  // namespace waymark::inputs
