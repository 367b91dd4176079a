// Steps of call stacks of any bytes: no crash, what can be read can be played, and it is the same
// after it was written again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "waymark/shard/step_codec.h"

using namespace waymark;
using namespace waymark::shard;

namespace {

Bytes bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  StepReader reader({data, size});
  StepWriter writer(true);
  stacks::Engine engine({});
  bool plays = true;
  for (stacks::Step step; reader.next(step);) {
    writer.add(step);
    plays = plays && engine.play(step);
  }
  engine.finish();
  const std::string content = writer.take();
  StepReader second(bytes(content));
  StepWriter again(true);
  for (stacks::Step step; second.next(step);) again.add(step);
  if (second.is_bad() || again.take() != content) std::abort();
  return 0;
}
