// Prints messages: to the standard streams, a file and a function.
#pragma once

#include <fstream>
#include <string>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// Implemented by clients that receive the messages themselves.
class ocsdMsgLogStrOutI {
 public:
  ocsdMsgLogStrOutI() {}
  virtual ~ocsdMsgLogStrOutI() {}
  virtual void printOutStr(const std::string &outStr) = 0;
};

class ocsdMsgLogger {
 public:
  ocsdMsgLogger();
  ~ocsdMsgLogger();

  typedef enum {
    OUT_NONE = 0,
    OUT_FILE = 1,
    OUT_STDERR = 2,
    OUT_STDOUT = 4,
    OUT_STR_CB = 8
  } output_opts;

  /// Any combination of the above; initially OUT_STDOUT.
  void setLogOpts(int logOpts);
  const int getLogOpts() const { return m_outFlags; }

  /// Also switches the file on; NULL and "" switch it off.  It is opened at the first message,
  /// for append.  Initially ocsd_trace_decode.log, switched off.
  void setLogFileName(const char *fileName);

  /// Also switches the function on; NULL switches it off.  It is borrowed.
  void setStrOutFn(ocsdMsgLogStrOutI *p_IstrOut);

  /// Prints it unchanged, without a newline: standard output, standard error, file, function.
  void LogMsg(const std::string &msg);

  /// At least one output is on.
  const bool isLogging() const {
    return (m_outFlags & (OUT_FILE | OUT_STDERR | OUT_STDOUT)) != 0 ||
           ((m_outFlags & OUT_STR_CB) != 0 && m_pOutStrI != 0);
  }

 private:
  ocsdMsgLogger(const ocsdMsgLogger &);
  ocsdMsgLogger &operator=(const ocsdMsgLogger &);

  int m_outFlags;
  std::string m_logFileName;
  std::fstream m_out_file;
  ocsdMsgLogStrOutI *m_pOutStrI;
};

#pragma GCC diagnostic pop
