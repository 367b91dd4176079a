// The library's own instruction decoder: A64, A32 and T32.
#pragma once

#include "interfaces/trc_error_log_i.h"
#include "interfaces/trc_instr_decode_i.h"
#include "opencsd/ocsd_if_types.h"

/// OPENCSD_ERR_ON_AA64_BAD_OPCODE, set to any value: see setAA64_errOnBadOpcode().
#define OCSD_ENV_ERR_ON_AA64_BAD_OPCODE "OPENCSD_ERR_ON_AA64_BAD_OPCODE"

class TrcIDecode : public IInstrDecode {
 public:
  TrcIDecode();
  virtual ~TrcIDecode() {}

  /// OCSD_ERR_UNSUPPORTED_ISA, OCSD_ERR_INVALID_OPCODE.
  virtual ocsd_err_t DecodeInstruction(ocsd_instr_info *instr_info);

  /// A64 opcodes whose upper half is zero are an error: OCSD_ERR_INVALID_OPCODE.
  void setAA64_errOnBadOpcode(bool bSet) { aa64_err_bad_opcode = bSet; }
  bool errOnBadOpcode() const { return aa64_err_bad_opcode; }
  /// The same, if the environment variable is set.
  void envSetAA64_errOnBadOpcode();

  /// Sends a message to the logger, for debugging decoders.
  static void dbgLogMsg(const char *msg);
  /// The logger is borrowed.
  static void setErrLogger(ITraceErrorLog *err_log);

 private:
  bool aa64_err_bad_opcode;
  static ITraceErrorLog *p_i_errlog;
};
