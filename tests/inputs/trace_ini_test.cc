#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/memory_store.h"

namespace waymark::inputs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

MemoryStore with_trace(const std::string& text) {
  MemoryStore store = sound_store();
  store.texts["trace.ini"] = text;
  return store;
}

Snapshot snapshot_of(MemoryStore& store) {
  Result<Snapshot> snapshot = store.read();
  EXPECT_TRUE(snapshot) << (snapshot ? "" : snapshot.error().detail);
  return snapshot ? *std::move(snapshot) : Snapshot{};
}

std::string buffer(const std::string& section, const std::string& name) {
  return "[" + section + "]\nname=" + name + "\nfile=t.bin\n";
}

TEST(TraceIni, buffers_come_in_the_order_of_their_sections) {
  MemoryStore store = with_trace("[trace_buffers]\nbuffers=b1,b2\n" + buffer("b2", "ETB_2") +
                                 buffer("b1", "ETB_1"));
  const Snapshot snapshot = snapshot_of(store);
  ASSERT_EQ(snapshot.buffers.size(), 2U);
  EXPECT_EQ(snapshot.buffers[0].name, "ETB_2");
  EXPECT_EQ(snapshot.buffers[0].line, 3U);
  EXPECT_EQ(snapshot.find_buffer("ETB_1"), &snapshot.buffers[1]);
  EXPECT_EQ(snapshot.find_buffer("b1"), nullptr);
}

TEST(TraceIni, trailing_comma_gives_an_empty_item_that_matches_nothing) {
  MemoryStore store =
      with_trace("[trace_buffers]\nbuffers=b1,\n" + buffer("b1", "ETB_0") +
                 "[]\nany\n[source_buffers]\nETM_0=ETB_0\n[core_trace_sources]\ncpu_0=ETM_0\n");
  const Snapshot snapshot = snapshot_of(store);
  EXPECT_THAT(snapshot.buffer_list, ElementsAre("b1", ""));
  EXPECT_EQ(snapshot.buffers.size(), 1U);
  EXPECT_EQ(store.find(ProblemKind::kBufferSectionMissing), nullptr);
}

TEST(TraceIni, a_blank_in_the_list_is_part_of_the_name_and_noted) {
  MemoryStore store = with_trace("[trace_buffers]\nbuffers=b1, b2\n" + buffer("b1", "ETB_1") +
                                 buffer("b2", "ETB_2"));
  EXPECT_EQ(snapshot_of(store).buffers.size(), 1U);
  EXPECT_THAT(store.find(ProblemKind::kBufferNameUntrimmed)->values, ElementsAre(" b2", "b2"));
  EXPECT_THAT(store.find(ProblemKind::kBufferSectionMissing)->values, ElementsAre(" b2"));
}

TEST(TraceIni, section_before_the_list_is_ignored) {
  MemoryStore store = with_trace(buffer("b1", "ETB_1") + "[trace_buffers]\nbuffers=b1\n");
  EXPECT_TRUE(snapshot_of(store).buffers.empty());
  EXPECT_EQ(store.find(ProblemKind::kBufferSectionEarly)->line, 1U);
  EXPECT_EQ(store.find(ProblemKind::kBufferSectionMissing), nullptr);
}

TEST(TraceIni, no_list_is_a_problem) {
  MemoryStore store = with_trace("stray\n[timestamp]\nx\n");
  EXPECT_TRUE(snapshot_of(store).buffers.empty());
  EXPECT_NE(store.find(ProblemKind::kBufferListMissing), nullptr);
  EXPECT_EQ(store.find(ProblemKind::kLineIgnored)->line, 1U);
  EXPECT_EQ(store.find(ProblemKind::kUnknownSection), nullptr);
}

TEST(TraceIni, buffer_needs_name_and_file) {
  const std::string list = "[trace_buffers]\nbuffers=b1\n[b1]\n";
  EXPECT_THAT(with_trace(list + "file=a\n").error(),
              StartsWith("s/trace.ini:3: The buffer section has no `name`"));
  EXPECT_THAT(with_trace(list + "name=a\n[x]\n").error(),
              StartsWith("s/trace.ini:3: The buffer section has no `file`"));
}

TEST(TraceIni, duplicates_and_lines_without_equals_are_errors) {
  const std::string list = "[trace_buffers]\nbuffers=b1\n";
  EXPECT_THAT(with_trace(list + "buffers=b1\n").error(), HasSubstr("given twice"));
  for (const char* key : {"name", "file", "format"}) {
    const std::string line = std::string(key) + "=a\n";
    EXPECT_THAT(with_trace(std::string(list).append("[b1]\n").append(line).append(line)).error(),
                StartsWith("s/trace.ini:5: `" + std::string(key) + "` is given twice"));
  }
  for (const char* section :
       {"[trace_buffers]", "[b1]", "[source_buffers]", "[core_trace_sources]"})
    EXPECT_THAT(with_trace(list + section + "\nnothing\n").error(), HasSubstr("is neither"));
}

TEST(TraceIni, second_section_of_a_buffer_is_kept_and_noted) {
  MemoryStore store =
      with_trace("[trace_buffers]\nbuffers=b1\n" + buffer("b1", "ETB_1") + buffer("b1", "ETB_2"));
  EXPECT_EQ(snapshot_of(store).buffers.size(), 2U);
  EXPECT_EQ(store.find(ProblemKind::kBufferRepeated)->line, 6U);
}

TEST(TraceIni, sources_of_a_buffer_come_in_byte_order_of_their_names) {
  MemoryStore store = with_trace("[trace_buffers]\nbuffers=b1\n" + buffer("b1", "ETB_0") +
                                 "[source_buffers]\nETM_2=ETB_0\nETM_10=ETB_0\nETM_0=ETB_0\n"
                                 "[core_trace_sources]\ncpu_0=ETM_0\ncpu_0=ETM_10\n");
  const Snapshot snapshot = snapshot_of(store);
  ASSERT_EQ(snapshot.buffers[0].sources.size(), 3U);
  EXPECT_EQ(snapshot.buffers[0].sources[0].device, "ETM_0");
  EXPECT_EQ(snapshot.buffers[0].sources[1].device, "ETM_10");
  EXPECT_EQ(snapshot.buffers[0].sources[1].core, "cpu_0");
  EXPECT_EQ(snapshot.buffers[0].sources[1].device_index, TraceSource::kNoDevice);
  EXPECT_EQ(snapshot.buffers[0].sources[2].device, "ETM_2");
  EXPECT_EQ(snapshot.buffers[0].sources[2].core, "");
  EXPECT_THAT(store.find(ProblemKind::kUnknownSourceDevice)->values,
              ElementsAre("ETM_10", "ETB_0"));
}

TEST(TraceIni, later_line_replaces_an_earlier_one_of_the_same_source) {
  MemoryStore store = with_trace("[trace_buffers]\nbuffers=b1\n" + buffer("b1", "ETB_0") +
                                 "[source_buffers]\nETM_0=ETB_9\nETM_0=ETB_0\n");
  EXPECT_EQ(snapshot_of(store).buffers[0].sources.size(), 1U);
  EXPECT_THAT(store.find(ProblemKind::kEntryReplaced)->values,
              ElementsAre("ETM_0", "ETB_9", "ETB_0"));
}

TEST(TraceIni, unknown_buffer_and_buffer_without_sources) {
  MemoryStore store = with_trace("[trace_buffers]\nbuffers=b1\n" + buffer("b1", "ETB_0") +
                                 "[source_buffers]\nETM_0=b1\n");
  snapshot_of(store);
  EXPECT_THAT(store.find(ProblemKind::kUnknownBuffer)->values, ElementsAre("ETM_0", "b1"));
  EXPECT_THAT(store.find(ProblemKind::kBufferWithoutSources)->values, ElementsAre("ETB_0"));
}

TEST(TraceIni, formats) {
  EXPECT_EQ(buffer_format("source_data"), BufferFormat::kSingleSource);
  EXPECT_EQ(buffer_format("dstream_coresight"), BufferFormat::kFsyncFrames);
  EXPECT_EQ(buffer_format("coresight"), BufferFormat::kMemoryAligned);
  EXPECT_EQ(buffer_format(""), BufferFormat::kMemoryAligned);
  EXPECT_EQ(buffer_format("cstraw"), BufferFormat::kMemoryAligned);
}

TEST(TraceIni, format_that_is_not_known_and_source_that_is_not_decoded_are_noted) {
  const std::string head = "[trace_buffers]\nbuffers=b1\n" + buffer("b1", "ETB_0");
  const std::string tail = "[source_buffers]\nETM_0=ETB_0\nETM_1=ETB_0\n";
  MemoryStore store = with_trace(head + "format=cstraw\n" + tail);
  snapshot_of(store);
  EXPECT_THAT(store.find(ProblemKind::kUnknownFormat)->values, ElementsAre("ETB_0", "cstraw"));
  store = with_trace(head + "format=source_data\n" + tail);
  snapshot_of(store);
  EXPECT_THAT(store.find(ProblemKind::kSourceIgnored)->values, ElementsAre("ETB_0", "ETM_1"));
}

TEST(TraceIni, sources_times_buffers_of_one_name_are_bounded) {
  std::string text = "[trace_buffers]\nbuffers=b\n";
  for (int i = 0; i < 100; ++i) text += buffer("b", "same");
  text += "[source_buffers]\n";
  for (int i = 0; i < 100; ++i) text += "S" + std::to_string(i) + "=same\n";
  MemoryStore store = with_trace(text);
  EXPECT_EQ(store.read().error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace waymark::inputs
