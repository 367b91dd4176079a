#include "waymark/exports/vcd.h"

#include <gtest/gtest.h>

#include "waymark/element/dwt.h"

namespace waymark::exports {
namespace {

Element itm(ItmKind kind, std::uint32_t number, std::uint64_t value, std::uint32_t bytes,
            TraceIndex index, TraceId id = 1) {
  Element element;
  element.kind = ElementKind::kItmTrace;
  element.index = index;
  element.trace_id = id;
  element.extra = static_cast<std::uint8_t>(kind);
  element.number = number;
  element.start = value;
  element.extra_value = bytes;
  return element;
}

Element port(std::uint64_t value, TraceIndex index, TraceId id = 1) {
  return itm(ItmKind::kSoftware, 0, value, 1, index, id);
}

Element local_time(std::uint64_t time, TraceIndex index) {
  Element element = itm(ItmKind::kTimestampSync, 0, 0, 1, index);
  element.timestamp = time;
  return element;
}

std::string dump(std::span<const Element> elements, std::string name = "itm") {
  VcdSurvey survey;
  survey.add(elements);
  const EventSource source{.id = 1, .name = std::move(name)};
  TextBuffer out;
  VcdWriter writer(survey, {&source, 1}, out);
  writer.add(elements);
  writer.finish();
  return std::string(out.view());
}

TEST(Vcd, local_timestamps_belong_to_what_comes_before_them) {
  const Element elements[] = {port(5, 6), port(6, 8), local_time(100, 10), port(7, 12),
                              local_time(140, 14)};
  EXPECT_EQ(dump(elements),
            "$version waymark $end\n"
            "$comment Times are ticks of the local timestamps of the ITM. $end\n"
            "$timescale 1 ns $end\n"
            "$scope module itm_01 $end\n"
            "$var reg 32 ! port_0 $end\n"
            "$var event 1 \" port_0_write $end\n"
            "$upscope $end\n"
            "$enddefinitions $end\n"
            "#100\n$dumpvars\nbx !\n$end\nb101 !\n1\"\nb110 !\n1\"\n"
            "#140\nb111 !\n1\"\n");
}

TEST(Vcd, positions_without_timestamps) {
  const Element elements[] = {port(5, 6), port(5, 8)};
  const std::string text = dump(elements);
  EXPECT_NE(text.find("positions in the trace, in bytes"), std::string::npos);
  EXPECT_NE(text.find("#6\n"), std::string::npos);
  EXPECT_NE(text.find("#8\nb101 !\n"), std::string::npos);
}

TEST(Vcd, several_clocks_are_not_mixed) {
  const Element elements[] = {port(5, 6), local_time(100, 10), port(5, 12, 2)};
  VcdSurvey survey;
  survey.add(elements);
  EXPECT_EQ(survey.time(), EventTime::kPositions);
}

TEST(Vcd, names_of_sources_become_identifiers) {
  const Element elements[] = {port(5, 6)};
  EXPECT_NE(dump(elements, "a $end\nb\xC3\xA4").find("$scope module a__end_b___01 $end\n"),
            std::string::npos);
}

TEST(Vcd, exception_that_is_handled) {
  const auto exception = [](std::uint32_t number, DwtExceptionAction action, TraceIndex index) {
    return itm(ItmKind::kHardware, 1, number | static_cast<std::uint32_t>(action) << 12, 2, index);
  };
  const Element elements[] = {exception(15, DwtExceptionAction::kEntered, 6),
                              exception(15, DwtExceptionAction::kExited, 9),
                              exception(0, DwtExceptionAction::kReturnedTo, 12)};
  const std::string text = dump(elements);
  EXPECT_NE(text.find("#6\n$dumpvars\nbx !\n$end\nb1111 !\n#9\nbz !\n#12\nbz !\n"),
            std::string::npos)
      << text;
}

TEST(Vcd, times_of_records_never_go_back) {
  const Element element = port(5, 6);
  VcdSurvey survey;
  survey.add({&element, 1});
  TextBuffer out;
  VcdWriter writer(survey, {}, out);
  merge::TimedRecord record;
  record.element = element;
  record.time = 50;
  writer.add(record);
  record.time = 40;
  writer.add(record);
  record.time = merge::kNever;
  writer.add(record);
  writer.finish();
  EXPECT_EQ(out.view().find("#40"), std::string_view::npos);
  EXPECT_EQ(writer.timeless(), 1);
}

TEST(Vcd, the_number_of_variables_is_bounded) {
  VcdSurvey survey;
  Element element;
  element.kind = ElementKind::kSwTrace;
  element.extra_value = 32;
  for (unsigned channel = 0; channel < VcdSurvey::kMostVariables; ++channel) {
    element.sw_id = {.master = 1, .channel = static_cast<std::uint16_t>(channel)};
    survey.add({&element, 1});
  }
  EXPECT_EQ(survey.variables().size(), VcdSurvey::kMostVariables);
  EXPECT_EQ(survey.left_out(), VcdSurvey::kMostVariables);
}

}  // namespace
}  // namespace waymark::exports
