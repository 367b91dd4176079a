// classify() under any options: the first byte of the input holds them, then come the level, the
// instruction set, the IT count and the address, then opcodes.
#include <cstdio>
#include <cstdlib>

#include "isa/invariants.h"
#include "waymark/base/cursor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using waymark::isa::Arch;
  using waymark::isa::Isa;
  waymark::Cursor input(waymark::Bytes(data, size));
  const std::uint8_t flags = input.u8();
  const waymark::isa::Options options{.arch = static_cast<Arch>(input.little(2)),
                                      .dsb_dmb_waypoints = (flags & 1) != 0,
                                      .wfi_wfe_waypoints = (flags & 2) != 0,
                                      .track_it_block = (flags & 4) != 0,
                                      .a64_opcode_check = (flags & 8) != 0};
  const auto isa = static_cast<Isa>(input.u8() % 7);
  const auto it_remaining = static_cast<std::uint8_t>(input.u8() % 5);
  std::uint64_t address = input.little(8);
  while (input.remaining() >= 4) {
    const auto opcode = static_cast<std::uint32_t>(input.little(4));
    const char* broken =
        waymark::isa::broken_invariant(options, isa, address, opcode, it_remaining);
    if (broken != nullptr) {
      (void)std::fprintf(stderr, "Broken: %s (instruction set %u, opcode %08x).\n", broken,
                         static_cast<unsigned>(isa), opcode);
      std::abort();
    }
    address += 4;
  }
  return 0;
}
