#include "waymark/isa/instruction.h"

#include "opcode_table.h"

namespace waymark::isa {

Outcome classify(const Options& options, Isa isa, std::uint64_t address, std::uint32_t opcode,
                 std::uint8_t& it_remaining, Instruction& out) {
  out = Instruction{};
  out.next_isa = isa;
  switch (isa) {
    case Isa::kA64:
      return classify_a64(options, address, opcode, out);
    case Isa::kT32:
      return classify_t32(options, address, opcode, it_remaining, out);
    case Isa::kA32:
      return classify_a32(options, address, opcode, out);
    case Isa::kThumbEE:
    case Isa::kJazelle:
    case Isa::kCustom:
    case Isa::kUnknown:
      break;
  }
  return Outcome::kUnsupportedIsa;
}

}  // namespace waymark::isa
