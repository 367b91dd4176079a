#include "waymark/isa/memory.h"

#include <span>

namespace waymark::isa {
namespace {

struct Row {
  std::uint32_t mask;
  std::uint32_t value;
  DataAccess access;
};
using enum DataAccess;

DataAccess first_match(std::span<const Row> rows, std::uint32_t opcode) {
  for (const Row& row : rows)
    if ((opcode & row.mask) == row.value) return row.access;
  return kNone;
}

constexpr Row kA32[] = {
    {0x0E000010, 0x06000010, kNone},         // Media
    {0x0C000000, 0x04000000, kMemory},       // LDR, STR
    {0x0F0000F0, 0x01000090, kMemory},       // SWP, LDREX, STREX, LDA, STL
    {0x0E0000F0, 0x00000090, kNone},         // Multiplications
    {0x0E000090, 0x00000090, kMemory},       // LDRH, LDRSB, LDRD, STRD ...
    {0x0E000000, 0x08000000, kMemory},       // LDM, STM; RFE, SRS
    {0x0FE00000, 0x0C400000, kCoprocessor},  // MCRR, MRRC
    {0x0E000000, 0x0C000000, kMemory},       // LDC, STC, VLDR, VSTM ...
    {0x0F000010, 0x0E000010, kCoprocessor},  // MCR, MRC
};

// The condition field 1111 encodes other instructions.
constexpr Row kA32Unconditional[] = {
    {0xFF100000, 0xF4000000, kMemory},  // VLD, VST of elements
    {0xFE000000, 0xF8000000, kMemory}, {0xFFE00000, 0xFC400000, kCoprocessor},
    {0xFE000000, 0xFC000000, kMemory}, {0xFF000010, 0xFE000010, kCoprocessor},
};

constexpr Row kT16[] = {
    {0xF8000000, 0x48000000, kMemory},  // LDR literal
    {0xF0000000, 0x50000000, kMemory},  // LDR, STR register
    {0xE0000000, 0x60000000, kMemory},  // LDR, STR immediate, also bytes
    {0xE0000000, 0x80000000, kMemory},  // Half-words, and relative to SP
    {0xF6000000, 0xB4000000, kMemory},  // PUSH, POP
    {0xF0000000, 0xC0000000, kMemory},  // LDM, STM
};

constexpr Row kT32[] = {
    {0xFE000000, 0xE8000000, kMemory},       // LDM, STM, LDRD, LDREX, TBB, RFE, SRS ...
    {0xFF70F000, 0xF810F000, kNone},         // PLD
    {0xFF70F000, 0xF830F000, kNone},         // PLDW
    {0xFF70F000, 0xF910F000, kNone},         // PLI
    {0xFF70F000, 0xF930F000, kNone},         // Unallocated hints
    {0xFE000000, 0xF8000000, kMemory},       // LDR, STR of all sizes; VLD, VST of elements
    {0xEFE00000, 0xEC400000, kCoprocessor},  // MCRR, MRRC
    {0xEE000000, 0xEC000000, kMemory},       // LDC, STC, VLDR, VSTM ...
    {0xEF000010, 0xEE000010, kCoprocessor},  // MCR, MRC
};

}  // namespace

DataAccess data_access(Isa isa, std::uint32_t opcode) {
  if (isa == Isa::kA32)
    return first_match(opcode >= 0xF0000000 ? std::span<const Row>(kA32Unconditional) : kA32,
                       opcode);
  if (isa != Isa::kT32) return kNone;
  const std::uint32_t swapped = opcode << 16 | opcode >> 16;
  return first_match(swapped >= 0xE8000000 ? std::span<const Row>(kT32) : kT16, swapped);
}

}  // namespace waymark::isa
