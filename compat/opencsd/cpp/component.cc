// Shared by every component: a name, a logger, options.
#include <fmt/format.h>

#include "common/trc_component.h"

void errLogAttachMonitor::attachNotify(int num_attached) {
  if (m_pComp != nullptr) m_pComp->do_attach_notify(num_attached);
}

TraceComponent::TraceComponent(const std::string& name) { Init(name); }

TraceComponent::TraceComponent(const std::string& name, int instIDNum) {
  Init(fmt::format("{}_{:04}", name, instIDNum));
}

TraceComponent::~TraceComponent() = default;

void TraceComponent::Init(const std::string& name) {
  m_op_flags = 0;
  m_supported_op_flags = 0;
  m_errLogHandle = OCSD_INVALID_HANDLE;
  m_errVerbosity = OCSD_ERR_SEV_NONE;
  m_name = name;
  m_assocComp = nullptr;
  m_errLogAttachMonitor.Init(this);
  m_error_logger.set_notifier(&m_errLogAttachMonitor);
}

ocsd_err_t TraceComponent::setComponentOpMode(uint32_t op_flags) {
  if ((op_flags & ~m_supported_op_flags) != 0) return OCSD_ERR_INVALID_PARAM_VAL;
  m_op_flags = op_flags;
  return OCSD_OK;
}

void TraceComponent::LogError(const ocsdError& Error) {
  ITraceErrorLog* const logger = m_error_logger.first();
  if (logger != nullptr && isLoggingErrorLevel(Error.getErrorSeverity()))
    logger->LogError(m_errLogHandle, &Error);
}

void TraceComponent::LogMessage(ocsd_err_severity_t filter_level, const std::string& msg) {
  ITraceErrorLog* const logger = m_error_logger.first();
  if (logger != nullptr && isLoggingErrorLevel(filter_level))
    logger->LogMessage(m_errLogHandle, filter_level, msg);
}

void TraceComponent::do_attach_notify(int num_attached) {
  if (num_attached == 0) {
    m_errLogHandle = OCSD_INVALID_HANDLE;
    return;
  }
  ITraceErrorLog* const logger = m_error_logger.first();
  if (logger == nullptr) return;
  m_errLogHandle = logger->RegisterErrorSource(m_name);
  m_errVerbosity = logger->GetErrorLogVerbosity();
}

void TraceComponent::updateErrorLogLevel() {
  ITraceErrorLog* const logger = m_error_logger.first();
  if (logger != nullptr) m_errVerbosity = logger->GetErrorLogVerbosity();
}
