// Where components report errors and messages.
#pragma once

#include <string>

#include "opencsd/ocsd_if_types.h"

class ocsdError;
class ocsdMsgLogger;

// The interface has qualifiers on results that mean nothing, but whoever overrides must repeat
// them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class ITraceErrorLog {
 public:
  ITraceErrorLog() {}
  virtual ~ITraceErrorLog() {}

  /// A handle under which the component of this name reports.
  virtual const ocsd_hndl_err_log_t RegisterErrorSource(const std::string &component_name) = 0;

  /// The least severe kind of record that is still handled.
  virtual const ocsd_err_severity_t GetErrorLogVerbosity() const = 0;

  virtual void LogError(const ocsd_hndl_err_log_t handle, const ocsdError *Error) = 0;
  virtual void LogMessage(const ocsd_hndl_err_log_t handle, const ocsd_err_severity_t filter_level,
                          const std::string &msg) = 0;

  /// The last error of all, or of one trace ID; NULL: none.  Owned by the logger.
  virtual ocsdError *GetLastError() = 0;
  virtual ocsdError *GetLastIDError(const uint8_t chan_id) = 0;

  /// Where messages are printed; may be NULL.  What is set is borrowed.
  virtual ocsdMsgLogger *getOutputLogger() = 0;
  virtual void setOutputLogger(ocsdMsgLogger *pLogger) = 0;

  /// Handles that every logger knows.
  enum generic_handles {
    HANDLE_GEN_ERR = 0,
    HANDLE_GEN_WARN,
    HANDLE_GEN_INFO,
    HANDLE_FIRST_REGISTERED_COMPONENT
  };
};

#pragma GCC diagnostic pop
