// The base of the printers.
#pragma once

#include <string>

#include "common/ocsd_msg_logger.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class ItemPrinter {
 public:
  ItemPrinter() : m_pMsgLogger(0), m_test_waits(0), m_muted(false), m_id_print_muted(false) {}
  virtual ~ItemPrinter() {}

  /// Borrowed; NULL: nothing is printed.
  void setMessageLogger(ocsdMsgLogger *pMsgLogger) { m_pMsgLogger = pMsgLogger; }
  void itemPrintLine(const std::string &msg) {
    if (m_pMsgLogger != 0) m_pMsgLogger->LogMsg(msg);
  }

  /// Answers the next items with WAIT, to test clients.
  void setTestWaits(const int num_waits) { m_test_waits = num_waits; }
  const int getTestWaits() const { return m_test_waits; }
  void decTestWaits() { m_test_waits--; }

  void setMute(bool mute) { m_muted = mute; }
  const bool is_muted() const { return m_muted; }

  /// Leaves out the "Idx:...; ID:...;" at the start.
  void muteIDPrint(bool mute) { m_id_print_muted = mute; }
  const bool id_print_muted() const { return m_id_print_muted; }

 protected:
  ocsdMsgLogger *m_pMsgLogger;

 private:
  ItemPrinter(const ItemPrinter &);
  ItemPrinter &operator=(const ItemPrinter &);

  int m_test_waits;
  bool m_muted;
  bool m_id_print_muted;
};

#pragma GCC diagnostic pop
