// The registers of an ETMv3, and their fields.
#pragma once

#include "common/trc_cs_config.h"
#include "opencsd/etmv3/trc_pkt_types_etmv3.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class EtmV3Config : public CSConfig {
 public:
  EtmV3Config();
  EtmV3Config(const ocsd_etmv3_cfg *cfg_regs);
  ~EtmV3Config() {}

  EtmV3Config &operator=(const ocsd_etmv3_cfg *p_cfg);
  operator const ocsd_etmv3_cfg &() const { return m_cfg; }
  operator const ocsd_etmv3_cfg *() const { return &m_cfg; }

  enum EtmTraceMode {
    TM_INSTR_ONLY,
    TM_I_DATA_VAL,
    TM_I_DATA_ADDR,
    TM_I_DATA_VAL_ADDR,
    TM_DATAONLY_VAL,
    TM_DATAONLY_ADDR,
    TM_DATAONLY_VAL_ADDR
  };

  const EtmTraceMode GetTraceMode() const;
  const bool isInstrTrace() const { return !ctrl(20); }
  const bool isDataValTrace() const { return ctrl(2); }
  const bool isDataAddrTrace() const { return ctrl(3); }
  const bool isDataTrace() const { return isDataValTrace() || isDataAddrTrace(); }
  const bool isCycleAcc() const { return ctrl(12); }

  /// The X of ETMv3.X.
  const int MinorRev() const { return static_cast<int>((m_cfg.reg_idr >> 4) & 0xF); }
  const bool isV7MArch() const {
    return m_cfg.arch_ver == ARCH_V7 && m_cfg.core_prof == profile_CortexM;
  }
  /// Branches have the alternative encoding.
  const bool isAltBranch() const { return ((m_cfg.reg_idr >> 20) & 1) != 0 && MinorRev() >= 4; }

  /// 0, 1, 2 or 4.
  const int CtxtIDBytes() const;
  const bool hasVirtExt() const { return ((m_cfg.reg_ccer >> 26) & 1) != 0; }
  const bool isVMIDTrace() const { return ctrl(30); }
  const bool hasTS() const { return ((m_cfg.reg_ccer >> 22) & 1) != 0; }
  const bool isTSEnabled() const { return ctrl(28); }
  const bool TSPkt64() const { return ((m_cfg.reg_ccer >> 29) & 1) != 0; }

  virtual const uint8_t getTraceID() const { return m_cfg.reg_trc_id & 0x7F; }
  const ocsd_arch_version_t getArchVersion() const { return m_cfg.arch_ver; }
  const ocsd_core_profile_t getCoreProfile() const { return m_cfg.core_prof; }

 private:
  const bool ctrl(int bit) const { return ((m_cfg.reg_ctrl >> bit) & 1) != 0; }

  ocsd_etmv3_cfg m_cfg;
};

#pragma GCC diagnostic pop
