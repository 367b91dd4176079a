// Errors, loggers and the version.  See opencsd-cpp-api.md 2, opencsd-c-api.md
// 5.
#include <cstdio>
#include <iostream>
#include <memory>

#include "common/ocsd_error.h"
#include "common/ocsd_error_logger.h"
#include "common/ocsd_msg_logger.h"
#include "common/ocsd_version.h"
#include "error_text.h"

using waymark::TextBuffer;

// -- Version. -------------------------------------------------------------------------------------

const uint32_t ocsdVersion::vers_num() { return OCSD_VER_NUM; }
const char* ocsdVersion::vers_str() { return OCSD_VER_STRING; }

// -- Errors. --------------------------------------------------------------------------------------

ocsdError::ocsdError(ocsd_err_severity_t sev_type, ocsd_err_t code)
    : ocsdError(sev_type, code, OCSD_BAD_TRC_INDEX, OCSD_BAD_CS_SRC_ID, std::string()) {}

ocsdError::ocsdError(ocsd_err_severity_t sev_type, ocsd_err_t code, ocsd_trc_index_t idx)
    : ocsdError(sev_type, code, idx, OCSD_BAD_CS_SRC_ID, std::string()) {}

ocsdError::ocsdError(ocsd_err_severity_t sev_type, ocsd_err_t code, ocsd_trc_index_t idx,
                     uint8_t chan_id)
    : ocsdError(sev_type, code, idx, chan_id, std::string()) {}

ocsdError::ocsdError(ocsd_err_severity_t sev_type, ocsd_err_t code, const std::string& msg)
    : ocsdError(sev_type, code, OCSD_BAD_TRC_INDEX, OCSD_BAD_CS_SRC_ID, msg) {}

ocsdError::ocsdError(ocsd_err_severity_t sev_type, ocsd_err_t code, ocsd_trc_index_t idx,
                     const std::string& msg)
    : ocsdError(sev_type, code, idx, OCSD_BAD_CS_SRC_ID, msg) {}

ocsdError::ocsdError(ocsd_err_severity_t sev_type, ocsd_err_t code, ocsd_trc_index_t idx,
                     uint8_t chan_id, const std::string& msg)
    : m_error_code(code), m_sev(sev_type), m_idx(idx), m_chan_ID(chan_id), m_err_message(msg) {}

ocsdError::ocsdError(const ocsdError* pError) : ocsdError(*pError) {}
ocsdError::ocsdError(const ocsdError& Error) = default;
ocsdError::~ocsdError() = default;

ocsdError& ocsdError::operator=(const ocsdError* p_err) { return *this = *p_err; }
ocsdError& ocsdError::operator=(const ocsdError& err) = default;

const std::string ocsdError::getErrorString(const ocsdError& error) {
  if (error.m_sev == OCSD_ERR_SEV_NONE) return "LIBRARY INTERNAL ERROR: Invalid Error Object";
  TextBuffer text;
  waymark::compat::write_error(
      text, static_cast<waymark::compat::ErrorNumber>(error.m_error_code),
      error.m_idx == OCSD_BAD_TRC_INDEX ? waymark::kNoIndex : error.m_idx,
      error.m_chan_ID == OCSD_BAD_CS_SRC_ID ? waymark::kNoTraceId : error.m_chan_ID,
      error.m_err_message);
  return std::string(text.view());
}

const char* ocsdDataRespStr::getStr() {
  switch (m_type) {
    case OCSD_RESP_CONT:
      return "OCSD_RESP_CONT: Continue processing.";
    case OCSD_RESP_WARN_CONT:
      return "OCSD_RESP_WARN_CONT: Continue processing -> a component logged a warning.";
    case OCSD_RESP_ERR_CONT:
      return "OCSD_RESP_ERR_CONT: Continue processing -> a component logged an error.";
    case OCSD_RESP_WAIT:
      return "OCSD_RESP_WAIT: Pause processing";
    case OCSD_RESP_WARN_WAIT:
      return "OCSD_RESP_WARN_WAIT: Pause processing -> a component logged a warning.";
    case OCSD_RESP_ERR_WAIT:
      return "OCSD_RESP_ERR_WAIT: Pause processing -> a component logged an error.";
    case OCSD_RESP_FATAL_NOT_INIT:
      return "OCSD_RESP_FATAL_NOT_INIT: Processing Fatal Error :  component unintialised.";
    case OCSD_RESP_FATAL_INVALID_OP:
      return "OCSD_RESP_FATAL_INVALID_OP: Processing Fatal Error :  invalid data path operation.";
    case OCSD_RESP_FATAL_INVALID_PARAM:
      return "OCSD_RESP_FATAL_INVALID_PARAM: Processing Fatal Error :  invalid parameter in "
             "datapath "
             "call.";
    case OCSD_RESP_FATAL_INVALID_DATA:
      return "OCSD_RESP_FATAL_INVALID_DATA: Processing Fatal Error :  invalid trace data.";
    case OCSD_RESP_FATAL_SYS_ERR:
      return "OCSD_RESP_FATAL_SYS_ERR: Processing Fatal Error :  internal system error.";
  }
  return "Unknown OCSD_RESP type.";
}

// -- Messages. ------------------------------------------------------------------------------------

ocsdMsgLogger::ocsdMsgLogger()
    : m_outFlags(OUT_STDOUT), m_logFileName("ocsd_trace_decode.log"), m_pOutStrI(nullptr) {}

ocsdMsgLogger::~ocsdMsgLogger() = default;

void ocsdMsgLogger::setLogOpts(int logOpts) {
  m_outFlags = logOpts & (OUT_FILE | OUT_STDERR | OUT_STDOUT | OUT_STR_CB);
}

void ocsdMsgLogger::setLogFileName(const char* fileName) {
  m_out_file.close();
  m_out_file.clear();
  m_logFileName = fileName != nullptr ? fileName : "";
  if (m_logFileName.empty()) {
    m_outFlags &= ~static_cast<int>(OUT_FILE);
  } else {
    m_outFlags |= OUT_FILE;
  }
}

void ocsdMsgLogger::setStrOutFn(ocsdMsgLogStrOutI* p_IstrOut) {
  m_pOutStrI = p_IstrOut;
  if (p_IstrOut != nullptr) {
    m_outFlags |= OUT_STR_CB;
  } else {
    m_outFlags &= ~static_cast<int>(OUT_STR_CB);
  }
}

void ocsdMsgLogger::LogMsg(const std::string& msg) {
  if ((m_outFlags & OUT_STDOUT) != 0) {
    std::cout << msg;
    std::cout.flush();
  }
  if ((m_outFlags & OUT_STDERR) != 0) {
    std::cerr << msg;
    std::cerr.flush();
  }
  if ((m_outFlags & OUT_FILE) != 0) {
    if (!m_out_file.is_open()) m_out_file.open(m_logFileName, std::ios::out | std::ios::app);
    m_out_file << msg;
    m_out_file.flush();
  }
  if ((m_outFlags & OUT_STR_CB) != 0 && m_pOutStrI != nullptr) m_pOutStrI->printOutStr(msg);
}

// -- The error logger. ----------------------------------------------------------------------------

ocsdDefaultErrorLogger::ocsdDefaultErrorLogger()
    : m_lastErr(nullptr),
      m_lastErrID(),
      m_Verbosity(OCSD_ERR_SEV_ERROR),
      m_output_logger(nullptr),
      m_error_sources({"Gen_Err", "Gen_Warn", "Gen_Info"}) {}

ocsdDefaultErrorLogger::~ocsdDefaultErrorLogger() {
  delete m_lastErr;
  for (ocsdError* error : m_lastErrID) delete error;
}

bool ocsdDefaultErrorLogger::initErrorLogger(ocsd_err_severity_t verbosity,
                                             bool bCreateOutputLogger) {
  const std::lock_guard lock(m_mutex);
  m_Verbosity = verbosity;
  if (!bCreateOutputLogger) return true;
  auto logger = std::make_unique<ocsdMsgLogger>();
  logger->setLogOpts(ocsdMsgLogger::OUT_STDERR);
  setOutputLogger(logger.get());
  m_created_output_loggers.push_back(std::move(logger));
  return true;
}

void ocsdDefaultErrorLogger::setOutputLogger(ocsdMsgLogger* pLogger) {
  const std::lock_guard lock(m_mutex);
  m_output_logger = pLogger;
}

const ocsd_hndl_err_log_t ocsdDefaultErrorLogger::RegisterErrorSource(
    const std::string& component_name) {
  const std::lock_guard lock(m_mutex);
  m_error_sources.push_back(component_name);
  return static_cast<ocsd_hndl_err_log_t>(m_error_sources.size() - 1);
}

void ocsdDefaultErrorLogger::CreateErrorObj(ocsdError** ppErr, const ocsdError* p_from) {
  if (*ppErr == nullptr) {
    *ppErr = new ocsdError(p_from);
  } else {
    **ppErr = p_from;
  }
}

void ocsdDefaultErrorLogger::LogError(ocsd_hndl_err_log_t handle, const ocsdError* Error) {
  const std::lock_guard lock(m_mutex);
  if (Error == nullptr || m_Verbosity < Error->getErrorSeverity()) return;
  if (m_output_logger != nullptr && m_output_logger->isLogging()) {
    const std::string name = handle < m_error_sources.size() ? m_error_sources[handle] : "unknown";
    m_output_logger->LogMsg(name + " : " + ocsdError::getErrorString(*Error));
  }
  CreateErrorObj(&m_lastErr, Error);
  if (OCSD_IS_VALID_CS_SRC_ID(Error->getErrorChanID()))
    CreateErrorObj(&m_lastErrID[Error->getErrorChanID()], Error);
}

void ocsdDefaultErrorLogger::LogMessage(ocsd_hndl_err_log_t handle,
                                        ocsd_err_severity_t filter_level, const std::string& msg) {
  const std::lock_guard lock(m_mutex);
  if (m_Verbosity < filter_level || m_output_logger == nullptr || !m_output_logger->isLogging())
    return;
  const std::string name = handle < m_error_sources.size() ? m_error_sources[handle] : "unknown";
  m_output_logger->LogMsg(name + " : " + msg);
}
