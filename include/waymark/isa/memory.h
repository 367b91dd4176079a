// Which A32 and T32 instructions transfer data, so that data trace packets can belong to them.
#pragma once

#include <cstdint>

#include "waymark/isa/instruction.h"

namespace waymark::isa {

enum class DataAccess : std::uint8_t {
  kNone,
  kMemory,       ///< Loads and stores, including multiple, exclusive and coprocessor ones.
  kCoprocessor,  ///< Moves between core and coprocessor registers: MCR, MRC, MCRR, MRRC.
};

/// `opcode` is the little-endian 32-bit word at the instruction, also for T32.  Hints such as PLD
/// are not accesses.  kNone for all other instruction sets.  Pure.
DataAccess data_access(Isa isa, std::uint32_t opcode);

}  // namespace waymark::isa
