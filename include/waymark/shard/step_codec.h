// Steps of call stacks as bytes.  Programs repeat themselves, so most steps have one byte
// that says so, and the numbers of their instructions and cycles.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "waymark/base/types.h"
#include "waymark/stacks/recorder.h"

namespace waymark::shard {

class StepWriter {
 public:
  /// `keeps_places`: also Element::index, which threads and programs of a recording depend on.
  explicit StepWriter(bool keeps_places);
  ~StepWriter();
  StepWriter(StepWriter&&) noexcept;
  StepWriter& operator=(StepWriter&&) noexcept;

  /// Keeps of an element what an engine uses.
  void add(const stacks::Step& step);
  /// The bytes written since the last call.
  std::string take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class StepReader {
 public:
  /// The bytes must outlive it.
  explicit StepReader(Bytes bytes);
  ~StepReader();
  StepReader(StepReader&&) noexcept;
  StepReader& operator=(StepReader&&) noexcept;

  /// False: there is none; is_bad() says whether what comes is not a step.
  bool next(stacks::Step& step);
  [[nodiscard]] bool is_bad() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waymark::shard
