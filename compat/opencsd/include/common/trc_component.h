// The base of packet processors and decoders: a name, an error log, options.
#pragma once

#include <string>

#include "common/comp_attach_pt_t.h"
#include "common/ocsd_error.h"
#include "interfaces/trc_error_log_i.h"

class TraceComponent;

/// Registers a component with the logger that is attached to it.
class errLogAttachMonitor : public IComponentAttachNotifier {
 public:
  errLogAttachMonitor() : m_pComp(0) {}
  virtual ~errLogAttachMonitor() {}
  virtual void attachNotify(const int num_attached);
  void Init(TraceComponent *pComp) { m_pComp = pComp; }

 private:
  TraceComponent *m_pComp;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TraceComponent {
 public:
  TraceComponent(const std::string &name);
  /// The name gets "_" and the number in four decimal digits.
  TraceComponent(const std::string &name, int instIDNum);
  virtual ~TraceComponent();

  const std::string &getComponentName() const { return m_name; }
  void setComponentName(const std::string &name) { m_name = name; }

  componentAttachPt<ITraceErrorLog> *getErrorLogAttachPt() { return &m_error_logger; }

  /// OCSD_OPFLG_ bits.  OCSD_ERR_INVALID_PARAM_VAL: this component does not support all of them;
  /// the old ones stay.
  ocsd_err_t setComponentOpMode(uint32_t op_flags);
  const uint32_t getComponentOpMode() const { return m_op_flags; }
  const uint32_t getSupportedOpModes() const { return m_supported_op_flags; }

  /// The component that works with this one: for a full decoder, its packet processor.
  void setAssocComponent(TraceComponent *assocComp) { m_assocComp = assocComp; }
  TraceComponent *getAssocComponent() { return m_assocComp; }

  /// A message under the handle of this component, whatever the verbosity.
  void LogDefMessage(const std::string &msg) { LogMessage(m_errVerbosity, msg); }

 protected:
  friend class errLogAttachMonitor;

  void LogError(const ocsdError &Error);
  void LogMessage(const ocsd_err_severity_t filter_level, const std::string &msg);
  const ocsd_err_severity_t getErrorLogLevel() const { return m_errVerbosity; }
  const bool isLoggingErrorLevel(const ocsd_err_severity_t level) const {
    return level <= m_errVerbosity;
  }
  void updateErrorLogLevel();
  void do_attach_notify(const int num_attached);
  void Init(const std::string &name);

  uint32_t m_op_flags;
  uint32_t m_supported_op_flags;

 private:
  TraceComponent(const TraceComponent &);
  TraceComponent &operator=(const TraceComponent &);

  componentAttachPt<ITraceErrorLog> m_error_logger;
  ocsd_hndl_err_log_t m_errLogHandle;
  ocsd_err_severity_t m_errVerbosity;
  errLogAttachMonitor m_errLogAttachMonitor;
  std::string m_name;
  TraceComponent *m_assocComp;
};

#pragma GCC diagnostic pop
