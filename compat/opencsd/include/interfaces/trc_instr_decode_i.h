// Classifies instructions for the decoders.
#pragma once

#include "opencsd/ocsd_if_types.h"

class IInstrDecode {
 public:
  IInstrDecode() {}
  virtual ~IInstrDecode() {}

  /// Fills in the properties of the opcode in `instr_info`.
  virtual ocsd_err_t DecodeInstruction(ocsd_instr_info *instr_info) = 0;
};
