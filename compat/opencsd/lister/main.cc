// trc_pkt_lister: the options and the exact output of the reference's listing program.
#include <csignal>
#include <cstdio>

#include "lister.h"

namespace {

constexpr int kExitOptions = 255;
constexpr int kExitLog = 254;
constexpr int kExitOutput = 1;

void log_command_line(waymark::compat::Log& log, std::span<char* const> arguments) {
  log.line("Test Command Line:-");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    log.text().put(arguments[i]);
    log.text().put(i == 0 ? "   " : "  ");
  }
  log.line("\n");
}

int run(std::span<char* const> arguments, waymark::compat::Log& log) {
  log.line(
      "Trace Packet Lister: CS Decode library testing\n"
      "-----------------------------------------------\n"
      "\n"
      "** Library Version : 1.8.0\n");
  log_command_line(log, arguments);
  const waymark::compat::ParsedOptions parsed = waymark::compat::read_options(arguments);
  for (const std::string& message : parsed.messages) log.line(message);
  if (parsed.help) log.text().put(waymark::compat::help_text());
  if (parsed.help || parsed.stop) return kExitOptions;
  return waymark::compat::run_lister(parsed.options, log);
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe, or a file that must not grow, is an error of write(), which the log reports.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  const auto log_options = waymark::compat::read_log_options(arguments);
  if (!log_options) {
    (void)std::fputs("Bad logger command line options\nProgram Exiting\n", stdout);
    return kExitLog;
  }
  waymark::compat::Log log(*log_options);
  const int status = run(arguments, log);
  log.flush();
  return status == 0 && log.broken() ? kExitOutput : status;
}
