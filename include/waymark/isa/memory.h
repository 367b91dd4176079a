// Which A32 and T32 instructions move data: what data trace packets can belong to.
#pragma once

#include <cstdint>

#include "waymark/isa/instruction.h"

namespace waymark::isa {

enum class DataAccess : std::uint8_t {
  kNone,
  kMemory,       ///< Loads and stores, multiple and exclusive ones and those of coprocessors too.
  kCoprocessor,  ///< Moves between core and coprocessor registers: MCR, MRC, MCRR, MRRC.
};

/// `opcode` is the little-endian 32-bit word at the instruction, also for T32.  Hints such as PLD
/// are no access.  kNone for all other instruction sets.  Pure.
DataAccess data_access(Isa isa, std::uint32_t opcode);

}  // namespace waymark::isa
