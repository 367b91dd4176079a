// Where components report errors and messages.
#pragma once

#include <string>

#include "opencsd/ocsd_if_types.h"

class ocsdError;
class ocsdMsgLogger;

// The interface has meaningless qualifiers on results, but functions that override it must repeat
// them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class ITraceErrorLog {
 public:
  ITraceErrorLog() {}
  virtual ~ITraceErrorLog() {}

  /// A handle under which the component of this name reports.
  virtual const ocsd_hndl_err_log_t RegisterErrorSource(const std::string &component_name) = 0;

  /// The lowest severity of records that are handled.
  virtual const ocsd_err_severity_t GetErrorLogVerbosity() const = 0;

  virtual void LogError(const ocsd_hndl_err_log_t handle, const ocsdError *Error) = 0;
  virtual void LogMessage(const ocsd_hndl_err_log_t handle, const ocsd_err_severity_t filter_level,
                          const std::string &msg) = 0;

  /// The last error, or the last one of a trace ID; NULL: none.  Owned by the logger.
  virtual ocsdError *GetLastError() = 0;
  virtual ocsdError *GetLastIDError(const uint8_t chan_id) = 0;

  /// The logger that prints messages; may be NULL.  It is borrowed.
  virtual ocsdMsgLogger *getOutputLogger() = 0;
  virtual void setOutputLogger(ocsdMsgLogger *pLogger) = 0;

  /// Handles that every logger has.
  enum generic_handles {
    HANDLE_GEN_ERR = 0,
    HANDLE_GEN_WARN,
    HANDLE_GEN_INFO,
    HANDLE_FIRST_REGISTERED_COMPONENT
  };
};

#pragma GCC diagnostic pop
