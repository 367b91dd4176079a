// The register of decoders.
#include <mutex>

#include "common/ocsd_lib_dcd_register.h"
#include "core/level.h"
#include "managers.h"

namespace {

/// Any thread may make trees.
std::recursive_mutex& register_mutex() {
  // Never destroyed, because trees may live longer.
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

OcsdLibDcdRegister* OcsdLibDcdRegister::m_p_libMngr = nullptr;
bool OcsdLibDcdRegister::m_b_deregistering = false;
ocsd_trace_protocol_t OcsdLibDcdRegister::m_nextCustomProtocolID = OCSD_PROTOCOL_CUSTOM_0;

OcsdLibDcdRegister::OcsdLibDcdRegister() : m_b_registeredBuiltins(false) {
  m_iter = m_decoder_mngrs.cend();
}

OcsdLibDcdRegister::~OcsdLibDcdRegister() {
  for (const auto& [name, manager] : m_decoder_mngrs) delete manager;
}

OcsdLibDcdRegister* OcsdLibDcdRegister::getDecoderRegister() {
  const std::lock_guard lock(register_mutex());
  if (m_p_libMngr == nullptr) m_p_libMngr = new OcsdLibDcdRegister;
  return m_p_libMngr;
}

void OcsdLibDcdRegister::deregisterAllDecoders() {
  const std::lock_guard lock(register_mutex());
  // The destructor of a manager may use the register again.
  if (m_p_libMngr == nullptr || m_b_deregistering) return;
  m_b_deregistering = true;
  delete m_p_libMngr;
  m_p_libMngr = nullptr;
  m_b_deregistering = false;
}

const ocsd_trace_protocol_t OcsdLibDcdRegister::getNextCustomProtocolID() {
  const std::lock_guard lock(register_mutex());
  const ocsd_trace_protocol_t next = m_nextCustomProtocolID;
  if (next < OCSD_PROTOCOL_END)
    m_nextCustomProtocolID = static_cast<ocsd_trace_protocol_t>(next + 1);
  return next;
}

void OcsdLibDcdRegister::releaseLastCustomProtocolID() {
  const std::lock_guard lock(register_mutex());
  if (m_nextCustomProtocolID > OCSD_PROTOCOL_CUSTOM_0)
    m_nextCustomProtocolID = static_cast<ocsd_trace_protocol_t>(m_nextCustomProtocolID - 1);
}

void OcsdLibDcdRegister::registerBuiltInDecoders() {
  if (m_b_registeredBuiltins) return;
  m_b_registeredBuiltins = true;
  for (auto& [name, manager] : waymark::compat::make_builtin_managers()) {
    m_typed_decoder_mngrs[manager->getProtocolType()] = manager.get();
    m_decoder_mngrs.emplace(name, manager.release());
  }
}

const ocsd_err_t OcsdLibDcdRegister::registerDecoderTypeByName(const std::string& name,
                                                               IDecoderMngr* p_decoder_fact) {
  const std::lock_guard lock(register_mutex());
  // The library's own names come first, so that no client can take them.
  registerBuiltInDecoders();
  if (p_decoder_fact == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  if (!m_decoder_mngrs.emplace(name, p_decoder_fact).second) return OCSD_ERR_DCDREG_NAME_REPEAT;
  m_typed_decoder_mngrs[p_decoder_fact->getProtocolType()] = p_decoder_fact;
  return OCSD_OK;
}

const ocsd_err_t OcsdLibDcdRegister::getDecoderMngrByName(const std::string& name,
                                                          IDecoderMngr** p_decoder_mngr) {
  const std::lock_guard lock(register_mutex());
  registerBuiltInDecoders();
  const auto found = m_decoder_mngrs.find(name);
  if (found == m_decoder_mngrs.end() ||
      !waymark::compat::decodes(waymark::compat::level_in_use(), name))
    return OCSD_ERR_DCDREG_NAME_UNKNOWN;
  *p_decoder_mngr = found->second;
  return OCSD_OK;
}

const ocsd_err_t OcsdLibDcdRegister::getDecoderMngrByType(ocsd_trace_protocol_t decoderType,
                                                          IDecoderMngr** p_decoder_mngr) {
  const std::lock_guard lock(register_mutex());
  registerBuiltInDecoders();
  const auto found = m_typed_decoder_mngrs.find(decoderType);
  if (found == m_typed_decoder_mngrs.end()) return OCSD_ERR_DCDREG_TYPE_UNKNOWN;
  *p_decoder_mngr = found->second;
  return OCSD_OK;
}

const bool OcsdLibDcdRegister::isRegisteredDecoder(const std::string& name) {
  const std::lock_guard lock(register_mutex());
  registerBuiltInDecoders();
  return m_decoder_mngrs.contains(name);
}

const bool OcsdLibDcdRegister::isRegisteredDecoderType(ocsd_trace_protocol_t decoderType) {
  const std::lock_guard lock(register_mutex());
  registerBuiltInDecoders();
  return m_typed_decoder_mngrs.contains(decoderType);
}

const bool OcsdLibDcdRegister::getFirstNamedDecoder(std::string& name) {
  const std::lock_guard lock(register_mutex());
  registerBuiltInDecoders();
  m_iter = m_decoder_mngrs.cbegin();
  return getNextNamedDecoder(name);
}

const bool OcsdLibDcdRegister::getNextNamedDecoder(std::string& name) {
  const std::lock_guard lock(register_mutex());
  if (m_iter == m_decoder_mngrs.cend()) return false;
  name = m_iter->first;
  ++m_iter;
  return true;
}
