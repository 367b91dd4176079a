// Code of JIT compilers in the memory of processes.
#include "waymark/perf/jitted_code.h"

#include <gmock/gmock.h>
#include <sys/utsname.h>

#include <array>
#include <filesystem>

#include "support/small_elf.h"
#include "waymark/image/image.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/writer.h"

namespace waymark::perf {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kMemory = 0x7F00'0000'0000;
constexpr std::uint32_t kPid = 1001;
constexpr std::uint32_t kOtherPid = 1002;

class JittedCodeTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_ / "tmp"); }
  void TearDown() override { fs::remove_all(root_); }

  /// A file with functions of 16 bytes, all of which have the same value.
  struct Load {
    std::uint64_t time;
    std::uint64_t address;
    std::uint8_t value;
  };
  void write_dump(const std::vector<Load>& loads, std::uint64_t flags = 0,
                  std::uint32_t machine = 183, const std::string& name = "tmp/jit-1001.dump") {
    ByteWriter out;
    out.u32(0x4A695444).u32(1).u32(40).u32(machine).u32(0).u32(kPid).words({0, flags});
    for (const Load& load : loads) {
      ByteWriter body;
      body.u32(kPid).u32(kPid).words({load.address, load.address, 16, load.value});
      const std::string function = "f" + std::to_string(load.value);
      body.raw({reinterpret_cast<const std::uint8_t*>(function.c_str()), function.size() + 1});
      body.bytes.insert(body.bytes.end(), 16, load.value);
      out.u32(0).u32(16 + body.bytes.size()).u64(load.time).raw(body.bytes);
    }
    support::write_file((root_ / name).string(), out.bytes);
  }

  /// Records of a process that maps a jitdump file and memory, with AUX records at these times,
  /// each of which begins at a multiple of 100 of the trace.
  static RecordBytes begin() {
    RecordBytes records;
    records.units(1);
    records.mmap2(at(1), kMemory - 0x1000, 0x1000, 0, "/tmp/jit-1001.dump");
    return records.mmap2(at(2), kMemory, 0x10000, 0, "//anon");
  }
  void open(RecordBytes records, const std::vector<std::uint64_t>& times, bool monotonic = true,
            bool with_root = true) {
    for (std::size_t i = 0; i < times.size(); ++i) records.aux(at(times[i]), 16 * i, 16);
    records.auxtrace(0, std::vector<std::uint8_t>(16 * times.size()), 0, kNone32, 0);
    bytes_ =
        file_header(ByteOrder::kLittle, records.out.bytes.size(), {}, 128, kCsEtmCycles, monotonic);
    bytes_.insert(bytes_.end(), records.out.bytes.begin(), records.out.bytes.end());
    auto file = File::read(bytes_, "perf.data");
    ASSERT_TRUE(file) << file.error().detail;
    file_ = *std::move(file);
    auto recording = Recording::read(file_);
    ASSERT_TRUE(recording) << recording.error().detail;
    recording_ = *std::move(recording);
    std::vector<std::size_t> order(recording_.pieces.size());
    std::vector<TraceIndex> begins(order.size());
    for (std::size_t piece = 0; piece < order.size(); ++piece) {
      order[piece] = piece;
      begins[piece] = 100 * piece;
    }
    ProgramSearch search;
    if (with_root) search.roots = {root_.string()};
    files_ = std::make_unique<ProgramFiles>(search);
    jitted_ = add_jitted_code(recording_, *files_);
    images_ = std::make_unique<ProcessImages>(recording_, order, begins, *files_);
  }

  /// The byte at an address; 0: nothing is there.
  [[nodiscard]] unsigned code(std::size_t piece, std::uint64_t address,
                              std::uint64_t pid = kPid) const {
    std::array<std::uint8_t, 4> scratch{};
    const Bytes bytes = images_->image_at(100 * piece, 0x10, pid << 32)
                            .read(address, image::kSpaceEl1N, 0x10, scratch);
    return bytes.empty() ? 0 : bytes[0];
  }
  /// The units have the pid in the VMID.
  [[nodiscard]] TaskId id(std::size_t piece, std::uint64_t pid = kPid) const {
    return images_->task_at(100 * piece, 0x10, pid << 32).id;
  }
  [[nodiscard]] std::string name(std::size_t piece, std::uint64_t address,
                                 std::uint64_t pid = kPid) const {
    const program::Place place = images_->place(id(piece, pid), address).linked();
    const program::Function* const function =
        place.program == nullptr ? nullptr : place.program->function(place.address);
    return function == nullptr ? std::string() : function->name;
  }

  static Stamp at(std::uint64_t time, std::uint32_t pid = kPid) {
    return {.pid = pid, .tid = pid, .time = time, .cpu = 0};
  }
  static ByteWriter fork(std::uint32_t child, std::uint32_t parent, std::uint64_t time) {
    ByteWriter body;
    return body.u32(child).u32(parent).u32(child).u32(parent).u64(time);
  }

  const fs::path root_ =
      fs::path(testing::TempDir()) /
      ("waymark_jitted_code_" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  std::vector<std::uint8_t> bytes_;
  File file_;
  Recording recording_;
  std::unique_ptr<ProgramFiles> files_;
  JittedCode jitted_;
  std::unique_ptr<ProcessImages> images_;
};

TEST_F(JittedCodeTest, code_is_in_memory_until_other_code_takes_its_address) {
  write_dump({{20, kMemory, 1}, {30, kMemory + 0x100, 2}, {50, kMemory + 8, 3}});
  open(begin(), {10, 40, 60});
  EXPECT_EQ(code(0, kMemory), 1U);
  EXPECT_EQ(code(1, kMemory + 8), 1U);
  EXPECT_EQ(code(2, kMemory), 1U) << "the part that nothing replaced";
  EXPECT_EQ(code(2, kMemory + 8), 3U);
  EXPECT_EQ(code(2, kMemory + 0x100), 2U);
  EXPECT_EQ(id(0), id(1)) << "new code at a new address does not change the memory";
  EXPECT_NE(id(1), id(2));
  EXPECT_EQ(name(1, kMemory + 12), "f1");
  EXPECT_EQ(name(2, kMemory + 12), "f3");
  ASSERT_EQ(jitted_.processes.size(), 1U);
  EXPECT_EQ(jitted_.processes[0].functions, 3U);
  EXPECT_THAT(jitted_.processes[0].problem, IsEmpty());
  EXPECT_THAT(jitted_.notes, IsEmpty());
}

TEST_F(JittedCodeTest, memory_without_a_file_does_not_cover_code) {
  write_dump({{20, kMemory, 1}, {22, kMemory + 0x20, 2}});
  RecordBytes records = begin();
  records.mmap2(at(25), kMemory, 0x20000, 0, "//anon");  // By mprotect.
  records.mmap2(at(45), kMemory + 0x20, 0x1000, 0, "/program");
  open(std::move(records), {10, 30, 50});
  EXPECT_EQ(code(1, kMemory), 1U);
  EXPECT_EQ(code(1, kMemory + 0x2F), 2U);
  EXPECT_EQ(code(2, kMemory), 1U);
  EXPECT_EQ(code(2, kMemory + 0x20), 0U) << "a file covers it";
  EXPECT_EQ(images_->place(id(1), kMemory + 0x18000).mapping->path, "//anon");
}

TEST_F(JittedCodeTest, exec_removes_code_and_a_child_inherits_it) {
  write_dump({{20, kMemory, 1}, {40, kMemory + 0x100, 2}});
  RecordBytes records = begin();
  records.add(RecordType::kFork, 0, fork(kOtherPid, kPid, 30), at(30, kOtherPid));
  records.comm(at(60), "next", kMiscExec);
  open(std::move(records), {35, 50, 70});
  EXPECT_EQ(code(1, kMemory, kOtherPid), 1U);
  EXPECT_EQ(code(1, kMemory + 0x100, kOtherPid), 0U) << "loaded after the fork";
  EXPECT_EQ(code(1, kMemory + 0x100), 2U);
  EXPECT_EQ(code(2, kMemory), 0U);
  EXPECT_EQ(code(2, kMemory, kOtherPid), 1U);
}

TEST_F(JittedCodeTest, times_of_another_clock_are_not_compared) {
  write_dump({{2'000'000, kMemory, 1}, {3'000'000, kMemory + 0x100, 2}});
  open(begin(), {10}, false);
  EXPECT_EQ(code(0, kMemory), 1U);
  EXPECT_EQ(code(0, kMemory + 0x100), 2U);
  EXPECT_THAT(jitted_.notes, IsEmpty()) << "each address has one code";
  write_dump({{2'000'000, kMemory, 1}, {3'000'000, kMemory, 2}});
  open(begin(), {10}, false);
  EXPECT_EQ(code(0, kMemory), 2U);
  ASSERT_EQ(jitted_.notes.size(), 1U);
  EXPECT_THAT(jitted_.notes[0].text, HasSubstr("-k mono"));
}

TEST_F(JittedCodeTest, counts_of_the_system_counter_are_converted) {
  write_dump({{20, kMemory, 1}, {50, kMemory, 2}}, 1);
  RecordBytes records = begin();
  records.add(RecordType::kTimeConv, 0, ByteWriter().words({0, 10, 0}).bytes);  // 10 ns each.
  open(std::move(records), {300, 600}, false);
  EXPECT_EQ(code(0, kMemory), 1U);
  EXPECT_EQ(code(1, kMemory), 2U);
}

TEST_F(JittedCodeTest, files_that_cannot_be_used_are_named) {
  open(begin(), {10});
  ASSERT_EQ(jitted_.processes.size(), 1U);
  EXPECT_EQ(jitted_.processes[0].path, "/tmp/jit-1001.dump");
  EXPECT_THAT(jitted_.processes[0].problem, HasSubstr("No --symfs folder has such a file"));
  write_dump({{20, kMemory, 1}}, 0, 62);
  open(begin(), {10});
  EXPECT_THAT(jitted_.processes[0].problem, HasSubstr("another architecture (number 62 of ELF)"));
  ASSERT_EQ(jitted_.notes.size(), 1U);
  EXPECT_EQ(code(0, kMemory), 0U);
  fs::remove(root_ / "tmp/jit-1001.dump");
  write_dump({{20, kMemory, 1}}, 0, 183, "jit-1001.dump");
  open(begin(), {10});
  EXPECT_EQ(code(0, kMemory), 1U) << "without its folders";
}

TEST_F(JittedCodeTest, a_map_has_names_only) {
  const std::string_view map = "7f0000000010 20 compiled f\n";
  support::write_file((root_ / "tmp/perf-1001.map").string(),
                      std::vector<std::uint8_t>(map.begin(), map.end()));
  RecordBytes records;
  records.units(1).mmap2(at(2), kMemory, 0x10000, 0, "[anon:jit]");
  records.mmap2(at(2, kOtherPid), kMemory, 0x10000, 0, "[anon:jit]");
  open(records, {10});
  EXPECT_EQ(name(0, kMemory + 0x18), "compiled f");
  EXPECT_EQ(name(0, kMemory + 0x18, kOtherPid), "");
  EXPECT_EQ(code(0, kMemory + 0x18), 0U);
  ASSERT_EQ(jitted_.processes.size(), 1U);
  EXPECT_FALSE(jitted_.processes[0].has_code);
  EXPECT_EQ(jitted_.processes[0].functions, 1U);
  EXPECT_THAT(files_->missing(), testing::Each(testing::Field(&MissingFile::is_file, false)));
}

TEST_F(JittedCodeTest, without_a_folder_maps_are_those_of_the_machine_that_recorded) {
  RecordBytes records;
  records.units(1).mmap2(at(2), kMemory, 0x10000, 0, "//anon");
  open(records, {10}, true, false);
  EXPECT_THAT(jitted_.processes, IsEmpty());
}

}  // namespace
}  // namespace waymark::perf
