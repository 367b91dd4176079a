// The register of an ITM, and its fields.
#pragma once

#include "common/trc_cs_config.h"
#include "opencsd/itm/trc_pkt_types_itm.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class ITMConfig : public CSConfig {
 public:
  ITMConfig();
  ITMConfig(const ocsd_itm_cfg *cfg_regs);
  ~ITMConfig() {}

  ITMConfig &operator=(const ocsd_itm_cfg *p_cfg);
  operator const ocsd_itm_cfg &() const { return m_cfg; }
  operator const ocsd_itm_cfg *() const { return &m_cfg; }

  void setTraceID(const uint8_t traceID);

  virtual const uint8_t getTraceID() const {
    return static_cast<uint8_t>((m_cfg.reg_tcr >> 16) & 0x7F);
  }
  /// Ticks of the clock per tick of a local timestamp: 1, 4, 16 or 64.
  const uint32_t getTSPrescaleValue() const { return 1u << (2 * ((m_cfg.reg_tcr >> 8) & 3)); }

 private:
  ocsd_itm_cfg m_cfg;
};

#pragma GCC diagnostic pop
