// The error logger that the library uses unless the client sets its own.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/ocsd_error.h"
#include "common/ocsd_msg_logger.h"
#include "interfaces/trc_error_log_i.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// Several trees may log at once, each from its own thread.  The result of GetLastError() is valid
/// until the next error.
class ocsdDefaultErrorLogger : public ITraceErrorLog {
 public:
  ocsdDefaultErrorLogger();
  virtual ~ocsdDefaultErrorLogger();

  /// `bCreateOutputLogger` makes an output logger, which prints to standard error.  It replaces the
  /// present one, which lives as long as this object: printers that use it keep it.
  bool initErrorLogger(const ocsd_err_severity_t verbosity, bool bCreateOutputLogger = false);

  virtual ocsdMsgLogger *getOutputLogger() { return m_output_logger; }
  /// The logger is borrowed.
  virtual void setOutputLogger(ocsdMsgLogger *pLogger);

  virtual const ocsd_hndl_err_log_t RegisterErrorSource(const std::string &component_name);

  /// Stores and prints the error if its severity is within the verbosity.
  virtual void LogError(const ocsd_hndl_err_log_t handle, const ocsdError *Error);
  virtual void LogMessage(const ocsd_hndl_err_log_t handle, const ocsd_err_severity_t filter_level,
                          const std::string &msg);

  virtual const ocsd_err_severity_t GetErrorLogVerbosity() const { return m_Verbosity; }

  virtual ocsdError *GetLastError() { return m_lastErr; }
  virtual ocsdError *GetLastIDError(const uint8_t chan_id) {
    return OCSD_IS_VALID_CS_SRC_ID(chan_id) ? m_lastErrID[chan_id] : 0;
  }

 private:
  ocsdDefaultErrorLogger(const ocsdDefaultErrorLogger &);
  ocsdDefaultErrorLogger &operator=(const ocsdDefaultErrorLogger &);

  void CreateErrorObj(ocsdError **ppErr, const ocsdError *p_from);

  ocsdError *m_lastErr;
  ocsdError *m_lastErrID[0x80];
  ocsd_err_severity_t m_Verbosity;
  ocsdMsgLogger *m_output_logger;
  std::vector<std::unique_ptr<ocsdMsgLogger>> m_created_output_loggers;
  std::vector<std::string> m_error_sources;
  std::recursive_mutex m_mutex;
};

#pragma GCC diagnostic pop
