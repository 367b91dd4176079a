// The registers of a PTM, and their fields.
#pragma once

#include "common/trc_cs_config.h"
#include "opencsd/ptm/trc_pkt_types_ptm.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class PtmConfig : public CSConfig {
 public:
  PtmConfig();
  PtmConfig(const ocsd_ptm_cfg *cfg_regs);
  ~PtmConfig() {}

  PtmConfig &operator=(const ocsd_ptm_cfg *p_cfg);
  operator const ocsd_ptm_cfg &() const { return m_cfg; }
  operator const ocsd_ptm_cfg *() const { return &m_cfg; }

  const bool enaBranchBCast() const { return ctrl(8); }
  const bool enaCycleAcc() const { return ctrl(12); }
  const bool enaRetStack() const { return ctrl(29); }
  const bool hasRetStack() const { return ccer(23); }

  /// The X of PFT 1.X.
  const int MinorRev() const { return static_cast<int>((m_cfg.reg_idr >> 4) & 0xF); }

  const bool hasTS() const { return ccer(22); }
  const bool enaTS() const { return ctrl(28); }
  const bool TSPkt64() const { return MinorRev() != 0 && ccer(29); }
  const bool TSBinEnc() const { return MinorRev() != 0 && ccer(28); }

  /// 0, 1, 2 or 4.
  const int CtxtIDBytes() const;
  const bool hasVirtExt() const { return ccer(26); }
  const bool enaVMID() const { return ctrl(30); }

  /// Barriers: each is followed by a timestamp; they are waypoints.
  const bool dmsbGenTS() const { return ccer(25); }
  const bool dmsbWayPt() const { return ccer(24); }

  virtual const uint8_t getTraceID() const { return static_cast<uint8_t>(m_cfg.reg_trc_id & 0x7F); }
  const ocsd_core_profile_t &coreProfile() const { return m_cfg.core_prof; }
  const ocsd_arch_version_t &archVersion() const { return m_cfg.arch_ver; }

 private:
  const bool ctrl(int bit) const { return ((m_cfg.reg_ctrl >> bit) & 1) != 0; }
  const bool ccer(int bit) const { return ((m_cfg.reg_ccer >> bit) & 1) != 0; }

  ocsd_ptm_cfg m_cfg;
};

#pragma GCC diagnostic pop
