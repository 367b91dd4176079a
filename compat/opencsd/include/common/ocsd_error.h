// An error as an object: severity, code, place and message.
#pragma once

#include <string>

#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class ocsdError {
 public:
  ocsdError(const ocsd_err_severity_t sev_type, const ocsd_err_t code);
  ocsdError(const ocsd_err_severity_t sev_type, const ocsd_err_t code, const ocsd_trc_index_t idx);
  ocsdError(const ocsd_err_severity_t sev_type, const ocsd_err_t code, const ocsd_trc_index_t idx,
            const uint8_t chan_id);
  ocsdError(const ocsd_err_severity_t sev_type, const ocsd_err_t code, const std::string &msg);
  ocsdError(const ocsd_err_severity_t sev_type, const ocsd_err_t code, const ocsd_trc_index_t idx,
            const std::string &msg);
  ocsdError(const ocsd_err_severity_t sev_type, const ocsd_err_t code, const ocsd_trc_index_t idx,
            const uint8_t chan_id, const std::string &msg);
  ocsdError(const ocsdError *pError);
  ocsdError(const ocsdError &Error);
  ~ocsdError();

  ocsdError &operator=(const ocsdError *p_err);
  ocsdError &operator=(const ocsdError &err);

  void setMessage(const std::string &msg) { m_err_message = msg; }
  const std::string &getMessage() const { return m_err_message; }
  const ocsd_err_t getErrorCode() const { return m_error_code; }
  const ocsd_err_severity_t getErrorSeverity() const { return m_sev; }
  /// OCSD_BAD_TRC_INDEX and OCSD_BAD_CS_SRC_ID if the place is not known.
  const ocsd_trc_index_t getErrorIndex() const { return m_idx; }
  const uint8_t getErrorChanID() const { return m_chan_ID; }

  /// "0x0019 (OCSD_ERR_...) [...]; TrcIdx=24; CS ID=01; message".
  static const std::string getErrorString(const ocsdError &error);

 private:
  ocsd_err_t m_error_code;
  ocsd_err_severity_t m_sev;
  ocsd_trc_index_t m_idx;
  uint8_t m_chan_ID;
  std::string m_err_message;
};

#pragma GCC diagnostic pop

/// The text of a data path response.
class ocsdDataRespStr {
 public:
  ocsdDataRespStr(ocsd_datapath_resp_t type) : m_type(type) {}
  ~ocsdDataRespStr() {}
  const char *getStr();

 private:
  ocsd_datapath_resp_t m_type;
};
