// The state of a core, and whether its parts are known.
#pragma once

#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class OcsdPeContext {
 public:
  OcsdPeContext() : m_context() { resetCtxt(); }
  OcsdPeContext(const ocsd_pe_context *context) : m_context(*context) {}
  OcsdPeContext(const OcsdPeContext &ctxt) : m_context(ctxt.m_context) {}
  ~OcsdPeContext() {}

  OcsdPeContext &operator=(const OcsdPeContext &ctxt) {
    m_context = ctxt.m_context;
    return *this;
  }
  OcsdPeContext &operator=(const ocsd_pe_context *context) {
    m_context = *context;
    return *this;
  }

  void resetCtxt();

  void setSecLevel(const ocsd_sec_level sl) { m_context.security_level = sl; }
  void setEL(const ocsd_ex_level el) {
    m_context.exception_level = el;
    m_context.el_valid = el > ocsd_EL_unknown ? 1 : 0;
  }
  void setCtxtID(const uint32_t id) {
    m_context.context_id = id;
    m_context.ctxt_id_valid = 1;
  }
  void setVMID(const uint32_t id) {
    m_context.vmid = id;
    m_context.vmid_valid = 1;
  }
  void set64bit(const bool is64bit) { m_context.bits64 = is64bit ? 1 : 0; }

  const ocsd_sec_level getSecLevel() const { return m_context.security_level; }
  const ocsd_ex_level getEL() const { return m_context.exception_level; }
  const bool ELvalid() const { return m_context.el_valid == 1; }
  const uint32_t getCtxtID() const {
    return m_context.ctxt_id_valid == 1 ? m_context.context_id : 0;
  }
  const bool ctxtIDvalid() const { return m_context.ctxt_id_valid == 1; }
  const uint32_t getVMID() const { return m_context.vmid_valid == 1 ? m_context.vmid : 0; }
  const bool VMIDvalid() const { return m_context.vmid_valid == 1; }

  /// The plain structure.
  operator const ocsd_pe_context &() const { return m_context; }

 private:
  ocsd_pe_context m_context;
};

#pragma GCC diagnostic pop

inline void OcsdPeContext::resetCtxt() {
  m_context.bits64 = 0;
  m_context.context_id = 0;
  m_context.ctxt_id_valid = 0;
  m_context.exception_level = ocsd_EL_unknown;
  m_context.security_level = ocsd_sec_secure;
  m_context.vmid = 0;
  m_context.vmid_valid = 0;
  m_context.el_valid = 0;
}
