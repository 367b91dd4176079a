// Writes, reads and enables on a unit that the input describes: every invariant holds throughout.
#include <cstdint>
#include <cstdlib>

#include "etm4x/random_operations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waymark;
  support::Random random(Bytes(data, size));
  const etm4x::IdRegisters id = etm4x::random_ids(random);
  const etm4x::Environment environment = etm4x::random_environment(random);
  etm4x::Unit unit(id, environment, random.coin() ? etm4x::kAllQuirks : etm4x::kNoQuirks);
  // About three bytes per operation.
  for (std::size_t i = 0; i < size / 3; ++i) {
    if (!etm4x::random_operation(unit, random).empty()) std::abort();
  }
  return 0;
}
