#include "waymark/view/session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "waymark/inputs/capture.h"
#include "waymark/outputs/function_names.h"
#include "waymark/view/trace_session.h"

namespace waymark::view {
namespace {

SessionOptions quicksort() {
  SessionOptions options;
  const std::string path = std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort";
  options.open = [path] { return inputs::Capture::open(path, {}); };
  options.stack_options = [](const inputs::Capture& capture) -> Result<stacks::Options> {
    stacks::Options stacks;
    stacks.places = outputs::ImagePrograms::lookup(std::make_shared<const outputs::ImagePrograms>(
        std::vector<outputs::GivenProgram>{}, capture.image()));
    return stacks;
  };
  return options;
}

void wait_for(const Session& session) {
  while (session.facts().stage != Stage::kReady)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(TraceSession, timeline_of_quicksort) {
  const auto session = make_session(quicksort());
  ASSERT_TRUE(session);
  wait_for(**session);
  const CaptureFacts facts = (*session)->facts();
  EXPECT_GT(facts.axis.length, 0);
  const auto timeline = (*session)->timeline({.from = 0, .to = facts.axis.length}, 1000, {});
  ASSERT_TRUE(timeline) << timeline.error().detail;
  EXPECT_FALSE(timeline->summary);
  for (const TrackPicture& track : timeline->tracks) {
    std::printf("track %u: %zu spans %zu gaps %zu marks %zu points\n", track.track,
                track.spans.size(), track.gaps.size(), track.marks.size(), track.points.size());
    for (std::size_t i = 0; i < track.spans.size() && i < 12; ++i) {
      const Span& span = track.spans[i];
      std::printf("  %f..%f depth %u function %u flags %u count %u\n", span.start, span.end,
                  span.depth, span.function, span.flags, span.count);
    }
  }
  for (const FunctionName& name : timeline->functions)
    std::printf("%u %s\n", name.number, name.name.c_str());
}

}  // namespace
}  // namespace waymark::view
