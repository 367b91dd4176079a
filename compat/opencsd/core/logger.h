// The log of the whole process: error records, messages, and what printers print.  See
// opencsd-c-api.md 3 and 5.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "error_text.h"
#include "opencsd/c_api/ocsd_c_api_types.h"

namespace waymark::compat {

/// One error as it was logged; the code may be kOk.
struct ErrorRecord {
  ErrorNumber number = ErrorNumber::kOk;
  ocsd_err_severity_t severity = OCSD_ERR_SEV_NONE;
  TraceIndex index = kNoIndex;
  TraceId trace_id = kNoTraceId;
  std::string message;
};

/// The destinations of text.  Nothing is buffered.
class MessageLog {
 public:
  MessageLog() = default;
  ~MessageLog();
  MessageLog(const MessageLog&) = delete;
  MessageLog& operator=(const MessageLog&) = delete;

  /// C_API_MSGLOGOUT_FLG_...; switches the string function off.
  void set_outputs(int flags) { outputs_ = flags & C_API_MSGLOGOUT_MASK; }
  /// Also switches the file on.  It is opened for append at the first message.
  void set_file(std::string name);
  /// `owner` identifies the function for drop_function().
  void set_function(const void* owner, FnDefLoggerPrintStrCB function, const void* context);
  void drop_function(const void* owner);

  void write(std::string_view text);

 private:
  static constexpr int kFunction = 8;

  int outputs_ = C_API_MSGLOGOUT_FLG_STDERR;
  std::string file_name_ = "ocsd_trace_decode.log";
  std::FILE* file_ = nullptr;
  FnDefLoggerPrintStrCB function_ = nullptr;
  const void* context_ = nullptr;
  const void* function_owner_ = nullptr;
};

/// Prints where the log printed when the printer was made, whatever the log does later.
class Printer {
 public:
  Printer() = default;

  /// False: there is no printer.
  explicit operator bool() const { return exists_; }
  /// The text without a prefix.  A printer that was made before the log had an output is silent.
  void print(std::string_view text) const;

 private:
  friend class Logger;
  explicit Printer(std::shared_ptr<MessageLog> output)
      : exists_(true), output_(std::move(output)) {}

  bool exists_ = false;
  std::shared_ptr<MessageLog> output_;
};

/// Any thread may use it; a function that receives text may log more.
class Logger {
 public:
  static Logger& instance();

  /// A new output replaces the present one; its printers keep the old one.
  void init(ocsd_err_severity_t verbosity, bool create_output);
  [[nodiscard]] bool has_output() const;
  /// False: there is no output.
  bool configure(int flags, const char* file_name);
  bool set_function(const void* owner, FnDefLoggerPrintStrCB function, const void* context);
  /// In every output.
  void drop_function(const void* owner);
  [[nodiscard]] Printer make_printer() const;

  /// "<component> : <error>", without a newline, if the verbosity includes `severity`.
  void error(std::string_view component, ocsd_err_severity_t severity, ErrorNumber number,
             TraceIndex index, TraceId trace_id, std::string_view message);
  /// "<component> : <message>".
  void message(std::string_view component, ocsd_err_severity_t severity, std::string_view message);
  /// The text without a prefix.
  void print(std::string_view text);

  /// std::nullopt: no error was logged yet.
  [[nodiscard]] std::optional<ErrorRecord> last_error() const;

 private:
  friend class Printer;

  mutable std::recursive_mutex mutex_;
  std::shared_ptr<MessageLog> output_;
  std::vector<std::weak_ptr<MessageLog>> all_outputs_;
  ocsd_err_severity_t verbosity_ = OCSD_ERR_SEV_ERROR;
  std::optional<ErrorRecord> last_;
};

}  // namespace waymark::compat
