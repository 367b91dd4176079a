// The registers of an STM, and their fields.
#pragma once

#include "common/trc_cs_config.h"
#include "opencsd/stm/trc_pkt_types_stm.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class STMConfig : public CSConfig {
 public:
  STMConfig();
  STMConfig(const ocsd_stm_cfg *cfg_regs);
  ~STMConfig() {}

  STMConfig &operator=(const ocsd_stm_cfg *p_cfg);
  operator const ocsd_stm_cfg &() const { return m_cfg; }
  operator const ocsd_stm_cfg *() const { return &m_cfg; }

  void setTraceID(const uint8_t traceID);
  void setHWTraceFeat(const hw_event_feat_t hw_feat);

  virtual const uint8_t getTraceID() const {
    return static_cast<uint8_t>((m_cfg.reg_tcsr >> 16) & 0x7F);
  }
  const uint8_t getMaxMasterIdx() const { return static_cast<uint8_t>(m_cfg.reg_devid & 0xFF); }
  const uint16_t getMaxChannelIdx() const { return static_cast<uint16_t>(m_cfg.reg_feat3r - 1); }
  const uint16_t getHWTraceMasterIdx() const {
    return static_cast<uint16_t>(m_cfg.reg_hwev_mast & 0xFFFF);
  }
  /// Hardware events are traced, according to setHWTraceFeat() or the registers.
  bool getHWTraceEn() const;

 private:
  ocsd_stm_cfg m_cfg;
};

#pragma GCC diagnostic pop
