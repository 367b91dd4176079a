// Configuration classes: defaults, conversions, and register fields of more than one bit.
#include "opencsd/ete/trc_cmp_cfg_ete.h"
#include "opencsd/etmv3/trc_cmp_cfg_etmv3.h"
#include "opencsd/etmv4/trc_cmp_cfg_etmv4.h"
#include "opencsd/itm/trc_cmp_cfg_itm.h"
#include "opencsd/ptm/trc_cmp_cfg_ptm.h"
#include "opencsd/stm/trc_cmp_cfg_stm.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv4/config.h"
#include "waymark/ptm/config.h"

namespace {

/// 0, 1, 2 or 4 bytes, from a control register.
int context_id_bytes(uint32_t control) {
  const auto size = static_cast<int>((control >> 14) & 3);
  return size == 3 ? 4 : size;
}

constexpr uint32_t kTraceIdField = 0x7FU << 16;

}  // namespace

// -- ETMv3. ---------------------------------------------------------------------------------------

EtmV3Config::EtmV3Config() : m_cfg() {
  const waymark::etmv3::Config defaults;
  m_cfg.reg_idr = defaults.etmidr;
  m_cfg.reg_ctrl = defaults.etmcr;
  m_cfg.reg_ccer = defaults.etmccer;
  m_cfg.arch_ver = ARCH_V7;
  m_cfg.core_prof = profile_CortexA;
}

EtmV3Config::EtmV3Config(const ocsd_etmv3_cfg* cfg_regs) : m_cfg(*cfg_regs) {}

EtmV3Config& EtmV3Config::operator=(const ocsd_etmv3_cfg* p_cfg) {
  m_cfg = *p_cfg;
  return *this;
}

const EtmV3Config::EtmTraceMode EtmV3Config::GetTraceMode() const {
  const int mode = (isDataValTrace() ? 1 : 0) + (isDataAddrTrace() ? 2 : 0);
  if (isInstrTrace()) return static_cast<EtmTraceMode>(mode);
  // Without data there is no trace at all; this counts as instructions only.
  return mode == 0 ? TM_INSTR_ONLY : static_cast<EtmTraceMode>(mode + 3);
}

const int EtmV3Config::CtxtIDBytes() const { return context_id_bytes(m_cfg.reg_ctrl); }

// -- ETMv4. ---------------------------------------------------------------------------------------

EtmV4Config::EtmV4Config() : m_cfg(), m_MajVer(0), m_MinVer(0) {
  const waymark::etmv4::Config defaults;
  m_cfg.reg_idr0 = defaults.trcidr0;
  m_cfg.reg_idr1 = defaults.trcidr1;
  m_cfg.reg_idr2 = defaults.trcidr2;
  m_cfg.reg_configr = defaults.trcconfigr;
  m_cfg.arch_ver = ARCH_V7;
  m_cfg.core_prof = profile_CortexA;
  readVersion();
}

EtmV4Config::EtmV4Config(const ocsd_etmv4_cfg* cfg_regs)
    : m_cfg(*cfg_regs), m_MajVer(0), m_MinVer(0) {
  readVersion();
}

EtmV4Config& EtmV4Config::operator=(const ocsd_etmv4_cfg* p_cfg) {
  m_cfg = *p_cfg;
  readVersion();
  return *this;
}

void EtmV4Config::readVersion() {
  m_MajVer = static_cast<uint8_t>((m_cfg.reg_idr1 >> 8) & 0xF);
  m_MinVer = static_cast<uint8_t>((m_cfg.reg_idr1 >> 4) & 0xF);
}

const uint32_t EtmV4Config::TimeStampSize() const {
  switch ((m_cfg.reg_idr0 >> 24) & 0x1F) {
    case 6:
      return 48;
    case 8:
      return 64;
    default:
      return 0;
  }
}

const uint32_t EtmV4Config::vmidSize() {
  switch ((m_cfg.reg_idr2 >> 10) & 0x1F) {
    case 1:
      return 8;
    case 2:
      return FullVersion() > 0x40 ? 16 : 0;
    case 4:
      return FullVersion() > 0x40 ? 32 : 0;
    default:
      return 0;
  }
}

namespace {

uint32_t data_size(uint32_t field) { return field == 4 ? 32 : field == 8 ? 64 : 0; }

}  // namespace

const uint32_t EtmV4Config::daSize() const { return data_size((m_cfg.reg_idr2 >> 15) & 0x1F); }
const uint32_t EtmV4Config::dvSize() const { return data_size((m_cfg.reg_idr2 >> 20) & 0x1F); }

const EtmV4Config::CondITrace_t EtmV4Config::enabledCondITrace() {
  if (!hasCondTrace()) return COND_TR_DIS;
  switch ((m_cfg.reg_configr >> 8) & 7) {
    case 1:
      return COND_TR_LD;
    case 2:
      return COND_TR_ST;
    case 3:
      return COND_TR_LDST;
    case 7:
      return COND_TR_ALL;
    default:
      return COND_TR_DIS;
  }
}

// -- ETE. -----------------------------------------------------------------------------------------

ETEConfig::ETEConfig() : m_ete_cfg() {
  const auto defaults = waymark::etmv4::Config::ete_default();
  m_ete_cfg.reg_idr0 = defaults.trcidr0;
  m_ete_cfg.reg_idr1 = defaults.trcidr1;
  m_ete_cfg.reg_idr2 = defaults.trcidr2;
  m_ete_cfg.reg_devarch = defaults.trcdevarch;
  m_ete_cfg.reg_configr = defaults.trcconfigr;
  m_ete_cfg.arch_ver = ARCH_AA64;
  m_ete_cfg.core_prof = profile_CortexA;
  copyV4();
}

ETEConfig::ETEConfig(const ocsd_ete_cfg* cfg_regs) : m_ete_cfg(*cfg_regs) { copyV4(); }
ETEConfig::~ETEConfig() = default;

ETEConfig& ETEConfig::operator=(const ocsd_ete_cfg* p_cfg) {
  m_ete_cfg = *p_cfg;
  copyV4();
  return *this;
}

void ETEConfig::copyV4() {
  m_cfg = {};
  m_cfg.reg_idr0 = m_ete_cfg.reg_idr0;
  m_cfg.reg_idr1 = m_ete_cfg.reg_idr1;
  m_cfg.reg_idr2 = m_ete_cfg.reg_idr2;
  m_cfg.reg_idr8 = m_ete_cfg.reg_idr8;
  m_cfg.reg_configr = m_ete_cfg.reg_configr;
  m_cfg.reg_traceidr = m_ete_cfg.reg_traceidr;
  m_cfg.arch_ver = m_ete_cfg.arch_ver;
  m_cfg.core_prof = m_ete_cfg.core_prof;
  m_MajVer = static_cast<uint8_t>((m_ete_cfg.reg_devarch >> 12) & 0xF);
  m_MinVer = static_cast<uint8_t>((m_ete_cfg.reg_devarch >> 16) & 0xF);
}

// -- PTM. -----------------------------------------------------------------------------------------

PtmConfig::PtmConfig() : m_cfg() {
  const waymark::ptm::Config defaults;
  m_cfg.reg_idr = defaults.etmidr;
  m_cfg.arch_ver = ARCH_V7;
  m_cfg.core_prof = profile_CortexA;
}

PtmConfig::PtmConfig(const ocsd_ptm_cfg* cfg_regs) : m_cfg(*cfg_regs) {}

PtmConfig& PtmConfig::operator=(const ocsd_ptm_cfg* p_cfg) {
  m_cfg = *p_cfg;
  return *this;
}

const int PtmConfig::CtxtIDBytes() const { return context_id_bytes(m_cfg.reg_ctrl); }

// -- STM. -----------------------------------------------------------------------------------------

STMConfig::STMConfig() : m_cfg() {
  m_cfg.reg_feat3r = 0x10000;
  m_cfg.reg_devid = 0xFF;
  m_cfg.hw_event = HwEvent_Unknown_Disabled;
}

STMConfig::STMConfig(const ocsd_stm_cfg* cfg_regs) : m_cfg(*cfg_regs) {}

STMConfig& STMConfig::operator=(const ocsd_stm_cfg* p_cfg) {
  m_cfg = *p_cfg;
  return *this;
}

void STMConfig::setTraceID(uint8_t traceID) {
  m_cfg.reg_tcsr = (m_cfg.reg_tcsr & ~kTraceIdField) | static_cast<uint32_t>(traceID & 0x7F) << 16;
}

void STMConfig::setHWTraceFeat(hw_event_feat_t hw_feat) { m_cfg.hw_event = hw_feat; }

bool STMConfig::getHWTraceEn() const {
  switch (m_cfg.hw_event) {
    case HwEvent_Enabled:
      return true;
    case HwEvent_UseRegisters:
      return ((m_cfg.reg_feat1r >> 18) & 3) == 2 && ((m_cfg.reg_tcsr >> 3) & 1) != 0;
    case HwEvent_Unknown_Disabled:
      break;
  }
  return false;
}

// -- ITM. -----------------------------------------------------------------------------------------

ITMConfig::ITMConfig() : m_cfg() {}
ITMConfig::ITMConfig(const ocsd_itm_cfg* cfg_regs) : m_cfg(*cfg_regs) {}

ITMConfig& ITMConfig::operator=(const ocsd_itm_cfg* p_cfg) {
  m_cfg = *p_cfg;
  return *this;
}

void ITMConfig::setTraceID(uint8_t traceID) {
  m_cfg.reg_tcr = (m_cfg.reg_tcr & ~kTraceIdField) | static_cast<uint32_t>(traceID & 0x7F) << 16;
}
