// Intel HEX and S-records: any bytes.  Invariants: blocks are in order and do not touch, no more
// memory is stated than the text has digits for, and what is refused has a sentence.
#include <string_view>

#include "require.h"
#include "waymark/inputs/memory_records.h"

namespace {

using namespace waymark;
using namespace waymark::inputs;
using fuzz::require;

void check(const Result<MemoryRecords>& records, std::size_t size) {
  if (!records) {
    require(!records.error().detail.empty(), "an error without a sentence");
    return;
  }
  std::size_t all = 0;
  const MemoryBlock* before = nullptr;
  for (const MemoryBlock& block : records->blocks) {
    require(!block.bytes.empty(), "a block without bytes");
    require(before == nullptr || before->end() < block.address, "blocks that touch");
    before = &block;
    all += block.bytes.size();
  }
  require(2 * all <= size, "more bytes than digits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)is_intel_hex({data, size});
  (void)is_s_records({data, size});
  check(read_intel_hex(text), size);
  check(read_s_records(text), size);
  return 0;
}
