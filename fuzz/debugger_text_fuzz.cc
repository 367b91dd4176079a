// The text of a session with a debugger: any bytes.  Invariants: no more memory is shown than the
// text has digits for, unless it repeats lines, no block is in another one that comes later, the
// registers of an MTB are those of a block, and the oldest record of a dump is in it.
#include <string_view>

#include "require.h"
#include "waymark/inputs/debugger_text.h"
#include "waymark/mtb/buffer.h"
#include "waymark/mtb/packet.h"

namespace {

using namespace waymark;
using namespace waymark::inputs;
using fuzz::require;

void check(const DebuggerText& text, std::size_t size, bool repeats) {
  std::size_t all = 0;
  for (const MemoryBlock& block : text.blocks) {
    require(!block.bytes.empty(), "a block without bytes");
    all += block.bytes.size();
    for (const MemoryBlock* later = &block + 1; later != text.blocks.data() + text.blocks.size();
         ++later)
      require(!later->contains(block.address, block.bytes.size()), "a block that was replaced");
  }
  require(repeats || 2 * all <= size, "more bytes than digits");
  const auto registers = find_mtb_registers(text);
  if (!registers || !*registers) return;
  bool found = false;
  for (const MemoryBlock& block : text.blocks)
    found =
        found || (block.address == (*registers)->address &&
                  block.word(0) == (*registers)->position && block.word(1) == (*registers)->master);
  require(found, "registers that are in no block");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  (void)is_debugger_text(bytes);
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  const auto text = read_debugger_text(content);
  if (text) check(*text, size, content.contains('*'));
  if (!text) require(!text.error().detail.empty(), "an error without a sentence");
  const auto oldest = mtb::find_oldest(bytes);
  require(!oldest || (*oldest % mtb::kRecordBytes == 0 && *oldest != 0 && *oldest < size),
          "an oldest record that is not in the dump");
  return 0;
}
