#include "logger.h"

namespace waymark::compat {
namespace {

/// A function that receives the text may replace the log's output or its printer, so this keeps it.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void write(std::shared_ptr<MessageLog> output, std::string_view text) {
  if (output != nullptr) output->write(text);
}

}  // namespace

MessageLog::~MessageLog() {
  if (file_ != nullptr) static_cast<void>(std::fclose(file_));
}

void MessageLog::set_file(std::string name) {
  if (file_ != nullptr) static_cast<void>(std::fclose(file_));
  file_ = nullptr;
  if (name.empty()) {
    outputs_ &= ~C_API_MSGLOGOUT_FLG_FILE;
    return;
  }
  file_name_ = std::move(name);
  outputs_ |= C_API_MSGLOGOUT_FLG_FILE;
}

void MessageLog::set_function(const void* owner, FnDefLoggerPrintStrCB function,
                              const void* context) {
  function_ = function;
  context_ = context;
  function_owner_ = owner;
  if (function != nullptr) {
    outputs_ |= kFunction;
  } else {
    outputs_ &= ~kFunction;
  }
}

void MessageLog::drop_function(const void* owner) {
  if (function_owner_ == owner) set_function(nullptr, nullptr, nullptr);
}

void MessageLog::write(std::string_view text) {
  const auto put = [&](std::FILE* file) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), file));
    static_cast<void>(std::fflush(file));
  };
  if ((outputs_ & C_API_MSGLOGOUT_FLG_STDOUT) != 0) put(stdout);
  if ((outputs_ & C_API_MSGLOGOUT_FLG_STDERR) != 0) put(stderr);
  if ((outputs_ & C_API_MSGLOGOUT_FLG_FILE) != 0) {
    if (file_ == nullptr) file_ = std::fopen(file_name_.c_str(), "a");
    if (file_ != nullptr) {
      put(file_);
    } else {
      outputs_ &= ~C_API_MSGLOGOUT_FLG_FILE;
    }
  }
  if ((outputs_ & kFunction) != 0 && function_ != nullptr) {
    // Clients expect a terminated string as well as its length.
    const std::string string(text);
    function_(context_, string.c_str(), static_cast<int>(string.size()));
  }
}

void Printer::print(std::string_view text) const {
  const std::lock_guard lock(Logger::instance().mutex_);
  write(output_, text);
}

Logger& Logger::instance() {
  // Never destroyed: clients may log from their own destructors.
  static auto* const kLogger = new Logger;
  return *kLogger;
}

void Logger::init(ocsd_err_severity_t verbosity, bool create_output) {
  const std::lock_guard lock(mutex_);
  verbosity_ = verbosity;
  if (!create_output) return;
  output_ = std::make_shared<MessageLog>();
  std::erase_if(all_outputs_, [](const auto& output) { return output.expired(); });
  all_outputs_.push_back(output_);
}

bool Logger::has_output() const {
  const std::lock_guard lock(mutex_);
  return output_ != nullptr;
}

bool Logger::configure(int flags, const char* file_name) {
  const std::lock_guard lock(mutex_);
  if (output_ == nullptr) return false;
  output_->set_outputs(flags);
  if (file_name != nullptr) output_->set_file(file_name);
  return true;
}

bool Logger::set_function(const void* owner, FnDefLoggerPrintStrCB function, const void* context) {
  const std::lock_guard lock(mutex_);
  if (output_ == nullptr) return false;
  output_->set_function(owner, function, context);
  return true;
}

void Logger::drop_function(const void* owner) {
  const std::lock_guard lock(mutex_);
  for (const std::weak_ptr<MessageLog>& each : all_outputs_)
    if (const std::shared_ptr<MessageLog> output = each.lock()) output->drop_function(owner);
}

Printer Logger::make_printer() const {
  const std::lock_guard lock(mutex_);
  return Printer(output_);
}

void Logger::error(std::string_view component, ocsd_err_severity_t severity, ErrorNumber number,
                   TraceIndex index, TraceId trace_id, std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (severity > verbosity_) return;
  last_ = ErrorRecord{number, severity, index, trace_id, std::string(message)};
  if (output_ == nullptr) return;
  TextBuffer text;
  text.put(component);
  text.put(" : ");
  write_error(text, number, index, trace_id, message);
  write(output_, text.view());
}

void Logger::message(std::string_view component, ocsd_err_severity_t severity,
                     std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (severity > verbosity_ || output_ == nullptr) return;
  TextBuffer text;
  text.put(component);
  text.put(" : ");
  text.put(message);
  write(output_, text.view());
}

void Logger::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  write(output_, text);
}

std::optional<ErrorRecord> Logger::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

}  // namespace waymark::compat
