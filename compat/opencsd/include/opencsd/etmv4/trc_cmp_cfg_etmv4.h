// The registers of an ETMv4, and their fields.
#pragma once

#include "common/trc_cs_config.h"
#include "opencsd/etmv4/trc_pkt_types_etmv4.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class EtmV4Config : public CSConfig {
 public:
  EtmV4Config();
  EtmV4Config(const ocsd_etmv4_cfg *cfg_regs);
  virtual ~EtmV4Config() {}

  EtmV4Config &operator=(const ocsd_etmv4_cfg *p_cfg);
  operator const ocsd_etmv4_cfg &() const { return m_cfg; }
  operator const ocsd_etmv4_cfg *() const { return &m_cfg; }

  const ocsd_core_profile_t &coreProfile() const { return m_cfg.core_prof; }
  const ocsd_arch_version_t &archVersion() const { return m_cfg.arch_ver; }

  // TRCIDR0.
  const bool LSasInstP0() const { return ((m_cfg.reg_idr0 >> 1) & 3) == 3; }
  const bool hasDataTrace() const { return ((m_cfg.reg_idr0 >> 3) & 3) == 3; }
  const bool hasBranchBroadcast() const { return idr0(5); }
  const bool hasCondTrace() const { return idr0(6); }
  const bool hasCycleCountI() const { return idr0(7); }
  const bool hasRetStack() const { return idr0(9); }
  const uint8_t numEvents() const { return static_cast<uint8_t>(((m_cfg.reg_idr0 >> 10) & 3) + 1); }
  const bool eteHasTSMarker() const { return FullVersion() >= 0x51 && idr0(23); }

  typedef enum _condType { COND_PASS_FAIL, COND_HAS_ASPR } condType;
  const condType hasCondType() const {
    return ((m_cfg.reg_idr0 >> 12) & 3) == 1 ? COND_HAS_ASPR : COND_PASS_FAIL;
  }

  typedef enum _QSuppType { Q_NONE, Q_ICOUNT_ONLY, Q_NO_ICOUNT_ONLY, Q_FULL } QSuppType;
  const QSuppType getQSuppType() { return static_cast<QSuppType>((m_cfg.reg_idr0 >> 15) & 3); }
  const bool hasQElem() { return getQSuppType() != Q_NONE; }
  const bool hasQFilter() { return idr0(14) && hasQElem(); }

  const bool hasTrcExcpData() const { return idr0(17); }
  /// 0, 48 or 64.
  const uint32_t TimeStampSize() const;
  /// Cycle counts do not carry commit counts.
  const bool commitOpt1() const { return idr0(29) && hasCycleCountI(); }
  /// The start of a transaction is a P0 element.
  const bool commTransP0() const { return !idr0(30); }

  // TRCIDR1, or TRCDEVARCH for an ETE.
  const uint8_t MajVersion() const { return m_MajVer; }
  const uint8_t MinVersion() const { return m_MinVer; }
  /// Major version in the upper four bits.
  const uint8_t FullVersion() const {
    return static_cast<uint8_t>((MajVersion() << 4) | MinVersion());
  }

  // TRCIDR2.
  const uint32_t iaSizeMax() const { return (m_cfg.reg_idr2 & 0x1F) == 8 ? 64 : 32; }
  const uint32_t cidSize() const { return ((m_cfg.reg_idr2 >> 5) & 0x1F) == 4 ? 32 : 0; }
  const uint32_t vmidSize();
  const uint32_t daSize() const;
  const uint32_t dvSize() const;
  const uint32_t ccSize() const { return ((m_cfg.reg_idr2 >> 25) & 0xF) + 12; }
  const bool vmidOpt() const { return ((m_cfg.reg_idr2 >> 29) & 1) != 0 && MinVersion() > 0; }
  const bool wfiwfeBranch() const {
    return ((m_cfg.reg_idr2 >> 31) & 1) != 0 && FullVersion() >= 0x43;
  }

  // TRCIDR8 to TRCIDR13.
  const uint32_t MaxSpecDepth() const { return m_cfg.reg_idr8; }
  const uint32_t P0_Key_Max() const { return m_cfg.reg_idr9 == 0 ? 1 : m_cfg.reg_idr9; }
  const uint32_t P1_Key_Max() const { return m_cfg.reg_idr10; }
  const uint32_t P1_Spcl_Key_Max() const { return m_cfg.reg_idr11; }
  const uint32_t CondKeyMax() const { return m_cfg.reg_idr12; }
  const uint32_t CondSpecKeyMax() const { return m_cfg.reg_idr13; }
  const uint32_t CondKeyMaxIncr() const { return m_cfg.reg_idr12 - m_cfg.reg_idr13; }

  virtual const uint8_t getTraceID() const {
    return static_cast<uint8_t>(m_cfg.reg_traceidr & 0x7F);
  }

  // TRCCONFIGR.
  const bool enabledDVTrace() const { return hasDataTrace() && enabledLSP0Trace() && configr(17); }
  const bool enabledDATrace() const { return hasDataTrace() && enabledLSP0Trace() && configr(16); }
  const bool enabledDataTrace() const { return enabledDATrace() || enabledDVTrace(); }

  typedef enum { LSP0_NONE, LSP0_L, LSP0_S, LSP0_LS } LSP0_t;
  const bool enabledLSP0Trace() const { return (m_cfg.reg_configr & 0x6) != 0; }
  const LSP0_t LSP0Type() const { return static_cast<LSP0_t>((m_cfg.reg_configr & 0x6) >> 1); }

  const bool enabledBrBroad() const { return configr(3); }
  const bool enabledCCI() const { return configr(4); }
  const bool enabledCID() const { return configr(6); }
  const bool enabledVMID() const { return configr(7); }
  const bool enabledVMIDOpt() const {
    return FullVersion() >= 0x45 ? configr(15) : configr(15) && vmidOpt();
  }

  typedef enum { COND_TR_DIS, COND_TR_LD, COND_TR_ST, COND_TR_LDST, COND_TR_ALL } CondITrace_t;
  const CondITrace_t enabledCondITrace();

  const bool enabledTS() const { return configr(11); }
  const bool enabledRetStack() const { return configr(12); }
  const bool enabledQE() const { return (m_cfg.reg_configr & (0x3u << 13)) != 0; }

 protected:
  const bool idr0(int bit) const { return ((m_cfg.reg_idr0 >> bit) & 1) != 0; }
  const bool configr(int bit) const { return ((m_cfg.reg_configr >> bit) & 1) != 0; }
  void readVersion();

  ocsd_etmv4_cfg m_cfg;
  uint8_t m_MajVer;
  uint8_t m_MinVer;
};

#pragma GCC diagnostic pop
