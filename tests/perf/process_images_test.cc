// Which memory a trace index and a context select.
#include "waymark/perf/process_images.h"

#include <gtest/gtest.h>

#include "support/small_recording.h"

namespace waymark::perf {
namespace {

constexpr std::uint64_t kAddress = support::kSmallAddress;
constexpr std::uint64_t kCode = support::kSmallCode;

class ProcessImagesTest : public support::SmallRecording {
 protected:
  /// The first byte of the code that a context sees; 0: nothing is there.
  [[nodiscard]] unsigned code(TraceIndex index, std::uint64_t context) const {
    return code_in(*images_, index, context);
  }
  [[nodiscard]] TaskId id(TraceIndex index, std::uint64_t context) const {
    return images_->task_at(index, 0x10, context).id;
  }
  [[nodiscard]] const Task& task(TraceIndex index, std::uint64_t context) const {
    return images_->task(id(index, context));
  }
};

TEST_F(ProcessImagesTest, processes_that_share_an_address_have_memories_of_their_own) {
  RecordBytes records;
  one_unit(records, 0x841).comm(at(1), "alpha").mmap2(at(1), kAddress, 0x1000, 0, "/a");
  records.comm(at(1, kOtherPid), "beta").mmap2(at(1, kOtherPid), kAddress, 0x1000, 0, "/b");
  records.aux(at(10), 0, 16);
  add_trace(records);
  open(records);
  EXPECT_EQ(code(0, kPid), 1U);
  EXPECT_EQ(code(0, kOtherPid), 2U);
  EXPECT_EQ(code(0, 77), 0U) << "this process has no memory";
  EXPECT_EQ(task(0, kOtherPid).name, "beta");
  EXPECT_EQ(task(0, 77).name, "");
  const ProgramPlace place = images_->place(id(0, kPid), kCode + 2);
  EXPECT_EQ(place.file_offset, support::kSmallElfCode + 2);
  EXPECT_EQ(place.mapping->path, "/a");
  ASSERT_NE(place.file, nullptr);
  EXPECT_EQ(place.last, kAddress + place.file->bytes().size() - 1) << "the end of the file";
  EXPECT_EQ(place.first, kAddress);
  EXPECT_EQ(images_->place(id(0, kPid), 0x1000).mapping, nullptr);
}

TEST_F(ProcessImagesTest, what_happened_up_to_the_time_of_a_piece_holds_for_it) {
  RecordBytes records;
  one_unit(records, 0x841).mmap2(at(1), kAddress, 0x1000, 0, "/a").aux(at(10), 0, 16);
  records.mmap2(at(15), kAddress, 0x1000, 0, "/b").aux(at(20), 16, 16);
  records.comm(at(25), "next", kMiscExec).aux(at(30), 32, 16);
  records.mmap2(at(35), kAddress, 0x1000, 0, "/c").aux(at(40), 48, 16);
  add_trace(records);
  open(records);
  EXPECT_EQ(code(0, kPid), 1U);
  EXPECT_EQ(code(99, kPid), 1U);
  EXPECT_EQ(code(100, kPid), 2U);
  EXPECT_EQ(code(200, kPid), 0U) << "exec leaves nothing";
  EXPECT_EQ(code(300, kPid), 3U);
  EXPECT_EQ(task(100, kPid).name, "");
  EXPECT_EQ(task(200, kPid).name, "next");
  EXPECT_EQ(id(0, kPid), id(99, kPid));
  EXPECT_LT(id(0, kPid), id(100, kPid)) << "another memory";
  EXPECT_LT(id(100, kPid), id(200, kPid)) << "another name";
  const image::ImageSelector::Task known = images_->task_at(150, 0x10, kPid);
  EXPECT_LE(known.begin, 150U);
  EXPECT_EQ(known.end, 200U);
}

TEST_F(ProcessImagesTest, times_in_the_trace_order_it_within_a_piece) {
  RecordBytes records;
  one_unit(records, 0x841).mmap2(at(1), kAddress, 0x1000, 0, "/a");
  records.mmap2(at(15), kAddress, 0x1000, 0, "/b").mmap2(at(25), kAddress, 0x1000, 0, "/c");
  records.aux(at(100), 0, 16).aux(at(110), 16, 16);
  add_trace(records);
  open(records, {{0x10, {{0, 10}, {40, 20}, {70, 30}}}});
  EXPECT_EQ(code(39, kPid), 1U);
  EXPECT_EQ(code(40, kPid), 2U);
  EXPECT_EQ(code(69, kPid), 2U);
  EXPECT_EQ(code(70, kPid), 3U);
  EXPECT_EQ(code(100, kPid), 3U) << "a piece without times";
  const image::ImageSelector::Task known = images_->task_at(50, 0x10, kPid);
  EXPECT_EQ(known.begin, 40U);
  EXPECT_EQ(known.end, 70U);
  EXPECT_EQ(images_->task_at(50, 0x12, kPid).end, 100U) << "another trace ID has no times";
}

TEST_F(ProcessImagesTest, the_thread_of_a_cpu_is_that_of_the_last_switch) {
  RecordBytes records;
  one_unit(records, 0x801).context_switch(at(5), true);
  records.context_switch(at(15), false).context_switch(at(17, kOtherPid), true);
  records.aux(at(100), 0, 16);
  add_trace(records);
  open(records, {{0x10, {{0, 4}, {20, 10}, {40, 16}, {60, 20}}}});
  EXPECT_EQ(task(0, 0).tid, -1) << "nothing has said it yet";
  EXPECT_EQ(task(20, 0).tid, static_cast<std::int32_t>(kPid));
  EXPECT_EQ(task(40, 0).tid, -1);
  EXPECT_EQ(task(60, 0).tid, static_cast<std::int32_t>(kOtherPid));
  EXPECT_EQ(task(60, 7).tid, 7) << "the trace says it";
}

TEST_F(ProcessImagesTest, without_times_only_a_thread_that_ran_alone_is_known) {
  RecordBytes records;
  one_unit(records, 0x801).context_switch(at(5), true).aux(at(10), 0, 16);
  records.context_switch(at(15), false).context_switch(at(16, 0), true);
  records.context_switch(at(17, 0), false).context_switch(at(18), true).aux(at(20), 16, 16);
  records.context_switch(at(25), false).context_switch(at(26, kOtherPid), true);
  records.aux(at(30), 32, 16).aux(at(40), 48, 16);
  add_trace(records);
  open(records);
  EXPECT_EQ(task(0, 0).tid, static_cast<std::int32_t>(kPid));
  EXPECT_EQ(task(100, 0).tid, static_cast<std::int32_t>(kPid)) << "and the idle task";
  EXPECT_EQ(task(200, 0).tid, -1) << "two threads";
  EXPECT_EQ(task(300, 0).tid, static_cast<std::int32_t>(kOtherPid));
}

TEST_F(ProcessImagesTest, of_one_recorded_program_the_thread_of_the_aux_record_runs) {
  RecordBytes records;
  one_unit(records, 0x801).aux(at(10), 0, 16).aux(at(20, kOtherPid), 16, 16);
  add_trace(records);
  open(records);
  EXPECT_EQ(task(0, 0).tid, -1);
  recording_.per_task = true;
  EXPECT_EQ(task(0, 0).tid, static_cast<std::int32_t>(kPid));
  EXPECT_EQ(task(100, 0).tid, static_cast<std::int32_t>(kOtherPid));
}

TEST_F(ProcessImagesTest, without_a_context_the_thread_of_the_buffer_runs) {
  RecordBytes records;
  one_unit(records, 0x841).mmap2(at(1), kAddress, 0x1000, 0, "/a").aux(at(10), 0, 16);
  add_trace(records, kPid);
  open(records);
  EXPECT_EQ(task(0, 0).tid, static_cast<std::int32_t>(kPid));
  EXPECT_EQ(code(0, 0), 1U);
}

TEST_F(ProcessImagesTest, a_kernel_at_el2_has_the_process_in_the_vmid) {
  RecordBytes records;
  one_unit(records, 0x8081).mmap2(at(1), kAddress, 0x1000, 0, "/a").aux(at(10), 0, 16);
  add_trace(records);
  open(records);
  EXPECT_EQ(task(0, std::uint64_t{kPid} << 32 | 7).tid, static_cast<std::int32_t>(kPid));
  EXPECT_EQ(code(0, std::uint64_t{kPid} << 32), 1U);
}

TEST_F(ProcessImagesTest, the_kernel_is_in_the_memory_of_every_process) {
  constexpr std::uint64_t kModule = 0xFFFF800001000000;
  RecordBytes records;
  one_unit(records, 0x841).mmap2(at(1), kAddress, 0x1000, 0, "/a").aux(at(10), 0, 16);
  ByteWriter map = records.body();
  map.u32(kNone32).u32(0).words({kModule, 0x1000, 0}).name("/c");
  records.add(RecordType::kMmap, static_cast<std::uint16_t>(CpuMode::kKernel), map, at(15));
  records.aux(at(20), 16, 16);
  add_trace(records);
  open(records);
  EXPECT_EQ(images_->place(id(0, kPid), kModule).mapping, nullptr) << "not loaded yet";
  for (const std::uint64_t context : {std::uint64_t{kPid}, std::uint64_t{77}, std::uint64_t{0}}) {
    const ProgramPlace place = images_->place(id(100, context), kModule + 8);
    ASSERT_NE(place.mapping, nullptr) << context;
    EXPECT_EQ(place.mapping->path, "/c");
  }
  EXPECT_EQ(code(100, kPid), 1U);
}

TEST_F(ProcessImagesTest, a_cursor_gives_the_same_answers) {
  RecordBytes records;
  one_unit(records, 0x841).comm(at(1), "alpha").mmap2(at(1), kAddress, 0x1000, 0, "/a");
  records.comm(at(1, kOtherPid), "beta").aux(at(10), 0, 16);
  records.comm(at(15), "gamma").aux(at(20), 16, 16).aux(at(30), 32, 16);
  add_trace(records);
  open(records);
  TaskCursor cursor(*images_);
  for (const TraceIndex index : {0U, 50U, 100U, 99U, 250U, 0U, 1000U}) {
    for (const std::uint64_t context : {kPid, kOtherPid, kPid})
      EXPECT_EQ(cursor.id(index, 0x10, context), id(index, context)) << index;
  }
  EXPECT_EQ(cursor.task(99, 0x10, kPid).name, "alpha");
  EXPECT_EQ(cursor.task(100, 0x10, kPid).name, "gamma");
}

// A part of a job names tasks, and the merge looks them up in a recording that it has not decoded.
TEST_F(ProcessImagesTest, tasks_are_the_same_without_an_earlier_query) {
  RecordBytes records;
  one_unit(records, 0x841).comm(at(1), "alpha").mmap2(at(1), kAddress, 0x1000, 0, "/a");
  records.comm(at(1, kOtherPid), "beta").mmap2(at(1, kOtherPid), kAddress, 0x1000, 0, "/b");
  records.aux(at(10), 0, 16).comm(at(15), "gamma").aux(at(20), 16, 16);
  add_trace(records);
  open(records);
  std::vector<TaskId> ids;
  for (const std::uint32_t context : {kOtherPid, 77U, kPid})
    for (const TraceIndex index : {100U, 0U}) ids.push_back(id(index, context));
  for (const TaskId task : ids) {
    const auto fresh = another();
    EXPECT_TRUE(fresh->has_task(task));
    EXPECT_EQ(fresh->task(task), images_->task(task));
    const ProgramPlace place = fresh->place(task, kCode);
    EXPECT_EQ(place.file_offset, images_->place(task, kCode).file_offset);
    EXPECT_EQ(place.mapping == nullptr ? "" : place.mapping->path,
              task.thread == static_cast<std::int32_t>(kPid)        ? "/a"
              : task.thread == static_cast<std::int32_t>(kOtherPid) ? "/b"
                                                                    : "");
  }
  const TaskId foreign = {.thread = static_cast<std::int32_t>(kPid), .moment = 1000};
  EXPECT_FALSE(images_->has_task(foreign));
  EXPECT_EQ(images_->task(foreign).name, "gamma") << "the last one";
  EXPECT_FALSE(images_->has_task({.thread = 4711, .moment = 1}));
}

TEST_F(ProcessImagesTest, a_program_that_is_missing_leaves_a_hole_and_a_reason) {
  RecordBytes records;
  one_unit(records, 0x841).mmap2(at(1), kAddress, 0x1000, 0, "/missing").aux(at(10), 0, 16);
  add_trace(records);
  open(records);
  EXPECT_EQ(code(0, kPid), 0U);
  EXPECT_EQ(images_->place(id(0, kPid), kCode).file, nullptr);
  ASSERT_EQ(files_->missing().size(), 1U);
  EXPECT_EQ(files_->missing()[0].path, "/missing");
}

}  // namespace
}  // namespace waymark::perf
