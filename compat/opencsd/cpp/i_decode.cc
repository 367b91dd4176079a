// The interface of the instruction decoder, over waymark::isa.
#include <cstdlib>
#include <string>

#include "i_dec/trc_i_decode.h"
#include "waymark/isa/instruction.h"

ITraceErrorLog* TrcIDecode::p_i_errlog = nullptr;

TrcIDecode::TrcIDecode() : aa64_err_bad_opcode(false) {}

void TrcIDecode::envSetAA64_errOnBadOpcode() {
  if (std::getenv(OCSD_ENV_ERR_ON_AA64_BAD_OPCODE) != nullptr) aa64_err_bad_opcode = true;
}

void TrcIDecode::setErrLogger(ITraceErrorLog* err_log) { p_i_errlog = err_log; }

void TrcIDecode::dbgLogMsg(const char* msg) {
  if (p_i_errlog != nullptr && msg != nullptr)
    p_i_errlog->LogMessage(ITraceErrorLog::HANDLE_GEN_INFO, OCSD_ERR_SEV_INFO, msg);
}

ocsd_err_t TrcIDecode::DecodeInstruction(ocsd_instr_info* instr_info) {
  using namespace waymark;
  if (instr_info == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  isa::Options options;
  options.arch = static_cast<isa::Arch>(instr_info->pe_type.arch);
  options.dsb_dmb_waypoints = instr_info->dsb_dmb_waypoints != 0;
  options.wfi_wfe_waypoints = instr_info->wfi_wfe_branch != 0;
  options.track_it_block = instr_info->track_it_block != 0;
  options.a64_opcode_check = aa64_err_bad_opcode;
  options.quirks = isa::Quirks::reference();
  isa::Instruction found;
  const isa::Outcome outcome =
      isa::classify(options, static_cast<isa::Isa>(instr_info->isa), instr_info->instr_addr,
                    instr_info->opcode, instr_info->thumb_it_conditions, found);
  if (outcome == isa::Outcome::kUnsupportedIsa) return OCSD_ERR_UNSUPPORTED_ISA;
  instr_info->type = static_cast<ocsd_instr_type>(found.type);
  instr_info->sub_type = static_cast<ocsd_instr_subtype>(found.subtype);
  if (found.type == isa::InstrType::kBranch)
    instr_info->branch_addr = static_cast<ocsd_vaddr_t>(found.target);
  instr_info->next_isa = found.next_isa == isa::Isa::kUnknown
                             ? instr_info->isa
                             : static_cast<ocsd_isa>(found.next_isa);
  instr_info->instr_size = found.size;
  instr_info->is_conditional = found.conditional ? 1 : 0;
  instr_info->is_link = found.link ? 1 : 0;
  return outcome == isa::Outcome::kInvalidOpcode ? OCSD_ERR_INVALID_OPCODE : OCSD_OK;
}
