// Sessions over captures.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "waymark/inputs/capture.h"
#include "waymark/outputs/function_names.h"
#include "waymark/view/trace_session.h"

namespace waymark::view {

inline Result<stacks::Options> stack_options(const inputs::Capture& capture) {
  stacks::Options stacks;
  stacks.places = outputs::ImagePrograms::lookup(std::make_shared<const outputs::ImagePrograms>(
      std::vector<outputs::GivenProgram>{}, capture.image()));
  return stacks;
}

inline void set_sources(stacks::Engine& engine, const inputs::Capture& capture) {
  for (const inputs::CaptureSource& source : capture.sources()) {
    const Protocol protocol = source.source->protocol();
    engine.set_source(source.id, {.profile = source.profile,
                                  .timestamps_repeat_cycles =
                                      protocol == Protocol::kEtmV4 || protocol == Protocol::kEte});
  }
}

inline SessionOptions options_of(const std::string& path,
                                 std::uint64_t keyframe_bytes = 256 << 10) {
  return {.open = [path] { return inputs::Capture::open(path, {}); },
          .stack_options = stack_options,
          .set_sources = set_sources,
          .path = path,
          .keyframe_bytes = keyframe_bytes};
}

inline std::unique_ptr<Session> open(const SessionOptions& options) {
  auto session = make_session(options);
  if (!session) {
    ADD_FAILURE() << session.error().detail;
    return nullptr;
  }
  while ((*session)->facts().stage != Stage::kReady)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return std::move(*session);
}

}  // namespace waymark::view
