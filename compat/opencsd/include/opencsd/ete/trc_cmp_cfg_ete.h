// The registers of an ETE, and their fields.
#pragma once

#include "opencsd/ete/trc_pkt_types_ete.h"
#include "opencsd/etmv4/trc_cmp_cfg_etmv4.h"

/// An ETMv4 configuration with the version of the ETE.
class ETEConfig : public EtmV4Config {
 public:
  ETEConfig();
  ETEConfig(const ocsd_ete_cfg *cfg_regs);
  virtual ~ETEConfig();

  ETEConfig &operator=(const ocsd_ete_cfg *p_cfg);
  operator const ocsd_ete_cfg &() const { return m_ete_cfg; }
  operator const ocsd_ete_cfg *() const { return &m_ete_cfg; }

 private:
  void copyV4();

  ocsd_ete_cfg m_ete_cfg;
};
