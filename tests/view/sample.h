// The sample of the repository with a fake replay, for tests of answers.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "../../src/view/knowledge.h"
#include "fake_replay.h"
#include "waymark/etmv4/text.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/code_memory.h"
#include "waymark/outputs/function_names.h"

namespace waymark::view {

/// All elements of a capture.
inline std::vector<Element> elements_of(inputs::Capture& capture) {
  std::vector<Element> all;
  std::vector<Element> batch(512);
  const auto drain = [&] {
    while (const std::size_t count = capture.tree().next(batch))
      all.insert(all.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count));
  };
  while (const auto block = capture.next_block()) {
    if (!capture.tree().feed(block->index, block->bytes)) break;
    drain();
  }
  capture.tree().finish();
  drain();
  return all;
}

/// Quicksort on one core, with what answers need to know.
class Sample {
 public:
  explicit Sample(std::size_t keyframes = 100) {
    auto opened = inputs::Capture::open(folder(), {});
    if (!opened) {
      ADD_FAILURE() << opened.error().detail;
      return;
    }
    capture = std::make_unique<inputs::Capture>(std::move(*opened));
    source = capture->sources().front().id;
    memory = std::make_unique<inputs::CodeMemory>(*capture);
    auto programs = std::make_shared<const outputs::ImagePrograms>(
        std::vector<outputs::GivenProgram>(), capture->image());
    knowledge.read = [this](const Element& element, std::uint64_t address,
                            std::span<std::uint8_t> scratch) {
      return memory->read(element, address, scratch);
    };
    knowledge.profile = [this](TraceId id) { return memory->profile_of(id); };
    knowledge.places = outputs::ImagePrograms::lookup(programs);
    knowledge.functions = &functions;
    knowledge.track = [](TraceId, std::uint64_t thread) {
      return static_cast<TrackNumber>(thread + 1);
    };
    knowledge.exception_name = [](TraceId, std::uint32_t number) {
      TextBuffer name;
      etmv4::write_exception_name(name, number, isa::Profile::kA);
      return std::string(name.view());
    };
    if (auto llvm = program::Llvm::load()) knowledge.llvm = *llvm;
    pool = std::make_unique<outputs::InstructionPool>(
        outputs::InstructionOptions{.read = knowledge.read,
                                    .profile = knowledge.profile,
                                    .llvm = knowledge.llvm,
                                    .places = knowledge.places});
    knowledge.instructions = pool.get();
    stacks::Options options;
    options.places = knowledge.places;
    options.exception_name = knowledge.exception_name;
    replay = std::make_unique<FakeReplay>(elements_of(*capture), options, nullptr, keyframes);
    knowledge.axis = [this] {
      return Axis{.unit = AxisUnit::kTicks, .origin = 0, .length = replay->length()};
    };
    knowledge.source_places = {folder()};
  }

  static std::string folder() { return std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort"; }

  [[nodiscard]] Window all() const { return {.from = 0, .to = replay->length()}; }
  [[nodiscard]] std::string name(FunctionNumber number) const {
    return functions.name(number).name;
  }
  [[nodiscard]] FunctionNumber number(const std::string& name) const {
    for (FunctionNumber i = 0; i < functions.size(); ++i)
      if (functions.name(i).name == name) return i;
    ADD_FAILURE() << "no function " << name;
    return 0;
  }

  std::unique_ptr<inputs::Capture> capture;
  std::unique_ptr<inputs::CodeMemory> memory;
  std::unique_ptr<outputs::InstructionPool> pool;
  FunctionTable functions;
  Knowledge knowledge;
  TraceId source = 0;
  std::unique_ptr<FakeReplay> replay;
};

inline const Stop kGoOn = [] { return false; };

}  // namespace waymark::view
